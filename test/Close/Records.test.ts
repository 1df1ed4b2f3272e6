/** What is kept of a close or a reopening (who, when, why, what was accepted) has a hash, chained to the record before. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { approve } from "../../src/Close/Approval.ts"
import * as Proof from "../../src/Proof/ClosesProof.ts"
import { Settings } from "../../src/Settings.ts"
import { reporting, textOf } from "../Report/Reports.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { closing, reopening, threeMonths } from "./Months.ts"

const wrong = Proof.closes().pipe(
  Effect.provide(Settings.from({ variables: {} })),
  Effect.map(({ wrong }) => wrong.map(({ message, row }) => `${row} ${message}`)),
)

const kept = Effect.map(rows("select record_hash as hash from ledger.closes order by sequence"), (found) =>
  found.map(({ hash }) => String(hash)),
)

const altered = (what: string) =>
  `is not what was written: who, when, why or what was accepted${what} is another than its hash says`

const hashedAnew = `update ledger.closes c
  set record_hash = (select r.hash from ledger.record_hashes(c.book_id) r where r.sequence = c.sequence) where c.sequence = 3`

const exceptions = `'[{"id": "F1", "what": "a difference", "reason": "fine"}]'`

layer(TestDatabase.layer, { excludeTestServices: true })("the record of a close", (it) => {
  it.scoped("is hashed with the record before it, in the report as well", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      yield* reopening("2026-08")
      yield* closing("2026-08")
      yield* closing("2026-09")
      const hashes = yield* kept
      expect(hashes.filter((hash) => /^[0-9a-f]{64}$/.test(hash))).toHaveLength(4)
      expect(new Set(hashes).size).toBe(4)
      expect(yield* wrong).toEqual([])
      const { folder } = yield* reporting("2026-09", temporaryFolder())
      expect(textOf(folder, "report.html")).toContain(hashes[3])
      expect(JSON.parse(textOf(folder, "manifest.json"))).toMatchObject({ close: { recordHash: hashes[3] } })
    }),
  )

  it.effect("is proved, and each that was altered is named, a reopening too", () =>
    Effect.gen(function* () {
      for (const change of ["reason = 'none'", "who = 'Eve'", "at = at + interval '1 s'"]) {
        const [column = ""] = change.split(" ")
        yield* unruled(
          `create temporary table if not exists before as select * from ledger.closes; update ledger.closes set ${change} where sequence = 2`,
        )
        expect(yield* wrong, change).toEqual([`close 2 ${altered("")}`])
        yield* unruled(
          `update ledger.closes c set ${column} = b.${column} from before b where b.sequence = c.sequence`,
        )
      }
      expect(yield* wrong).toEqual([])
    }),
  )

  it.effect("has the database's hash, whatever a statement says", () =>
    Effect.gen(function* () {
      const columns =
        "(book_id, sequence, period, action, hash, previous_hash, entries, who, reason, accepted"
      const [own] = yield* rows(`
        with opened as (update ledger.periods set status = 'open' where period = '2026-09-01' returning book_id)
        insert into ledger.closes ${columns}, record_hash)
        select c.book_id, 5, c.period, 'reopen', null, c.hash, 0, 'controller', 'why', '[]', repeat('0', 64)
        from ledger.closes c join opened using (book_id) where c.sequence = 4
        returning record_hash as hash`)
      expect(own?.hash).toMatch(/^(?!0{64})[0-9a-f]{64}$/)
      expect(yield* wrong).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("records of earlier versions", (it) => {
  it.scoped("have no hash, and are covered by the first that has one", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      yield* unruled("update ledger.closes set record_hash = null")
      // Of a version that had no hashes of records: the approval signs the close alone.
      yield* approve({ period: "2026-08", book: Option.none(), name: "Ada", twoPersons: false })
      yield* closing("2026-09")
      expect(yield* wrong).toEqual([])
      yield* unruled("update ledger.closes set who = 'Eve' where sequence = 1")
      expect(yield* wrong).toEqual([`close 2 ${altered(", or one before it,")}`])
      yield* unruled("update ledger.closes set who = 'controller' where sequence = 1")
    }),
  )

  it.effect("are not missed where the hash of a later one is taken away", () =>
    Effect.gen(function* () {
      yield* closing("2026-10")
      yield* unruled("update ledger.closes set record_hash = null where sequence = 3")
      expect(yield* wrong).toEqual([`close 3 ${altered("")}`])
      yield* unruled(hashedAnew)
      expect(yield* wrong).toEqual([])
    }),
  )

  it.effect("what was accepted is signed with an approval, whoever computes the record's hash anew", () =>
    Effect.gen(function* () {
      yield* approve({ period: "2026-10", book: Option.none(), name: "Ada", twoPersons: false })
      expect(yield* wrong).toEqual([])
      yield* unruled(`update ledger.closes set accepted = ${exceptions} where sequence = 3; ${hashedAnew}`)
      expect(yield* wrong).toEqual([
        "approval of close 3 is not what was signed: its hash, or that of the close, is another one",
      ])
    }),
  )
})
