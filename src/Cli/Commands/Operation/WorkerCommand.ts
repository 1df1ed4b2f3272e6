import { Effect, Layer, Option } from "effect"
import { Database } from "../../../Database.ts"
import { onNewerNode } from "../../../Jobs/Boss.ts"
import { sharing } from "../../../Jobs/PaceStore.ts"
import { prepare } from "../../../Jobs/Prepare.ts"
import { work } from "../../../Jobs/Worker.ts"
import { Connector } from "../../../Partner/Connector.ts"
import { compareClocks } from "../../../Run/Clocks.ts"
import { Settings } from "../../../Settings.ts"
import { BookSync } from "../../../Sync/BookSync.ts"
import { Events } from "../../../Sync/Events.ts"
import { Inbox } from "../../../Webhook/Inbox.ts"
import { booksForWorker, needingAllSecrets } from "../../BookEnvironment.ts"
import { command, flag, optional, wholeNumber } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"

/** Until standard input ends: the parent is gone, however it went. */
const inputEnds = Effect.async<void>((resume) => {
  const done = () => resume(Effect.void)
  process.stdin.once("end", done)
  process.stdin.once("close", done)
  process.stdin.resume()
  return Effect.sync(() => {
    process.stdin.off("end", done)
    process.stdin.off("close", done)
    process.stdin.pause()
  })
})

const services = Layer.mergeAll(BookSync.Default, Layer.provide(Events.Default, Inbox.Default)).pipe(
  Layer.provideMerge(booksForWorker),
)

export const worker = command(
  {
    name: "worker",
    usage: "[--jobs N] [--until-input-ends]",
    summary: "Take part in syncs and backfills: read, number and prove books that other processes hand out.",
    about: [
      "Any number of workers on any number of machines share one Postgres server and the service's rate limit. What they do is",
      "handed out by tieout sync --workers, backfill --workers and serve --hand-out; a book is read by one of them at a time, under",
      "a lease of its own. A worker that is stopped or lost leaves nothing half-written, and another one takes its books. Needs",
      "Node 22.12 or newer.",
      "Ends with 0 on SIGTERM or SIGINT, when what it is at has ended, after at most ten seconds.",
    ],
    takes: {
      jobs: optional(
        wholeNumber("jobs", "N", "Books that it reads at once, instead of limits.clientsInParallel"),
      ),
      untilInputEnds: flag(
        "until-input-ends",
        "End when standard input does, as with the process that started it",
      ),
    },
    examples: [["tieout worker", "beside others, until it is interrupted"]],
    exits: { done: "done: it was interrupted" },
  },
  Effect.fn("Cli.worker")(function* ({ jobs, untilInputEnds }) {
    if (Option.exists(jobs, (count) => count < 1 || count > 100)) {
      return yield* new UsageError({
        detail: `--jobs: found ${Option.getOrElse(jobs, () => 0)}, expected a whole number from 1 to 100.`,
        advice: "Leave it out to use limits.clientsInParallel.",
      })
    }
    yield* onNewerNode
    yield* (yield* Output).interruptIsTheEnd
    const working = Effect.gen(function* () {
      const { limits, tokenKey } = yield* Settings
      const database = yield* Database
      yield* prepare()
      yield* compareClocks
      const count = Option.getOrElse(jobs, () => limits.clientsInParallel)
      yield* Effect.provideService(work(count), Connector, sharing(database, tokenKey))
      yield* Effect.logInfo(`Working at up to ${count} books at once.`)
      yield* untilInputEnds ? inputEnds : Effect.never
    })
    return yield* Effect.scoped(working).pipe(Effect.provide(services), needingAllSecrets)
  }),
)
