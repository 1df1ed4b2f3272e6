import { ConfigProvider, Effect, Either, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { sessionSettings } from "../../src/Database/ConnectionSettings.ts"
import { DatabaseConfig } from "../../src/Database/DatabaseConfig.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"

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

  it("have every session plan for small statements, unless the URL says otherwise", () => {
    const of = (url: string) => sessionSettings(Either.getOrThrow(parseDatabaseUrl(Redacted.make(url))))
    const plans = { jit: "off", max_parallel_workers_per_gather: "0" }
    expect(of("postgres://me@db/books")).toMatchObject(plans)
    expect(of("postgres://me@db/books?jit=on")).toMatchObject({ ...plans, jit: "on" })
  })
})
