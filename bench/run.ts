/**
 * `npm run bench [-- 10000 100000] [-- --million] [-- --pairs 5] [-- --gate]`: a cold sync beside the least that it could cost, in
 * pairs that take turns, then a night without news, `status` and an export beside `COPY`. What is compared is processor time of
 * Node and of Postgres. The sandbox and every stage run in processes of their own; the database is an embedded one in a temporary
 * folder unless BENCH_DATABASE_URL names a server on this machine.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { run, serve } from "./Child.ts"
import { type Line, lastLine, lineText, tooSlow } from "./History.ts"
import { machine } from "./Processor.ts"
import { type Server, withServer } from "./Server.ts"
import { args, count, fieldOf, fixed, head, median, optionOf, row } from "./Shown.ts"

const cli = "bin/tieout.js"
const named = args.filter((arg, at) => args[at - 1] !== "--pairs" && /^\d+$/.test(arg)).map(Number)
const sizes = [...(named.length > 0 ? named : [100_000]), ...(args.includes("--million") ? [1_000_000] : [])]
const pairsOf = (size: number): number => Number(optionOf("--pairs") ?? (size > 200_000 ? 1 : 5))

interface Stage {
  readonly name: string
  /** Of the wall clock. */
  readonly seconds: number
  readonly node: number
  readonly postgres: number
  readonly megabytes: number
}

const medianOf = (name: string, stages: ReadonlyArray<Stage>): Stage => {
  const of = (key: "seconds" | "node" | "postgres" | "megabytes") => median(stages.map((stage) => stage[key]))
  return {
    name,
    seconds: of("seconds"),
    node: of("node"),
    postgres: of("postgres"),
    megabytes: Math.max(...stages.map(({ megabytes }) => megabytes)),
  }
}

const processorOf = ({ node, postgres }: Stage): number => node + postgres

const shown = (size: number, stage: Stage, floor?: Stage): void =>
  row([
    count(size),
    stage.name,
    fixed(stage.seconds),
    fixed(stage.node),
    fixed(stage.postgres),
    fixed(stage.megabytes, 0),
    floor === undefined ? "" : fixed(stage.seconds / floor.seconds),
    floor === undefined ? "" : fixed(processorOf(stage) / processorOf(floor)),
  ])

const measure = async (size: number, server: Server): Promise<Line> => {
  const sandboxArguments = ["--port", "0", "--entries", String(size), "--accounts", "24", "--json"]
  const sandbox = await serve([cli, "sandbox", ...sandboxArguments])
  const out = mkdtempSync(join(tmpdir(), "tieout-bench-out-"))
  try {
    const base = String(fieldOf(sandbox.answer, "url"))
    const connection = {
      TIEOUT_BASE_URL: base,
      TIEOUT_CLIENT_ID: "sandbox-client",
      TIEOUT_CLIENT_SECRET: "sandbox-secret",
      TIEOUT_SCOPE: "sandbox",
    }
    const stage = async (
      name: string,
      argv: ReadonlyArray<string>,
      env: Record<string, string>,
    ): Promise<Stage> => {
      const before = server.seconds()
      const { peakMegabytes, processorSeconds, seconds } = await run(argv, env)
      const postgres = server.seconds() - before
      return { name, seconds, node: processorSeconds, postgres, megabytes: peakMegabytes }
    }
    /** A floor says itself what it took: it has no program to load. */
    const floorStage = async (name: string, source: string, env: Record<string, string>): Promise<Stage> => {
      const before = server.seconds()
      const { peakMegabytes, stdout } = await run(["--import", "tsx", source], env)
      const postgres = server.seconds() - before
      const own: unknown = JSON.parse(stdout)
      const [seconds, node] = [Number(fieldOf(own, "seconds")), Number(fieldOf(own, "processorSeconds"))]
      return { name, seconds, node, postgres, megabytes: peakMegabytes }
    }
    const floor = (database: string, client: string) =>
      floorStage(`floor: ${client}, parse, bare insert`, "bench/floor.ts", {
        BENCH_URL: base,
        BENCH_DATABASE: database,
        BENCH_CLIENT: client,
      })
    const floors: Array<Stage> = []
    const lean: Array<Stage> = []
    const colds: Array<Stage> = []
    let database = ""
    for (let pair = 0; pair < pairsOf(size); pair++) {
      if (database !== "") await server.drop(database)
      database = await server.create()
      floors.push(await floor(database, "fetch"))
      lean.push(await floor(database, "undici"))
      await run([cli, "migrate"], { ...connection, DATABASE_URL: database })
      colds.push(await stage("`tieout sync`, cold", [cli, "sync"], { ...connection, DATABASE_URL: database }))
    }
    const env = { ...connection, DATABASE_URL: database }
    const least = medianOf("floor: fetch, parse, bare insert", floors)
    const cold = medianOf("`tieout sync`, cold", colds)
    shown(size, least, least)
    shown(size, medianOf("floor: undici, parse, bare insert", lean), least)
    shown(size, cold, least)
    const bytes = await server.bytes(database)
    shown(size, await stage("`tieout sync`, no news", [cli, "sync"], env))
    shown(size, await stage("`tieout status`", [cli, "status"], env))
    const copied = await floorStage("`COPY … TO STDOUT`", "bench/copy.ts", {
      BENCH_DATABASE: database,
      BENCH_FILE: join(out, "copy.csv"),
    })
    shown(size, copied, copied)
    const formats = "journal,hledger,ledger,beancount,trial-balance"
    const exported = await stage(
      "`tieout export --all`, five plain formats",
      [cli, "export", "--format", formats, "--all", "--out", out],
      env,
    )
    shown(size, exported, copied)
    shown(size, await stage("`tieout reconcile --full`", [cli, "reconcile", "--full"], env))
    return {
      date: new Date().toISOString().slice(0, 10),
      node: process.versions.node,
      size,
      wallRatio: cold.seconds / least.seconds,
      processorRatio: processorOf(cold) / processorOf(least),
      microseconds: (processorOf(cold) / size) * 1e6,
      megabytes: cold.megabytes,
      bytes: bytes / size,
      exportRatio: processorOf(exported) / processorOf(copied),
    }
  } finally {
    sandbox.stop()
    rmSync(out, { recursive: true, force: true })
  }
}

const since = machine()
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${fixed(totalmem() / 2 ** 30, 0)} GiB\n`,
)
head(
  "entries>",
  "stage",
  "wall, s>",
  "Node, s>",
  "Postgres, s>",
  "peak RSS, MB>",
  "wall ratio>",
  "processor ratio>",
)
const lines: Array<Line> = []
for (const size of sizes) lines.push(await withServer((server) => measure(size, server)))
process.stdout.write(
  `\nStolen from this machine meanwhile: ${fixed(since().steal * 100, 1)} %. For the history:\n\n`,
)
for (const line of lines) process.stdout.write(`${lineText(line)}\n`)
if (args.includes("--gate")) {
  for (const line of lines) {
    const slow = tooSlow(line, lastLine(line.size))
    if (slow === undefined) continue
    process.stderr.write(`${slow}\n`)
    process.exitCode = 1
  }
}
