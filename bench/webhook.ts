/**
 * `npm run bench:webhook [-- 20000]`: signed deliveries a second and their acknowledgement, beside a bare node:http server that
 * does one INSERT per POST, in the same run on the same database, taking turns; and what each costs in processor time.
 */
import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"
import { cpus } from "node:os"
import { run, serve } from "./Child.ts"
import { machine, processSeconds } from "./Processor.ts"
import { type Server, withServer } from "./Server.ts"

const count = Number(process.argv[2] ?? 20_000)
const keyId = "bench-key"
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })

/** The service, as far as the listener needs it: a token and one public key. */
const service = () =>
  new Promise<{ readonly url: string; readonly stop: () => void }>((resolve) => {
    const record = {
      publicKeyId: keyId,
      active: true,
      algorithm: "ES256",
      publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
      createdAt: "2026-10-01T00:00:00Z",
    }
    const server = createServer((request, response) => {
      const token = { access_token: "t", token_type: "Bearer", expires_in: 3600 }
      const answer = request.url?.endsWith("/oauth/token") === true ? token : [record]
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    }).listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resolve({ url: `http://127.0.0.1:${port}/api/v1`, stop: () => server.close() })
    })
  })

const numberAt = (value: unknown, key: string): number =>
  Number(typeof value === "object" && value !== null ? Reflect.get(value, key) : Number.NaN)

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const whole = (value: number): string => Math.round(value).toLocaleString("en-US")

/** Deliveries to each server before it is measured: both begin with nothing compiled and no plan made, and serve for months. */
const warming = 16_000

const measure = async (server: Server): Promise<void> => {
  const partner = await service()
  const env = {
    DATABASE_URL: await server.create(),
    TIEOUT_BASE_URL: partner.url,
    TIEOUT_CLIENT_ID: "client",
    TIEOUT_CLIENT_SECRET: "secret",
    TIEOUT_SCOPE: "bench",
  }
  const start = async (kind: string) => {
    const { answer, pid, stop } = await serve(["--import", "tsx", "bench/webhookServers.ts", kind], env)
    return { pid, stop, url: `http://127.0.0.1:${numberAt(answer, "port")}/webhooks/default` }
  }
  const servers = { tieout: await start("tieout"), bare: await start("bare") }
  const load = async ({ pid, url }: typeof servers.bare, lanes: number, deliveries: number) => {
    const [own, postgres] = [processSeconds(pid), server.seconds()]
    const finished = await run(["--import", "tsx", "bench/webhookLoad.ts"], {
      BENCH_URL: url,
      BENCH_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      BENCH_KEY_ID: keyId,
      BENCH_LANES: String(lanes),
      BENCH_COUNT: String(deliveries),
    })
    const document: unknown = JSON.parse(finished.stdout)
    if (numberAt(document, "refused") > 0) throw new Error(`refused: ${finished.stdout}`)
    const each = (seconds: number) => whole((seconds / deliveries) * 1e6)
    return { document, node: each(processSeconds(pid) - own), postgres: each(server.seconds() - postgres) }
  }
  const since = machine()
  const columns = [
    "at once",
    "server",
    "deliveries/s",
    "p50, ms",
    "p99, ms",
    "ratio",
    "Node, µs",
    "Postgres, µs",
  ]
  process.stdout.write(
    `${[
      `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${whole(count)} deliveries each`,
      "",
      row(columns),
      row(columns.map((name) => (name === "server" ? "---" : "---:"))),
    ].join("\n")}\n`,
  )
  for (const each of Object.values(servers)) await load(each, 32, warming)
  for (const lanes of [8, 64, 256]) {
    const bare = await load(servers.bare, lanes, count)
    const tieout = await load(servers.tieout, lanes, count)
    const base = numberAt(bare.document, "perSecond")
    for (const [name, { document, node, postgres }] of [
      ["bare `node:http`, one INSERT per POST, nothing checked", bare],
      ["`tieout`: signature, inbox", tieout],
    ] as const) {
      const rate = numberAt(document, "perSecond")
      const [p50, p99] = [numberAt(document, "p50").toFixed(1), numberAt(document, "p99").toFixed(1)]
      process.stdout.write(
        `${row([String(lanes), name, whole(rate), p50, p99, (rate / base).toFixed(2), node, postgres])}\n`,
      )
    }
  }
  process.stdout.write(`\nsteal: ${(since().steal * 100).toFixed(1)} %\n`)
  for (const { stop } of Object.values(servers)) stop()
  partner.stop()
}

await withServer(measure)
