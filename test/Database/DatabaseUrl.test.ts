import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Either, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"

const parse = (url: string) =>
  Either.map(parseDatabaseUrl(Redacted.make(url)), ({ password, ...rest }) => ({
    ...rest,
    password: password === undefined ? undefined : Redacted.value(password),
  }))

const base = {
  host: "db",
  port: 5432,
  path: undefined,
  database: "books",
  username: "me",
  password: "p",
  ssl: {},
  parameters: {},
}

const pem = join(mkdtempSync(join(tmpdir(), "tieout-pem-")), "file.pem")
writeFileSync(pem, "pem")

describe("DATABASE_URL", () => {
  it.each([
    ["postgres://me:p@db/books", base],
    ["postgresql://me:p@db:6000/books", { ...base, port: 6000 }],
    ["  postgres://me:p@db/books\n", base],
    [
      "postgres://m%40e:p%2Fw%40@db/my%20books",
      { ...base, username: "m@e", password: "p/w@", database: "my books" },
    ],
    ["postgres://me@db", { ...base, password: undefined, database: "me" }],
    ["postgres://me:p@localhost/books", { ...base, host: "localhost", ssl: false }],
    ["postgres://me:p@[::1]:5433/books", { ...base, host: "::1", port: 5433, ssl: false }],
    ["postgres://me:p@db/books?sslmode=require", { ...base, ssl: "require" }],
    ["postgres://me:p@db/books?sslmode=disable", { ...base, ssl: false }],
    ["postgres://me:p@db/books?sslmode=prefer", { ...base, ssl: "prefer" }],
    ["postgres://me:p@db/books?sslmode=verify-full", base],
    ["postgres://me:p@db/books?sslrootcert=system", base],
    ["postgres://me:p@10.0.0.5/books", { ...base, host: "10.0.0.5", ssl: { host: "10.0.0.5" } }],
    [
      "postgres://me:p@[fd00::5]/books?sslmode=verify-ca",
      { ...base, host: "fd00::5", ssl: { host: "fd00::5" } },
    ],
    [`postgres://me:p@db/books?sslmode=require&sslrootcert=${pem}`, { ...base, ssl: { ca: "pem" } }],
    [`postgres://me:p@db/books?sslrootcert=${pem}`, { ...base, ssl: { ca: "pem" } }],
    [
      `postgres://me:p@db/books?sslrootcert=${pem}&sslcert=${pem}&sslkey=${pem}`,
      { ...base, ssl: { ca: "pem", cert: "pem", key: "pem" } },
    ],
    [
      `postgres://me:p@db/books?sslmode=require&sslcert=${pem}&sslkey=${pem}`,
      { ...base, ssl: { cert: "pem", key: "pem", rejectUnauthorized: false } },
    ],
    ["postgres://me:p@db/books?connect_timeout=5", { ...base, connectTimeout: 5 }],
    ["postgres://me:p@db/books?connect_timeout=0&channel_binding=prefer&target_session_attrs=any", base],
    ["postgres://me:p@db/books?target_session_attrs=read-write", { ...base, demand: "read-write" }],
    ["postgres://me:p@db/books?target_session_attrs=standby", { ...base, demand: "standby" }],
    ["postgres://me:p@db/books?target_session_attrs=prefer-standby", base],
    ["postgres://me:p@db/books?application_name=books", { ...base, applicationName: "books" }],
    [
      "postgres://me:p@%2Frun%2Fpostgresql/books?sslmode=require",
      { ...base, host: "/run/postgresql", path: "/run/postgresql/.s.PGSQL.5432", ssl: false },
    ],
    ["postgres://me:p@db/books?search_path=a,b", { ...base, parameters: { search_path: "a,b" } }],
    [
      "postgres://me:p@%2Frun%2Fpostgresql:5433/books",
      { ...base, host: "/run/postgresql", port: 5433, path: "/run/postgresql/.s.PGSQL.5433", ssl: false },
    ],
    [
      "postgres://me:p@/books?host=/run/postgresql",
      { ...base, host: "/run/postgresql", path: "/run/postgresql/.s.PGSQL.5432", ssl: false },
    ],
    [
      "postgres:///books?host=/run/postgresql&user=me&password=p",
      { ...base, host: "/run/postgresql", path: "/run/postgresql/.s.PGSQL.5432", ssl: false },
    ],
  ])("%s is understood", (url, expected) => {
    expect(parse(url)).toEqual(Either.right(expected))
  })

  it.each([
    "mysql://me:s3cret@db/books",
    "s3cret",
    "postgres://me:s3cret@db:port/books",
    "postgres://me:s3cret@db:99999/books",
    "postgres://:s3cret@db/books",
    "postgres://me:s3cret@db/books?sslmode=sometimes",
    "postgres://me:s3cret@db/books?sslmode=verify-full&sslrootcert=/no/such/file",
    "postgres://me:s3cret%zz@/",
    "postgres://me:s3cret@db/books?sslcert=/no/such/file",
    "postgres://me:s3cret@db/books?connect_timeout=soon",
    "postgres://me:s3cret@db/books?target_session_attrs=slave",
    "postgres://me:s3cret@db/books?target_session_attrs=",
  ])("%s is refused, and not repeated", (url) => {
    const refused = parse(url)
    expect(Either.isLeft(refused)).toBe(true)
    const error = Either.getOrThrow(Either.flip(refused))
    expect(error.reason).toBe("Settings")
    expect(error.message).toContain("DATABASE_URL")
    expect(String(error)).not.toContain("s3cret")
  })

  it.each([
    ["keepalives_idle=30", "has keepalives_idle, which Tieout does not support: leave it out"],
    ["options=-csearch_path%3Da", "has options, which"],
    ["channel_binding=require", "has channel_binding=require"],
    ["host=a,b", "names several hosts"],
  ])("?%s is refused by name", (query, why) => {
    expect(Either.getOrThrow(Either.flip(parse(`postgres://me:p@db/books?${query}`))).message).toContain(why)
  })

  it("names one host", () => {
    const refused = parse("postgres://me:p@one:5432,two:5433/books")
    expect(Either.getOrThrow(Either.flip(refused)).message).toContain("names several hosts: name one")
  })
})
