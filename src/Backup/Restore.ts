/** Loads a backup into an empty database, in one transaction: all of it is there, or nothing. */
import { Effect, Stream } from "effect"
import { inStage } from "../Common/Progress.ts"
import { count, counted } from "../Common/Text.ts"
import { bool } from "../Database/Columns.ts"
import { type DatabaseError, goesOn } from "../Database/DatabaseError.ts"
import { sequencesSetBack } from "../Database/GivenNumbers.ts"
import { refuseReadOnly } from "../Database/MayWrite.ts"
import { type MigrateOptions, migrate, migrateTo } from "../Database/Migrate.ts"
import { readPartitions } from "../Database/Migrations/Partitions.ts"
import { Database } from "../Database.ts"
import { backupError } from "./BackupError.ts"
import type { Content, Header } from "./BackupFile.ts"
import { migrationsOf, shapeOf, type TableShape, tablesOf } from "./Catalog.ts"
import { type CheckedBackup, parts, readBack } from "./ReadBack.ts"

export interface Restored extends Content {
  readonly file: string
  /** The time of the snapshot that the backup holds, ISO 8601. */
  readonly createdAt: string
}

const otherVersion = ({ createdAt, version }: Header) =>
  backupError(
    "OtherVersion",
    `The backup of ${createdAt} was made by Tieout ${version}, whose tables this version does not know. Restore it with that version or a newer one.`,
  )

/** What the database holds that a restore would replace; null: nothing. */
const heldBy = Effect.fn("Backup.heldBy")(function* () {
  const database = yield* Database
  const { books, rates } = yield* database.row(
    "Backup.heldBy",
    { books: bool, rates: bool },
    (sql) => sql`
      select exists (select 1 from mirror.books) or exists (select 1 from sync.runs) or exists (select 1 from webhook.inbox)
        as books, exists (select 1 from valuation.rates) as rates`,
  )
  if (books) return "books"
  // They may be imported before the first sync.
  return rates ? "exchange rates" : null
})

const mustBeEmpty = Effect.fn("Backup.mustBeEmpty")(function* () {
  const held = yield* heldBy()
  if (held === null) return
  // One that was stopped while it proved the rows has loaded all of them.
  const before =
    held === "books"
      ? " If they are those of a restore that was stopped, all of it is there: prove it by tieout verify --database."
      : ""
  return yield* backupError(
    "Usage",
    `The database holds ${held} already, and a backup is restored into an empty one alone. Name another by DATABASE_URL or TIEOUT_DATA_DIR.${before}`,
  )
})

/** Of a database that has tables, such as those of a restore that was stopped before it loaded anything. */
const mustFit = Effect.fn("Backup.mustFit")(function* (asked: number | undefined) {
  yield* mustBeEmpty()
  const partitions = yield* readPartitions()
  if (asked === undefined || partitions === asked) return
  return yield* backupError(
    "Usage",
    `The database is empty, but its tables have ${counted(partitions, "partition")} already, not ${asked}. Name one that nothing has prepared by DATABASE_URL or TIEOUT_DATA_DIR, or leave out --partitions.`,
  )
})

const insertOf = ({ columns, name }: TableShape): string => {
  const value = ({ type }: { readonly type: string }, at: number) =>
    type === "bytea" ? `decode(r ->> ${at}, 'base64')` : `(r ->> ${at})::${type}`
  return `insert into ${name} (${columns.map((column) => column.name).join(", ")}) overriding system value
    select ${columns.map(value).join(", ")} from json_array_elements($1::text::json) r`
}

