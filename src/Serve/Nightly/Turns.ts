/**
 * A night over the connections, beside other processes that keep the same schedule: each takes the connections that no other has,
 * one after the other, and watches the rest until they are done or their holder is gone.
 */
import { type Cause, Clock, Duration, Effect, Either, Option, type Scope } from "effect"
import { firstOf } from "../../Common/Effects/FirstOf.ts"
import { errorOf } from "../../Common/ErrorKind.ts"
import { spanText, steadyMillis } from "../../Common/Time.ts"
import { changedOver } from "../../Database/DatabaseError.ts"
import type { Database } from "../../Database.ts"
import { isWaitedFor } from "../../Sync/Runs/Failures.ts"
import { type Claim, claim, isOver, type Known, lookAt, type Night, tellOnce, untilDue } from "./Claim.ts"

/** The first wait between two tries while the service or the database is away; each further wait is twice as long. */
const firstWait = Duration.minutes(1)
const longestWait = Duration.minutes(15)

/** The wait between two looks at connections that another process works at. */
const lookAgain = Duration.seconds(2)

/** A clock that is this far ahead is logged. */
const farAhead = Duration.minutes(1)

/** `away`: the service or the database; `busy`: another run has the connection. It is tried again. */
export type Unread = "away" | "busy"

export type Tried = Unread | "done"

/** The work of a night. */
export interface NightWork {
  /** Ends when the process is to end. */
  readonly stopping: Effect.Effect<void>
  /** Tries of a connection end so long after its first one. */
  readonly deadline: Duration.Duration
  /** One connection's sync and export. `tries`: those before it in which it was away. */
  readonly attempt: (connection: string, tries: number, own: Claim) => Effect.Effect<Tried>
  /** The night could not be claimed; reported like a sync that could not begin. */
  readonly unclaimed: (connection: string, cause: Cause.Cause<unknown>) => Effect.Effect<void>
  /** It was not read until the deadline, and why not at last. */
  readonly givenUp: (connection: string, why: Unread) => Effect.Effect<void>
  /** Reports what is open. */
  readonly attention: Effect.Effect<void>
}

/** `over`: done by some process; `elsewhere`: another process works at it. */
type NightState = Unread | "over" | "elsewhere"

const isUnread = (standing: NightState): standing is Unread => standing === "away" || standing === "busy"

/** A connection of the night, as this process has it. */
interface Place {
  readonly connection: string
  /** Its night as this process saw it first. */
  first: Option.Option<Known>
  own: Option.Option<Claim>
  /** Its lock is lost. */
  isLost: boolean
  /** Those in which it was away: what is wrong is told after the first of them. */
  tries: number
  /** For the next try, however the one before it ended. */
  waits: number
}

const letGo = (place: Place) =>
  Effect.suspend(() => {
    const { own } = place
    place.own = Option.none()
    return Option.match(own, { onNone: () => Effect.void, onSome: ({ release }) => release })
  })

/** The claim that is held already, or is taken now. */
const held = (
  night: Night,
  place: Place,
): Effect.Effect<Claim | NightState, Effect.Effect.Error<ReturnType<typeof claim>>, Database | Scope.Scope> =>
  Effect.gen(function* () {
    if (place.isLost) yield* letGo(place)
    if (Option.isSome(place.own)) return place.own.value
    const known = yield* lookAt(place.connection, night)
    const first = Option.getOrElse(place.first, () => known)
    place.first = Option.some(first)
    // A night that ended while this process watched is not begun again, whatever its result.
    const endedSince = known.ended && !(first.ended && first.epoch === known.epoch)
    if (isOver(night, known) || endedSince) return "over"
    place.own = yield* claim(place.connection, night, known)
    if (Option.isNone(place.own)) return "elsewhere"
    place.isLost = false
    yield* Effect.forkScoped(
      Effect.catchAll(place.own.value.lost, () =>
        Effect.sync(() => {
          place.isLost = true
        }),
      ),
    )
    return place.own.value
  })

/** One try of a connection: claims its night, and does the work where no other process has it. */
const attemptAt = (night: Night, work: NightWork, place: Place) =>
  Effect.gen(function* () {
    const { connection } = place
    const own = yield* held(night, place)
    if (typeof own === "string") return own
    const tried = yield* work.attempt(connection, place.tries, own)
    if (tried !== "done") return tried
    yield* own.end
    return "over" satisfies NightState
  }).pipe(
    Effect.mapError(changedOver),
    Effect.catchAllCause((cause) => {
      const standing: NightState = isWaitedFor(errorOf(cause)) ? "away" : "over"
      return Effect.as(place.tries === 0 ? work.unclaimed(place.connection, cause) : Effect.void, standing)
    }),
    Effect.tap((standing) => {
      if (standing === "away") place.tries += 1
      return isUnread(standing) ? Effect.void : letGo(place)
    }),
    Effect.annotateLogs({ connection: place.connection }),
  )

