/** The migrations and rules of a folder: the package's `drizzle`, or one like it. */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { codeOf } from "../../Common/ErrorCode.ts"
import { packageFile } from "../../Common/Package.ts"
import { type DatabaseError, databaseError } from "../DatabaseError.ts"

/** The package's migrations. */
export const packageMigrations = (): string => packageFile("drizzle")

const Journal = Schema.parseJson(
  Schema.Struct({ entries: Schema.Array(Schema.Struct({ tag: Schema.String, when: Schema.Number })) }),
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

/** The codes of the file system mean other things where a server answers: this is no outage. */
const textOf = (path: string): Effect.Effect<string | null, DatabaseError> =>
  Effect.tryPromise({
    try: async () => (existsSync(path) ? await readFile(path, "utf8") : null),
    catch: (error) =>
      databaseError(
        "Other",
        operation,
        `${path} cannot be read (${codeOf(error) ?? "unknown error"}); let this user read it, or reinstall Tieout`,
      ),
  })

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * The migrations in a folder, oldest first, and its rules; none where it has no journal yet. `first`: only so many of them, without
 * rules where they are not all: the tables as an earlier version had them.
 */
export const readPackage = Effect.fn("Migrate.readPackage")(function* (folder: string, first?: number) {
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
  const isWhole = first === undefined || first >= migrations.length
  const rules = isWhole ? yield* textOf(join(folder, "rules.sql")) : null
  return {
    migrations: migrations.slice(0, first),
    rules: rules === null ? null : { text: rules, hash: hashOf(rules) },
  } satisfies Package
})
