/**
 * `npm run bench:hostile`: the peak memory of `tieout sync` where every statement, or the list of accounts, is answered with at most
 * 16 MiB (decoded) of what a hostile or broken service may send, as small as gzip makes it; and where everything is answered with
 * good rows that are as large as they may be. Ends with 1 above 350 MB.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { startSandbox } from "../src/Sandbox.ts"
import { run } from "./Child.ts"

/** Megabytes (10^6 bytes) that the process may take. */
const most = 350
/** Decoded bytes of an answer: `limits.maxBodyBytes`. */
const bytes = 16 * 1024 * 1024

const page = (items: string) => `{"items":[${items}],"pageInfo":{"hasNextPage":false,"endCursor":null}}`
const filled = (part: string, between = ",") =>
  page(
    Array.from({ length: Math.floor((bytes - 100) / (part.length + between.length)) }, () => part).join(
      between,
    ),
  )
const entry = (size: number) =>
  JSON.stringify({ id: "64e84b86-8460-4773-b029-fd3956e37026", type: "CREDIT", text: "x".repeat(size) })

const answers: ReadonlyMap<string, string> = new Map([
  ["one text of 16 MiB", page(`"${"a".repeat(bytes - 100)}"`)],
  ["numbers alone", filled("0")],
  ["empty objects", filled("{}")],
  ["empty lists", filled("[]")],
  ["lists in lists, to the end", `${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}`],
  ["objects of one short key", filled('{"a":1}')],
  [
    "objects, each with keys of its own",
    page(
      Array.from({ length: 600_000 }, (_, at) => `{"k${at}":"${at}"}`)
        .join(",")
        .slice(0, bytes - 200)
        .replace(/,[^,]*$/, ""),
    ),
  ],
  ["short texts with escapes", filled('"\\u00e9\\ud83d\\ude42"')],
  ["rows of 100 bytes", filled(entry(20))],
  ["rows of 3 kB", filled(entry(3_000))],
  ["white space", `{"items":[${" ".repeat(bytes - 100)}]}`],
  ["cut off in the middle", filled(entry(3_000)).slice(0, bytes / 2)],
  ["64 MiB", " ".repeat(4 * bytes)],
])

const sandbox = await startSandbox({ entries: 1_500, clients: 20 })

/** What the sandbox says, with so much more in each row that a page, or one thing, is as large as it may be. */
const blown = (text: string, path: string): Buffer | undefined => {
  const found: unknown = JSON.parse(text)
  const items: unknown = typeof found === "object" && found !== null ? Reflect.get(found, "items") : undefined
  const rows: ReadonlyArray<unknown> = Array.isArray(items) ? items : [found]
  const whole = Array.isArray(items) ? 2 * 1024 * 1024 : 32 * 1024
  if (rows.length === 0 || path.endsWith("/token")) return undefined
  const more = "n".repeat(Math.max(0, Math.floor((whole - text.length) / rows.length) - 20))
  const full = rows.map((row) => (typeof row === "object" && row !== null ? { ...row, more } : row))
  return gzipSync(JSON.stringify(Array.isArray(items) ? { ...Object(found), items: full } : full[0]))
}

const state = { body: Buffer.alloc(0), where: "/statement", blows: false }
const server = createServer((asked, answer) => {
  if (state.blows) {
    const headers = { ...asked.headers, "accept-encoding": "identity" }
    const passed = request(
      new URL(asked.url ?? "/", sandbox.origin),
      { method: asked.method, headers },
      (found) => {
        let text = ""
        found.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk
        })
        found.on("end", () => {
          const body = found.statusCode === 200 ? blown(text, asked.url?.split("?")[0] ?? "") : undefined
          const { "content-length": _, ...others } = found.headers
          if (body === undefined) answer.writeHead(found.statusCode ?? 502, others).end(text)
          else answer.writeHead(200, { ...others, "content-encoding": "gzip" }).end(body)
        })
      },
    )
    asked.pipe(passed)
    return
  }
  if (asked.url?.split("?")[0]?.endsWith(state.where)) {
    answer.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(state.body)
    return
  }
  const passed = request(
    new URL(asked.url ?? "/", sandbox.origin),
    { method: asked.method, headers: asked.headers },
    (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers)
      found.pipe(answer)
    },
  )
  asked.pipe(passed)
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const address = server.address()
const origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
const folder = mkdtempSync(join(tmpdir(), "tieout-hostile-"))
const env = {
  ...{ TIEOUT_BASE_URL: sandbox.url.replace(sandbox.origin, origin), TIEOUT_CLIENT_ID: "sandbox-client" },
  ...{ TIEOUT_CLIENT_SECRET: "sandbox-secret", TIEOUT_SCOPE: "accounts:read", TIEOUT_LIMITS_TRIES: "2" },
  ...{ TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" },
  ...{ TIEOUT_DATA_DIR: join(folder, "data"), TIEOUT_LOG_LEVEL: "none" },
}

try {
  await run(["bin/tieout.js", "migrate"], env)
  process.stdout.write(
    "| what every answer holds | of | gzipped, kB | peak RSS, MB |\n| --- | --- | ---: | ---: |\n",
  )
  state.blows = true
  const { peakMegabytes: blownUp } = await run(["bin/tieout.js", "sync"], env, { codes: [0, 1, 3, 75] })
  state.blows = false
  if (blownUp > most) process.exitCode = 1
  process.stdout.write(`| good rows, as large as they may be | everything | | ${blownUp.toFixed(0)} |\n`)
  for (const [what, text] of answers) {
    for (const [name, where] of [
      ["statements", "/statement"],
      ["accounts", "/accounts"],
    ] as const) {
      state.body = gzipSync(text)
      state.where = where
      const { peakMegabytes } = await run(["bin/tieout.js", "sync"], env, { codes: [0, 1, 3, 75] })
      if (peakMegabytes > most) process.exitCode = 1
      process.stdout.write(
        `| ${what} | ${name} | ${(state.body.length / 1_000).toFixed(0)} | ${peakMegabytes.toFixed(0)} |\n`,
      )
    }
  }
} finally {
  server.close()
  server.closeAllConnections()
  await sandbox.close()
  rmSync(folder, { recursive: true, force: true })
}
