/**
 * `npm run soak -- --days 30`: so many nights of `tieout serve` against the sandbox, on a clock of their own that the database
 * shares, with what happens to servers in a month. Prints what was alerted, and when. In the end the books must have the same cash
 * lines, and the same totals per resource, role and currency, as a full sync into an empty database; ends with 1 where they have not,
 * where something went wrong and nobody was told, or where somebody was told and nothing was wrong.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Fiber, Layer, Logger, ManagedRuntime, Option } from "effect"
import { migrate } from "../src/Database/Migrate.ts"
import { Database } from "../src/Database.ts"
import { startSandbox } from "../src/Sandbox.ts"
import { Nightly } from "../src/Serve/Nightly.ts"
import { watchStaleness } from "../src/Serve/Staleness.ts"
import { Settings } from "../src/Settings.ts"
import { Sync } from "../src/Sync.ts"
import { thisNight } from "../test/Serve/ThisNight.ts"
import { run } from "./Child.ts"
import { cashLines, compare, journalOf, totals } from "./SoakBooks.ts"
import { soakService, type Trouble } from "./SoakService.ts"
import { VirtualClock } from "./VirtualClock.ts"

const days = Number(process.argv[process.argv.indexOf("--days") + 1] ?? 30)
if (!Number.isInteger(days) || days < 1) throw new Error("--days: expected a whole number of days")
const tieout = "bin/tieout.js"
const folder = mkdtempSync(join(tmpdir(), "tieout-soak-"))
chmodSync(folder, 0o755)
const dataDir = join(folder, "data")

const hour = 3_600_000
const day = 24 * hour
const began = Date.parse("2026-11-01T12:00:00Z")
const time = new VirtualClock(began)
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const stamp = () => new Date(time.now()).toISOString().slice(0, 16).replace("T", " ")
const say = (text: string) => process.stdout.write(`${stamp()}  ${text}\n`)

/** How often the books' age is looked at, in minutes: nothing else waits so long. */
const lookEvery = 61
/** Waits of a night for what is away, in minutes. */
const isWaitOfNight = (minutes: number) => minutes <= 15

const firstSecret = "sandbox-secret"
const nextSecret = "rotated-secret"
const trouble: Trouble = { away: false, tokenAway: false, broken: null, secret: firstSecret }
const sandbox = await startSandbox({ entries: 2_000, clients: 4, to: "2026-10-31", now: () => time.now() })
const service = await soakService(sandbox.origin, trouble, () => time.now())
const address = sandbox.url.replace(sandbox.origin, service.origin)
const variables = (secret: string) => ({
  ...{ TIEOUT_BASE_URL: address, TIEOUT_CLIENT_ID: "sandbox-client", TIEOUT_CLIENT_SECRET: secret },
  ...{
    // A quarter of the default: what is away is tried less often.
    TIEOUT_LIMITS_RUN_DEADLINE: "3 hours",
    TIEOUT_LIMITS_TRIES: "3",
    TIEOUT_SCOPE: "accounts:read",
    TIEOUT_CONNECTIONS: '{"default":{"surfaces":["organization","client"]}}',
  },
})

const found = { alerts: [] as string[], day: 0 }
const logger = Logger.make(({ message }) => {
  const text = String(message)
  if (!text.startsWith("Alert (")) return
  found.alerts.push(`${found.day} ${text}`)
  say(`  ${text}`)
})

const settingsOf = (session: Readonly<Record<string, string>>) => ({ url: Option.none(), dataDir, session })

/**
 * The database has no clock that can be set: `now()` and `clock_timestamp()` are found in a schema of ours first, by whatever is made
 * and run then. The rules' functions look in Postgres' own schema alone, until `rulesByThisClock` has run.
 */
const simulated = { search_path: "simulated, pg_catalog, public" }
const admin = ManagedRuntime.make(Database.layer({ ...settingsOf({}), asOwner: true }))
const asAdmin = (statement: string) =>
  admin.runPromise(
    Effect.flatMap(Database, ({ query }) => query("Soak.admin", (sql) => sql.unsafe(statement))),
  )

const rulesByThisClock = `do $$
declare ours text;
begin
  for ours in select oid::regprocedure::text from pg_proc where proconfig @> '{"search_path=pg_catalog, pg_temp"}' loop
    execute format('alter function %s set search_path = simulated, pg_catalog, pg_temp', ours);
  end loop;
end $$`

