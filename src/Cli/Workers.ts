/** Commands that hand books to workers: at one pace with them, and with the token that they share. */
import { Effect, Option } from "effect"
import { Database } from "../Database.ts"
import { workersElsewhere } from "../Jobs/Leading.ts"
import { sharing } from "../Jobs/PaceStore.ts"
import { prepare } from "../Jobs/Prepare.ts"
import { ownCommand, workers } from "../Jobs/Processes.ts"
import { Connector } from "../Partner/Connector.ts"
import { Settings } from "../Settings.ts"
import { EventJobs } from "../Sync/Events/EventJobs.ts"
import { BookJobs } from "../Sync/Runs/BookJobs.ts"

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
        : workers(processes, ownCommand("worker", "--until-input-ends"))
      return yield* Effect.raceFirst(effect, gone).pipe(
        Effect.provideService(BookJobs, Option.some(books)),
        Effect.provideService(EventJobs, Option.some(events)),
        Effect.provideService(Connector, sharing(database, tokenKey)),
      )
    }),
  )
