/** A bank statement's days are the service's: a month has them also where the books date all of its entries to another one. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { closing, movement } from "../Close/Months.ts"
import { partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const exportingDays = (formats: ReadonlyArray<string>, scope: ExportScope) =>
  Export.run({
    ...{ formats, scope, perFormat: true },
    ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
  })

const exporting = (formats: ReadonlyArray<string>, period: string) =>
  exportingDays(formats, { kind: "period", period })

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a closed month whose only entry came late",
  (it) => {
    it.scoped("has its bank statement, and nothing else", () =>
      Effect.gen(function* () {
        const [first, second] = [
          movement(11, "100.00", "100.00", "2026-08-10"),
          movement(12, "25.00", "125.00", "2026-10-05"),
        ]
        const { held, service } = yield* partnership({
          balance: "125.00",
          statement: [first.entry, second.entry],
          deposits: [first.deposit, second.deposit],
        })
        yield* sync(service.url)
        for (const month of ["2026-08", "2026-09"]) yield* closing(month)
        const none = yield* Effect.flip(exporting(["camt.053"], "2026-09"))
        expect(none.message).toBe("2026-09 has no entries in ORG. Nothing was written.")
        const late = movement(13, "50.00", "175.00", "2026-09-15")
        held.statement.push({ ...late.entry, occurredAt: "2026-09-15T00:00:00Z" })
        held.deposits.push(late.deposit)
        held.balance = "175.00"
        yield* sync(service.url)
        for (const formats of [["camt.053"], ["journal", "camt.053"]]) {
          const { batches, empty } = yield* exporting(formats, "2026-09")
          expect(batches.map(({ manifest }) => manifest.formats)).toEqual([["camt.053"]])
          expect(empty).toEqual([])
          const { folder, manifest } = batches[0] ?? expect.fail("no batch")
          expect((yield* Verify.run(folder)).problems).toEqual([])
          const xml = readFileSync(join(folder, manifest.files[0]?.name ?? ""), "utf8")
          expect(xml.match(/<BookgDt><Dt>[^<]*/g)).toEqual(["<BookgDt><Dt>2026-09-15"])
        }
        // Its day begins with it: days through that one have it, and days through the one before do not.
        const through = (to: string) => exportingDays(["camt.053"], { kind: "range", from: "2026-09-01", to })
        expect((yield* through("2026-09-15")).batches.map(({ manifest }) => manifest.entries)).toEqual([1])
        expect((yield* Effect.flip(through("2026-09-14"))).message).toBe(
          "2026-09-01_2026-09-14 has no entries in ORG. Nothing was written.",
        )
        const journal = yield* Effect.flip(exporting(["journal"], "2026-09"))
        expect(journal.message).toBe("2026-09 has no entries in ORG. Nothing was written.")
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("an account whose chain is broken", (it) => {
  it.scoped("has the bank statements of the days before the break, and of no day from it on", () =>
    Effect.gen(function* () {
      const booked = [
        movement(11, "100.00", "100.00", "2026-08-10"),
        movement(12, "25.00", "125.00", "2026-08-20"),
      ]
      // What it continues is not there: it is held, on a day that has a booked entry as well.
      const held = movement(13, "5.00", "230.00", "2026-08-20")
      const { service } = yield* partnership({
        balance: "230.00",
        statement: [...booked, held].map(({ entry }) => entry),
        deposits: [...booked, held].map(({ deposit }) => deposit),
      })
      yield* sync(service.url)
      const { batches } = yield* exporting(["camt.053"], "2026-08")
      const { folder, manifest } = batches[0] ?? expect.fail("no batch")
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const xml = readFileSync(join(folder, manifest.files[0]?.name ?? ""), "utf8")
      expect(xml.match(/<BookgDt><Dt>[^<]*/g)).toEqual(["<BookgDt><Dt>2026-08-10"])
    }),
  )
})