const setClock = async (to: number): Promise<void> => {
  const ahead = time.ahead + Math.max(0, to - time.now())
  await asAdmin(`update simulated.clock set ahead = interval '${Math.round(ahead)} milliseconds'`)
  time.moveTo(to)
}

/** One life of `tieout serve`. */
const begin = (secret: string) => {
  const layer = Nightly.layer.pipe(
    Layer.provideMerge(Sync.Default),
    Layer.provideMerge(Settings.from({ variables: variables(secret) })),
    Layer.provideMerge(Layer.orDie(Database.layer(settingsOf(simulated)))),
    Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
    Layer.provideMerge(Layer.setClock(time.clock)),
  )
  const runtime = ManagedRuntime.make(layer)
  const watching = runtime.runFork(
    Effect.scoped(Effect.zipRight(watchStaleness(`${lookEvery} minutes`), Effect.never)),
  )
  return {
    runtime,
    end: async () => {
      await Effect.runPromise(Fiber.interrupt(watching))
      await runtime.dispose()
    },
  }
}

let life = begin(firstSecret)

const looked = async () => {
  for (let tries = 0; tries < 400 && !time.sleeps((minutes) => minutes === lookEvery); tries++) await pause(5)
}

/** Lets the time pass, look by look. */
const passTo = async (until: number): Promise<void> => {
  while (time.now() < until) {
    await setClock(time.next(until))
    await looked()
  }
}

/** A night's work to its end; its waits are over at once. `meanwhile` is asked before each. */
const night = async (meanwhile: () => Promise<void> | void = () => undefined): Promise<void> => {
  let ended = false
  const done = life.runtime.runPromise(Effect.flatMap(Nightly, ({ run }) => thisNight(run))).finally(() => {
    ended = true
  })
  while (!ended) {
    if (time.sleeps(isWaitOfNight)) {
      await meanwhile()
      await setClock(time.next(Number.POSITIVE_INFINITY))
      await looked()
    } else await pause(5)
  }
  await done
}

/** Cuts every session but the one that asks. */
const cut = () =>
  asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)

interface Night {
  readonly what: string
  readonly run: () => Promise<void>
  /** Kinds of alerts that somebody must get within the day. */
  readonly alerts: ReadonlyArray<"failure" | "staleness">
}

const ordinary: Night = { what: "", run: () => night(), alerts: [] }

/** Away until a time after the night's begin, and tried again meanwhile. */
const awayFor = (minutes: number, set: (away: boolean) => void) => async () => {
  const until = time.now() + minutes * 60_000
  set(true)
  await night(() => {
    if (time.now() >= until) set(false)
  })
  set(false)
}

const broken = (last: boolean): Night => ({
  what: "one client's statement answers 500",
  alerts: ["failure"],
  run: async () => {
    if (trouble.broken === null) {
      const [row] =
        await asAdmin(`select a.account_id as id from mirror.accounts a join mirror.books b using (book_id)
        where b.code <> 'ORG' order by 1 limit 1`)
      trouble.broken = String(row?.id)
    }
    await night()
    if (last) trouble.broken = null
  },
})

