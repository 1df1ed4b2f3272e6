import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import { byResource, connect, type Entry, exact, type Withdrawal } from "../Reader.ts"

const signed = ({ type, amount }: typeof Entry.Type) => (type === "CREDIT" ? exact(amount) : -exact(amount))
const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)
const counted = (names: ReadonlyArray<string>) => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Names the way in which a withdrawal's entries show its amount and fee; anything else is "wrong …". */
const shapeOf = (withdrawal: typeof Withdrawal.Type, entries: ReadonlyArray<typeof Entry.Type>): string => {
  const amounts = entries.map(signed)
  const amount = exact(withdrawal.sourceAmount.amount)
  const fee = exact(withdrawal.fee.amount)
  const debits = amounts.filter((value) => value < 0n).map((value) => -value)
  const credits = amounts.slice(debits.length)
  if (credits.some((value) => value < 0n)) return `wrong order ${amounts}`
  const back = sum(credits) === sum(debits) ? "returned" : "returned less fee"
  const returned = credits.length === 0 ? "" : ` ${back}`
  const kept = sum(debits) - sum(credits)
  if (credits.length > 0 && kept !== 0n && kept !== fee) return `wrong return ${amounts}`
  const [first, second] = debits
  if (debits.length === 0) return "no entries"
  if (debits.length === 1 && fee === 0n && first === amount) return `no fee${returned}`
  if (debits.length === 1 && first === amount) return `inside${returned}`
  if (debits.length === 1 && first === amount + fee) return `on top${returned}`
  if (debits.length === 1 && first === amount - fee) return `fee to come${returned}`
  if (debits.length === 2 && first === amount && second === fee) return `separate${returned}`
  if (debits.length === 2 && first === amount - fee && second === fee) return `separate within${returned}`
  return `wrong ${amounts} of ${amount} ${fee}`
}

