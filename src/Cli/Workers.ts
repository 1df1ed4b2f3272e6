/** Commands that hand books to workers: at one pace with them, and with the token that they share. */
import { Effect, FiberRef, Option } from "effect"
import { firstOf } from "../Common/Effects/FirstOf.ts"
import { Database } from "../Database.ts"
import { type NoWorkers, onNewerNode } from "../Jobs/Boss.ts"
import { workersElsewhere } from "../Jobs/Leading.ts"
import { remembering, sharing } from "../Jobs/PaceStore.ts"
import { prepare } from "../Jobs/Prepare.ts"
import { ownCommand, workers } from "../Jobs/WorkerProcesses.ts"
import { Connector } from "../Partner/Connector.ts"
import { Settings, SettingsSource } from "../Settings.ts"
import { EventJobs } from "../Sync/Events/EventJobs.ts"
import { BookJobs } from "../Sync/Runs/BookJobs.ts"
import { optional, wholeNumber } from "./Declaration.ts"
import { UsageError } from "./Failure.ts"
import { Output } from "./Output.ts"

/** More than any machine has cores for. */
const mostWorkers = 64

export const workersOption = optional(
  wholeNumber("workers", "N", "Have clients' books read by so many processes beside this one"),
  "this process reads them",
)

/** Fails where workers cannot run, or so many make no sense, before anything is opened. */
export const checkWorkers = (wanted: Option.Option<number>): Effect.Effect<void, UsageError | NoWorkers> =>
  Option.match(wanted, {
    onNone: () => Effect.void,
    onSome: (count) =>
      count < 0 || count > mostWorkers
        ? new UsageError({
            detail: `--workers: found ${count}, expected a whole number from 0 to ${mostWorkers}.`,
            advice: "Take as many as there are processor cores; start tieout worker on other machines.",
          })
        : onNewerNode,
  })

/** Runs an effect that asks the service alone, at the limit that was learned before. */
export const unassisted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideServiceEffect(effect, Connector, Effect.map(Database, remembering))

/** Runs an effect with workers, where they are wanted. */
export const withWorkers =
  (wanted: Option.Option<number>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Option.match(wanted, {
      onNone: () => unassisted(effect),
      onSome: (processes) => assisted(processes, effect),
    })

/**
 * The arguments of a worker beside this process. It has this one's environment, and what the command line alone says: a worker with
 * another settings file would book by other rules.
 */
export const workerArguments = Effect.fn("Cli.workerArguments")(function* () {
  const { file } = yield* SettingsSource
  const { logsJson } = yield* Output
  const level = yield* FiberRef.get(FiberRef.currentMinimumLogLevel)
  return [
    ...["worker", "--until-input-ends", "--log-level", level._tag.toLowerCase()],
    ...Option.match(file, { onNone: () => [], onSome: (path) => ["--config", path] }),
    ...(logsJson ? ["--json"] : []),
  ]
})

/** Runs an effect while workers read what it hands out: so many beside this process, and all those elsewhere. */
export const assisted = <A, E, R>(processes: number, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const database = yield* Database
      const { tokenKey } = yield* Settings
      yield* prepare()
      const { books, events } = yield* workersElsewhere
      const { gone } = yield* processes === 0
        ? Effect.succeed({ gone: Effect.never })
        : workers(processes, ownCommand(...(yield* workerArguments())))
      return yield* firstOf(effect, gone).pipe(
        Effect.provideService(BookJobs, Option.some(books)),
        Effect.provideService(EventJobs, Option.some(events)),
        Effect.provideService(Connector, sharing(database, tokenKey)),
      )
    }),
  )
