import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { byResource, connect, decimals, type Entry, exact } from "./Reader.ts"

type Statement = ReadonlyArray<typeof Entry.Type>

/** Proves the running balances of a statement and gives its opening and closing balance. */
const prove = (statement: Statement): { opening: bigint; closing: bigint } | undefined => {
  let balance: bigint | undefined
  let opening: bigint | undefined
  for (const entry of statement) {
    const signed = entry.type === "CREDIT" ? exact(entry.amount) : -exact(entry.amount)
    const after = exact(entry.balanceAfter)
    const before = after - signed
    opening ??= before
    if (balance !== undefined) expect(before, entry.entryId).toBe(balance)
    if (entry.balanceBefore !== undefined) expect(exact(entry.balanceBefore)).toBe(before)
    expect(exact(entry.amount) > 0n && after >= 0n && before >= 0n).toBe(true)
    balance = after
  }
  return opening === undefined || balance === undefined ? undefined : { opening, closing: balance }
}

describe("the statements of the sandbox", () => {
  let sandbox: Sandbox
  let client: Awaited<ReturnType<typeof connect>>
  let served: Awaited<ReturnType<typeof client.everything>>
  beforeAll(async () => {
    sandbox = await startSandbox()
    client = await connect(sandbox)
    served = await client.everything()
  })
  afterAll(() => sandbox.close())

  it("hold exactly the number of entries asked for, each with its own id", () => {
    const entries = [...served.statements.values()].flat()
    expect(entries.length).toBe(2000)
    expect(new Set(entries.map(({ entryId }) => entryId)).size).toBe(2000)
  })

  it("continue the running balance entry by entry, from the opening balance to the account's", async () => {
    const { accounts } = await client.state()
    for (const account of served.accounts) {
      const statement = served.statements.get(account.accountId) ?? []
      const proof = prove(statement)
      const expected = accounts.find(({ accountId }) => accountId === account.accountId)
      expect(exact(account.balance)).toBe(proof?.closing ?? 0n)
      expect(exact(expected?.balance ?? "")).toBe(proof?.closing ?? 0n)
      expect(exact(expected?.openingBalance ?? "")).toBe(proof?.opening ?? 0n)
      expect(expected?.entries).toBe(statement.length)
    }
    const openings = [...served.statements.values()].map((statement) => prove(statement)?.opening)
    expect(openings.some((opening) => opening === 0n)).toBe(true)
    expect(openings.some((opening) => opening !== undefined && opening > 0n)).toBe(true)
  })

  it("name their account and its currency", () => {
    for (const account of served.accounts) {
      for (const entry of served.statements.get(account.accountId) ?? []) {
        expect([entry.accountId, entry.currency]).toEqual([account.accountId, account.currency])
      }
    }
  })

  it("run through the two months in order, with equal times here and there", () => {
    for (const statement of served.statements.values()) {
      const times = statement.map(({ occurredAt }) => occurredAt)
      expect(times).toEqual([...times].sort())
    }
    const times = [...served.statements.values()].flatMap((statement) => statement.map((e) => e.occurredAt))
    expect(times.every((time) => time >= "2026-09-01T00:00" && time < "2026-11-01")).toBe(true)
    expect(times.some((time) => time < "2026-09-02") && times.some((time) => time > "2026-10-31")).toBe(true)
    const ties = [...served.statements.values()].flatMap((statement) =>
      statement.filter((entry, index) => statement[index - 1]?.occurredAt === entry.occurredAt),
    )
    expect(ties.length).toBeGreaterThan(20)
  })

  it("print amounts with the decimals of their currency", () => {
    const seen = new Map<string, Set<number>>()
    for (const { currency, amount, balanceAfter } of [...served.statements.values()].flat()) {
      const set = seen.get(currency) ?? new Set()
      seen.set(currency, set.add(decimals(amount)).add(decimals(balanceAfter)))
    }
    const sorted = (currency: string) => [...(seen.get(currency) ?? [])].sort()
    expect(["USD", "EUR", "GBP", "JPY"].map(sorted)).toEqual([[2], [2], [2], [0]])
    expect(["USDT", "USDC"].map(sorted)).toEqual([
      [6, 8],
      [6, 8],
    ])
  })

  it("leave balanceBefore out at times, and name every kind of resource, or none", () => {
    const entries = [...served.statements.values()].flat()
    const without = entries.filter(({ balanceBefore }) => balanceBefore === undefined)
    expect(without.length).toBeGreaterThan(100)
    expect(without.length).toBeLessThan(600)
    const kinds = new Map<string, number>()
    for (const { type, relatedResourceType, relatedResourceId } of entries) {
      const kind = `${type} ${relatedResourceType} ${relatedResourceId === undefined ? "anonymous" : "named"}`
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }
    expect([...kinds.keys()].sort()).toEqual([
      "CREDIT CONVERSION named",
      "CREDIT DEPOSIT named",
      "CREDIT PAYOUT named",
      "CREDIT WITHDRAWAL named",
      "CREDIT undefined anonymous",
      "DEBIT CONVERSION named",
      "DEBIT DEPOSIT named",
      "DEBIT PAYOUT anonymous",
      "DEBIT PAYOUT named",
      "DEBIT WITHDRAWAL named",
      "DEBIT undefined anonymous",
    ])
  })

  it("show payouts once as a debit, and a returned one once more as the same credit", () => {
    const groups = byResource(served.statements)
    const payouts = [...groups.values()].filter(([entry]) => entry?.relatedResourceType === "PAYOUT")
    expect(payouts.length).toBeGreaterThan(30)
    for (const entries of payouts) {
      expect(["DEBIT", "DEBIT CREDIT"]).toContain(entries.map(({ type }) => type).join(" "))
      expect(new Set(entries.map(({ amount }) => amount)).size).toBe(1)
    }
  })

  it("belong to accounts of all currencies, with suspended, closed and untouched ones", () => {
    expect(served.accounts.map(({ currency }) => currency).slice(0, 6)).toEqual([
      "USD",
      "USDT",
      "EUR",
      "USDC",
      "GBP",
      "JPY",
    ])
    const channels = served.accounts.map(({ currency, paymentRails }) => `${currency} ${paymentRails}`)
    expect(new Set(channels).size).toBe(12)
    const closed = served.accounts.filter(({ status }) => status === "CLOSED")
    expect(closed.length).toBe(1)
    for (const { accountId, balance } of closed) {
      expect(exact(balance)).toBe(0n)
      expect(served.statements.get(accountId)?.length).toBeGreaterThan(20)
    }
    expect(served.accounts.filter(({ status }) => status === "SUSPENDED").length).toBe(1)
    expect([...served.statements.values()].filter((statement) => statement.length === 0).length).toBe(1)
  })
})
