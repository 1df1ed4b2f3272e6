/**
 * `npm run bench:peer [-- 20000]`: the cold sync of a sandbox beside the Postgres core of Stripe's sync engine against a service of
 * our own, each about so many objects, in processor time for each object. The peer is installed for this alone, into a temporary
 * folder. What each does is not the same: `bench/README.md` says what.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Finished, run, serve } from "./Child.ts"
import { machine } from "./Processor.ts"
import { type Server, withServer } from "./Server.ts"

const packages = ["@supabase/stripe-sync-engine@0.48.5", "stripe@23.1.0"]

const objects = Number(process.argv.slice(2).find((arg) => /^\d+$/.test(arg)) ?? 20_000)
const cli = "bin/tieout.js"

const numberOf = (document: unknown, key: string): number =>
  Number(typeof document === "object" && document !== null ? Reflect.get(document, key) : Number.NaN)

const timed = async (server: Server, work: () => Promise<Finished>) => {
  const before = server.seconds()
  const { processorSeconds, seconds, stdout } = await work()
  return { stdout, seconds, node: processorSeconds, postgres: server.seconds() - before }
}

const peer = async (server: Server) => {
  const folder = mkdtempSync(join(tmpdir(), "tieout-peer-"))
  try {
    writeFileSync(join(folder, "package.json"), '{"private":true}')
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
      cwd: folder,
      stdio: "ignore",
    })
    const service = await serve(["--import", "tsx", "bench/peerServer.ts", String(objects)])
    try {
      const env = {
        BENCH_DATABASE: await server.create(),
        BENCH_PORT: String(numberOf(service.answer, "port")),
      }
      const script = fileURLToPath(new URL("peerSync.mjs", import.meta.url))
      await server.role("postgres")
      await run([script], { ...env, BENCH_STAGE: "migrate" }, { cwd: folder })
      const found = await timed(server, () => run([script], { ...env, BENCH_STAGE: "sync" }, { cwd: folder }))
      return { ...found, objects: numberOf(JSON.parse(found.stdout), "synced") }
    } finally {
      service.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Statement entries with the resources that they name: some 1.7 objects for each entry. */
const own = async (server: Server) => {
  const entries = String(Math.round(objects / 1.7))
  const sandbox = await serve([
    cli,
    "sandbox",
    "--port",
    "0",
    "--entries",
    entries,
    "--accounts",
    "24",
    "--json",
  ])
  const { answer } = sandbox
  const url = typeof answer === "object" && answer !== null ? String(Reflect.get(answer, "url")) : ""
  const env = {
    DATABASE_URL: await server.create(),
    TIEOUT_BASE_URL: url,
    TIEOUT_CLIENT_ID: "sandbox-client",
    TIEOUT_CLIENT_SECRET: "sandbox-secret",
    TIEOUT_SCOPE: "sandbox",
  }
  try {
    await run([cli, "migrate"], env)
    const found = await timed(server, () => run([cli, "sync", "--json"], env))
    const runs: unknown = Reflect.get(JSON.parse(found.stdout), "runs")
    const counters: unknown = Array.isArray(runs) ? Reflect.get(runs[0], "counters") : undefined
    return { ...found, objects: numberOf(counters, "entries") + numberOf(counters, "resources") }
  } finally {
    sandbox.stop()
  }
}

const since = machine()
await withServer(async (server) => {
  const rows = [
    ["stripe-sync-engine: payment intents, one raw row each", await peer(server)] as const,
    ["`tieout sync`, cold: entries and resources, booked and proved", await own(server)] as const,
  ]
  process.stdout.write(
    "| what | objects | objects/s | Node, µs each | Postgres, µs each |\n| --- | ---: | ---: | ---: | ---: |\n",
  )
  for (const [name, found] of rows) {
    const each = (seconds: number) => ((seconds / found.objects) * 1e6).toFixed(0)
    const rate = Math.round(found.objects / found.seconds).toLocaleString("en-US")
    process.stdout.write(
      `| ${name} | ${found.objects.toLocaleString("en-US")} | ${rate} | ${each(found.node)} | ${each(found.postgres)} |\n`,
    )
  }
  process.stdout.write(`\nStolen from this machine meanwhile: ${(since().steal * 100).toFixed(1)} %\n`)
})
