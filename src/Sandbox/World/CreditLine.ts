import type { Listing } from "../Http/Pages.ts"
import type { SandboxData } from "../SandboxOptions.ts"
import { type Receivable, ReceivableSource, type TransactionRef } from "./FundingRequest.ts"
import type { Clients } from "./RepresentedClients.ts"
import { type Currency, currencies, printAmount, railOf } from "./SandboxCurrency.ts"
import type { World } from "./World.ts"

/** How many rails of each currency have credit accounts: those on which clients are funded. */
const creditRails = 4

const renderRef = ({ txId, at }: TransactionRef) => ({ txId, txTimestamp: new Date(at).toISOString() })

/** The credit surface's data: receivables, and the credit accounts that follow from them. */
export class Credit {
  readonly #world: World
  readonly #source: ReceivableSource
  readonly #receivables: Array<Receivable>
  readonly #rails: ReadonlyMap<string, ReadonlyArray<string>>
  #now = 0

  constructor(world: World, clients: Clients, data: SandboxData) {
    this.#world = world
    const span = { start: data.start, end: data.end, count: data.receivables }
    this.#source = new ReceivableSource(world.ids, clients, span)
    this.#receivables = Array.from({ length: data.receivables }, (_, index) => this.#source.initial(index))
    this.#rails = railsOf(Math.max(data.accounts, data.accountsPerClient))
  }

  get size(): number {
    return this.#receivables.length
  }

  at(index: number): Receivable | undefined {
    return this.#receivables[index]
  }

  replace(receivable: Receivable): void {
    this.#receivables[receivable.index] = receivable
  }

  /** The next moment at which something happens to a receivable. */
  tick(): number {
    this.#now = Math.max(this.#world.clock.now, this.#now + 1000)
    return this.#now
  }

  transaction(index: number, step: number): string {
    return this.#source.transaction(index, step)
  }

  /** Lets a new funding request come. */
  add(): Receivable {
    const made = this.#source.pending(this.size, this.tick())
    this.#receivables.push(made)
    return made
  }

  render(receivable: Receivable): string {
    const { index, client, currency, rail, status, payment, disbursed, repayments } = receivable
    const print = (minor: bigint) => printAmount(minor, currency)
    return JSON.stringify({
      receivableId: this.#world.ids.of("receivable", index),
      clientId: client,
      issueDate: new Date(receivable.issuedAt).toISOString(),
      initialPrincipal: print(receivable.initial),
      currentPrincipal: print(receivable.principal),
      repaymentAmount: print(receivable.principal + receivable.interest),
      currency: currency.code,
      status,
      paymentTransaction: renderRef(payment),
      ...(disbursed === undefined ? {} : { disbursedTransaction: renderRef(disbursed) }),
      ...(repayments.length === 0 ? {} : { repaymentTransactions: repayments.map(renderRef) }),
      paymentRails: rail,
    })
  }

  receivables(): Listing {
    const items = this.#receivables
    return {
      name: "receivables",
      size: items.length,
      render: (position) => {
        const receivable = items[position]
        if (receivable === undefined) throw new RangeError(`no receivable ${position}`)
        return this.render(receivable)
      },
    }
  }

  /** One credit account for each currency and rail with receivables, one that waits and one that is closed to use. */
  creditAccounts(): Listing {
    const items = this.#receivables.length === 0 ? [] : this.#creditAccounts()
    return { name: "credit-accounts", size: items.length, render: (position) => items[position] ?? "" }
  }

  #creditAccounts(): ReadonlyArray<string> {
    const sums = new Map<string, { count: number; lent: bigint; principal: bigint; interest: bigint }>()
    for (const { currency, rail, initial, principal, interest, status } of this.#receivables) {
      const key = `${currency.code} ${rail}`
      const sum = sums.get(key) ?? { count: 0, lent: 0n, principal: 0n, interest: 0n }
      const active = status === "ACTIVE"
      sums.set(key, {
        count: sum.count + 1,
        lent: sum.lent + initial,
        principal: sum.principal + (active ? principal : 0n),
        interest: sum.interest + (active ? interest : 0n),
      })
    }
    const accounts: Array<string> = []
    for (const [place, currency] of currencies.entries()) {
      for (let rail = 0; rail < creditRails; rail++) {
        const sum = sums.get(`${currency.code} ${railOf(currency, rail)}`)
        const unused = currency.digital && rail === 0
        if (sum === undefined && !unused) continue
        const status = sum !== undefined ? "ACTIVE" : currency.code === "USDT" ? "PENDING" : "DISABLED"
        accounts.push(this.#creditAccount(place * creditRails + rail, currency, rail, status, sum))
      }
    }
    return accounts
  }

  #creditAccount(
    index: number,
    currency: Currency,
    rail: number,
    status: "PENDING" | "ACTIVE" | "DISABLED",
    { lent, principal, interest } = { lent: 0n, principal: 0n, interest: 0n },
  ): string {
    const { ids } = this.#world
    const unit = 10n ** BigInt(currency.smallest)
    const print = (minor: bigint) => printAmount(minor, currency)
    // Room for everything ever lent, in whole millions.
    const limit = (lent / (unit * 1_000_000n) + 1n) * unit * 1_000_000n
    const balance = BigInt(ids.bits("creditAccount", index, 1) % 100_000) * unit
    return JSON.stringify({
      creditAccountId: ids.of("creditAccount", index),
      currency: currency.code,
      creditLimit: print(limit),
      availableBalance: print(limit - principal),
      ...(status === "PENDING" ? {} : { balance: print(balance) }),
      principalOutstanding: print(principal),
      totalRepaymentAmount: print(principal + interest),
      totalInterestAmount: print(interest),
      status,
      paymentRails: railOf(currency, rail),
    })
  }

  paymentRails(): Listing {
    const items = [...this.#rails]
    return {
      name: "payment-rails",
      size: items.length,
      render: (position) => {
        const [code = "", allowed = []] = items[position] ?? []
        return JSON.stringify({ code, description: `Settlement through ${code}`, currencies: allowed })
      },
    }
  }
}

/** Every rail that any of so many accounts may have, with its currencies. */
const railsOf = (accounts: number): ReadonlyMap<string, ReadonlyArray<string>> => {
  const groups = Math.ceil(accounts / currencies.length) + creditRails
  const rails = new Map<string, Array<string>>()
  for (let group = 0; group < groups; group++) {
    for (const currency of currencies) {
      const code = railOf(currency, group)
      rails.set(code, [...(rails.get(code) ?? []), currency.code])
    }
  }
  return rails
}
