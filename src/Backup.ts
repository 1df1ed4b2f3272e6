/**
 * A backup of the whole database: a logical dump of our own, of one snapshot, with a checksum. It needs no program of the
 * server's version, and can be restored into any Postgres that Tieout runs on. Reads alone: a standby and a role that may only
 * read are enough.
 */
import { existsSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, resolve } from "node:path"
import { Chunk, Effect, Exit, Stream } from "effect"
import type { ArchiveHeader } from "./Backup/ArchiveHeader.ts"
import { BackupError, backupError, beingWritten, isThere, unwritten } from "./Backup/BackupError.ts"
import { type BackupWriter, type Content, openBackup } from "./Backup/BackupFile.ts"
import { lineOf, migrationsOf, sequencesOf, type TableShape, tablesOf } from "./Backup/Catalog.ts"
import { firstOf } from "./Common/Effects/FirstOf.ts"
import { productVersion } from "./Common/Package.ts"
import { inStage } from "./Common/Progress.ts"
import { counted } from "./Common/Text.ts"
import { text } from "./Database/Columns.ts"
import { Database } from "./Database.ts"

export interface Backup extends Content {
  readonly file: string
  /** Of the file, compressed. */
  readonly bytes: number
  /** The snapshot's time, ISO 8601. */
  readonly createdAt: string
}

const writing = <A>(path: string, write: () => Promise<A>) =>
  Effect.tryPromise({
    try: write,
    catch: (cause) => (cause instanceof BackupError ? cause : unwritten(path, cause)),
  })

const writeTable = Effect.fn("Backup.table")(function* (
  path: string,
  writer: BackupWriter,
  shape: TableShape,
) {
  const database = yield* Database
  let written = 0
  yield* writing(path, () => writer.table(shape.name, shape.columns))
  yield* database
    .rowStream("Backup.rows", { line: text }, (sql) =>
      sql.unsafe(`select ${lineOf(shape)} as line from ${shape.name}`),
    )
    .pipe(
      Stream.runForEachChunk((rows) => {
        written += rows.length
        return writing(path, () => writer.rows(Chunk.toReadonlyArray(rows).map(({ line }) => line)))
      }),
      inStage("backup", () => `${shape.name}, ${counted(written, "row")}`),
    )
  yield* writing(path, () => writer.tableEnd())
})

/** Part of the caller's transaction, which is one snapshot. */
const writeAll = Effect.fn("Backup.write")(function* (
  path: string,
  writer: BackupWriter,
  archive: ArchiveHeader | undefined,
) {
  const database = yield* Database
  const { at } = yield* database.row(
    "Backup.time",
    { at: text },
    (sql) => sql`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  )
  const header = {
    tieout: "backup" as const,
    format: 1 as const,
    version: productVersion(),
    createdAt: at,
    migrations: yield* migrationsOf(),
    sequences: yield* sequencesOf(),
    ...(archive === undefined ? {} : { archive }),
  }
  yield* writing(path, () => writer.header(header))
  for (const table of yield* tablesOf()) yield* writeTable(path, writer, table)
  return at
})

/** Another backup to the same file would take this one's beginning for what a killed one left. */
const alone = Effect.fn("Backup.alone")(function* (path: string) {
  const database = yield* Database
  const lock = `backup ${hostname()} ${resolve(path)}`
  return yield* Effect.catchTag(database.tryLocksOfReader({ lock, shared: false }), "LockBusy", () =>
    beingWritten(path),
  )
})

/**
 * Writes the file; fails where it is there already. Anybody may go on working meanwhile. `first` looks, in the same snapshot, at
 * what an archive's dump says of itself.
 */
export const backupWith = Effect.fn("Backup.backup")(function* <E, R>(
  path: string,
  first: Effect.Effect<ArchiveHeader | undefined, E, R>,
  readOnly: boolean,
) {
  const database = yield* Database
  if (existsSync(path)) return yield* isThere(path)
  if (!existsSync(dirname(path))) {
    return yield* backupError("Usage", `There is no folder ${dirname(path)}: make it, or name another file.`)
  }
  const { lost } = yield* alone(path)
  let opened: BackupWriter | undefined
  const abandon = Effect.promise(async () => opened?.abandon())
  /** The transaction is run again after a conflict, as with the recovery of a standby: the file is begun anew each time. */
  const begin = Effect.zipRight(
    abandon,
    Effect.tap(
      writing(path, () => openBackup(path)),
      (writer) =>
        Effect.sync(() => {
          opened = writer
        }),
    ),
  ).pipe(Effect.uninterruptible)
  const made = Effect.gen(function* () {
    const { createdAt, writer } = yield* database.transaction(
      Effect.gen(function* () {
        const begun = yield* begin
        return { writer: begun, createdAt: yield* writeAll(path, begun, yield* first) }
      }),
      { isolation: "repeatable read", readOnly },
    )
    const content = yield* writing(path, () => writer.finish())
    return { file: path, createdAt, ...content } satisfies Backup
  }).pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : abandon)))
  return yield* firstOf(made, lost)
}, Effect.scoped)

export const backup = (path: string) => backupWith(path, Effect.succeed(undefined), true)
