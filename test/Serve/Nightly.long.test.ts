import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Cause, Effect, HashMap, Layer, Logger, LogLevel, Option } from "effect"
import { describe } from "vitest"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { Nightly } from "../../src/Serve/Nightly.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"
import { json, uuid } from "../Partner/Service.ts"
import { accountOf, client, clientId, lending, move } from "../Sync/Lending.ts"
import { bothSurfaces, partnership } from "../Sync/Partnership.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { thisNight } from "./ThisNight.ts"

it.scopedLive("a night that ran while the clock was ahead runs again when it is due", () =>
  Effect.gen(function* () {
    const { service } = yield* partnership()
    const nights = yield* thisNight((night) =>
      Effect.gen(function* () {
        yield* rows(`
          insert into sync.nights (connection, due_at, claimed_at, ended_at, told)
          values ('default', to_timestamp(${night.due}::float8 / 1000), now() + interval '2 hours', now() + interval '3 hours', true)
          returning 1`)
        yield* Effect.flatMap(Nightly, ({ run }) => run(night)).pipe(
          Effect.provide(
            Nightly.Default.pipe(
              Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
              Layer.provideMerge(Settings.from({ variables: variablesFor(service.url) })),
            ),
          ),
        )
        return yield* rows("select epoch, ended_at <= now() as ended, told from sync.nights")
      }),
    )
    expect(nights).toEqual([{ epoch: 2, ended: true, told: true }])
    expect(yield* rows("select count(*)::integer as n from sync.runs")).toEqual([{ n: 1 }])
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a night whose sync takes longer than a run may is alerted", () =>
  Effect.gen(function* () {
    const { held, service } = yield* partnership()
    held.interfere = () => true
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    yield* Effect.flatMap(Nightly, ({ run }) => thisNight(run)).pipe(
      Effect.provide(
        Nightly.Default.pipe(
          Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
          Layer.provideMerge(
            Settings.from({
              variables: { ...variablesFor(service.url), TIEOUT_LIMITS_RUN_DEADLINE: "1 second" },
            }),
          ),
          Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
        ),
      ),
    )
    expect(lines.filter((line) => line.startsWith("Alert (failure)"))).toEqual([
      "Alert (failure): The sync of connection default was stopped after limits.runDeadline (1s) and nothing was exported. What was read stays, and the next one goes on from there.",
    ])
  }).pipe(Effect.provide(TestDatabase.layer)),
)

describe("the log of a night", () => {
  it.scopedLive("says why it failed, without internal names, and which events were given up", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.interfere = (path, response) => {
        if (!path.startsWith("/accounts")) return false
        response.writeHead(403).end()
        return true
      }
      yield* rows(`
        insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state, received_at)
        values ('default', 'a', '\\x00', 'x', '\\x7b7d', 'k', 'ES256', 'dead', now()),
          ('default', 'b', '\\x01', null, '\\x7b7d', 'k', 'ES256', 'poison', now()),
          ('default', 'c', '\\x02', 'x', '\\x7b7d', 'k', 'ES256', 'dead', now() - interval '8 days')
        returning 1`)
      const lines: Array<string> = []
      const runs: Array<unknown> = []
      const logger = Logger.make(({ annotations, message }) => {
        lines.push(String(message))
        if (String(message).startsWith("Alert (failure)")) runs.push(HashMap.get(annotations, "run"))
      })
      yield* Effect.flatMap(Nightly, ({ run }) => thisNight(run)).pipe(
        Effect.provide(
          Nightly.Default.pipe(
            Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
            Layer.provideMerge(Settings.from({ variables: variablesFor(service.url) })),
            Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
          ),
        ),
      )
      expect(runs).toEqual([Option.some(1)])
      const alerts = lines.filter((line) => line.startsWith("Alert"))
      expect(alerts).toEqual([
        "Alert (failure): The sync of connection default failed (GET /accounts answered 403). What was committed stays; the log says more.",
        "Alert (findings): No accounts have been read yet; 1 blocking finding is open. See tieout reconcile, or the status page. Of the events of the last seven days 1 was given up and 1 cannot be read. See tieout webhook events.",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

/** A night that exports to a folder; its alerts of failures, why a book is refused, and the batches that there are. */
const exportingNight = (
  url: string,
  format: string,
  out: string,
  more: Readonly<Record<string, string>> = {},
) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      lines.push(String(message), ...(Cause.isEmpty(cause) ? [] : [Cause.pretty(cause)]))
    })
    yield* Effect.flatMap(Nightly, ({ run }) => thisNight(run)).pipe(
      Effect.provide(
        Nightly.Default.pipe(
          Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
          Layer.provideMerge(
            Settings.from({
              variables: {
                ...variablesFor(url),
                ...bothSurfaces,
                TIEOUT_SCHEDULE_EXPORT: `[${format}]`,
                TIEOUT_SCHEDULE_OUT: out,
                ...more,
              },
            }),
          ),
          Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
        ),
      ),
    )
    const exported = yield* rows(
      "select code, formats from export.batches join mirror.books using (book_id) order by code, formats",
    )
    return {
      alerts: lines.filter((line) => line.startsWith("Alert (failure)")),
      failures: lines.filter((line) => line.includes("refused")),
      exported,
    }
  })

describe("the exports of a night", () => {
  it.scopedLive("leave out the book that a format cannot hold, and no other", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      for (const one of ["", clientId(2)]) move(held, one, { type: "CREDIT", amount: 10 })
      const account = { accountId: accountOf(clientId(1)), currency: "USDC", paymentRails: "TRON" }
      held.statements[clientId(1)] = [
        {
          ...{ entryId: uuid(1), accountId: account.accountId, type: "CREDIT", currency: "USDC" },
          ...{ amount: "0.12345678", balanceAfter: "0.12345678", occurredAt: "2026-10-02T00:00:00Z" },
        },
      ]
      held.interfere = (path, response) => {
        if (!path.startsWith(`/clients/${clientId(1)}/accounts?`)) return false
        const items = [{ ...account, balance: "0.12345678", status: "ACTIVE" }]
        json(response, { items, pageInfo: { hasNextPage: false } })
        return true
      }
      const failed =
        "Alert (failure): The export of connection default failed (a format cannot hold the books, or lacks a setting). What was committed stays; the log says more."
      expect(yield* exportingNight(service.url, "netsuite", temporaryFolder())).toMatchObject({
        alerts: [failed],
        exported: [
          { code: "C2", formats: ["netsuite"] },
          { code: "ORG", formats: ["netsuite"] },
        ],
      })
      // Another format that holds it is not to wait.
      const { alerts, exported, failures } = yield* exportingNight(
        service.url,
        "netsuite, journal",
        temporaryFolder(),
      )
      expect(alerts).toEqual([failed])
      expect(failures).toEqual([
        expect.stringContaining(
          "The export of the book C1 as netsuite is refused, nothing of it was written:",
        ),
      ])
      expect(exported).toEqual(
        ["C1", "C2", "ORG"].flatMap((code) => [
          { code, formats: ["journal"] },
          ...(code === "C1" ? [] : [{ code, formats: ["netsuite"] }]),
        ]),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("are written by the settings of their formats", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [] })
      move(held, "", { type: "CREDIT", amount: 10 })
      const out = temporaryFolder()
      const { alerts, exported } = yield* exportingNight(service.url, "netsuite, xero", out, {
        TIEOUT_ACCOUNTING_BASE_CURRENCY: "USD",
        TIEOUT_FORMATS_NETSUITE_SUBSIDIARY: "Acme Ltd",
        TIEOUT_FORMATS_XERO_TAX_RATE: "BAS Excluded",
      })
      expect([alerts, exported]).toEqual([
        [],
        [
          { code: "ORG", formats: ["netsuite"] },
          { code: "ORG", formats: ["xero"] },
        ],
      ])
      const folder = join(out, "default-ORG", "since-0")
      const written = (batch: string, file: string) =>
        readFileSync(join(folder, batch, file), "utf8")
          .split(/\r?\n/)[1]
          ?.split(",")
      expect(written("1", "netsuite-USD.csv")?.[2]).toBe("Acme Ltd")
      // Xero's files have no currency: it is the base currency, and no other is written as if it were that.
      expect(written("2", "xero-USD.csv")?.[4]).toBe("BAS Excluded")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("leave out the book whose folder cannot be written, and no other", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      for (const one of ["", clientId(1), clientId(2)]) move(held, one, { type: "CREDIT", amount: 10 })
      const out = temporaryFolder()
      writeFileSync(join(out, "default-C1"), "not a folder")
      expect(yield* exportingNight(service.url, "journal", out)).toMatchObject({
        alerts: [
          "Alert (failure): The export of connection default failed (its folder cannot be written). What was committed stays; the log says more.",
        ],
        exported: [
          { code: "C2", formats: ["journal"] },
          { code: "ORG", formats: ["journal"] },
        ],
      })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
