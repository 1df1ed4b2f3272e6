/**
 * The file of a backup: gzip over lines of UTF-8. The first says what it is; then each table has a line with its columns, a
 * line per row (a JSON array of texts and nulls, as Postgres writes the values, bytes as base64) and a line with how many
 * there were. The last line has the SHA-256 of all lines before it.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync, type Stats } from "node:fs"
import { lstat, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { Either, Option, Schema } from "effect"
import { ArchiveHeader } from "./ArchiveHeader.ts"
import { backupError, beingWritten, isThere } from "./BackupError.ts"
import { damaged, linesOf } from "./BackupLines.ts"
import { clearUnfinished } from "./Unfinished.ts"

const knownFormat = 1

export const Header = Schema.Struct({
  tieout: Schema.Literal("backup"),
  format: Schema.Literal(knownFormat),
  /** The program's version. */
  version: Schema.String,
  /** The snapshot's time, ISO 8601. */
  createdAt: Schema.String,
  /** Hashes of the migrations that made the tables. */
  migrations: Schema.Array(Schema.String),
  /** Sequences with the last value that each gave; unused ones are left out. */
  sequences: Schema.Array(Schema.Struct({ name: Schema.String, last: Schema.String })),
  /** Present in the backup that a year was archived with. */
  archive: Schema.optionalWith(ArchiveHeader, { exact: true }),
})
export type Header = typeof Header.Type

export const Columns = Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String }))
export type Columns = typeof Columns.Type

const Table = Schema.Struct({ table: Schema.String, columns: Columns })
const TableEnd = Schema.Struct({ rows: Schema.NonNegativeInt })
const End = Schema.Struct({
  end: Schema.Literal(true),
  tables: Schema.NonNegativeInt,
  rows: Schema.NonNegativeInt,
  sha256: Schema.String,
})

/** What a backup holds. `sha256` is that of its content, uncompressed. */
export type Content = Omit<typeof End.Type, "end">

const decodeLine = Schema.decodeUnknownEither(Schema.parseJson(Schema.Union(Header, Table, TableEnd, End)))

/** What is read from a backup, in this order: the header, then of each table its columns, its rows and its end; the end. */
export type Part =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "table"; readonly table: string; readonly columns: Columns }
  /** Rows of the table before, as JSON texts. */
  | { readonly kind: "rows"; readonly rows: ReadonlyArray<string> }
  | { readonly kind: "end"; readonly content: Content }

/** The beginning of a file of any version. */
const decodeBeginning = Schema.decodeUnknownOption(
  Schema.parseJson(
    Schema.Struct({
      tieout: Schema.Literal("backup"),
      format: Schema.NonNegativeInt,
      version: Schema.String,
    }),
  ),
)

/** A file in the format of a later version is not reported as damaged. */
const unreadable = (path: string, line: string) => {
  const beginning = Option.getOrUndefined(decodeBeginning(line))
  return beginning === undefined || beginning.format === knownFormat
    ? damaged(path, "has a line that no backup has")
    : backupError(
        "OtherVersion",
        `${path} was made by Tieout ${beginning.version} in the format ${beginning.format}, which this version does not know. Restore it with that version or a newer one.`,
      )
}

