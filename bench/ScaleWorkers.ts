/** Two nights of many clients: one process, and workers beside one; at a limit of the service, and at its latency. */
import { type Finished, run, serve } from "./Child.ts"
import { type Server, withServer } from "./Server.ts"
import { count, fieldOf, fixed, head, optionOf, row } from "./Shown.ts"

const cli = "bin/tieout.js"
const accountsPerClient = 4
const entriesPerClient = 20
/** Requests a second that the service takes: fewer where the machine is too busy for them. */
const limit = Number(optionOf("--limit") ?? 200)
/** Whether the settings name the limit; else it is learned from the service's refusals. */
const isTold = !process.argv.includes("--learned")
/** Milliseconds that each answer takes. */
const latency = 200
/** Workers beside the process that leads; none: that process reads everything. */
const numbers = (optionOf("--workers") ?? "0,1,2,4").split(",").map(Number)
/** Without the second part, which takes an answer's latency for each request. */
const isNear = process.argv.includes("--near")

interface Service {
  readonly origin: string
  readonly env: Record<string, string>
  readonly stop: () => void
}

const service = async (clients: number, ...more: ReadonlyArray<string>): Promise<Service> => {
  const entries = String(clients * entriesPerClient)
  const sizes = [
    "--clients",
    String(clients),
    "--accounts-per-client",
    String(accountsPerClient),
    "--client-entries",
    entries,
  ]
  const { answer, stop } = await serve([
    cli,
    "sandbox",
    "--port",
    "0",
    ...sizes,
    "--entries",
    "0",
    "--accounts",
    "1",
    ...more,
    "--json",
  ])
  return {
    origin: String(fieldOf(answer, "origin")),
    env: {
      ...{ TIEOUT_BASE_URL: String(fieldOf(answer, "url")), TIEOUT_CLIENT_ID: "sandbox-client" },
      ...{ TIEOUT_CLIENT_SECRET: "sandbox-secret", TIEOUT_SCOPE: "sandbox", TIEOUT_LOG_LEVEL: "error" },
      TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
    },
    stop,
  }
}

/** Requests in each tenth of a second of a night, from its first request to its last. */
const tenthsOf = async ({ origin }: Service): Promise<ReadonlyArray<number>> => {
  const answer: unknown = await (await fetch(`${origin}/control/requests`)).json()
  const tenths = fieldOf(answer, "tenths")
  const all = Array.isArray(tenths) ? tenths.map(Number) : []
  return all.slice(all.findIndex((each) => each > 0))
}

const refusedOf = async ({ origin }: Service): Promise<number> =>
  Number(fieldOf(fieldOf(await (await fetch(`${origin}/control/state`)).json(), "answers"), "429") ?? 0)

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

/** The share of the limit that the busiest ten seconds used. */
const busiest = (tenths: ReadonlyArray<number>): number => {
  let most = 0
  let now = 0
  tenths.forEach((each, at) => {
    now += each - (tenths[at - 100] ?? 0)
    most = Math.max(most, now)
  })
  return most / (limit * 10)
}

/** The share that was used in all, and between the first ten seconds and the last ten: while nothing was lacking but the limit. */
const used = (tenths: ReadonlyArray<number>) => {
  const middle = tenths.slice(100, -100)
  const share = (of: ReadonlyArray<number>) => sum(of) / (of.length / 10) / limit
  return { whole: share(tenths), middle: middle.length === 0 ? Number.NaN : share(middle) }
}

const percent = (share: number): string => (Number.isNaN(share) ? "" : `${fixed(share * 100, 0)} %`)

const night = async (server: Server, from: Service, database: string, workers: number) => {
  await fetch(`${from.origin}/control/reset-counters`, { method: "POST" })
  const before = server.seconds()
  const finished: Finished = await run(
    [cli, "sync", ...(workers === 0 ? [] : ["--workers", String(workers)])],
    { ...from.env, DATABASE_URL: database },
  )
  const postgres = server.seconds() - before
  const tenths = await tenthsOf(from)
  return { ...finished, postgres, tenths, refused: await refusedOf(from) }
}

const toldIn = (from: Service): Service => ({
  ...from,
  env: { ...from.env, TIEOUT_LIMITS_REQUESTS_PER_SECOND: String(limit) },
})

const measure = async (server: Server, from: Service, isLimited: boolean): Promise<void> => {
  for (const workers of numbers) {
    const database = await server.create()
    await run([cli, "migrate"], { ...from.env, DATABASE_URL: database })
    for (const which of ["first", "second"]) {
      const done = await night(server, from, database, workers)
      const requests = sum(done.tenths)
      const { middle, whole } = used(done.tenths)
      row([
        workers === 0 ? "one process" : String(workers),
        which,
        count(requests),
        fixed(done.seconds, 1),
        fixed(requests / (done.tenths.length / 10), 0),
        ...(isLimited
          ? [percent(whole), percent(middle), percent(busiest(done.tenths)), String(done.refused)]
          : []),
        fixed((done.processorSeconds / requests) * 1_000, 2),
        fixed((done.postgres / requests) * 1_000, 2),
        fixed(done.peakMegabytes, 0),
        done.ofChildren.map((megabytes) => fixed(megabytes, 0)).join(" "),
      ])
    }
    await server.drop(database)
  }
}

const columns = ["workers", "night", "requests>", "wall, s>", "requests/s>"]
const costs = ["Node, ms a request>", "Postgres, ms a request>", "RSS, MB>", "of workers, MB"]

export const measureWorkers = (clients: number): Promise<void> =>
  withServer(async (server) => {
    const limited = await service(clients, "--faults", `limit:${limit}`)
    const known = isTold ? "that the settings name" : "that is learned"
    process.stdout.write(`\n${count(clients)} clients, at a limit of ${limit} requests a second ${known}:\n`)
    head(...columns, "of the limit>", "in its middle>", "in its busiest 10 s>", "refused>", ...costs)
    await measure(server, isTold ? toldIn(limited) : limited, true).finally(limited.stop)
    if (isNear) return
    const far = await service(clients, "--latency", String(latency))
    process.stdout.write(`\nAt ${latency} ms for each answer, without a limit:\n`)
    head(...columns, ...costs)
    await measure(server, far, false).finally(far.stop)
  })
