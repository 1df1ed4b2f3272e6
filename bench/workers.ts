/**
 * `npm run soak:workers [-- --minutes N --clients N --workers N --limit N --seed N --learned]`: nights of a connection with wild faults and a rate
 * limit, whose clients' books workers read that are killed (SIGKILL) and stopped (SIGSTOP, SIGCONT) at random. After each night one
 * undisturbed process reads the same into a database of its own. At the end both journals must be the same in every column but
 * `recorded_at` (without the credit surface, whose accruals are dated by when they were read), the database must prove itself, and the
 * service must never have been asked for more than its limit and a hundredth in any ten seconds. The settings name the limit, or with
 * `--learned` do not. Ends with 1 where that is not so.
 */
import { parseArgs } from "node:util"
import { run, serve } from "./Child.ts"
import { connect } from "./Connection.ts"
import { withServer } from "./Server.ts"
import { fieldOf, textAt } from "./Shown.ts"
import { say } from "./SoakBooks.ts"
import { Disturbed } from "./SoakWorkers.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    clients: { type: "string", default: "200" },
    workers: { type: "string", default: "4" },
    limit: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    learned: { type: "boolean", default: false },
  },
})
const [minutes, clients, count, limit, seed] = [
  values.minutes,
  values.clients,
  values.workers,
  values.limit,
  values.seed,
].map(Number)
const tieout = "bin/tieout.js"

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const faults = `wild,limit:${limit}`
const sandbox = await serve([
  tieout,
  ...["sandbox", "--json", "--faults", faults, "--clients", String(clients), "--accounts-per-client", "2"],
  ...["--accounts", "4", "--entries", "400"],
])
const variables = fieldOf(sandbox.answer, "variables")
const base = textAt(variables, "TIEOUT_BASE_URL")
const connection = {
  TIEOUT_BASE_URL: base,
  TIEOUT_CLIENT_ID: textAt(variables, "TIEOUT_CLIENT_ID"),
  TIEOUT_CLIENT_SECRET: textAt(variables, "TIEOUT_CLIENT_SECRET"),
  TIEOUT_SCOPE: textAt(variables, "TIEOUT_SCOPE"),
  TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
  ...(values.learned ? {} : { TIEOUT_LIMITS_REQUESTS_PER_SECOND: String(limit) }),
  TIEOUT_LOG: "json",
}
const control = async (path: string, method = "POST"): Promise<unknown> =>
  (await fetch(new URL(`/control/${path}`, new URL(base).origin), { method })).json()

/** The canonical journal of every book in every column but `recorded_at`, in the order of the books. */
const journalOf = async (url: string): Promise<ReadonlyArray<string>> => {
  const sql = connect(url, 1)
  try {
    const rows = await sql<Array<{ line: string }>>`
      select concat_ws('|', b.code, n.period, n.number, p.line_number, e.effective_date, e.occurred_at, a.code, a.name,
        a.role, a.partner_account_id, p.currency, p.amount, e.kind, e.description, e.source_type, e.source_id, e.sequence,
        e.resource_type, e.resource_id, e.external_reference, e.counterparty, e.late_for) as line
      from ledger.journal_entries e
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      join mirror.books b on b.book_id = e.book_id
      left join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
      order by b.code, n.period, n.number, p.line_number`
    return rows.map(({ line }) => line)
  } finally {
    await sql.end()
  }
}

/** What is read of the service in a night: until every book of it is. */
const whole = async (args: ReadonlyArray<string>, env: Record<string, string>): Promise<number> => {
  for (let tries = 1; ; tries++) {
    const { stdout } = await run([tieout, "sync", "--json", ...args], env, { codes: [0, 1, 3, 75] })
    const found: unknown = JSON.parse(stdout)
    const [one] = listOf(fieldOf(found, "runs"))
    const failures = fieldOf(one, "clientFailures")
    const isWhole = fieldOf(one, "errors") === undefined && Array.isArray(failures) && failures.length === 0
    if (isWhole) return tries
    if (tries === 20) throw new Error(`the night does not come to its end: ${stdout.slice(0, 2_000)}`)
  }
}

const amiss: Array<string> = []
await withServer(async (server) => {
  const here = { ...connection, DATABASE_URL: await server.create() }
  const there = { ...connection, DATABASE_URL: await server.create() }
  for (const env of [here, there]) await run([tieout, "migrate"], env)
  const until = Date.now() + (minutes ?? 10) * 60_000
  const disturbed = new Disturbed(count ?? 4, here, seed ?? 1)
  let nights = 0
  let syncs = 0
  const most = new Map<string, number>()
  try {
    while (Date.now() < until) {
      await control("reset-counters")
      disturbed.goOn()
      syncs += await whole(["--workers", "0"], here)
      nights += 1
      disturbed.pause()
      const state = await control("state", "GET")
      for (const [seconds, found] of Object.entries(fieldOf(state, "busiest") ?? {}))
        most.set(seconds, Math.max(most.get(seconds) ?? 0, Number(found)))
      say(
        `night ${nights}: ${disturbed.said}; answers ${JSON.stringify(fieldOf(state, "answers"))}, most requests within seconds ${JSON.stringify(fieldOf(state, "busiest"))}`,
      )
      await control("faults?set=none")
      await whole([], there)
      await control(`faults?set=${faults}`)
      await control("advance?movements=20")
      for (let index = 0; index < (clients ?? 200); index++)
        await control(`advance?movements=2&client=${index}`)
    }
  } finally {
    await disturbed.end()
  }
  const [found, wanted] = [await journalOf(here.DATABASE_URL), await journalOf(there.DATABASE_URL)]
  const known = new Set(wanted)
  const odd = found.filter((line) => !known.has(line))
  say(
    `${found.length} lines by ${nights} nights in ${syncs} syncs, ${wanted.length} undisturbed; ${odd.length} differ`,
  )
  if (odd.length > 0 || found.length !== wanted.length || found.some((line, at) => line !== wanted[at]))
    amiss.push(`the journals differ: ${odd.slice(0, 5).join("\n")}`)
  const bound = (limit ?? 0) * 10 * 1.01
  if ((most.get("10") ?? 0) > bound)
    amiss.push(`${most.get("10")} requests within ten seconds, at most ${bound}`)
  say(
    `at most ${[...most].map(([seconds, n]) => `${n} requests within ${seconds} s`).join(", ")}; the limit is ${limit} a second`,
  )
  const proof = await run([tieout, "verify", "--database"], here, { codes: [0] })
  say(proof.stdout.trim().split("\n").at(-1) ?? "")
})
  .catch((error: unknown) => {
    amiss.push(error instanceof Error ? error.message : String(error))
  })
  .finally(() => sandbox.stop())
for (const what of amiss) process.stdout.write(`${what}\n`)
process.exit(amiss.length === 0 ? 0 : 1)
