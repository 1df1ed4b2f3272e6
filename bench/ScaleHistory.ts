/**
 * The cost of a night without news and of people's queries over a long history: at a tenth of it and at all of it, in months of one
 * size, so that only the earlier history differs. Names each statement of a night that touches more pages because of it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run, serve } from "./Child.ts"
import { connect } from "./Connection.ts"
import { generate } from "./Generated.ts"
import { type Server, withServer } from "./Server.ts"
import { count, fieldOf, fixed, head, row } from "./Shown.ts"

const cli = "bin/tieout.js"
/** Clients, of whom one in ten is not active. */
const clients = 222
const months = Array.from({ length: 10 }, (_, at) => `2026-${String(at + 1).padStart(2, "0")}`)

interface Ran {
  readonly calls: number
  readonly milliseconds: number
  /** Pages of 8 kB, found in memory or not. */
  readonly pages: number
  readonly text: string
}

/** Statements of the database, functions' and triggers' own included, since they were forgotten last. */
const statements = (url: string) => {
  const client = connect(url, 1)
  return {
    begin: () => client`create extension if not exists pg_stat_statements`,
    forget: () => client`select pg_stat_statements_reset()`,
    read: async (): Promise<ReadonlyMap<string, Ran>> => {
      const rows = await client<Array<Ran & { id: string }>>`
        select s.queryid::text || s.toplevel as id, sum(s.calls)::float8 as calls, sum(s.total_exec_time)::float8 as milliseconds,
          sum(s.shared_blks_hit + s.shared_blks_read)::float8 as pages, left(regexp_replace(min(s.query), '\\s+', ' ', 'g'), 120) as text
        from pg_stat_statements s join pg_database d on d.oid = s.dbid and d.datname = current_database()
        group by 1`
      return new Map(rows.map(({ id, ...ran }) => [id, ran]))
    },
    /** The number of a journal entry in that month. */
    number: async (month: string): Promise<string> => {
      const [found] = await client<[{ code: string }]>`
        select b.code from mirror.books b join ledger.periods p on p.book_id = b.book_id
        where p.period = ${`${month}-01`}::text::date and p.last_number > 0 order by b.book_id limit 1`
      return `${found.code}-${month}-000001`
    },
    end: () => client.end(),
  }
}

/** More pages than that, and than half as many again, count as growth. */
const noise = 200

const showGrowth = (
  what: string,
  before: ReadonlyMap<string, Ran>,
  after: ReadonlyMap<string, Ran>,
): void => {
  const pages = (all: ReadonlyMap<string, Ran>) => [...all.values()].reduce((sum, ran) => sum + ran.pages, 0)
  process.stdout.write(
    `\n${what} touched ${count(pages(before))} pages over the short history, ${count(pages(after))} over the long one. Statements that touched more:\n`,
  )
  head("pages before>", "after>", "ms before>", "after>", "calls>", "statement")
  for (const [id, now] of after) {
    const then = before.get(id) ?? { pages: 0, milliseconds: 0 }
    if (now.pages <= then.pages * 1.5 + noise) continue
    row([
      count(then.pages),
      count(now.pages),
      fixed(then.milliseconds, 0),
      fixed(now.milliseconds, 0),
      count(now.calls),
      `\`${now.text.replaceAll("|", "\\|")}\``,
    ])
  }
}

const measure = async (server: Server, all: number): Promise<void> => {
  const sizes = ["--clients", String(clients), "--client-entries", "0", "--accounts", "1", "--entries", "0"]
  const sandbox = await serve([
    cli,
    "sandbox",
    "--port",
    "0",
    ...sizes,
    "--from",
    "2025-12-01",
    "--to",
    "2025-12-31",
    "--json",
  ])
  const out = mkdtempSync(join(tmpdir(), "tieout-bench-out-"))
  const database = await server.create()
  const kept = statements(database)
  const env = {
    ...{ TIEOUT_BASE_URL: String(fieldOf(sandbox.answer, "url")), TIEOUT_CLIENT_ID: "sandbox-client" },
    ...{ TIEOUT_CLIENT_SECRET: "sandbox-secret", TIEOUT_SCOPE: "sandbox", TIEOUT_LOG_LEVEL: "error" },
    ...{ TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}", DATABASE_URL: database },
  }
  let entries = 0
  const stage = async (name: string, ...argv: ReadonlyArray<string>): Promise<ReadonlyMap<string, Ran>> => {
    await kept.forget()
    const before = server.seconds()
    const { peakMegabytes, processorSeconds, seconds } = await run([cli, ...argv], env)
    const postgres = server.seconds() - before
    row([
      count(entries),
      name,
      fixed(seconds, 1),
      fixed(processorSeconds, 1),
      fixed(postgres, 1),
      fixed(peakMegabytes, 0),
    ])
    return kept.read()
  }
  try {
    await run([cli, "migrate"], env)
    await run([cli, "sync"], env)
    await kept.begin()
    /** What grows is asked of these three, once over each history. */
    const ran = {
      night: [] as ReadonlyMap<string, Ran>[],
      export: [] as ReadonlyMap<string, Ran>[],
      close: [] as ReadonlyMap<string, Ran>[],
    }
    for (const until of [1, months.length]) {
      const began = performance.now()
      const made = months.slice(ran.night.length, until)
      const before = server.seconds()
      entries += await generate(
        database,
        all / months.length,
        made.map((month) => `${month}-01`),
      )
      process.stdout.write(
        `\n${count(entries)} entries in ${until} months; making the last ${made.length} took ${fixed((performance.now() - began) / 1_000, 0)} s, ${fixed(server.seconds() - before, 0)} of Postgres' processor; ${fixed((await server.bytes(database)) / 1e9, 1)} GB.\n`,
      )
      head("entries>", "what", "wall, s>", "Node, s>", "Postgres, s>", "peak RSS, MB>")
      const month = months[until - 1] ?? ""
      await run([cli, "sync"], env)
      ran.night.push(await stage("a night without news", "sync"))
      await stage("`status`", "status")
      await stage("`balance`", "balance")
      await stage("`reconcile`", "reconcile")
      await stage("`explain` of a journal number", "explain", await kept.number(month))
      ran.export.push(
        await stage(
          "`export` of the last month",
          "export",
          "--format",
          "journal",
          "--period",
          month,
          "--out",
          out,
        ),
      )
      for (const earlier of made.slice(0, -1)) await stage(`\`close ${earlier}\``, "close", earlier)
      ran.close.push(await stage(`\`close ${month}\``, "close", month))
    }
    for (const [name, [first, last]] of [
      ["A night", ran.night],
      ["An export", ran.export],
      ["A close", ran.close],
    ] as const)
      if (first !== undefined && last !== undefined) showGrowth(name, first, last)
  } finally {
    sandbox.stop()
    await kept.end()
    rmSync(out, { recursive: true, force: true })
  }
}

export const measureHistory = (entries: number): Promise<void> =>
  withServer((server) => measure(server, entries), {
    shared_preload_libraries: "pg_stat_statements",
    "pg_stat_statements.track": "all",
    "pg_stat_statements.max": "10000",
  })
