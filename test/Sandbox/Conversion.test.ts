import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { byResource, connect, decimals, exact, Pair } from "./Reader.ts"

const digital = new Set(["USDT", "USDC"])

describe("the conversions of the sandbox", () => {
  let sandbox: Sandbox
  let client: Awaited<ReturnType<typeof connect>>
  let served: Awaited<ReturnType<typeof client.everything>>
  beforeAll(async () => {
    // Enough for every pair to occur.
    sandbox = await startSandbox({ entries: 6000, seed: 7 })
    client = await connect(sandbox)
    served = await client.everything()
  })
  afterAll(() => sandbox.close())

  it("obey buy = (sell - sell-side fee) * rate - buy-side fee, to half of the buy currency's last digit", () => {
    for (const conversion of served.conversions) {
      const { sellAmount, buyAmount, fee, rate, conversionId } = conversion
      const buysDigital = digital.has(buyAmount.currency)
      expect(digital.has(sellAmount.currency)).toBe(!buysDigital)
      expect(fee.currency).toBe(buysDigital ? sellAmount.currency : buyAmount.currency)
      // Everything in 10^-16: amounts and the rate each have up to eight decimals.
      const sold = exact(sellAmount.amount) - (buysDigital ? exact(fee.amount) : 0n)
      const proceeds = sold * exact(rate) - (buysDigital ? 0n : exact(fee.amount) * 10n ** 8n)
      const off = proceeds - exact(buyAmount.amount) * 10n ** 8n
      const unit = 10n ** BigInt(16 - decimals(buyAmount.amount))
      expect(2n * (off < 0n ? -off : off) <= unit, conversionId).toBe(true)
      expect(exact(buyAmount.amount) > 0n && decimals(rate) <= 8 && decimals(rate) >= 2).toBe(true)
    }
  })

  it("run along a listed pair, above its minimum, in both directions of every pair of currencies", async () => {
    const pairs = new Map((await client.all(Pair, "/conversion-pairs")).map((pair) => [pair.pairId, pair]))
    expect(pairs.size).toBe(2 * 8 * 2)
    for (const { pairId, sellAccount, buyAccount, sellAmount } of served.conversions) {
      const pair = pairs.get(pairId)
      expect(pair?.pair).toBe(`${sellAccount.currency}-${buyAccount.currency}`)
      expect(pair?.sell).toEqual({ currency: sellAccount.currency, paymentRails: sellAccount.paymentRails })
      expect(pair?.buy).toEqual({ currency: buyAccount.currency, paymentRails: buyAccount.paymentRails })
      expect(exact(sellAmount.amount) >= exact(pair?.minAmount ?? "")).toBe(true)
    }
    const directions = new Set(
      served.conversions.map((c) => `${c.sellAmount.currency}-${c.buyAmount.currency}`),
    )
    expect(directions.size).toBe(16)
  })

  it("post the sell leg and the buy leg, at once or apart, and give the sell leg back when canceled", () => {
    const groups = byResource(served.statements)
    const seen = new Map<string, number>()
    for (const conversion of served.conversions) {
      const { sellAccount, sellAmount, buyAccount, buyAmount, status, conversionId } = conversion
      const legs = [...(groups.get(conversionId) ?? [])]
        .map(({ type, accountId, amount, currency }) => `${type} ${accountId} ${amount} ${currency}`)
        .sort()
      const sell = `DEBIT ${sellAccount.accountId} ${sellAmount.amount} ${sellAmount.currency}`
      const buy = `CREDIT ${buyAccount.accountId} ${buyAmount.amount} ${buyAmount.currency}`
      const back = `CREDIT ${sellAccount.accountId} ${sellAmount.amount} ${sellAmount.currency}`
      const known: Record<string, ReadonlyArray<ReadonlyArray<string>>> = {
        COMPLETED: [[buy, sell]],
        ACTIVE: [[], [sell]],
        CANCELED: [[], [back, sell]],
      }
      const match = known[status]?.find((expected) => String(expected) === String(legs))
      expect(match, `${status} ${legs}`).toBeDefined()
      const shape = `${status} ${legs.length}`
      seen.set(shape, (seen.get(shape) ?? 0) + 1)
    }
    expect([...seen.keys()].sort()).toEqual([
      "ACTIVE 0",
      "ACTIVE 1",
      "CANCELED 0",
      "CANCELED 2",
      "COMPLETED 2",
    ])
    const apart = served.conversions.filter(({ conversionId }) => {
      const [first, second] = groups.get(conversionId) ?? []
      if (first === undefined || second === undefined) return false
      return Math.abs(Date.parse(first.occurredAt) - Date.parse(second.occurredAt)) > 60_000
    })
    expect(apart.length).toBeGreaterThan(50)
  })

  it("say when they were completed, most of the time, and never otherwise", () => {
    const completed = served.conversions.filter(({ status }) => status === "COMPLETED")
    const dated = completed.filter(({ completedAt }) => completedAt !== undefined)
    expect(dated.length).toBeLessThan(completed.length)
    expect(dated.length * 2).toBeGreaterThan(completed.length)
    for (const { status, createdAt, completedAt } of served.conversions) {
      if (status !== "COMPLETED") expect(completedAt).toBeUndefined()
      if (completedAt !== undefined) expect(completedAt >= createdAt).toBe(true)
    }
  })
})
