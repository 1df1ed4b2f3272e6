/** The connections of a night, one after the other in one process. */
import { expect, it } from "@effect/vitest"
import { type Clock, Deferred, Duration, Effect } from "effect"
import { keepNight } from "../../src/Serve/Nightly/Turns.ts"
import { rows } from "../Sync/Runs.ts"
import { changedClock } from "../support/ChangedClock.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { thisNight } from "./ThisNight.ts"

/** A clock that work moves on, on which a wait of minutes ends at once; `set`: by how much somebody has set it meanwhile. */
const movedOn = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  moved: { millis: number; set: number },
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const sleep: Clock.Clock["sleep"] = (duration) => {
      if (Duration.lessThan(duration, Duration.minutes(1))) return clock.sleep(duration)
      moved.millis += Duration.toMillis(duration)
      return Effect.yieldNow()
    }
    const ahead = () => moved.millis + moved.set
    return Effect.withClock(effect, changedClock(clock, { ahead, passed: () => moved.millis, sleep }))
  })

it.scopedLive("is tried for the whole deadline, however long another connection took before it", () =>
  Effect.gen(function* () {
    const deadline = Duration.hours(12)
    const moved = { millis: 0, set: 0 }
    const tried: Array<string> = []
    const givenUp: Array<string> = []
    const night = thisNight((due) =>
      movedOn(
        keepNight(due, ["long", "away"], {
          stopping: Effect.never,
          deadline,
          attempt: (connection, tries) =>
            Effect.sync(() => {
              tried.push(`${connection} ${tries}`)
              if (connection === "long") moved.millis += Duration.toMillis(deadline)
              return connection === "away" && tries < 2 ? "away" : "done"
            }),
          unclaimed: () => Effect.void,
          givenUp: (connection) => Effect.sync(() => void givenUp.push(connection)),
          attention: Effect.void,
        }),
        moved,
      ),
    )
    yield* night
    expect(givenUp).toEqual([])
    expect(tried).toEqual(["long 0", "away 0", "away 1", "away 2"])
  }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive("is tried no shorter and no longer where the clock is set meanwhile", () =>
  Effect.gen(function* () {
    const tried = (hours: number) =>
      Effect.gen(function* () {
        const moved = { millis: 0, set: 0 }
        const tries: Array<number> = []
        yield* thisNight((due) =>
          movedOn(
            keepNight(due, ["away"], {
              stopping: Effect.never,
              deadline: Duration.minutes(20),
              attempt: (_, before) =>
                Effect.sync(() => {
                  tries.push(before)
                  moved.set = hours * 3_600_000
                  return before < 10 ? "away" : "done"
                }),
              unclaimed: () => Effect.void,
              givenUp: () => Effect.void,
              attention: Effect.void,
            }),
            moved,
          ),
        )
        return tries
      })
    expect([yield* tried(24), yield* tried(-24)]).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ])
  }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "waits for no next try once the process is to end, but for what is under way, and ends no night",
  () =>
    Effect.gen(function* () {
      const stopping = yield* Deferred.make<void>()
      const done: Array<string> = []
      yield* thisNight((due) =>
        keepNight(due, ["away", "long"], {
          stopping: Deferred.await(stopping),
          deadline: Duration.hours(12),
          attempt: (connection, tries) =>
            Effect.gen(function* () {
              if (connection === "away" || tries > 0) return "away" as const
              yield* Deferred.succeed(stopping, undefined)
              yield* Effect.sleep("50 millis")
              done.push(connection)
              return "done" as const
            }),
          unclaimed: () => Effect.void,
          givenUp: (connection) => Effect.sync(() => void done.push(`${connection} given up`)),
          attention: Effect.void,
        }),
      )
      expect(done).toEqual(["long"])
      expect(
        yield* rows("select connection, ended_at is null as open from sync.nights order by connection"),
      ).toEqual([
        { connection: "away", open: true },
        { connection: "long", open: false },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
)