describe("the movements of the sandbox", () => {
  let sandbox: Sandbox
  let client: Awaited<ReturnType<typeof connect>>
  let served: Awaited<ReturnType<typeof client.everything>>
  let groups: ReturnType<typeof byResource>
  beforeAll(async () => {
    sandbox = await startSandbox()
    client = await connect(sandbox)
    served = await client.everything()
    groups = byResource(served.statements)
  })
  afterAll(() => sandbox.close())

  it("credit deposits with the fee netted, separate, zero or absent", () => {
    const shapes = served.deposits.map((deposit) => {
      const amounts = (groups.get(deposit.depositId) ?? []).map(signed)
      const amount = exact(deposit.amount.amount)
      const fee = deposit.fee === undefined ? undefined : exact(deposit.fee.amount)
      const is = (...expected: ReadonlyArray<bigint>) => String(amounts) === String(expected)
      if (deposit.status !== "COMPLETED") return is() ? deposit.status : `wrong ${deposit.status}`
      if (fee === undefined) return is(amount) ? "no fee stated" : `wrong ${amounts} of ${amount}`
      if (fee === 0n) return is(amount) ? "zero fee" : `wrong ${amounts} of ${amount}`
      if (is(amount - fee)) return "netted"
      return is(amount, -fee) ? "separate" : `wrong ${amounts} of ${amount} ${fee}`
    })
    const counts = counted(shapes)
    expect(Object.keys(counts).sort()).toEqual([
      "CANCELED",
      "HELD",
      "PENDING",
      "REJECTED",
      "netted",
      "no fee stated",
      "separate",
      "zero fee",
    ])
    for (const shape of ["netted", "no fee stated", "separate", "zero fee"]) {
      expect(counts[shape], shape).toBeGreaterThan(30)
    }
    // Some fees come so late that other entries of the account lie in between.
    const late = served.deposits.filter(({ depositId, account }) => {
      const [credit, fee] = groups.get(depositId) ?? []
      const statement = served.statements.get(account.accountId) ?? []
      return (
        credit !== undefined && fee !== undefined && statement.indexOf(fee) - statement.indexOf(credit) > 1
      )
    })
    expect(late.length).toBeGreaterThan(10)
  })

  it("debit withdrawals with the fee inside, on top or separate, and return some of them", () => {
    const shapes = served.withdrawals.map(
      (withdrawal) =>
        `${withdrawal.status}: ${shapeOf(withdrawal, groups.get(withdrawal.withdrawalId) ?? [])}`,
    )
    expect(shapes.filter((shape) => shape.includes("wrong"))).toEqual([])
    const counts = counted(shapes)
    for (const shape of ["no fee", "inside", "on top", "separate", "separate within"]) {
      expect(counts[`COMPLETED: ${shape}`], shape).toBeGreaterThan(10)
      expect(
        shapes.some((found) => found.endsWith(`: ${shape} returned`)),
        shape,
      ).toBe(true)
    }
    for (const shape of ["inside", "on top", "separate", "separate within"]) {
      expect(
        shapes.some((found) => found.endsWith(`: ${shape} returned less fee`)),
        shape,
      ).toBe(true)
    }
    const occur = (pattern: RegExp) => shapes.some((shape) => pattern.test(shape))
    for (const status of ["PENDING_CONFIRMATION", "PENDING", "HELD", "CANCELED", "REJECTED"]) {
      expect(counts[`${status}: no entries`], status).toBeGreaterThan(0)
    }
    expect(occur(/^COMPLETED: .*returned/)).toBe(true)
    expect(occur(/^REJECTED: .*returned/)).toBe(true)
    expect(occur(/^CANCELED: .*returned/)).toBe(true)
    expect(occur(/^PENDING: (no fee|inside|on top|separate|fee to come)/)).toBe(true)
    expect(occur(/^(CANCELED|REJECTED): (no fee|inside|on top|separate|separate within|fee to come)$/)).toBe(
      false,
    )
    expect(occur(/^(COMPLETED|CANCELED|REJECTED): fee to come/)).toBe(false)
    expect(occur(/^COMPLETED: no entries/)).toBe(false)
    expect(occur(/^PENDING_CONFIRMATION: (?!no entries)/)).toBe(false)
  })

  it("deliver the source amount less the fee", () => {
    for (const { sourceAmount, destinationAmount, fee, sourceAccount } of served.withdrawals) {
      expect(exact(destinationAmount.amount)).toBe(exact(sourceAmount.amount) - exact(fee.amount))
      const { currency } = sourceAccount
      expect([sourceAmount.currency, destinationAmount.currency, fee.currency]).toEqual([
        currency,
        currency,
        currency,
      ])
    }
  })

  it("give a reason exactly to what was canceled or rejected, and a hash only to digital transfers", () => {
    for (const { status, reasonCode } of [...served.deposits, ...served.withdrawals, ...served.conversions]) {
      expect(reasonCode !== undefined).toBe(status === "CANCELED" || status === "REJECTED")
    }
    const digital = (currency: string) => currency.startsWith("USD") && currency !== "USD"
    for (const { transactionHash, account } of served.deposits) {
      if (!digital(account.currency)) expect(transactionHash).toBeUndefined()
    }
    for (const { transactionHash, status, sourceAccount } of served.withdrawals) {
      if (status !== "COMPLETED" || !digital(sourceAccount.currency)) expect(transactionHash).toBeUndefined()
    }
  })

  it("leave optional fields out at times and fill them with awkward text", () => {
    const some = <A>(items: ReadonlyArray<A>, is: (item: A) => boolean) => items.some(is) && !items.every(is)
    const { deposits, withdrawals, conversions } = served
    expect(some(deposits, ({ remitterName }) => remitterName === undefined)).toBe(true)
    expect(some(deposits, ({ code }) => code === undefined)).toBe(true)
    expect(some(withdrawals, ({ reference }) => reference === undefined)).toBe(true)
    expect(some(withdrawals, ({ externalReference }) => externalReference === undefined)).toBe(true)
    expect(some(withdrawals, ({ supportingDocuments }) => supportingDocuments === undefined)).toBe(true)
    expect(some(withdrawals, ({ destination }) => destination.destinationId === undefined)).toBe(true)
    expect(some(conversions, ({ externalReference }) => externalReference === undefined)).toBe(true)
    const names = deposits.flatMap(({ remitterName }) => remitterName ?? [])
    for (const awkward of [
      /^=/,
      /^\+/,
      /^@/,
      /"/,
      /,/,
      /\n/,
      /\t/,
      /[\u0590-\u06ff]/,
      /[\u4e00-\u9fff]/,
      /.{255}/,
    ]) {
      expect(
        names.some((name) => awkward.test(name)),
        String(awkward),
      ).toBe(true)
    }
  })

  it("are listed in the order of their creation, and posted no earlier", () => {
    const moments = (items: ReadonlyArray<{ readonly createdAt: string }>) =>
      items.map((item) => item.createdAt)
    for (const list of [served.deposits, served.withdrawals, served.conversions]) {
      expect(moments(list)).toEqual(moments(list).sort())
    }
    for (const { depositId, createdAt } of served.deposits) {
      for (const entry of groups.get(depositId) ?? []) expect(entry.occurredAt >= createdAt).toBe(true)
    }
  })

  it("happen in about the proportions of ordinary business", () => {
    const share = (count: number) => Math.round((count * 100) / served.deposits.length)
    expect(share(served.withdrawals.length)).toBeGreaterThan(50)
    expect(share(served.withdrawals.length)).toBeLessThan(85)
    expect(share(served.conversions.length)).toBeGreaterThan(20)
    expect(share(served.conversions.length)).toBeLessThan(45)
  })
})
