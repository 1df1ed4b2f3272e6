/**
 * `npm run soak [-- MINUTES MOVEMENTS]`: `tieout serve` beside a sandbox that makes so many movements a second and sends its
 * events doubled, out of order and not at all; then a night's sync. The books must have the same cash lines, and the same
 * totals per resource, role and currency, as a full sync into an empty database. Ends with 1 where they have not.
 */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run, serve } from "./Child.ts"
import { textAt } from "./Shown.ts"
import { cashLines, compare, journalOf, say, totals } from "./SoakBooks.ts"

const minutes = Number(process.argv[2] ?? 10)
const perSecond = Number(process.argv[3] ?? 50)
const tieout = "bin/tieout.js"
const folder = mkdtempSync(join(tmpdir(), "tieout-soak-"))
chmodSync(folder, 0o755)

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const [events, status] = [await freePort(), await freePort()]
const sandbox = await serve([
  tieout,
  ...["sandbox", "--json", "--webhook", `http://127.0.0.1:${events}/webhooks/default`, "--entries", "2000"],
])
const variables: unknown =
  typeof sandbox.answer === "object" && sandbox.answer !== null
    ? (Reflect.get(sandbox.answer, "variables") ?? sandbox.answer)
    : {}
const base = textAt(variables, "TIEOUT_BASE_URL")
const connection = {
  TIEOUT_BASE_URL: base,
  TIEOUT_CLIENT_ID: textAt(variables, "TIEOUT_CLIENT_ID"),
  TIEOUT_CLIENT_SECRET: textAt(variables, "TIEOUT_CLIENT_SECRET"),
  TIEOUT_SCOPE: textAt(variables, "TIEOUT_SCOPE"),
}
const here = {
  ...connection,
  TIEOUT_DATA_DIR: join(folder, "data"),
  TIEOUT_WEBHOOK_PORT: String(events),
  TIEOUT_STATUS_PORT: String(status),
  TIEOUT_LOG: "json",
}
const control = (path: string) => fetch(new URL(path, new URL(base).origin), { method: "POST" })

/** A figure of `/metrics`, added up over its labels. */
const metric = (text: string, name: string): number =>
  text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0)

const look = async (pid: number | undefined): Promise<void> => {
  const text = await (await fetch(`http://127.0.0.1:${status}/metrics`)).text()
  const [waiting, entries, off] = ["tieout_inbox_depth", "tieout_entries_total", "tieout_accounts_off"].map(
    (name) => metric(text, name),
  )
  const resident = Math.round(metric(text, "process_resident_memory_bytes") / 1e6)
  say(
    `${entries} entries booked, ${waiting} events waiting, ${off} accounts off, ${resident} MB (process ${pid})`,
  )
}

/** Until the server answers. */
const answers = async (url: string): Promise<void> => {
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    await pause(200)
  }
  throw new Error(`${url} does not answer`)
}

const served = async (): Promise<void> => {
  const child = spawn(process.execPath, [tieout, "serve"], {
    env: { ...process.env, ...here },
    stdio: ["ignore", "ignore", "pipe"],
  })
  let log = ""
  child.stderr.on("data", (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000)
  })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  try {
    await answers(`http://127.0.0.1:${status}/healthz`)
    await control(`/control/rate?movements=${perSecond}`)
    const until = Date.now() + minutes * 60_000
    while (Date.now() < until) {
      await pause(Math.min(30_000, Math.max(0, until - Date.now())))
      await look(child.pid)
    }
    await control("/control/rate?movements=0")
    await pause(10_000)
    await look(child.pid)
  } finally {
    child.kill("SIGTERM")
  }
  const code = await ended
  say(`tieout serve ended with ${code}`)
  if (code !== 0) throw new Error(log)
}

try {
  await run([tieout, "sync"], here)
  await control("/control/webhooks?set=duplicates:20,reorder:20,drop:10")
  say(`${minutes} minutes at ${perSecond} movements a second, a tenth of the events dropped`)
  await served()
  const night = await run([tieout, "sync"], here)
  say(`the night's sync took ${night.seconds.toFixed(1)} s`)
  const there = { ...connection, TIEOUT_DATA_DIR: join(folder, "fresh") }
  const full = await run([tieout, "sync", "--full"], there)
  say(`a full sync into an empty database took ${full.seconds.toFixed(1)} s`)
  const found = await journalOf(here, join(folder, "exports"))
  const wanted = await journalOf(there, join(folder, "fresh-exports"))
  compare("cash lines", cashLines(found), cashLines(wanted))
  compare("totals per resource, role and currency", totals(found), totals(wanted))
} finally {
  sandbox.stop()
  rmSync(folder, { recursive: true, force: true })
}
