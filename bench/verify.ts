/**
 * `npm run bench:verify [-- 100000] [-- --pairs 5]`: `tieout verify` of the folders of the journal and of three plain-text files
 * beside what `ledger` needs to read one of them, in pairs that take turns. Needs `ledger` on the path.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { type Finished, run, serve } from "./Child.ts"
import { machine } from "./Processor.ts"
import { withServer } from "./Server.ts"
import { median } from "./Shown.ts"

const cli = "bin/tieout.js"
const args = process.argv.slice(2)
const pairsAt = args.indexOf("--pairs")
const pairs = pairsAt < 0 ? 5 : Number(args[pairsAt + 1])
const size = Number(args.find((arg, at) => /^\d+$/.test(arg) && args[at - 1] !== "--pairs") ?? 100_000)

const since = machine()
const out = mkdtempSync(join(tmpdir(), "tieout-bench-out-"))
try {
  await withServer(async (server) => {
    const sandbox = await serve([
      cli,
      "sandbox",
      "--port",
      "0",
      "--entries",
      String(size),
      "--accounts",
      "24",
      "--json",
    ])
    const { answer } = sandbox
    const env = {
      DATABASE_URL: await server.create(),
      TIEOUT_BASE_URL: String(
        typeof answer === "object" && answer !== null ? Reflect.get(answer, "url") : "",
      ),
      TIEOUT_CLIENT_ID: "sandbox-client",
      TIEOUT_CLIENT_SECRET: "sandbox-secret",
      TIEOUT_SCOPE: "sandbox",
    }
    try {
      await run([cli, "sync"], env)
      await run([cli, "export", "--all", "--format", "journal,hledger,ledger,beancount", "--out", out], env)
    } finally {
      sandbox.stop()
    }
  })
  const [book = ""] = readdirSync(out)
  const batches = join(out, book, "all")
  const folders = readdirSync(batches).map((batch) => join(batches, batch))
  const plain = folders.map((folder) => join(folder, "books.ledger")).find((file) => existsSync(file)) ?? ""
  const ledger: Array<Finished> = []
  const verify: Array<Finished> = []
  for (let pair = 0; pair < pairs; pair++) {
    ledger.push(await run(["-f", plain, "bal"], {}, { program: "ledger" }))
    verify.push(await run([cli, "verify", batches], {}))
  }
  const row = (name: string, of: ReadonlyArray<Finished>) => {
    const ratio = (key: "seconds" | "processorSeconds") =>
      (median(of.map((one) => one[key])) / median(ledger.map((one) => one[key]))).toFixed(2)
    const cells = [
      size.toLocaleString("en-US"),
      name,
      median(of.map(({ seconds }) => seconds)).toFixed(2),
      median(of.map(({ processorSeconds }) => processorSeconds)).toFixed(2),
      Math.max(...of.map(({ peakMegabytes }) => peakMegabytes)).toFixed(0),
      ratio("seconds"),
      ratio("processorSeconds"),
    ]
    process.stdout.write(`| ${cells.join(" | ")} |\n`)
  }
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores, ${pairs} pairs, stolen: ${(since().steal * 100).toFixed(1)} %\n\n` +
      "| entries | what | wall, s | processor, s | peak RSS, MB | wall ratio | processor ratio |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: |\n",
  )
  row("`ledger bal` of one plain-text file", ledger)
  row("`tieout verify` of the journal, three plain-text files and the statement", verify)
} finally {
  rmSync(out, { recursive: true, force: true })
}
