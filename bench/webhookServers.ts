/**
 * One server under test, in a process of its own: `tieout`, the listener as it is; or `bare`, a node:http server that does one
 * INSERT per POST and checks nothing. Prints `{"port": …}` and serves until it is killed.
 */
import { createServer } from "node:http"
import { Effect, Layer } from "effect"
import { migrate } from "../src/Database/Migrate.ts"
import { Database } from "../src/Database.ts"
import { Settings } from "../src/Settings.ts"
import { Inbox } from "../src/Webhook/Inbox.ts"
import { listen } from "../src/Webhook.ts"
import { connect } from "./Connection.ts"

const ready = (port: number) => process.stdout.write(`${JSON.stringify({ port })}\n`)

/** Ten connections, as many as the listener's process may open. */
const bare = async (): Promise<void> => {
  const sql = connect(process.env.DATABASE_URL ?? "", 10)
  await sql`create table if not exists public.bare_inbox (id bigint generated always as identity primary key, body text)`
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      sql`insert into public.bare_inbox (body) values (${Buffer.concat(chunks).toString()})`.then(
        () => response.writeHead(200).end(),
        () => response.writeHead(503).end(),
      )
    })
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) ready(address.port)
  })
}

const tieout = Effect.gen(function* () {
  yield* migrate()
  const { port } = yield* listen({ host: "127.0.0.1", port: 0 })
  ready(port)
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.merge(Settings.Default, Layer.provideMerge(Inbox.Default, Database.Default))),
  Effect.withTracerEnabled(false),
)

process.once("SIGTERM", () => process.exit(0))
if (process.argv[2] === "bare") await bare()
else await Effect.runPromise(tieout)
