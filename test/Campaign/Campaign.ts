/** `npm run campaign`: so many histories by seed, each shrunk where it fails. */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect, Exit, Logger, LogLevel } from "effect"
import { startTestServer } from "../support/TestServer.ts"
import { generate, type Shape } from "./Generator.ts"
import { lineOf } from "./History.ts"
import { play } from "./Play.ts"
import { freshDatabase, inDatabase } from "./Server.ts"
import { shrink } from "./Shrink.ts"

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    shrink: { type: "boolean", default: false },
    show: { type: "boolean", default: false },
  },
})

const shape: Shape = {
  books: 10,
  features: { conversions: false, loans: false, zeroRows: false, enriched: false, goneAccounts: true },
}

const main = Effect.gen(function* () {
  const server = yield* startTestServer()
  const url = yield* freshDatabase(server)
  const wanted = Number(values.histories)
  const began = performance.now()
  let count = 0
  let failed = 0
  yield* Effect.gen(function* () {
    for (let n = Number(values.from); count < wanted; n++) {
      const seed = `${values.seed}-${n}`
      const history = generate(seed, shape)
      const t = performance.now()
      const played = yield* play(history, {
        connection: `h${n}`,
        out: join(tmpdir(), `tieout-campaign-${process.pid}-${n}`),
      })
      const books = 1 + history.steps.filter((step) => "event" in step && step.event.what === "client").length
      count += books
      if (values.show) console.log(seed, books, (performance.now() - t).toFixed(0), played.told.join(" / "))
      if (played.problem !== null) {
        failed += 1
        let again = 0
        const shrunk = yield* shrink(
          history,
          played.problem,
          (one) => {
            again += 1
            return Effect.map(
              play(one, {
                connection: `h${n}s${again}`,
                out: join(tmpdir(), `tieout-campaign-${process.pid}-${n}`),
              }),
              ({ problem }) => problem,
            )
          },
          { tries: values.shrink ? 200 : 0, seconds: 60 },
        )
        console.log(`FAILED ${seed}: ${shrunk.problem.slice(0, 1500)}`)
        if (values.shrink) {
          console.log(`  ${JSON.stringify(history.settings)}`)
          for (const step of shrunk.history.steps) console.log(`  ${lineOf(step)}`)
        }
      }
    }
  }).pipe(Effect.provide(inDatabase(url)))
  const seconds = (performance.now() - began) / 1_000
  console.log(
    `${count} histories, ${failed} failed, ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second`,
  )
}).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None))

const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) {
  console.error(String(exit.cause))
  process.exitCode = 1
}
