/**
 * One process that runs unattended. Its parts run side by side: each starts, logs that it has, and ends with its scope. At the
 * end all parts stop at once; work in flight gets eight seconds, and the process ends within ten.
 */
import {
  Clock,
  Effect,
  Schedule as EffectSchedule,
  ExecutionStrategy,
  Exit,
  Layer,
  Option,
  Scope,
} from "effect"
import { messageOf } from "./Common/ErrorKind.ts"
import { count, counted } from "./Common/Text.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import type { Database } from "./Database.ts"
import type { PartnerError } from "./Partner/PartnerError.ts"
import type { Alerts } from "./Serve/Alerts.ts"
import type { CronFields } from "./Serve/Cron.ts"
import { checkNightExport } from "./Serve/Nightly/NightExport.ts"
import { Nightly } from "./Serve/Nightly.ts"
import { Overview } from "./Serve/Overview.ts"
import { scheduleFields, startSchedule } from "./Serve/Schedule.ts"
import { watchStaleness } from "./Serve/Staleness.ts"
import { type ListenError, listenError, withStatusAddress } from "./Serve/StatusAddress.ts"
import { startStatusServer } from "./Serve/StatusServer.ts"
import { Settings, type SettingsError } from "./Settings.ts"
import { Events } from "./Sync/Events.ts"
import { forget } from "./Sync/Retention.ts"
import type { Inbox } from "./Webhook/Inbox.ts"
import { listen } from "./Webhook.ts"

export interface ServeOptions {
  /** Whether to listen for webhooks and to process their events. */
  readonly webhook: boolean
  /** Instead of `status.port`. */
  readonly statusPort: Option.Option<number>
}

type Services = Settings | Database | Overview | Alerts | Nightly | Inbox | Events

type PartError = ListenError | SettingsError | DatabaseError | PartnerError

/** Starts a part and returns; the part ends with the scope, within `grace`. */
type Part = Effect.Effect<unknown, PartError, Services | Scope.Scope>

/** How long work in flight may take at the end: less than the ten seconds for the whole. */
const grace = "8 seconds"
const stalenessEvery = "5 minutes"

const nightly = (fields: CronFields): Part =>
  Effect.gen(function* () {
    const { accounting, schedule } = yield* Settings
    const { isMissed, now, run } = yield* Nightly
    yield* startSchedule({
      name: "nightly sync",
      expression: schedule.nightly ?? "",
      timeZone: accounting.timeZone,
      jitter: schedule.jitter,
      fields,
      grace,
      work: run,
      now: Effect.orElse(now, () => Clock.currentTimeMillis),
      isMissed: (due) =>
        isMissed(due).pipe(
          Effect.asSome,
          Effect.catchAll(({ message }) =>
            Effect.as(
              Effect.logWarning(`It is unknown whether a night was missed, and asked again: ${message}`),
              Option.none(),
            ),
          ),
        ),
    })
  })

/** The public listener, which makes deliveries durable and answers 200. */
const listener: Part = listen().pipe(
  Effect.catchTag("ServeError", ({ cause }) =>
    Effect.flatMap(Settings, ({ webhook: { host, port } }) =>
      listenError({ name: "webhook listener", section: "webhook" }, host, port, cause),
    ),
  ),
  Effect.flatMap(({ address, port }) =>
    Effect.logInfo(
      `Listening for events on ${address._tag === "TcpAddress" ? address.hostname : address.path}, port ${port}.`,
    ),
  ),
)

/** Processes events, connection by connection: one that fails does not hold up the others. */
const followers: Part = Effect.gen(function* () {
  const { connectionNames } = yield* Settings
  const { follow } = yield* Events
  yield* Effect.forEach(connectionNames, (name) =>
    follow(name, ({ entries, events, failed }) =>
      Effect.logInfo(
        `${counted(events, "event")}: ${counted(entries, "new entry", "new entries")}${failed > 0 ? `, ${count(failed)} to be tried again` : ""}.`,
      ),
    ).pipe(Effect.annotateLogs({ connection: name }), Effect.interruptible, Effect.forkScoped),
  )
})

/** Deletes old rows, whatever else runs: there need not be a complete sync after which they go. */
const forgetting: Part = Effect.forkScoped(
  forget().pipe(
    Effect.catchAllCause((cause) => Effect.logWarning(`Old rows were not deleted: ${messageOf(cause)}`)),
    Effect.repeat(EffectSchedule.spaced("1 hour")),
    Effect.interruptible,
  ),
)

/** Starts the listener first, where the rest can begin, too. It takes over, and only then `before` may end what ran until now. */
const partsOf = (
  options: ServeOptions,
  fields: CronFields | undefined,
  before: Effect.Effect<void>,
): ReadonlyArray<Part> => [
  withStatusAddress(options.statusPort, options.webhook ? listener : Effect.void),
  before,
  startStatusServer(options.statusPort, fields),
  watchStaleness(stalenessEvery),
  ...(fields === undefined ? [] : [nightly(fields)]),
  ...(options.webhook ? [followers] : []),
  // Runs also if events are no longer listened for, since earlier ones are still stored.
  forgetting,
]

/** Fails with whatever the settings lack for a server. */
export const checkSettings = Effect.fn("Serve.checkSettings")(function* () {
  const { checkSecrets, checkStatusToken, schedule } = yield* Settings
  yield* checkSecrets
  yield* checkStatusToken
  yield* checkNightExport()
  return yield* scheduleFields(schedule)
})

/**
 * Runs until it is interrupted. `started` runs when all parts are up; `before` runs once the listener answers and nothing else
 * has begun, to end a server with former settings.
 */
export const serve = Effect.fn("Serve.serve")(function* <R>(
  options: ServeOptions,
  started: Effect.Effect<void, never, R>,
  before: Effect.Effect<void> = Effect.void,
) {
  const parts = partsOf(options, yield* checkSettings(), before)
  return yield* Effect.acquireUseRelease(
    Scope.make(ExecutionStrategy.parallel),
    (scope) =>
      Effect.gen(function* () {
        for (const part of parts) {
          yield* Scope.extend(part, yield* Scope.fork(scope, ExecutionStrategy.sequential))
        }
        yield* started
        return yield* Effect.never
      }),
    (scope) => Effect.zipRight(Effect.logInfo("Stopping."), Scope.close(scope, Exit.void)),
  )
})

/** The services that the parts share, on the given database. */
export const parts = Layer.mergeAll(Overview.Default, Nightly.layer)
