/** Every committed batch: its manifest, its place in the chain, its totals against the ledger, and the bytes of its files. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { bool, int4, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { batchDifferences } from "../Export/Batch/Kept/Committed.ts"
import { keptBlock } from "../Export/Batch/Kept/KeptFiles.ts"
import { findBatch, type KnownBatch } from "../Export/Batch/Kept/KnownBatch.ts"
import { sha256Of } from "../Export/Batch/Manifest/ManifestSeal.ts"
import { manifestHash } from "../Export/Request/Lineage.ts"
import type { Wrong } from "./ProofQuery.ts"
import { provable } from "./Provable.ts"

const damaged = "damaged"

/** By the file's name, whether all its blocks are there. */
const keptFiles = Effect.fn("Proof.batches.kept")(function* ({ batch, book: { bookId } }: KnownBatch) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Proof.batches.kept",
    { name: text, whole: bool },
    (sql) => sql`
      select f.name, count(*) = max(f.chunk) as whole from export.batch_files f
      where f.book_id = ${bookId} and f.batch = ${batch} group by f.name`,
  )
  return new Map(rows.map(({ name, whole }) => [name, whole]))
})

/** What is wrong with the stored bytes of a file. A batch without stored bytes is only in its folder and is not checked. */
const fileProblem = Effect.fn("Proof.batches.file")(function* (
  { batch, book: { bookId } }: KnownBatch,
  { bytes, name, sha256 }: KnownBatch["manifest"]["files"][number],
  kept: ReadonlyMap<string, boolean>,
) {
  if (kept.size === 0 || bytes === 0) return null
  const isWhole = kept.get(name)
  if (isWhole === undefined) return `the database keeps other files of it, and not ${name}`
  if (!isWhole) return `a block of the kept bytes of ${name} is missing`
  const hash = createHash("sha256")
  for (let chunk = 1; ; chunk++) {
    const block = yield* keptBlock(bookId, batch, name, chunk).pipe(
      Effect.catchAllDefect(() => Effect.succeed(damaged)),
    )
    if (block === undefined) break
    if (block === damaged) return `the kept bytes of ${name} cannot be expanded`
    hash.update(block)
  }
  const found = hash.digest("hex")
  return found === sha256 ? null : `${name} has SHA-256 ${found} in the database; ${sha256} was exported`
})

const listedColumns = { book: text, batch: int4, sha256: text }

/** A batch without what its manifest says. */
type Listed = RowOf<typeof listedColumns>

const batchProblems = Effect.fn("Proof.batches.one")(function* (
  { batch, book }: Listed,
  previous: Listed | null,
) {
  const known = yield* findBatch(`${book}/${batch}`)
  const { manifest, sha256 } = known
  const problems: Array<string> = []
  if (sha256Of(known.text) !== sha256) problems.push("its manifest is not the one that was committed")
  const stated = manifest.lineage?.previous
  if (manifest.lineage !== undefined && (stated?.manifestSha256 ?? null) !== (previous?.sha256 ?? null)) {
    problems.push(
      `does not follow batch ${batch - 1}: it names ${stated?.manifestSha256 ?? "none"}, that one is ${previous?.sha256 ?? "not there"}`,
    )
  }
  const kept = yield* keptFiles(known)
  for (const file of manifest.files) {
    const problem = yield* fileProblem(known, file, kept)
    if (problem !== null) problems.push(problem)
  }
  for (const difference of (yield* batchDifferences(known.book.bookId, batch)) ?? []) {
    const { currency, exported, figure, ledger } = difference
    problems.push(
      `${figure} of ${currency}: ${exported ?? "nothing"} was exported, the books have ${ledger ?? "nothing"}`,
    )
  }
  return problems
})

export const batches = Effect.fn("Proof.batches")(function* () {
  const database = yield* Database
  const wrong: Array<Wrong> = []
  const listed = yield* database.rows(
    "Proof.batches",
    listedColumns,
    (sql) => sql`
      select k.code as book, b.batch, ${manifestHash(sql)} as sha256
      from export.batches b join mirror.books k on k.book_id = b.book_id order by k.code, b.batch`,
  )
  let previous: Listed | null = null
  for (const one of listed) {
    const before: Listed | null = previous?.book === one.book ? previous : null
    const problems = yield* provable(batchProblems(one, before), (why) => [`cannot be proved: ${why}`])
    for (const message of problems) wrong.push({ book: one.book, row: `batch ${one.batch}`, message })
    previous = one
  }
  return { count: listed.length, wrong }
})
