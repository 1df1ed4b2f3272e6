import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { DatabaseConfig } from "../../src/Database/DatabaseConfig.ts"

const read = (variables: ReadonlyArray<readonly [string, string]>) =>
  Effect.runSync(
    DatabaseConfig.pipe(
      Effect.provide(DatabaseConfig.Default),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables))),
    ),
  )

describe("the settings of the database", () => {
  it("are the embedded server in ./data when nothing is set, or set to nothing", () => {
    const expected = { url: Option.none(), dataDir: "./data" }
    expect(read([])).toEqual(expected)
    expect(
      read([
        ["DATABASE_URL", ""],
        ["TIEOUT_DATA_DIR", " "],
      ]),
    ).toEqual(expected)
  })

  it("are what the variables say, the URL redacted", () => {
    const settings = read([
      ["DATABASE_URL", "postgres://me:s3cret@db/books"],
      ["TIEOUT_DATA_DIR", "/srv/books"],
    ])
    expect(settings.dataDir).toBe("/srv/books")
    expect(Option.map(settings.url, Redacted.value)).toEqual(Option.some("postgres://me:s3cret@db/books"))
    expect(JSON.stringify(settings)).not.toContain("s3cret")
  })
})
