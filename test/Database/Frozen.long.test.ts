/**
 * From version 0.1.0 on the tables only go forward: migrations that users have applied never change, and a database of that version,
 * with a row of everything, passes all later migrations. `LONG=1 FREEZE=1 npx vitest run test/Database/Frozen.long.test.ts` made the file.
 */
import { createHash } from "node:crypto"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { filled, planted, proof } from "../Proof/Filled.ts"
import { rows } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const first = fileURLToPath(new URL("frozen/0.1.0.gz", import.meta.url))

/** The digest of `drizzle/0000_tables.sql`. */
const frozen = "29d7b497dbfb6eeca9bf50f7748f81fe3e324f1bb8a1345cd43226fc229ed17e"

if (process.env.FREEZE !== undefined) {
  it.scopedLive("the first version is kept", () =>
    Effect.gen(function* () {
      yield* filled
      yield* planted
      rmSync(first, { force: true })
      yield* backup(first)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
}

/** The package's migrations and one more, which a later version could bring. */
const later = () => {
  const folder = join(temporaryFolder(), "drizzle")
  cpSync(join(root, "drizzle"), folder, { recursive: true })
  const journal = join(folder, "meta", "_journal.json")
  const known = JSON.parse(readFileSync(journal, "utf8"))
  const idx = known.entries.length
  const when = known.entries[idx - 1].when + 1
  known.entries.push({ idx, version: "7", when, tag: "9999_later", breakpoints: true })
  writeFileSync(journal, JSON.stringify(known))
  writeFileSync(
    join(folder, "9999_later.sql"),
    `alter table ledger.postings add column memo text;
    --> statement-breakpoint
    create table ledger.memos (book_id integer not null, entry_id bigint not null, primary key (book_id, entry_id));`,
  )
  return folder
}

/**
 * The file's one receivable was planted without words of its transactions, and what is archived without statement entries: neither
 * was read by the proof of the first version.
 */
const heldAsPlanted = {
  wrong: [
    "receivables: ORG: transaction tx of receivable 77777777-0000-4000-8000-000000000001 is a repayment of 2026-11-23 04:50:34.733812+00 by version 1, which does not say so",
    "archives: ORG: deposit 77777777-0000-4000-8000-000000000001 is archived, and no statement entry that is names it",
    "archives: ORG: source 8b88ad25-5f58-488a-8cb1-19ff8da9aeb0 is archived, and is neither a statement entry nor an archived movement",
  ],
}

const counted = rows("select (select count(*) from ledger.postings)::integer as postings")

describe("the tables of the first version", () => {
  it("are unchanged: every change is a migration of its own", () => {
    const text = readFileSync(join(root, "drizzle", "0000_tables.sql"))
    expect(createHash("sha256").update(text).digest("hex")).toBe(frozen)
  })

  it.scopedLive("migrate to this version with all their rows", () =>
    Effect.gen(function* () {
      yield* restore(first)
      expect(yield* proof).toMatchObject(heldAsPlanted)
      expect(yield* migrate()).toEqual([])
    }).pipe(Effect.provide(TestDatabase.blankLayer)),
  )

  it.scopedLive("migrate to a later version, after a restore or in place", () =>
    Effect.gen(function* () {
      const folder = later()
      const before = yield* Effect.gen(function* () {
        yield* restore(first)
        const held = yield* counted
        expect(yield* migrate(folder)).toEqual(["9999_later", "rules"])
        expect(yield* counted).toEqual(held)
        expect(yield* rows("select memo from ledger.postings limit 1")).toEqual([{ memo: null }])
        expect(yield* proof).toMatchObject(heldAsPlanted)
        return held
      }).pipe(Effect.provide(TestDatabase.blankLayer))
      yield* Effect.gen(function* () {
        yield* restore(first, { folder })
        expect(yield* counted).toEqual(before)
        expect(yield* rows("select memo from ledger.postings limit 1")).toEqual([{ memo: null }])
        expect(yield* proof).toMatchObject(heldAsPlanted)
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
  )
})
