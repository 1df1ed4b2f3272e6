/** The tables and sequences of our schemas, as the database has them. */
import { Effect, Schema } from "effect"
import { arrayOf, jsonOf, nullable, text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { Columns } from "./BackupFile.ts"

const schemas = ["export", "ledger", "mirror", "reconcile", "sync", "valuation", "webhook"]

/**
 * Tables that only concern the processes running on this database: the service's token and pace, and the work handed to
 * workers, whose queue is not in a backup either. Processes on a restored database make these rows anew; the events themselves
 * are in the inbox.
 */
export const leftOut = ["sync.book_events", "sync.book_jobs", "sync.paces", "sync.tokens"]

export interface TableShape {
  /** Qualified and quoted: `mirror.books`. */
  readonly name: string
  /** Without those that the database computes; names are quoted. */
  readonly columns: Columns
}

const textOf = ({ name, type }: TableShape["columns"][number]): string =>
  type === "bytea" ? `translate(encode(${name}, 'base64'), E'\\n', '')` : `${name}::text`

/** A row as a backup has it, as an SQL expression: a JSON array of texts and nulls. */
export const lineOf = ({ columns }: TableShape): string =>
  `json_build_array(${columns.map(textOf).join(", ")})::text`

/** Every table after those that it refers to. */
const inOrder = (
  tables: ReadonlyArray<TableShape & { readonly parents: ReadonlyArray<string> }>,
): ReadonlyArray<TableShape> => {
  const done = new Set<string>()
  const ordered: Array<TableShape> = []
  while (ordered.length < tables.length) {
    const next = tables.filter(
      ({ name, parents }) => !done.has(name) && parents.every((parent) => done.has(parent)),
    )
    if (next.length === 0) throw new Error("tables refer to each other in a circle")
    for (const { columns, name } of next) {
      done.add(name)
      ordered.push({ name, columns })
    }
  }
  return ordered
}

export const tablesOf = Effect.fn("Backup.tables")(function* () {
  const database = yield* Database
  const tables = yield* database.rows(
    "Backup.tables",
    { name: text, columns: jsonOf(Columns), parents: arrayOf(text) },
    (sql) => sql`
      select c.oid::regclass::text as name,
        json_agg(json_build_object('name', quote_ident(a.attname), 'type', format_type(a.atttypid, a.atttypmod))
          order by a.attnum) as columns,
        array(
          select distinct f.confrelid::regclass::text from pg_constraint f
          where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as parents
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = any (${textArray(sql, schemas)})
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      -- A partition's rows are its table's.
      where c.relkind in ('r', 'p') and not c.relispartition
        and n.nspname || '.' || c.relname <> all (${textArray(sql, leftOut)})
      group by c.oid order by c.oid::regclass::text collate "C"`,
  )
  return inOrder(tables)
})

export const sequencesOf = Effect.fn("Backup.sequences")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Backup.sequences",
    { name: text, last: nullable(text) },
    (sql) => sql`
      select format('%I.%I', s.schemaname, s.sequencename) as name, s.last_value::text as last
      from pg_sequences s where s.schemaname = any (${textArray(sql, schemas)}) order by 1`,
  )
  return rows.flatMap(({ last, name }) => (last === null ? [] : [{ name, last }]))
})

/** Hashes of the migrations that made the tables, oldest first. */
export const migrationsOf = Effect.fn("Backup.migrations")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Backup.migrations",
    { hash: text },
    (sql) => sql`select hash from drizzle.__drizzle_migrations order by created_at`,
  )
  return rows.map(({ hash }) => hash)
})

const sameColumns = Schema.equivalence(Columns)

/**
 * The table that a backup's rows are of. Where the schema is not named, the columns tell tables of one name apart: backups, and dumps of
 * archived years, which nobody can make anew, were once written like that by roles whose path had the schema.
 */
export const shapeOf = (
  tables: ReadonlyArray<TableShape>,
  { columns, table }: { readonly table: string; readonly columns: Columns },
): TableShape | undefined =>
  tables.find(
    ({ columns: own, name }) => (name === table || name.endsWith(`.${table}`)) && sameColumns(own, columns),
  )