/** Part of the caller's transaction: inserts the rows of every table, with the rules' triggers switched off. */
const load = Effect.fn("Backup.load")(function* (path: string, header: Header, rows: number) {
  const database = yield* Database
  const tables = yield* tablesOf()
  const run = (statement: string) => database.execute("Backup.load", (sql) => sql.unsafe(statement))
  for (const { name } of tables) yield* run(`alter table ${name} disable trigger user`)
  // Once more: this waited for everybody who was writing, and nobody else begins.
  yield* mustBeEmpty()
  // Rows that the rules insert themselves, such as currencies, come from the backup.
  for (const { name } of [...tables].reverse()) yield* run(`delete from ${name}`)
  let insert = ""
  let loading = ""
  let loaded = 0
  yield* Stream.runForEach(parts(path), (part) =>
    Effect.gen(function* () {
      if (part.kind === "table") {
        const shape = shapeOf(tables, part)
        if (shape === undefined) return yield* otherVersion(header)
        insert = insertOf(shape)
        loading = part.table
      }
      if (part.kind === "rows") {
        const values = `[${part.rows.join(",")}]`
        loaded += yield* database.execute("Backup.load", (sql) => sql.unsafe(insert, [values]))
      }
    }),
  ).pipe(inStage("restore", () => `${loading}, ${count(loaded)} of ${count(rows)} rows`))
  for (const { last, name } of header.sequences) {
    yield* database.execute(
      "Backup.load.sequence",
      (sql) => sql`select setval(${name}::text::regclass, ${last}::text::bigint)`,
    )
  }
  // Who made the backup may not have seen them.
  yield* run(`select setval(s.name::regclass, s.highest) from (${sequencesSetBack}) s`)
  // Keeps a process from writing that held a lease when the backup was made and now finds this database at its address.
  yield* run("update sync.leases set epoch = epoch + 1")
  for (const { name } of tables) yield* run(`alter table ${name} enable trigger user`)
  yield* run(`analyze ${tables.map(({ name }) => name).join(", ")}`)
  return loaded
})

/** Migrations that the database has applied already; none in a new one. */
const preparedBy = Effect.gen(function* () {
  const database = yield* Database
  const { prepared } = yield* database.row(
    "Backup.isPrepared",
    { prepared: bool },
    (sql) => sql`select to_regclass('drizzle.__drizzle_migrations') is not null as prepared`,
  )
  return prepared ? yield* migrationsOf() : []
})

/** What follows the load: where it is cut short, the same restore would be refused. */
export const onceLoaded = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | DatabaseError, R> =>
  work.pipe(
    Effect.onError(() =>
      Effect.logWarning(
        "The whole backup is loaded, but not proved: run tieout verify --database instead of restoring it again.",
      ),
    ),
    Effect.mapError(goesOn("the whole backup is loaded, run tieout verify --database")),
  )

/**
 * Needs the rights of the tables' owner, whose rules it switches off meanwhile. The database must hold no books and no rates; a new one gets the
 * tables that the backup was made of, then those of this version. Then its rules follow.
 */
export const restoreChecked = Effect.fn("Backup.restoreChecked")(function* (
  path: string,
  { content, header }: CheckedBackup,
  options: MigrateOptions,
) {
  const database = yield* Database
  const prepared = yield* preparedBy
  if (prepared.length > header.migrations.length) {
    return yield* backupError(
      "Usage",
      `The backup of ${header.createdAt} was made by Tieout ${header.version}, and the database has this version's tables already. Name one that nothing has prepared by DATABASE_URL or TIEOUT_DATA_DIR.`,
    )
  }
  if (prepared.length > 0) yield* mustFit(options.partitions)
  yield* refuseReadOnly("Backup.restore")
  if (!(yield* migrateTo(header.migrations, options))) return yield* otherVersion(header)
  yield* database.transaction(
    Effect.gen(function* () {
      // Before anything is locked: somebody may be at work here.
      yield* mustBeEmpty()
      const loaded = yield* load(path, header, content.rows)
      if (loaded !== content.rows)
        return yield* backupError("Damaged", `${path} has changed while it was read. Nothing was restored.`)
    }),
  )
  yield* onceLoaded(migrate(options.folder, options.partitions))
  return { file: path, createdAt: header.createdAt, ...content } satisfies Restored
})

/** The same, from a file that is checked first. */
export const restore = (path: string, options: MigrateOptions = {}) =>
  Effect.flatMap(readBack(path), (checked) => restoreChecked(path, checked, options))
