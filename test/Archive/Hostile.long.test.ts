import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { readBack } from "../../src/Backup/ReadBack.ts"
import { DatabaseError } from "../../src/Database/DatabaseError.ts"
import { reopening } from "../Close/Months.ts"
import { proof } from "../Proof/Filled.ts"
import { rows } from "../Sync/Runs.ts"
import { messageOf } from "../support/messageOf.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving, closedYears, committed, exported, rates, reported } from "./Years.ts"

const refused = (statement: string) =>
  Effect.catchAllDefect(Effect.as(rows(statement), "done"), (defect) =>
    defect instanceof DatabaseError ? Effect.succeed(defect.sqlstate) : Effect.die(defect),
  )

const sha = `'${"0".repeat(64)}'`

const archiveYear = (digest: string, year = 2024) =>
  `select ledger.archive_year(1, ${year}, ${digest}, 'f.gz', ${sha}, now(), 'me', 'me')`

describe("the database", () => {
  it.scopedLive(
    "lets nothing leave but by the archiving of its owner, of closed years, as the dump has them",
    () =>
      Effect.gen(function* () {
        yield* closedYears
        const whole = yield* rows("select count(*)::integer as n from ledger.postings")
        expect(yield* refused(archiveYear(sha))).toBe("TO014")
        expect(yield* refused(archiveYear("null"))).toBe("TO014")
        expect(yield* refused(archiveYear("ledger.archive_digest(1, 2026)", 2026))).toBe("TO014")
        expect(yield* refused("delete from ledger.postings")).toBe("TO004")
        expect(yield* refused("delete from ledger.journal_numbers where number > 3")).toBe("TO004")
        expect(yield* refused("delete from mirror.resources")).toBe("TO004")
        expect(yield* refused("delete from ledger.closes")).toBe("TO004")
        // Naming the function in a statement, or a function of that name elsewhere, allows nothing.
        expect(
          yield* refused(`create schema other;
          create function other.archive_year(integer) returns void language plpgsql as
            $$ begin delete from ledger.postings where book_id = $1; end $$;
          select other.archive_year(1)`),
        ).toBe("TO004")
        expect(
          yield* refused(`insert into ledger.archives (book_id, year, through, file, digest, taken_at, rows_digest, rows,
          through_numbering, known_from, who, os_user) values (1, 2024, '2024-12-01', 'f', ${sha}, now(), ${sha}, '{}', 1, now(), 'a', 'b')`),
        ).toBe("TO004")
        expect(
          yield* refused(
            "insert into ledger.archived_sources (book_id, year, source_id) select 1, 2024, entry_id from mirror.statement_entries",
          ),
        ).toBe("TO004")
        // The runtime role may not archive, even with the right digest.
        expect(
          yield* refused(
            `grant usage on schema ledger, mirror to tieout_runtime; set local role tieout_runtime; ${archiveYear(sha)}`,
          ),
        ).toBe("42501")
        expect(yield* rows("select count(*)::integer as n from ledger.postings")).toEqual(whole)

        yield* archiving(2024)
        expect(yield* refused("delete from ledger.archives")).toBe("TO004")
        expect(yield* refused("update ledger.archives set digest = rows_digest")).toBe("TO004")
        expect(yield* refused("delete from ledger.archived_sources")).toBe("TO004")
        expect(yield* refused("truncate export.archived_totals")).toBe("TO004")
        expect(yield* refused(archiveYear("ledger.archive_digest(1, 2024)"))).toBe("TO014")
        // An archived entry is not booked a second time.
        expect(
          yield* refused(`with header as (
            insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, effective_date, occurred_at,
              late_for, line_count, partner_account_id, position, description)
            select 1, 999999, 'statement_entry', s.entry_id, 'deposit', 0, '2026-03-01', s.occurred_at, '2024-03-01', 2, s.account_id,
              s.position, 'x' from mirror.statement_entries s where s.position = 1)
          insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
          select 1, 999999, l, case l when 1 then c.account_id else d.account_id end, 'USD', case l when 1 then 100 else -100 end
          from generate_series(1, 2) l, (select account_id from ledger.accounts where role = 'cash') c,
            (select account_id from ledger.accounts where role = 'deposits_clearing') d`),
        ).toBe("TO014")
        expect(yield* proof).toMatchObject({ wrong: [] })
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("removes nothing where a year is open, and says what prevents it", () =>
    Effect.gen(function* () {
      yield* closedYears
      const tried = yield* archiving(2026)
      expect(tried).toMatchObject({
        dump: null,
        books: [
          { state: "refused", refusals: ["is closed through 2026-02, not 2026-12", "has 2026-10 open"] },
        ],
      })
      const careful = yield* archiving(2024, { neverValued: false })
      expect(careful.books[0]).toMatchObject({ state: "refused" })
      expect(careful.books[0]?.refusals[0]).toContain(
        "value it first (tieout report 2024-12 --base --book ORG)",
      )
      expect(yield* rows("select count(*)::integer as n from ledger.archives")).toEqual([{ n: 0 }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("names months that are in the way in their order, also where they were reopened", () =>
    Effect.gen(function* () {
      yield* closedYears
      yield* Effect.forEach(["2026-02", "2025-06", "2025-01"], (month) => reopening(month))
      yield* rows("analyze ledger.periods")
      const months = ["2025-01", "2025-06", "2026-02", "2026-10"]
      expect((yield* archiving(2026)).books[0]?.refusals).toEqual([
        "is closed through 2024-12, not 2026-12",
        ...months.map((month) => `has ${month} open`),
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("says of an open month of a valued book once what is in the way", () =>
    Effect.gen(function* () {
      yield* closedYears
      yield* rates
      yield* committed({ kind: "all" }, true)
      expect((yield* archiving(2026, { neverValued: false })).books[0]).toMatchObject({
        refusals: ["is closed through 2026-02, not 2026-12", "has 2026-10 open"],
      })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("answers requests for archived entries with the name of their file", () =>
    Effect.gen(function* () {
      yield* closedYears
      const file = join(temporaryFolder(), "tieout-2024.gz")
      const done = yield* archiving(2024, { file })
      const where = `tieout-2024.gz (SHA-256 ${done.dump?.sha256})`
      for (const asked of [
        messageOf(exported("2024-03-01", "2024-03-31")),
        messageOf(exported("2024-12-15", "2025-01-31")),
        messageOf(committed({ kind: "all" })),
        messageOf(committed({ kind: "since-last" })),
        messageOf(reported("2024-06")),
      ])
        expect(yield* asked).toContain(where)
      expect(yield* messageOf(committed({ kind: "since-last" }))).toContain(
        "What --since-last has of ORG reaches into what is archived, through 2024-12-31",
      )
      const { url } = yield* TestDatabase
      const { out } = yield* (yield* program).run(["items", "1020"], {
        DATABASE_URL: url,
        TIEOUT_LOG_LEVEL: "none",
      })
      expect(out.split("\n").filter((line) => line.includes("the whole month"))).toEqual([
        expect.stringMatching(/^2024-03 +the whole month \(archived\) +-100\.00$/),
        expect.stringMatching(/^2024-12 +the whole month \(archived\) +-50\.00$/),
        expect.stringMatching(/^2025-01 +the whole month \(--period lists it\) +20\.00$/),
        expect.stringMatching(/^2026-02 +the whole month \(--period lists it\) +-10\.00$/),
      ])
      // A format that begins with the remaining entries continues from there.
      yield* committed({ kind: "range", from: "2025-01-01", to: "2026-01-31" })
      const next = yield* committed({ kind: "since-last" })
      expect(next.batches.map(({ manifest }) => manifest.scope.text)).toEqual(["since-0"])
      expect(yield* messageOf(reopening("2024-12"))).toContain("2024-12 is archived and stays closed")
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("keeps the last closed month closed once it is archived", () =>
    Effect.gen(function* () {
      yield* closedYears
      for (const month of ["2026-02", "2025-06", "2025-01"]) yield* reopening(month)
      const done = yield* archiving(2024)
      expect(done.books[0]?.state).toBe("archived")
      expect(yield* messageOf(reopening("2024-12"))).toContain("2024-12 is archived and stays closed")
      expect(yield* refused("update ledger.periods set status = 'open' where period = '2024-12-01'")).toBe(
        "TO014",
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

describe("a dump", () => {
  it.scopedLive("that lacks a row, or has another, is no archive", () =>
    Effect.gen(function* () {
      yield* closedYears
      const file = join(temporaryFolder(), "tieout-2024.gz")
      yield* archiving(2024, { file })
      const tables = (header: {
        readonly archive?: { readonly tables: ReadonlyArray<{ readonly table: string }> }
      }) => header.archive?.tables.map(({ table }) => table) ?? []
      const { digests, header } = yield* readBack(file, tables)
      expect(digests).toEqual(expect.arrayContaining([...(header.archive?.tables ?? [])]))
      expect(digests).toHaveLength(7)
      const lines = gunzipSync(readFileSync(file)).toString("utf8").split("\n")
      const other = lines.map((line) => line.replace('"995.00"', '"996.00"').replace('"100.00"', '"101.00"'))
      writeFileSync(file, gzipSync(other.join("\n")))
      expect(yield* messageOf(readBack(file, tables))).toContain("another content than its checksum says")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
