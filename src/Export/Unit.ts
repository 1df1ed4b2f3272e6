/** Passes that are read together: several small books of one selection, or one book. */
import { Effect } from "effect"
import { ofBook } from "../Book/ByBook.ts"
import { Database } from "../Database.ts"
import { filesAtOnce, type IsOwn, openFolders } from "./Batch/Folder.ts"
import type { PutAside } from "./Batch/Kept/PutAside.ts"
import type { BatchPart, Shared } from "./Batch/Manifest/BatchManifest.ts"
import { publishBatch, writeFiles } from "./Batch.ts"
import type { Refusal } from "./ExportError.ts"
import { type Asked, type BookInput, readAlone, readTogether } from "./Reading.ts"
import { sizesOf } from "./Source/Held.ts"

/** A book's batches of one selection. */
export interface AskedPass extends Shared {
  readonly batches: ReadonlyArray<{
    readonly part: BatchPart
    /** Below the folder of all exports. */
    readonly place: string
    readonly path: string
  }>
}

/**
 * The most entries of a unit, which are held in memory. Five times as many would take 40 MB and a third more of garbage
 * collection.
 */
const heldAtOnce = 2_000

/** The base-currency journal and as-of exports are read book by book. */
const keyOf = ({ base, selection }: AskedPass): string | null =>
  base === undefined && selection.asOf === null ? JSON.stringify(selection) : null

/** Groups books that together have no more entries than are held at once. */
const packed = (passes: ReadonlyArray<AskedPass>, sizes: ReadonlyMap<number, number>) => {
  const large: Array<ReadonlyArray<AskedPass>> = []
  const units: Array<Array<AskedPass>> = []
  let free = 0
  for (const pass of passes) {
    const size = ofBook(sizes, pass.book.bookId)
    const last = units.at(-1)
    if (size > heldAtOnce) large.push([pass])
    else if (last === undefined || size > free) {
      units.push([pass])
      free = heldAtOnce - size
    } else {
      last.push(pass)
      free -= size
    }
  }
  return [...large, ...units]
}

/** Every pass in one unit. */
export const unitsOf = Effect.fn("Export.units")(function* (passes: ReadonlyArray<AskedPass>) {
  const alone = passes.filter((pass) => keyOf(pass) === null)
  const units: Array<ReadonlyArray<AskedPass>> = alone.map((pass) => [pass])
  const bySelection = new Map<string, Array<AskedPass>>()
  for (const pass of passes) {
    const key = keyOf(pass)
    if (key !== null) bySelection.set(key, [...(bySelection.get(key) ?? []), pass])
  }
  for (const own of bySelection.values()) {
    const [first, ...more] = own
    if (first === undefined || more.length === 0) units.push(own)
    else {
      const ids = own.map(({ book }) => book.bookId)
      units.push(...packed(own, yield* sizesOf(ids, first.selection, heldAtOnce)))
    }
  }
  return units
})

/** An as-of base-currency journal is made in temporary tables. */
const isolationOf = ({ base, selection }: Pick<AskedPass, "base" | "selection">) => ({
  isolation: "repeatable read" as const,
  readOnly: base === undefined || selection.asOf === null,
})

/** Why a book's batches of one selection are refused before anything is written; empty if they are not. */
export const refusalsOf = Effect.fn("Export.refusals")(function* (asked: Asked) {
  const database = yield* Database
  return yield* database.transaction(readAlone(asked), isolationOf(asked)).pipe(
    Effect.as<ReadonlyArray<Refusal>>([]),
    Effect.catchIf(
      (error) => error._tag === "ExportError",
      ({ refusals = [] }) => Effect.succeed(refusals),
    ),
  )
})

const askedOf = ({ batches, ...shared }: AskedPass): Asked => ({
  ...shared,
  formats: batches.flatMap(({ part }) => part.formats),
})

/**
 * Writes the batches of a unit from one repeatable-read snapshot, each into its own folder, which is removed with the scope
 * unless it is kept. `aside`: where the blocks of its files wait to be kept in the database. `ownBy`: by book.
 */
export const writeUnit = Effect.fn("Export.writeUnit")(function* (
  unit: ReadonlyArray<AskedPass>,
  aside: PutAside | undefined,
  ownBy: ReadonlyMap<number, IsOwn>,
) {
  const database = yield* Database
  const [first, ...more] = unit
  if (first === undefined) return []
  const opened = yield* Effect.forEach(
    unit,
    (pass) =>
      Effect.map(
        openFolders(
          pass.batches.map(({ path }) => path),
          aside,
          ownBy.get(pass.book.bookId),
        ),
        (folders) => ({
          ...pass,
          batches: pass.batches.flatMap((batch, at) => {
            const folder = folders[at]
            return folder === undefined ? [] : [{ ...batch, folder }]
          }),
        }),
      ),
    { concurrency: filesAtOnce },
  )
  const cleared = Effect.forEach(opened, ({ batches }) =>
    Effect.forEach(batches, ({ folder }) => folder.clear),
  )
  const writeEach = (inputs: ReadonlyMap<number, BookInput>) =>
    Effect.forEach(
      opened,
      ({ batches, ...shared }) =>
        Effect.map(writeFiles(shared, ofBook(inputs, shared.book.bookId), batches), (made) =>
          made.map((written, at) => ({
            ...{ bookId: shared.book.bookId, place: batches[at]?.place ?? written.folder.path, written },
          })),
        ),
      { concurrency: filesAtOnce },
    )
  const written =
    more.length === 0
      ? yield* database.transaction(
          Effect.flatMap(Effect.zipRight(cleared, readAlone(askedOf(first))), (input) =>
            writeEach(new Map([[first.book.bookId, input]])),
          ),
          isolationOf(first),
        )
      : yield* Effect.flatMap(
          database.transaction(readTogether(unit.map(askedOf), first.selection), isolationOf(first)),
          writeEach,
        )
  const made = written.flat()
  yield* Effect.forEach(made, ({ written: batch }) => publishBatch(batch), {
    concurrency: filesAtOnce,
    discard: true,
  })
  return made
})
