import { destinationSnapshot } from "../World/AddressBook.ts"
import type { IdentifierKind } from "../World/Identifier.ts"
import {
  conversionReasons,
  depositReasons,
  externalReferences,
  references,
  remitters,
  withdrawalReasons,
} from "../World/Names.ts"
import type { Account } from "../World/SandboxAccount.ts"
import { printAmount } from "../World/SandboxCurrency.ts"
import type { World } from "../World/World.ts"
import type { Form } from "./Form.ts"

/** Why a bit of an item is looked at: optional fields are absent independently of each other. */
const purpose = {
  name: 20,
  code: 21,
  hash: 22,
  reason: 23,
  reference: 24,
  external: 25,
  documents: 26,
} as const

const time = (milliseconds: number): string => new Date(milliseconds).toISOString()

const quoted = (texts: ReadonlyArray<string>) => texts.map((text) => JSON.stringify(text).slice(1, -1))
const texts = {
  remitters: quoted(remitters),
  references: quoted(references),
  external: quoted(externalReferences),
}

/** Renders the world's items as JSON texts, as a surface shows them. */
export class Render {
  #world: World
  #form: Form
  #refs: ReadonlyArray<string>
  #snapshots = new Map<number, string>()

  constructor(world: World, form: Form) {
    this.#world = world
    this.#form = form
    this.#refs = world.accounts.map(({ id, currency, rail }) =>
      JSON.stringify({ accountId: id, currency: currency.code, paymentRails: rail }),
    )
  }

  #account(index: number): Account {
    const account = this.#world.accounts[index]
    if (account === undefined) throw new RangeError(`no account ${index}`)
    return account
  }

  /** One of the prepared texts, or nothing for `absent` of 100 items. */
  #text(kind: IdentifierKind, index: number, why: number, list: ReadonlyArray<string>, absent: number) {
    const bits = this.#world.ids.bits(kind, index, why)
    return bits % 100 < absent ? undefined : list[Math.floor(bits / 100) % list.length]
  }

  #code(kind: IdentifierKind, index: number): string {
    const { ids } = this.#world
    if (ids.bits(kind, index, purpose.code) % 8 === 0) return ""
    return `,"code":"PC-${ids.hex(kind, index, purpose.code, 10).toUpperCase()}"`
  }

  #hash(kind: IdentifierKind, index: number): string {
    const { ids } = this.#world
    if (ids.bits(kind, index, purpose.hash) % 40 === 0) return ""
    return `,"transactionHash":"${ids.hex(kind, index, purpose.hash, 64)}"`
  }

  #reason(kind: IdentifierKind, index: number, status: string, reasons: ReadonlyArray<string>): string {
    if (status !== "CANCELED" && status !== "REJECTED") return ""
    return `,"reasonCode":"${this.#text(kind, index, purpose.reason, reasons, 0)}"`
  }

  #external(kind: IdentifierKind, index: number): string {
    const text = this.#text(kind, index, purpose.external, texts.external, 40)
    return text === undefined ? "" : `,"externalReference":"${text}-${index}"`
  }

  account(index: number): string {
    const { id, currency, rail, balance, status } = this.#account(index)
    return (
      `{"accountId":"${id}","currency":"${currency.code}","paymentRails":"${rail}",` +
      `"balance":"${printAmount(balance, currency)}","status":"${status}"}`
    )
  }

  entry(index: number): string {
    const { ids, entries } = this.#world
    const { id, currency } = this.#account(entries.account.at(index))
    const credit = entries.credit.at(index) === 1
    const amount = entries.amount.at(index)
    const after = entries.balanceAfter.at(index)
    const before = credit ? after - amount : after + amount
    const stated = ids.bits("entry", index, 1) % 7 !== 0
    return (
      `{"entryId":"${ids.of("entry", index)}","accountId":"${id}","type":"${credit ? "CREDIT" : "DEBIT"}",` +
      `"amount":"${printAmount(amount, currency)}","currency":"${currency.code}",` +
      (stated ? `"balanceBefore":"${printAmount(before, currency)}",` : "") +
      `"balanceAfter":"${printAmount(after, currency)}",${this.#relation(index)}` +
      `"occurredAt":"${time(entries.occurredAt.at(index))}"}`
    )
  }

  #relation(index: number): string {
    const { ids, entries } = this.#world
    const related = (type: string, kind: IdentifierKind) =>
      `"relatedResourceType":"${type}","relatedResourceId":"${ids.of(kind, entries.resource.at(index))}",`
    switch (entries.relation.at(index)) {
      case "NONE":
        return ""
      case "ANONYMOUS_PAYOUT":
        return `"relatedResourceType":"PAYOUT",`
      case "DEPOSIT":
        return related("DEPOSIT", "deposit")
      case "WITHDRAWAL":
        return related("WITHDRAWAL", "withdrawal")
      case "CONVERSION":
        return related("CONVERSION", "conversion")
      case "PAYOUT":
        return related("PAYOUT", "payout")
    }
  }

  /** A deposit, or what it was like before it was completed. */
  deposit(index: number, earlier = false): string {
    const { ids, deposits } = this.#world
    const { currency, index: account } = this.#account(deposits.account.at(index))
    const fee = deposits.fee.at(index)
    const status = earlier ? "PENDING" : deposits.status.at(index)
    const name = this.#text("deposit", index, purpose.name, texts.remitters, 10)
    return (
      `{"depositId":"${ids.of("deposit", index)}","account":${this.#refs[account]},` +
      this.#form.deposit(deposits.amount.at(index), fee, currency) +
      `"status":"${status}"${name === undefined ? "" : `,"remitterName":"${name}"`}` +
      this.#code("deposit", index) +
      (currency.digital ? this.#hash("deposit", index) : "") +
      this.#reason("deposit", index, status, depositReasons) +
      `,"createdAt":"${time(deposits.createdAt.at(index))}"}`
    )
  }

  #snapshot(destination: number, anonymous: boolean): string {
    const key = destination * 2 + (anonymous ? 1 : 0)
    const known = this.#snapshots.get(key)
    if (known !== undefined) return known
    const made = destinationSnapshot(this.#world, destination, anonymous, this.#form.flat)
    this.#snapshots.set(key, made)
    return made
  }

  #documents(index: number): string {
    const { ids } = this.#world
    const bits = ids.bits("withdrawal", index, purpose.documents)
    if (bits % 20 !== 0) return ""
    const document = {
      documentType: bits % 40 === 0 ? "INVOICE" : "CONTRACT",
      fileId: `file_${ids.hex("withdrawal", index, purpose.documents, 16)}`,
      name: 'Invoice "final", v2.pdf',
      contentType: "application/pdf",
      size: 1024 + (bits % 1_000_000),
    }
    return `,"supportingDocuments":${JSON.stringify([document])}`
  }

  withdrawal(index: number, earlier = false): string {
    const { ids, withdrawals } = this.#world
    const { currency, index: account } = this.#account(withdrawals.account.at(index))
    const amount = withdrawals.amount.at(index)
    const fee = withdrawals.fee.at(index)
    const status = earlier ? "PENDING" : this.#form.withdrawalStatus(withdrawals.status.at(index))
    const reference = this.#text("withdrawal", index, purpose.reference, texts.references, 25)
    const anonymous = ids.bits("withdrawal", index, purpose.name) % 25 === 0
    return (
      `{"withdrawalId":"${ids.of("withdrawal", index)}","sourceAccount":${this.#refs[account]},` +
      this.#form.withdrawal(amount, fee, currency) +
      `"destination":${this.#snapshot(withdrawals.destination.at(index), anonymous)},"status":"${status}"` +
      this.#code("withdrawal", index) +
      (reference === undefined ? "" : `,"${this.#form.text}":"${reference} ${index}"`) +
      this.#documents(index) +
      this.#external("withdrawal", index) +
      (currency.digital && status === "COMPLETED" ? this.#hash("withdrawal", index) : "") +
      this.#reason("withdrawal", index, status, withdrawalReasons) +
      `,"createdAt":"${time(withdrawals.createdAt.at(index))}"}`
    )
  }

  conversion(index: number, earlier = false): string {
    const { ids, conversions } = this.#world
    const pair = this.#world.pairs[conversions.pair.at(index)]
    if (pair === undefined) throw new RangeError(`no pair of conversion ${index}`)
    const { sell, buy } = pair
    const fiat = sell.currency.digital ? buy.currency : sell.currency
    const status = earlier ? "ACTIVE" : conversions.status.at(index)
    const scale = conversions.rateScale.at(index)
    const digits = String(conversions.rate.at(index)).padStart(scale + 1, "0")
    const completedAt = earlier ? 0 : conversions.completedAt.at(index)
    const dated = completedAt > 0 && ids.bits("conversion", index, purpose.name) % 30 !== 0
    return (
      `{"conversionId":"${ids.of("conversion", index)}","pairId":"${ids.of("pair", pair.index)}",` +
      `"status":"${status}"${this.#reason("conversion", index, status, conversionReasons)},` +
      `"sellAccount":${this.#refs[sell.index]},` +
      `"sellAmount":${this.#form.amount(conversions.sell.at(index), sell.currency)},` +
      `"buyAccount":${this.#refs[buy.index]},` +
      `"buyAmount":${this.#form.amount(conversions.buy.at(index), buy.currency)},` +
      `"rate":"${digits.slice(0, -scale)}.${digits.slice(-scale)}",` +
      `${this.#form.conversionFee(conversions.fee.at(index), fiat)}${this.#external("conversion", index)},` +
      `"createdAt":"${time(conversions.createdAt.at(index))}"` +
      `${dated ? `,"completedAt":"${time(completedAt)}"` : ""}}`
    )
  }

  pair(index: number): string {
    const pair = this.#world.pairs[index]
    if (pair === undefined) throw new RangeError(`no pair ${index}`)
    const { sell, buy, minimum } = pair
    return JSON.stringify({
      pairId: this.#world.ids.of("pair", index),
      pair: `${sell.currency.code}-${buy.currency.code}`,
      sell: { currency: sell.currency.code, paymentRails: sell.rail },
      buy: { currency: buy.currency.code, paymentRails: buy.rail },
      minAmount: printAmount(minimum, sell.currency),
    })
  }
}
