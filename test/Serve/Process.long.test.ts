import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { running } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { ask } from "./Asking.ts"

const until = (done: () => boolean) => Effect.repeat(Effect.sleep("50 millis"), { until: done })

it.scopedLive(
  "serve makes up for a missed night, exports, shows that cash ties out and what is open, and ends with 0 on SIGTERM",
  () =>
    Effect.gen(function* () {
      const cwd = temporaryFolder()
      const sandbox = yield* runningSandbox({ entries: 60, accounts: 3 })
      const { url } = yield* TestDatabase
      const { child, ended, log } = yield* running(cwd, ["serve", "--status-port", "0"], {
        ...variablesFor(sandbox.url),
        DATABASE_URL: url,
        TIEOUT_SCHEDULE_EXPORT: "journal",
        TIEOUT_STATUS_OPEN: "true",
        // The usual port may be taken on the machine that the tests run on.
        TIEOUT_WEBHOOK_PORT: "0",
      })
      yield* until(() => log().includes("Exported 1 batch")).pipe(
        Effect.raceFirst(
          Effect.zipRight(
            Effect.promise(() => ended),
            Effect.suspend(() => Effect.dieMessage(log())),
          ),
        ),
      )
      const lines = log()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
      const messages = lines.map(({ message }) => message)
      expect(messages).toContain("The last nightly sync was missed and runs now.")
      expect(lines.find(({ message }) => message.startsWith("Read 60 new entries"))).toMatchObject({
        connection: "default",
        run: "1",
      })
      const [, port] = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(log()) ?? []
      const page = yield* ask(Number(port), "/")
      expect(page.body).toContain("<p>The books are current. Cash ties out; 1 item stands in suspense, ")
      expect((yield* ask(Number(port), "/exports/ORG/1/journal.csv")).status).toBe(200)
      expect((yield* ask(Number(port), "/metrics")).body).toContain(
        'tieout_entries_total{connection="default"} 60\n',
      )
      expect(existsSync(join(cwd, "exports", "default-ORG", "since-0", "1", "manifest.json"))).toBe(true)
      child.kill("SIGTERM")
      expect(yield* Effect.promise(() => ended)).toBe(0)
    }).pipe(Effect.provide(Layer.fresh(TestDatabase.migrated))),
)

it.scopedLive("serve forgets old rows of every kind, though no sync runs", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    yield* unruled(`
      insert into mirror.books (book_id, connection, code, name) overriding system value values (1, 'default', 'ORG', 'Organization');
      insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
      select 1, 'adjustment', 'warning', 'account', 'old', '', '{}', at, at, at from (select now() - interval '900 days' as at) t`)
    const left = Effect.map(rows("select finding_id from reconcile.findings"), ({ length }) => length)
    expect(yield* left).toBe(1)
    yield* running(temporaryFolder(), ["serve", "--status-port", "0"], {
      ...variablesFor("http://127.0.0.1:9"),
      DATABASE_URL: url,
      TIEOUT_SCHEDULE_NIGHTLY: "null",
      TIEOUT_WEBHOOK_PORT: "0",
    })
    yield* Effect.repeat(Effect.delay(left, "50 millis"), { until: (count) => count === 0 })
  }).pipe(Effect.provide(Layer.fresh(TestDatabase.layer))),
)

it.scopedLive("serve says what is wrong with the address of its listener for events", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const { ended, log } = yield* running(temporaryFolder(), ["serve", "--status-port", "0"], {
      ...variablesFor("http://127.0.0.1:9"),
      DATABASE_URL: url,
      TIEOUT_SCHEDULE_NIGHTLY: "null",
      TIEOUT_WEBHOOK_PORT: "0",
      // An address for documentation, which no machine has.
      TIEOUT_WEBHOOK_HOST: "192.0.2.1",
    })
    expect(yield* Effect.promise(() => ended)).toBe(1)
    expect(log()).toContain(
      "The webhook listener cannot listen on 192.0.2.1:0: this machine has no such address: check webhook.host [EADDRNOTAVAIL].",
    )
  }).pipe(Effect.provide(Layer.fresh(TestDatabase.migrated))),
)
