/** The running balance of a statement, entry by entry: what continues it, what breaks it, and what is read again. */
import { Either, Option } from "effect"
import { expect, it } from "vitest"
import * as Money from "../../../src/Common/Money.ts"
import { heldFrom, type KnownEntry } from "../../../src/Mirror/StatementEntries.ts"
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

/** Entries as the mirror has them: held behind a gap, or posted. */
const mirrored = (
  held: boolean,
  ...entries: ReadonlyArray<StatementEntry>
): ReadonlyMap<string, KnownEntry> =>
  new Map(
    entries.map((one, at) => [
      one.entryId,
      { entry: one, held, gone: false, position: (held ? heldFrom : 0n) + BigInt(at) + 1n },
    ]),
  )

const walked = (...entries: ReadonlyArray<StatementEntry>) => walkedFrom(start, new Map(), entries)

const walkedFrom = (
  from: ChainState,
  known: ReadonlyMap<string, KnownEntry>,
  entries: ReadonlyArray<StatementEntry>,
) => {
  const { behind, breaks, contradictions, good, state } = walk(from, entries.map(Either.right), known)
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

it("posts what was held once the gap before it is gone, and holds nothing twice while it stays", () => {
  const [lost, held] = [entry(2, "5", "15"), entry(3, "1", "16")]
  expect(walkedFrom(start, mirrored(true, held), [lost, held])).toEqual({
    ...whole,
    good: [2, 3],
    position: 3n,
  })
  const broken = { good: [], contradictions: [], breaks: true, position: 1n }
  expect(walkedFrom(start, mirrored(true, held), [held])).toEqual({ ...broken, behind: [] })
  expect(walkedFrom(start, mirrored(true, held), [held, entry(4, "1", "17")])).toEqual({
    ...broken,
    behind: [4],
  })
})

it("passes over what is posted, wherever it is read again, and keeps what it then says otherwise", () => {
  const posted = entry(1, "10", "10")
  const known = mirrored(false, posted)
  expect(walkedFrom(start, known, [posted, entry(2, "5", "15")])).toEqual({
    ...whole,
    good: [2],
    position: 2n,
  })
  expect(walkedFrom(start, known, [entry(1, "10", "11")])).toEqual({
    ...whole,
    good: [],
    position: 1n,
    contradictions: [1],
  })
})

it("takes an entry of zero that moves the balance for a wrong row, but not behind a gap, where it may be right", () => {
  const zero: StatementEntry = { ...entry(3, "0", "16"), source: "{}" }
  const wrong = walk(start, [Either.right(zero)], new Map())
  expect([wrong.malformed.length, wrong.breaks, wrong.behind.length]).toEqual([1, true, 0])
  expect(walkedFrom({ ...start, broken: true }, new Map(), [zero])).toEqual({
    ...whole,
    behind: [3],
    good: [],
    position: 1n,
  })
})

it("takes only a chain of three or more for one that begins with its newest entry", () => {
  const rows = [entry(4, "1", "17"), entry(3, "1", "16"), entry(2, "5", "15")].map(Either.right)
  expect(runsBackwards(rows)).toBe(true)
  expect(runsBackwards(rows.toReversed())).toBe(false)
  expect(runsBackwards(rows.slice(1))).toBe(false)
})
