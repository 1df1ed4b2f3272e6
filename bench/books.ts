/**
 * `npm run bench:books [-- 250 500 1000]`: a month's end of so many books: close, export in one format, the same again, export in seven formats,
 * report. Processor seconds of Node and of Postgres; the first sync of the books is not part of it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { run, serve } from "./Child.ts"
import { type Server, withServer } from "./Server.ts"
import { row, textAt } from "./Shown.ts"

const cli = "bin/tieout.js"

const named = process.argv
  .slice(2)
  .filter((arg) => /^\d+$/.test(arg))
  .map(Number)
const sizes = named.length > 0 ? named : [250, 500, 1_000]

/** Of each client: two accounts, some twenty entries a month. */
const entriesPerClient = 44

/** The sandbox has one in ten that is not active. */
const clientsFor = (books: number): number => Math.ceil(((books - 1) * 10) / 9)

const plain = "journal,hledger,beancount,trial-balance,parquet"

const stages: ReadonlyArray<readonly [name: string, argv: ReadonlyArray<string>]> = [
  ["`tieout close 2026-09`", ["close", "2026-09"]],
  ["`tieout export --format journal`", ["export", "--format", "journal", "--period", "2026-09"]],
  ["the same again", ["export", "--format", "journal", "--period", "2026-09"]],
  [
    "… in NetSuite's, and bank statements",
    ["export", "--format", "netsuite,camt.053", "--period", "2026-09"],
  ],
  ["… in five plain formats", ["export", "--format", plain, "--period", "2026-09"]],
  ["… what is new, `--since-last`", ["export", "--format", "journal", "--since-last"]],
  ["`tieout report 2026-09`", ["report", "2026-09"]],
]

const measure = async (books: number, server: Server): Promise<void> => {
  const clients = clientsFor(books)
  const sandbox = await serve([
    ...[cli, "sandbox", "--port", "0", "--json", "--accounts-per-client", "2"],
    ...["--clients", String(clients), "--client-entries", String(clients * entriesPerClient)],
  ])
  const out = mkdtempSync(join(tmpdir(), "tieout-bench-books-"))
  try {
    const database = await server.create()
    const env = {
      TIEOUT_BASE_URL: textAt(sandbox.answer, "url"),
      TIEOUT_CLIENT_ID: "sandbox-client",
      TIEOUT_CLIENT_SECRET: "sandbox-secret",
      TIEOUT_SCOPE: "sandbox",
      TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
      TIEOUT_FORMATS_LEAVE_OUT: "[USDT, USDC]",
      DATABASE_URL: database,
    }
    await run([cli, "migrate"], env)
    await run([cli, "sync"], env)
    for (const [name, argv] of stages) {
      const before = server.seconds()
      const folder = argv[0] === "close" ? [] : ["--out", join(out, argv[0] ?? "")]
      const { peakMegabytes, processorSeconds, seconds } = await run([cli, ...argv, ...folder, "--json"], env)
      const postgres = server.seconds() - before
      const all = processorSeconds + postgres
      row([
        String(books),
        name,
        ...[seconds, processorSeconds, postgres, all, (all / books) * 1_000].map((value) => value.toFixed(1)),
        peakMegabytes.toFixed(0),
      ])
    }
    await server.drop(database)
  } finally {
    sandbox.stop()
    rmSync(out, { recursive: true, force: true })
  }
}

process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores; processor seconds\n\n`,
)
row([
  "books",
  "stage",
  "wall, s",
  "Node, s",
  "Postgres, s",
  "together, s",
  "for 1,000 books, s",
  "peak RSS, MB",
])
row(["---:", "---", "---:", "---:", "---:", "---:", "---:", "---:"])
for (const size of sizes) await withServer((server) => measure(size, server))
