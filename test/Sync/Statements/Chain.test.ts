/** The running balance of a statement, entry by entry: what continues it, what breaks it, and what is read again. */
import { Either, Option } from "effect"
import { expect, it } from "vitest"
import * as Money from "../../../src/Common/Money.ts"
import type { StatementEntry } from "../../../src/Partner.ts"
import { type ChainState, runsBackwards, walk } from "../../../src/Sync/Statements/Chain.ts"

const money = Money.fromTrusted

/** An entry of so much, after which the balance is that; `before`: the balance that it states before it. */
const entry = (index: number, amount: string, balance: string, before?: string): StatementEntry => ({
  entryId: `10000000-0000-4000-8000-00000000000${index}`,
  accountId: "00000000-0000-4000-8000-000000000001",
  type: amount.startsWith("-") ? "DEBIT" : "CREDIT",
  amount: money(amount.replace("-", "")),
  currency: "USD",
  balanceBefore: Option.map(Option.fromNullable(before), money),
  balanceAfter: money(balance),
  relatedResourceType: Option.none(),
  relatedResourceId: Option.none(),
  occurredAt: "2026-10-05T12:00:00.000000Z",
  extra: null,
})

const start: ChainState = { position: 1n, balance: Option.some(money("10")), broken: false }

const walked = (...entries: ReadonlyArray<StatementEntry>) => {
  const { behind, breaks, contradictions, good, state } = walk(start, entries.map(Either.right), new Map())
  const ids = (found: ReadonlyArray<StatementEntry>) => found.map(({ entryId }) => Number(entryId.at(-1)))
  return {
    good: ids(good.map((placed) => placed.entry)),
    behind: ids(behind),
    contradictions: ids(contradictions),
    breaks,
    position: state.position,
  }
}

const whole = { behind: [], contradictions: [], breaks: false }

it("continues the balance, whether or not an entry states the one before it", () => {
  expect(walked(entry(2, "5", "15"), entry(3, "-1", "14", "15"))).toEqual({
    ...whole,
    good: [2, 3],
    position: 3n,
  })
})

it("breaks where a balance does not continue, or is said to begin elsewhere; what is behind waits", () => {
  const broken = { contradictions: [], breaks: true, good: [2], position: 2n }
  expect(walked(entry(2, "5", "15"), entry(3, "1", "17"), entry(4, "1", "18"))).toEqual({
    ...broken,
    behind: [3, 4],
  })
  expect(walked(entry(2, "5", "15"), entry(3, "1", "16", "14"))).toEqual({ ...broken, behind: [3] })
})

it("passes over an entry that one answer shows twice, and keeps what it then says otherwise", () => {
  const twice = entry(2, "5", "15")
  expect(walked(twice, twice, entry(3, "1", "16"))).toEqual({ ...whole, good: [2, 3], position: 3n })
  expect(walked(twice, { ...twice, currency: "EUR" })).toEqual({
    ...whole,
    good: [2],
    position: 2n,
    contradictions: [2],
  })
})

it("takes only a chain of three or more for one that begins with its newest entry", () => {
  const rows = [entry(4, "1", "17"), entry(3, "1", "16"), entry(2, "5", "15")].map(Either.right)
  expect(runsBackwards(rows)).toBe(true)
  expect(runsBackwards(rows.toReversed())).toBe(false)
  expect(runsBackwards(rows.slice(1))).toBe(false)
})
