/** The migrations and rules of a folder: the package's `drizzle`, or one like it. */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { packageFile } from "../../Common/Package.ts"
import { type DatabaseError, databaseError, toDatabaseError } from "../DatabaseError.ts"

/** The package's migrations. */
export const packageMigrations = (): string => packageFile("drizzle")

const Journal = Schema.parseJson(
  Schema.Struct({ entries: Schema.Array(Schema.Struct({ tag: Schema.String, when: Schema.Number })) }),
)

/** As drizzle reads it. */
const WholeJournal = Schema.parseJson(
  Schema.Struct({
    version: Schema.String,
    dialect: Schema.String,
    entries: Schema.Array(
      Schema.Struct({
        idx: Schema.Number,
        version: Schema.String,
        when: Schema.Number,
        tag: Schema.String,
        breakpoints: Schema.Boolean,
      }),
    ),
  }),
)

/** The name of the rules among pending migrations: functions, triggers and views, recreated whenever their file changes. */
export const rulesName = "rules"

interface Migration {
  readonly tag: string
  /** SHA-256 of the file, hex: by it drizzle recognizes an applied migration. */
  readonly hash: string
  readonly text: string
  /** When it was made, epoch milliseconds: drizzle orders by it. */
  readonly when: number
}

export interface Package {
  readonly migrations: ReadonlyArray<Migration>
  /** Null: the folder has none. */
  readonly rules: { readonly text: string; readonly hash: string } | null
}

const operation = "Database.migrate"

const textOf = (path: string): Effect.Effect<string | null, DatabaseError> =>
  Effect.tryPromise({
    try: async () => (existsSync(path) ? await readFile(path, "utf8") : null),
    catch: (error) => toDatabaseError(operation, error),
  })

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The migrations in a folder, oldest first, and its rules; none where it has no journal yet. */
export const readPackage = Effect.fn("Migrate.readPackage")(function* (folder: string) {
  const unreadable = (file: string) =>
    databaseError("Other", operation, `${join(folder, file)} cannot be read; reinstall Tieout`)
  const journal = yield* textOf(join(folder, "meta", "_journal.json"))
  const { entries } = yield* Schema.decode(Journal)(journal ?? '{"entries":[]}').pipe(
    Effect.catchTag("ParseError", () => Effect.fail(unreadable("meta/_journal.json"))),
  )
  const migrations = yield* Effect.forEach(entries, ({ tag, when }) =>
    Effect.flatMap(textOf(join(folder, `${tag}.sql`)), (text) =>
      text === null
        ? Effect.fail(unreadable(`${tag}.sql`))
        : Effect.succeed({ tag, hash: hashOf(text), text, when }),
    ),
  )
  const rules = yield* textOf(join(folder, "rules.sql"))
  return {
    migrations,
    rules: rules === null ? null : { text: rules, hash: hashOf(rules) },
  } satisfies Package
})

/**
 * A folder with the first `count` migrations of another, and without its rules: the tables as an earlier version had them.
 * Removed with the scope.
 */
export const firstMigrations = (folder: string, count: number) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const target = await mkdtemp(join(tmpdir(), "tieout-migrations-"))
        await cp(folder, target, { recursive: true })
        await rm(join(target, "rules.sql"), { force: true })
        const file = join(target, "meta", "_journal.json")
        const journal = Schema.decodeUnknownSync(WholeJournal)(await readFile(file, "utf8"))
        await writeFile(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }))
        return target
      },
      catch: (error) => toDatabaseError(operation, error),
    }),
    (target) => Effect.promise(() => rm(target, { recursive: true, force: true })),
  )
