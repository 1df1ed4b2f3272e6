/**
 * `npm run bench:webhook [-- 20000]`: signed deliveries a second and their acknowledgement, beside a bare node:http server that
 * does one INSERT per POST, in the same run on the same database, taking turns.
 */
import { generateKeyPairSync } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { DatabaseConfig } from "../src/Database/DatabaseConfig.ts"
import { migrate } from "../src/Database/Migrate.ts"
import { Database } from "../src/Database.ts"
import { urlOf } from "../test/support/DatabaseAddress.ts"
import { run, serve } from "./Child.ts"

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

const measure = async (databaseUrl: string): Promise<void> => {
  const partner = await service()
  const env = {
    DATABASE_URL: databaseUrl,
    TIEOUT_BASE_URL: partner.url,
    TIEOUT_CLIENT_ID: "client",
    TIEOUT_CLIENT_SECRET: "secret",
    TIEOUT_SCOPE: "bench",
  }
  const start = async (kind: string) => {
    const server = await serve(["--import", "tsx", "bench/webhookServers.ts", kind], env)
    return { stop: server.stop, url: `http://127.0.0.1:${numberAt(server.answer, "port")}/webhooks/default` }
  }
  const servers = { bare: await start("bare"), tieout: await start("tieout") }
  const load = async (url: string, lanes: number, deliveries: number) => {
    const finished = await run(["--import", "tsx", "bench/webhookLoad.ts"], {
      BENCH_URL: url,
      BENCH_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      BENCH_KEY_ID: keyId,
      BENCH_LANES: String(lanes),
      BENCH_COUNT: String(deliveries),
    })
    const document: unknown = JSON.parse(finished.stdout)
    if (numberAt(document, "refused") > 0) throw new Error(`refused: ${finished.stdout}`)
    return document
  }
  process.stdout.write(
    `${[
      `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${whole(count)} deliveries each`,
      "",
      row(["at once", "server", "deliveries/s", "p50, ms", "p99, ms", "ratio"]),
      row(["---:", "---", "---:", "---:", "---:", "---:"]),
    ].join("\n")}\n`,
  )
  for (const { url } of Object.values(servers)) await load(url, 32, 2_000)
  for (const lanes of [8, 64, 256]) {
    const bare = await load(servers.bare.url, lanes, count)
    const tieout = await load(servers.tieout.url, lanes, count)
    const base = numberAt(bare, "perSecond")
    for (const [name, found] of [
      ["bare `node:http`, one INSERT per POST, nothing checked", bare],
      ["`tieout`: signature, inbox", tieout],
    ] as const) {
      const rate = numberAt(found, "perSecond")
      process.stdout.write(
        `${row([String(lanes), name, whole(rate), numberAt(found, "p50").toFixed(1), numberAt(found, "p99").toFixed(1), (rate / base).toFixed(2)])}\n`,
      )
    }
  }
  for (const { stop } of Object.values(servers)) stop()
  partner.stop()
}

const dataDir = mkdtempSync(join(tmpdir(), "tieout-bench-"))
// The server of a benchmark that root starts runs as an ordinary user, who has to get in.
chmodSync(dataDir, 0o755)
const config = Layer.sync(DatabaseConfig, () => DatabaseConfig.of({ url: Option.none(), dataDir }))
await Effect.runPromise(
  Effect.gen(function* () {
    yield* migrate()
    const { settings } = yield* Database
    yield* Effect.promise(() => measure(process.env.BENCH_DATABASE_URL ?? urlOf(settings, settings.database)))
  }).pipe(Effect.provide(Layer.provide(Database.DefaultWithoutDependencies, config))),
).finally(() => rmSync(dataDir, { recursive: true, force: true }))