/** Fails as soon as the process is to end. */
type Pause = (wait: Duration.Duration) => Effect.Effect<void, "stopping">

const earliness = (night: Night) => Effect.orElseSucceed(untilDue(night), () => Duration.zero)

/** The longest wait before the clocks are compared again. */
const compareAgain = Duration.seconds(30)

/**
 * Waits until the night is due by the database's clock, where this machine's is ahead. Returns false if it no longer is: then the
 * schedule starts this night when it is due.
 */
const whenDue = (night: Night, pause: Pause) =>
  Effect.gen(function* () {
    let early = yield* earliness(night)
    if (Duration.greaterThan(early, farAhead))
      yield* Effect.logWarning(
        `This machine's clock is ${spanText(Duration.toSeconds(early))} ahead of the database's: the night is not due yet.`,
      )
    while (Duration.greaterThan(early, Duration.zero)) {
      yield* pause(Duration.min(early, compareAgain))
      early = yield* earliness(night)
      const ownWait = night.due - (yield* Clock.currentTimeMillis)
      if (ownWait > Duration.toMillis(farAhead)) return false
    }
    return true
  })

/** Never fails: problems go to the log and to alerts. */
export const keepNight = Effect.fn("Nightly.keepNight")(function* (
  night: Night,
  connections: ReadonlyArray<string>,
  work: NightWork,
) {
  const attempt = (place: Place) => attemptAt(night, work, place)
  const one = yield* Effect.makeSemaphore(1)
  // What is under way may end; a wait of minutes would outlast the time for that.
  const pause: Pause = (wait) =>
    firstOf(Effect.sleep(wait), Effect.zipRight(work.stopping, Effect.fail("stopping" as const)))

  const watch = (place: Place) =>
    Effect.logInfo("Another process works at the night of this connection; this one watches.").pipe(
      Effect.zipRight(
        Effect.repeat(Effect.zipRight(pause(lookAgain), one.withPermits(1)(attempt(place))), {
          while: (standing) => standing === "elsewhere",
        }),
      ),
    )

  /** None: the deadline passes before the next try. */
  const tryAgain = (place: Place, standing: Unread, until: number) =>
    Effect.gen(function* () {
      const wait = Duration.min(Duration.times(firstWait, 2 ** Math.min(place.waits, 10)), longestWait)
      if ((yield* steadyMillis) + Duration.toMillis(wait) > until) return Option.none<NightState>()
      yield* Effect.logWarning(
        standing === "busy"
          ? `Another run has ${place.connection}. It is tried again in ${Duration.format(wait)}.`
          : `Away: ${place.connection}. It is tried again in ${Duration.format(wait)}; what was committed stays.`,
      )
      yield* pause(wait)
      place.waits += 1
      return Option.some(yield* one.withPermits(1)(attempt(place)))
    })

  /** `began`: when it was tried first, which may be long after the night began: the connections before it take their time. */
  const untilOver = (place: Place, first: NightState, began: number) =>
    Effect.gen(function* () {
      let standing = first
      let start = began
      while (standing !== "over") {
        if (standing === "elsewhere") {
          standing = yield* watch(place)
          start = yield* steadyMillis
          continue
        }
        const next = yield* tryAgain(place, standing, start + Duration.toMillis(work.deadline))
        if (Option.isNone(next)) {
          yield* work.givenUp(place.connection, standing)
          if (Option.isSome(place.own)) yield* Effect.ignore(place.own.value.end)
          return yield* letGo(place)
        }
        standing = next.value
      }
    }).pipe(Effect.annotateLogs({ connection: place.connection }))

  if (!(yield* Effect.orElseSucceed(whenDue(night, pause), () => false))) return
  const places = connections.map(
    (connection): Place => ({
      connection,
      first: Option.none(),
      own: Option.none(),
      isLost: false,
      tries: 0,
      waits: 0,
    }),
  )
  const stands = yield* Effect.forEach(places, (place) =>
    Effect.flatMap(steadyMillis, (began) =>
      Effect.map(attempt(place), (standing) => ({ place, standing, began })),
    ),
  )
  // An outage may last for hours, so people are told before it ends.
  if (stands.some(({ standing }) => standing === "away")) yield* work.attention
  const ends = yield* Effect.forEach(
    stands,
    ({ place, standing, began }) => Effect.either(untilOver(place, standing, began)),
    { concurrency: "unbounded" },
  )
  if (ends.some(Either.isLeft)) {
    yield* Effect.logWarning("The night is not over; the next start goes on with it.")
    return
  }
  if (yield* Effect.orElseSucceed(tellOnce(night, connections), () => true)) yield* work.attention
}, Effect.scoped)
