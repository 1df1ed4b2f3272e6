/**
 * Raises two alerts, the first while no file can be opened, as a process of its own, whose limit on open files is low. Reads the usual
 * environment.
 */
import { closeSync, openSync } from "node:fs"
import { Effect, Layer } from "effect"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { Settings } from "../../src/Settings.ts"

/** Opens files until the system refuses another one. */
const openAll = (): ReadonlyArray<number> => {
  const opened: Array<number> = []
  for (;;) {
    try {
      opened.push(openSync("/dev/null", "r"))
    } catch {
      return opened
    }
  }
}

const run = Effect.gen(function* () {
  const { raise } = yield* Alerts
  const alert = { kind: "failure", connection: null, counts: {} } as const
  const opened = openAll()
  yield* raise({ ...alert, text: "the first" })
  yield* Effect.sleep("100 millis")
  for (const file of opened) closeSync(file)
  yield* raise({ ...alert, text: "the second" })
  return yield* Effect.never
}).pipe(Effect.provide(Layer.provide(Alerts.Default, Settings.Default)))

Effect.runPromise(run).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`)
  process.exit(1)
})