const nights: ReadonlyMap<number, Night> = new Map<number, Night>([
  [
    3,
    {
      what: "the service is away for 40 minutes",
      alerts: ["failure"],
      run: awayFor(40, (away) => {
        trouble.away = away
      }),
    },
  ],
  [
    5,
    {
      what: "the token endpoint is away for 20 minutes",
      alerts: ["failure"],
      run: awayFor(20, (away) => {
        trouble.tokenAway = away
      }),
    },
  ],
  [
    7,
    {
      what: "the service is away all day",
      alerts: ["failure", "staleness"],
      run: awayFor(23 * 60, (away) => {
        trouble.away = away
      }),
    },
  ],
  ...[9, 10, 11, 12, 13, 14, 15].map((at) => [at, broken(at === 15)] as const),
  [
    17,
    {
      what: "the client secret was rotated, and nobody told Tieout until noon",
      alerts: ["failure"],
      run: async () => {
        trouble.secret = nextSecret
        await night()
        await passTo(time.now() + 8 * hour)
        await life.end()
        life = begin(nextSecret)
        await night()
      },
    },
  ],
  [
    20,
    {
      what: "the database fails over three times in mid-run",
      alerts: ["failure"],
      run: async () => {
        const cuts = [150, 150, 150]
        const next = async () => {
          const after = cuts.shift()
          if (after !== undefined) setTimeout(() => void cut().catch(() => undefined), after)
        }
        await next()
        await night(next)
      },
    },
  ],
  [
    24,
    {
      what: "the database's disk is full until the afternoon",
      alerts: ["failure", "staleness"],
      run: async () => {
        await asAdmin(`create or replace function simulated.full() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
        await asAdmin(`create trigger disk_full before insert on mirror.statement_entries
        for each statement execute function simulated.full()`)
        await night()
        await passTo(time.now() + 11 * hour)
        await asAdmin("drop trigger disk_full on mirror.statement_entries")
      },
    },
  ],
  [
    26,
    {
      what: "the machine restarts in mid-run; the new process makes up for it",
      alerts: [],
      run: async () => {
        const half = life.runtime.runFork(Effect.flatMap(Nightly, ({ run }) => thisNight(run)))
        await pause(200)
        await Effect.runPromise(Fiber.interrupt(half))
        await life.end()
        life = begin(nextSecret)
        await night()
      },
    },
  ],
  [
    28,
    {
      what: "every fault that a network has, for two nights",
      alerts: [],
      run: async () => {
        await fetch(`${sandbox.origin}/control/faults?set=wild`, { method: "POST" })
        await night()
      },
    },
  ],
  [
    30,
    {
      what: "the faults are over",
      alerts: [],
      run: async () => {
        await fetch(`${sandbox.origin}/control/faults?set=none`, { method: "POST" })
        await night()
      },
    },
  ],
])

try {
  await asAdmin("create schema simulated")
  await asAdmin("create table simulated.clock (ahead interval not null)")
  await asAdmin("insert into simulated.clock values ('0')")
  await asAdmin("grant usage on schema simulated to public")
  await asAdmin("grant select on simulated.clock to public")
  await asAdmin(`create function simulated.now() returns timestamptz language sql stable
    as 'select pg_catalog.now() + (select ahead from simulated.clock)'`)
  // By which a night is due.
  await asAdmin(`create function simulated.clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + (select ahead from simulated.clock)'`)
  await setClock(time.now())
  await life.runtime.runPromise(migrate())
  await asAdmin(rulesByThisClock)
  await night()
  say(`the first sync is done; ${days} nights`)
  for (let at = 1; at <= days; at++) {
    found.day = at
    sandbox.advance(30)
    for (const client of [0, 1, 2]) sandbox.advance(3, client)
    await passTo(Math.floor((began + at * day) / day) * day + 3.5 * hour)
    const { alerts, run: play, what } = nights.get(at) ?? ordinary
    if (what !== "") say(`night ${at}: ${what}`)
    await play()
    await passTo(Math.floor((began + at * day) / day) * day + 20 * hour)
    const heard = found.alerts.filter((line) => line.startsWith(`${at} `))
    for (const kind of alerts.filter((one) => !heard.some((line) => line.includes(`Alert (${one})`)))) {
      say(`night ${at}: nobody was told (${kind})`)
      process.exitCode = 1
    }
    if (alerts.length === 0 && heard.length > 0) {
      say(`night ${at}: somebody was told, and nothing was wrong`)
      process.exitCode = 1
    }
  }
  await fetch(`${sandbox.origin}/control/faults?set=none`, { method: "POST" })
  trouble.broken = null
  await passTo(time.now() + 8 * hour)
  await night()
  const open =
    await asAdmin(`select check_name || ' ' || severity as what, count(*)::int as times from reconcile.findings
    where closed_at is null group by 1 order by 1`)
  say(`open in the end: ${open.map(({ times, what }) => `${times} ${what}`).join(", ")}`)
  await life.end()
  const here = { ...variables(trouble.secret), TIEOUT_DATA_DIR: dataDir }
  const there = { ...here, TIEOUT_DATA_DIR: join(folder, "fresh") }
  await run([tieout, "sync", "--full"], there)
  const [journal, wanted] = [
    await journalOf(here, join(folder, "exports")),
    await journalOf(there, join(folder, "fresh-exports")),
  ]
  compare("cash lines", cashLines(journal), cashLines(wanted))
  compare("totals per resource, role and currency", totals(journal), totals(wanted))
} finally {
  service.close()
  await sandbox.close()
  await admin.dispose()
  rmSync(folder, { recursive: true, force: true })
}
