/**
 * `npm run bench [-- 10000 100000] [-- --million]`: a cold sync, a second one without news and an export, side by side
 * with the least that they could cost, measured in the same run. The sandbox runs in a process of its own, and so does
 * every stage; the database is an embedded one in a temporary folder unless BENCH_DATABASE_URL names a server.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { DatabaseConfig } from "../src/Database/DatabaseConfig.ts"
import { Database } from "../src/Database.ts"
import { urlOf } from "../test/support/DatabaseAddress.ts"
import { type Finished, run, serve } from "./Child.ts"

const cli = "bin/tieout.js"

const sizes = (args: ReadonlyArray<string>): ReadonlyArray<number> => {
  const named = args.map(Number).filter((size) => Number.isInteger(size) && size > 0)
  const usual = named.length > 0 ? named : [10_000, 100_000]
  return args.includes("--million") ? [...usual, 1_000_000] : usual
}

const numberAt = (document: unknown, ...path: ReadonlyArray<string>): number => {
  let found = document
  for (const key of path)
    found = typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined
  return Number(found)
}

const textAt = (document: unknown, key: string): string =>
  typeof document === "object" && document !== null ? String(Reflect.get(document, key)) : ""

const requestsOf = (finished: Finished): number => {
  const document: unknown = JSON.parse(finished.stdout)
  const runs: unknown =
    typeof document === "object" && document !== null ? Reflect.get(document, "runs") : undefined
  const first: unknown = Array.isArray(runs) ? runs[0] : document
  const requests: unknown = typeof first === "object" && first !== null ? Reflect.get(first, "requests") : {}
  return Object.values(typeof requests === "object" && requests !== null ? requests : {}).reduce(
    (sum: number, count: unknown) => sum + Number(count),
    0,
  )
}

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const fixed = (value: number, digits = 2): string => value.toFixed(digits)
const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** All stages for one size, as the rows of the table. */
const measure = async (entries: number, databaseUrl: string): Promise<ReadonlyArray<string>> => {
  const sandbox = await serve([
    cli,
    "sandbox",
    "--port",
    "0",
    "--entries",
    String(entries),
    "--accounts",
    "24",
    "--json",
  ])
  const out = mkdtempSync(join(tmpdir(), "tieout-bench-out-"))
  try {
    const base = textAt(sandbox.answer, "url")
    const env = {
      DATABASE_URL: databaseUrl,
      TIEOUT_BASE_URL: base,
      TIEOUT_CLIENT_ID: "sandbox-client",
      TIEOUT_CLIENT_SECRET: "sandbox-secret",
      TIEOUT_SCOPE: "sandbox",
    }
    const floor = await run(["--import", "tsx", "bench/floor.ts"], {
      BENCH_URL: base,
      BENCH_DATABASE: databaseUrl,
    })
    const floorTimes: unknown = JSON.parse(floor.stdout)
    const fetched = numberAt(floorTimes, "fetched")
    const inserted = numberAt(floorTimes, "inserted")
    await run([cli, "migrate"], env)
    const cold = await run([cli, "sync", "--json"], env)
    const again = await run([cli, "sync", "--json"], env)
    const exported = await run([cli, "export", "--format", "journal", "--all", "--out", out], env)
    const copied = await run(["--import", "tsx", "bench/copy.ts"], {
      BENCH_DATABASE: databaseUrl,
      BENCH_FILE: join(out, "copy.csv"),
    })
    const copySeconds = numberAt(JSON.parse(copied.stdout), "seconds")
    const size = count(entries)
    const floorSeconds = fetched + inserted
    return [
      row([size, "floor: fetch and parse", fixed(fetched), "", "", "", ""]),
      row([size, "floor: bare insert", fixed(inserted), "", "", "", ""]),
      row([
        size,
        "floor, both",
        fixed(floorSeconds),
        count(entries / floorSeconds),
        fixed(floor.peakMegabytes, 0),
        "1.00",
        "",
      ]),
      row([
        size,
        "`tieout sync`, cold",
        fixed(cold.seconds),
        count(entries / cold.seconds),
        fixed(cold.peakMegabytes, 0),
        fixed(cold.seconds / floorSeconds),
        count(requestsOf(cold)),
      ]),
      row([
        size,
        "`tieout sync`, no news",
        fixed(again.seconds),
        "",
        fixed(again.peakMegabytes, 0),
        "",
        count(requestsOf(again)),
      ]),
      row([
        size,
        "`COPY … TO STDOUT`",
        fixed(copySeconds),
        count(entries / copySeconds),
        fixed(copied.peakMegabytes, 0),
        "1.00",
        "",
      ]),
      row([
        size,
        "`tieout export`, all",
        fixed(exported.seconds),
        count(entries / exported.seconds),
        fixed(exported.peakMegabytes, 0),
        fixed(exported.seconds / copySeconds),
        "",
      ]),
    ]
  } finally {
    sandbox.stop()
    rmSync(out, { recursive: true, force: true })
  }
}

/** Calls `work` with a database of its own for every size. */
const withDatabase = (
  work: (url: string) => Promise<ReadonlyArray<string>>,
): Promise<ReadonlyArray<string>> => {
  const given = process.env.BENCH_DATABASE_URL
  if (given !== undefined) return work(given)
  const dataDir = mkdtempSync(join(tmpdir(), "tieout-bench-"))
  // The server of a benchmark that root starts runs as an ordinary user, who has to get in.
  chmodSync(dataDir, 0o755)
  const config = Layer.sync(DatabaseConfig, () => DatabaseConfig.of({ url: Option.none(), dataDir }))
  return Effect.runPromise(
    Effect.flatMap(Database, ({ settings }) =>
      Effect.promise(() => work(urlOf(settings, settings.database))),
    ).pipe(Effect.provide(Layer.provide(Database.DefaultWithoutDependencies, config))),
  ).finally(() => rmSync(dataDir, { recursive: true, force: true }))
}

const lines = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${fixed(totalmem() / 2 ** 30, 0)} GiB`,
  "",
  row(["entries", "stage", "seconds", "entries/s", "peak RSS, MB", "ratio", "requests"]),
  row(["---:", "---", "---:", "---:", "---:", "---:", "---:"]),
]
for (const line of lines) process.stdout.write(`${line}\n`)
for (const size of sizes(process.argv.slice(2))) {
  for (const line of await withDatabase((url) => measure(size, url))) process.stdout.write(`${line}\n`)
}
