import { Either, Option } from "effect"
import { expect, test } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import type { StatementEntry } from "../../src/Partner.ts"
import { WindowReading } from "../../src/Sync/Backfill/Compare.ts"
import { beginning } from "../../src/Sync/Backfill/KnownStatement.ts"

const entryAt = (place: number): StatementEntry => ({
  entryId: `00000000-0000-4000-8000-${String(place).padStart(12, "0")}`,
  accountId: "90425140-da6a-44b3-bbc7-f1d9d2c8a903",
  type: "CREDIT",
  amount: Money.fromTrusted("1"),
  currency: "USD",
  balanceBefore: Option.none(),
  balanceAfter: Money.fromTrusted(String(place)),
  relatedResourceType: Option.none(),
  relatedResourceId: Option.none(),
  occurredAt: "2026-06-01T00:00:00.000000Z",
  extra: null,
})

const window = {
  ...{ from: "2026-06-01", to: "2026-06-01" },
  ...{ start: "2026-06-01T00:00:00.000000Z", end: "2026-06-02T00:00:00.000000Z" },
}

test("a backfill finds more older entries than a call takes arguments, each once", () => {
  const count = 150_000
  const first = { entry: entryAt(count + 1), position: 1n, held: false, gone: false }
  const reading = new WindowReading(window, { first: 1n, last: 1n }, beginning)
  const older = Array.from({ length: count }, (_, at) => entryAt(at + 1))
  reading.take(older.map(Either.right), new Map())
  reading.take(
    [older[0], older[count - 1]].flatMap((one) => (one ? [Either.right(one)] : [])),
    new Map(),
  )
  reading.take([Either.right(first.entry)], new Map([[first.entry.entryId, first]]))
  const found = reading.finish(true)
  expect(found.older).toEqual(older)
  expect(found.missing).toEqual([])
  expect(Option.isNone(found.breakAt)).toBe(true)
})