/** Rows that are handed on together, and their characters. */
const mostRows = 1_000
const mostCharacters = 4_000_000
/** Reads a backup and checks that it is whole: what comes before the end counts only once the end has come. */
export const partsOf = async function* (path: string): AsyncGenerator<Part> {
  const hash = createHash("sha256")
  let state: "header" | "between" | "rows" | "end" = "header"
  let tables = 0
  let all = 0
  let own = 0
  let rows: Array<string> = []
  let characters = 0
  for await (const bytes of linesOf(path, () => state === "rows")) {
    if (state === "end") throw damaged(path, "goes on after its end")
    const line = bytes.toString("utf8")
    if (state === "rows" && line.startsWith("[")) {
      hash.update(bytes).update("\n")
      rows.push(line)
      own += 1
      characters += line.length
      if (rows.length < mostRows && characters < mostCharacters) continue
      yield { kind: "rows", rows }
      rows = []
      characters = 0
      continue
    }
    const read = decodeLine(line)
    if (Either.isLeft(read)) throw unreadable(path, state === "header" ? line : "")
    const found = read.right
    if ("end" in found) {
      const sha256 = hash.digest("hex")
      if (state !== "between" || found.tables !== tables || found.rows !== all || found.sha256 !== sha256)
        throw damaged(path, "has another content than its checksum says")
      state = "end"
      yield { kind: "end", content: { tables, rows: all, sha256 } }
      continue
    }
    hash.update(bytes).update("\n")
    if ("tieout" in found && state === "header") {
      state = "between"
      yield { kind: "header", header: found }
    } else if ("table" in found && state === "between") {
      state = "rows"
      own = 0
      yield { kind: "table", ...found }
    } else if ("rows" in found && state === "rows") {
      if (rows.length > 0) yield { kind: "rows", rows }
      rows = []
      characters = 0
      if (found.rows !== own) throw damaged(path, "lacks rows")
      tables += 1
      all += own
      state = "between"
    } else throw damaged(path, "has a line in a place where no backup has it")
  }
  if (state !== "end") throw damaged(path, "is cut off")
}

export interface BackupWriter {
  readonly header: (header: Header) => Promise<void>
  readonly table: (table: string, columns: Columns) => Promise<void>
  /** Rows of the table before, as JSON texts. */
  readonly rows: (rows: ReadonlyArray<string>) => Promise<void>
  readonly tableEnd: () => Promise<void>
  /** Once this has succeeded the file is there and durable. Returns its size in bytes. */
  readonly finish: () => Promise<Content & { readonly bytes: number }>
  /** Removes the file, unless it is finished. */
  readonly abandon: () => Promise<void>
}

/**
 * Whether the name still leads to the file that was opened. A backup of another database may write the same file, which no lock of
 * ours tells: it takes what it finds there for what a killed one left.
 */
const isOurs = async (own: Stats, partial: string): Promise<boolean> => {
  const found = await lstat(partial).catch(() => undefined)
  return found !== undefined && found.ino === own.ino && found.dev === own.dev
}

const durable = async (folder: string) => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes a file beside the final one, for its owner alone, and renames it at the end. */
export const openBackup = async (path: string): Promise<BackupWriter> => {
  const partial = `${path}.partial`
  await clearUnfinished(partial)
  const handle = await open(partial, "wx", 0o600)
  const opened = await handle.stat()
  const hash = createHash("sha256")
  const gzip = createGzip()
  let bytes = 0
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length
      handle.writeFile(chunk).then(() => done(), done)
    },
  })
  const written = pipeline(gzip, sink)
  const failure = written.then(
    () => new Promise<never>(() => undefined),
    (cause: unknown) => Promise.reject(cause),
  )
  failure.catch(() => undefined)
  let finished = false
  let tables = 0
  let all = 0
  let own = 0
  const put = async (text: string) => {
    if (!gzip.write(text)) await Promise.race([once(gzip, "drain"), failure])
  }
  const line = async (value: unknown) => {
    const text = `${JSON.stringify(value)}\n`
    hash.update(text)
    await put(text)
  }
  return {
    header: line,
    table: async (table, columns) => {
      own = 0
      await line({ table, columns })
    },
    rows: async (rows) => {
      if (rows.length === 0) return
      const text = `${rows.join("\n")}\n`
      own += rows.length
      hash.update(text)
      await put(text)
    },
    tableEnd: async () => {
      await line({ rows: own })
      tables += 1
      all += own
    },
    finish: async () => {
      const content = { tables, rows: all, sha256: hash.digest("hex") }
      gzip.end(`${JSON.stringify({ end: true, ...content })}\n`)
      await written
      await handle.sync()
      if (!(await isOurs(opened, partial))) throw beingWritten(path)
      if (existsSync(path)) throw isThere(path)
      await handle.close()
      await rename(partial, path)
      await durable(dirname(path))
      finished = true
      return { ...content, bytes }
    },
    abandon: async () => {
      if (finished) return
      gzip.destroy()
      if (await isOurs(opened, partial)) await rm(partial, { force: true })
      await handle.close().catch(() => undefined)
    },
  }
}
