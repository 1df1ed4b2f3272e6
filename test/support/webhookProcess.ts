/** A listener as a process of its own, so that a test can kill it. Reads the usual environment; prints its port. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { Settings } from "../../src/Settings.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { listen } from "../../src/Webhook.ts"

const run = Effect.gen(function* () {
  const { port } = yield* listen({ host: "127.0.0.1", port: 0 })
  process.stdout.write(`port ${port}\n`)
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.merge(Settings.Default, Layer.provide(Inbox.Default, Database.Default))),
  Effect.withTracerEnabled(false),
)

Effect.runPromise(run).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`)
  process.exit(1)
})
