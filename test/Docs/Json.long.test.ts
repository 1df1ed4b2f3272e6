/** Every command prints with `--json` what `docs/json.md` describes. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readManual } from "../../src/Cli/Commands.ts"
import { threeMonths } from "../Close/Months.ts"
import { credit, deposit, id } from "../Sync/Partnership.ts"
import { variablesFor } from "../Sync/Runs.ts"
import { formsOf } from "../support/commandLines.ts"
import { program as makeProgram } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairOf, signWith, textOf } from "../Webhook/Keys.ts"
import { commandsOf, describedRows, problemsOf } from "./JsonPage.ts"

/** Rows whose documents a test has printed; the demo's document is printed by its own test. */
const printed = new Set(["`tieout demo`"])

/** Runs a command, and remembers whether its row describes what it printed. */
const printing = (variables: Record<string, string>) =>
  Effect.gen(function* () {
    const { cwd, run, start } = yield* makeProgram
    const amiss: Array<unknown> = []
    const judged = (row: string, out: string, error: string) => {
      printed.add(row)
      const problems = problemsOf(row, out)
      if (problems.length > 0) amiss.push({ row, problems, error: error.slice(0, 500) })
      return out
    }
    const print = (row: string, ...args: ReadonlyArray<string>) =>
      Effect.map(
        run([...args, "--json"], { ...variables, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" }),
        ({ error, out }) => judged(`\`tieout ${row}${/`/.test(row) ? "" : "`"}`, out, error),
      )
    return { amiss, cwd, judged, print, run, start }
  })

it("the page describes rows that can be read", () => {
  expect(describedRows.size).toBeGreaterThan(40)
  expect(describedRows.get("`tieout sync`")).toEqual({
    always: ["runs", "accounts", "open", "tieOut", "notRead"],
    all: new Set(["runs", "accounts", "open", "tieOut", "notRead"]),
  })
})

it.scopedLive(
  "each document has what its row says, and no field that the page does not name: of a service",
  () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 300, accounts: 4, seed: 3 })
      const { url } = yield* TestDatabase
      const { amiss, cwd, judged, print, run, start } = yield* printing({
        ...{ TIEOUT_BASE_URL: sandbox.url, TIEOUT_CLIENT_ID: "sandbox-client" },
        ...{ TIEOUT_CLIENT_SECRET: "sandbox-secret", TIEOUT_SCOPE: "sandbox", DATABASE_URL: url },
      })
      const to = (name: string) => ["--out", join(cwd, name)]
      yield* print("sync", "sync")
      yield* print("doctor", "doctor", "--discover")
      yield* print("status", "status")
      yield* print("reconcile", "reconcile")
      const balance = yield* print("balance", "balance")
      const codes = balance.match(/(?<="code": ")[^"]+/g) ?? []
      yield* print("register", "register", codes[0] ?? "")
      const [, clearing] =
        /"code": "([^"]+)",\s+"name": "[^"]*",\s+"role": "deposits_clearing"/.exec(balance) ?? []
      yield* print("items", "items", clearing ?? codes.at(-1) ?? "")
      const exported = yield* print("export", "export", "--format", "journal", "--all", ...to("exports"))
      yield* print("verify DIR", "verify", /"folder": "([^"]+)"/.exec(exported)?.[1] ?? "")
      yield* print("verify --database", "verify", "--database")
      yield* print("batches list", "batches", "list")
      yield* print("batches show", "batches", "show", "ORG/1")
      yield* print("batches download", "batches", "download", "ORG/1", ...to("again"))
      yield* print("verify DIR` of several", "verify", join(cwd, "exports"), join(cwd, "again"))
      yield* print("explain", "explain", "ORG-2026-10-000001")
      yield* print("quarantine list", "quarantine", "list")
      yield* print("quarantine replay", "quarantine", "replay")
      yield* print("webhook events", "webhook", "events")
      yield* print("webhook replay", "webhook", "replay", "--dead")
      yield* print("close", "close", "2026-09", "--dry-run")
      yield* print("close … --bridge", "close", "2026-10", "--bridge")
      yield* print("report", "report", "2026-10", ...to("reports"))
      yield* print("migrate", "migrate")
      yield* print("completions", "completions", "bash")
      yield* print("init", "init", "--yes", ...to("new.yaml"))
      yield* print("backfill", "backfill", "--period", "2026-10")
      // The command runs until it is interrupted.
      const own = yield* start(["sandbox", "--port", "0", "--json"], {}, (child) => {
        child.stdout?.on("data", (text: string) => (text.includes("}\n") ? child.kill("SIGTERM") : undefined))
      })
      judged("`tieout sandbox`", own.out, own.error)
      expect(amiss).toEqual([])
      const failed = JSON.parse((yield* run(["frob", "--json"], {})).out)
      expect([failed.schema, failed.exitCode, Object.keys(failed.errors[0])]).toEqual([
        ...[1, 2],
        ["error", "reason", "message"],
      ])
    }).pipe(Effect.provide(TestDatabase.migrated)),
  120_000,
)

const blank = Layer.fresh(TestDatabase.blank)

it.scopedLive(
  "each document has what its row says, and no field that the page does not name: of what a person does",
  () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      const { url } = yield* TestDatabase
      const { amiss, cwd, print, run } = yield* printing({ DATABASE_URL: url, ...variablesFor(service.url) })
      const at = (name: string) => join(cwd, name)
      yield* print("sync", "sync")
      yield* print("close", "close", "2026-08")
      yield* print("close … --check", "close", "2026-08", "--check")
      yield* print("close approve", "close", "approve", "2026-08", "--by", "Ada Jones")
      const preview = [
        "export",
        "--format",
        "journal",
        "--period",
        "2026-09",
        "--preview",
        "--out",
        at("exports"),
      ]
      yield* print("export", ...preview)
      yield* print("batches commit`", "batches", "commit", "ORG/1", "--exports", at("exports"))
      yield* print("batches acknowledge`, `supersede`", "batches", "acknowledge", "ORG/1", "--note", "Xero")
      yield* print("batches acknowledge`, `supersede`", "batches", "supersede", "ORG/1", "--reason", "again")
      held.statement.push({ ...credit(14, "1.00", "176.00"), occurredAt: "2026-10-06T12:00:00Z" })
      held.statement.push({ ...credit(15, "2.00", "178.00"), occurredAt: "2026-10-07T12:00:00Z" })
      held.balance = "178.00"
      held.deposits.push(deposit(115, "9", { amount: { value: "9", currency: "USD" } }))
      yield* print("sync", "sync")
      yield* print("quarantine list", "quarantine", "list")
      yield* print("quarantine show", "quarantine", "show", "Q1")
      const bank = ["--to", "6855", "--name", "Expenses:Bank"]
      yield* print("reclassify` of several", "reclassify", "--all-of", "adjustment", ...bank)
      yield* print("reclassify ID", "reclassify", id(14), ...bank, "--reason", "a fee")
      yield* print("reclassify --rules", "reclassify", "--rules")
      yield* print("accounts export", "accounts", "export")
      yield* print("accounts export --out", "accounts", "export", "--out", at("accounts.csv"))
      yield* print("accounts import", "accounts", "import", at("accounts.csv"))
      writeFileSync(at("rates.csv"), "date,from,to,rate,source\n2026-10-01,USD,EUR,0.9,ECB\n")
      yield* print("rates import", "rates", "import", at("rates.csv"))
      yield* print("rates list", "rates", "list")
      yield* print("rates export", "rates", "export")
      yield* print("rates export --out", "rates", "export", "--out", at("rates-again.csv"))
      yield* print("reopen", "reopen", "2026-08", "--reason", "a late invoice")
      const pair = pairOf("EdDSA")
      writeFileSync(at("key.pem"), textOf(pair.publicKey))
      const signature = signWith("EdDSA", pair.privateKey, Buffer.from("{}")).toString("base64")
      writeFileSync(
        at("delivery.http"),
        `POST /hooks HTTP/1.1\r\nX-Signature: ${signature}\r\nX-Key-Id: ${pair.id}\r\nX-Algorithm: EdDSA\r\n\r\n{}`,
      )
      yield* print("webhook diagnose", "webhook", "diagnose", at("delivery.http"), "--key", at("key.pem"))
      yield* print("backup", "backup", at("backup.gz"))
      yield* print("archive", "archive", "2019", "--dry-run")
      const restored = yield* Effect.gen(function* () {
        const { url: empty } = yield* TestDatabase
        return yield* run(["restore", at("backup.gz"), "--json"], {
          DATABASE_URL: empty,
          TIEOUT_LOG_LEVEL: "none",
        })
      }).pipe(Effect.provide(blank))
      printed.add("`tieout restore`")
      expect(problemsOf("`tieout restore`", restored.out)).toEqual([])
      expect(amiss).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  120_000,
)

it("no row and no command that takes --json is left out", async () => {
  expect([...describedRows.keys()].filter((row) => !printed.has(row))).toEqual([])
  const described = [...describedRows.keys()].flatMap(commandsOf)
  const missing = formsOf(await readManual()).filter(
    (form) => !described.some((command) => command === form || command.startsWith(`${form} `)),
  )
  // The command prints only its log.
  expect(missing).toEqual(["serve", "worker"])
})
