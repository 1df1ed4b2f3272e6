/** What every command prints with `--json` is what `docs/json.md` says of it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { program as makeProgram } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const page = readFileSync("docs/json.md", "utf8")

/** Every name that the page gives a field. */
const names = new Set([...page.matchAll(/`(\w+)\??`/g)].map(([, name]) => name ?? ""))

/** Objects whose keys are no fields: accounts, months, names of variables … */
const maps = new Set([
  ...["requests", "newEntries", "counts", "blocked", "loansBlocked", "variables", "evidence", "profile"],
  // Manifests are described in words, and in docs/formats.md.
  ...[
    "manifest",
    "lineage",
    "base",
    "periods",
    "currencies",
    "statements",
    "tables",
    "book",
    "close",
    "difference",
  ],
])

/** A description's own fields, without what stands in brackets behind them. */
const outermost = (description: string): string => {
  let text = description
  for (let before = ""; before !== text; ) {
    before = text
    text = text.replace(/\[[^[\]]*\]|\([^()]*\)/g, "")
  }
  return text
}

interface Described {
  readonly always: ReadonlyArray<string>
  readonly all: ReadonlySet<string>
}

/** By what the table's first column names. */
const rows: ReadonlyMap<string, Described> = new Map(
  [...page.matchAll(/^\| (`tieout .*?`[^|]*?) +\| (.*?) +\|$/gm)].map(
    ([, command = "", description = ""]) => {
      const [first = ""] = outermost(description).split(/; (?:with|without)/)
      const found = (text: string) => [...text.matchAll(/`(\w+\??)`/g)].map(([, name]) => name ?? "")
      return [
        command,
        {
          always: found(first).filter((name) => !name.endsWith("?")),
          all: new Set(found(outermost(description)).map((name) => name.replace("?", ""))),
        },
      ]
    },
  ),
)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Every field below a value. */
const fieldsIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, within]) => [
    name,
    ...(maps.has(name) ? [] : fieldsIn(within)),
  ])
}

it("the page describes rows that can be read", () => {
  expect(rows.size).toBeGreaterThan(40)
  expect(rows.get("`tieout sync`")).toEqual({
    always: ["runs", "accounts", "open", "tieOut", "notRead"],
    all: new Set(["runs", "accounts", "open", "tieOut", "notRead"]),
  })
})

it.scopedLive(
  "each document has what its row says, and no field that the page does not name",
  () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 300, accounts: 4, seed: 3 })
      const { url } = yield* TestDatabase
      const { cwd, run } = yield* makeProgram
      const variables = {
        ...{
          TIEOUT_BASE_URL: sandbox.url,
          TIEOUT_CLIENT_ID: "sandbox-client",
          TIEOUT_CLIENT_SECRET: "sandbox-secret",
        },
        ...{ TIEOUT_SCOPE: "sandbox", DATABASE_URL: url, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" },
      }
      const amiss: Array<unknown> = []
      const seen: Array<string> = []
      const printed = (row: string, ...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { code, error, out } = yield* run([...args, "--json"], variables)
          const described = rows.get(row)
          const document: unknown = out.startsWith("{") ? JSON.parse(out) : undefined
          if (
            described === undefined ||
            !isObject(document) ||
            "errors" in document ||
            document.schema !== 1
          ) {
            amiss.push({ row, code, error, out: out.slice(0, 300) })
            return document
          }
          const { schema: _schema, ...own } = document
          const problems = [
            ...described.always.filter((name) => !Object.hasOwn(own, name)).map((name) => `lacks ${name}`),
            ...Object.keys(own)
              .filter((name) => !described.all.has(name))
              .map((name) => `${name} is not in its row`),
            ...[...new Set(fieldsIn(own))]
              .filter((name) => !names.has(name))
              .map((name) => `${name} is nowhere`),
          ]
          if (problems.length > 0) amiss.push({ row, problems })
          seen.push(row)
          return document
        })
      yield* printed("`tieout sync`", "sync")
      yield* printed("`tieout doctor`", "doctor")
      yield* printed("`tieout status`", "status")
      yield* printed("`tieout reconcile`", "reconcile")
      const balance = yield* printed("`tieout balance`", "balance")
      const codes = JSON.stringify(balance).match(/(?<="code":")[^"]+/g) ?? []
      yield* printed("`tieout register`", "register", codes[0] ?? "")
      const suspense = /"code":"([^"]+)","name":"[^"]*","role":"deposits_clearing"/.exec(
        JSON.stringify(balance),
      )
      yield* printed("`tieout items`", "items", suspense?.[1] ?? codes.at(-1) ?? "")
      const exported = yield* printed(
        ...([
          "`tieout export`",
          "export",
          "--format",
          "journal",
          "--all",
          "--out",
          join(cwd, "exports"),
        ] as const),
      )
      const folder = /"folder":"([^"]+)"/.exec(JSON.stringify(exported))?.[1] ?? ""
      yield* printed("`tieout verify DIR`", "verify", folder)
      yield* printed("`tieout verify --database`", "verify", "--database")
      yield* printed("`tieout batches list`", "batches", "list")
      yield* printed("`tieout batches show`", "batches", "show", "ORG/1")
      yield* printed("`tieout batches download`", "batches", "download", "ORG/1", "--out", join(cwd, "again"))
      yield* printed("`tieout accounts export`", "accounts", "export", "--out", join(cwd, "accounts.csv"))
      yield* printed("`tieout rates list`", "rates", "list")
      yield* printed("`tieout explain`", "explain", "ORG-2026-10-000001")
      yield* printed("`tieout quarantine list`", "quarantine", "list")
      yield* printed("`tieout quarantine replay`", "quarantine", "replay")
      yield* printed("`tieout webhook events`", "webhook", "events")
      yield* printed("`tieout close`", "close", "2026-09", "--dry-run")
      yield* printed("`tieout close … --bridge`", "close", "2026-10", "--bridge")
      yield* printed("`tieout report`", "report", "2026-10", "--out", join(cwd, "reports"))
      yield* printed("`tieout migrate`", "migrate")
      yield* printed("`tieout backup`", "backup", join(cwd, "backup.gz"))
      yield* printed("`tieout completions`", "completions", "bash")
      yield* printed("`tieout init`", "init", "--yes", "--out", join(cwd, "new.yaml"))
      yield* printed("`tieout backfill`", "backfill", "--period", "2026-10")
      expect(amiss).toEqual([])
      const failed = JSON.parse((yield* run(["frob", "--json"], variables)).out)
      expect([failed.schema, failed.exitCode, Object.keys(failed.errors[0])]).toEqual([
        ...[1, 2],
        ["error", "reason", "message"],
      ])
      expect(seen.length).toBeGreaterThan(25)
    }).pipe(Effect.provide(TestDatabase.migrated)),
  60_000,
)
