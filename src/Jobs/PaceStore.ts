/** Keeps a connection's pace in the database, for all processes that read from it, and across restarts. */
import { Effect, Either, type Layer, Option, Schema } from "effect"
import { assertRows } from "../Database/AnswerRows.ts"
import type { Sql } from "../Database/Client.ts"
import { float8, jsonOf, type RowOf } from "../Database/Columns.ts"
import { isPassing } from "../Database/DatabaseError.ts"
import type { Database } from "../Database.ts"
import { type Connection, layer } from "../Partner/Http.ts"
import { reserved } from "../Partner/Pacing/PaceKeeper.ts"
import type { PaceMemory } from "../Partner/Pacing/PaceMemory.ts"
import { Rate } from "../Partner/Pacing/RequestRate.ts"
import { type Asked, type Reserve, Unkept } from "../Partner/Pacing/SharedPace.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import { defaultTuning } from "../Partner/ServiceLimits.ts"
import type { Partner, PartnerConnection } from "../Partner.ts"
import type { Key } from "./SealedToken.ts"
import { keeping } from "./TokenStore.ts"

const Known = Schema.Struct({
  rate: Schema.Number,
  bad: Schema.NullOr(Schema.Number),
  nextAt: Schema.Number,
  heldUntil: Schema.Number,
  cutAt: Schema.NullOr(Schema.Number),
  successes: Schema.Number,
  betweenProbes: Schema.Number,
  climbed: Schema.optionalWith(Schema.Number, { exact: true }),
  hasServed: Schema.optionalWith(Schema.Boolean, { exact: true }),
  served: Schema.optionalWith(Schema.Number, { exact: true }),
  stretches: Schema.optionalWith(
    Schema.Array(Schema.Struct({ served: Schema.Number, rate: Schema.Number })),
    { exact: true },
  ),
  aside: Schema.optionalWith(Schema.Number, { exact: true }),
  sent: Schema.Number,
  sentAt: Schema.Number,
  isLimiting: Schema.Boolean,
  allowed: Schema.optionalWith(Schema.NullOr(Schema.Number), { exact: true }),
  keptAt: Schema.optionalWith(Schema.Number, { exact: true }),
})

const paceColumns = { state: jsonOf(Known), now: float8 }

/** Fields that earlier versions did not keep. */
const unkept = { climbed: 0, hasServed: true, served: 0, stretches: [], aside: 0, allowed: null, keptAt: 0 }

/**
 * By the database's clock: those of the processes may differ. `startRate`: requests a second before anything is known; `allowed`:
 * those that the service allows.
 */
export const reserving =
  (database: Database, connection: string, startRate: number, allowed: number | null = null): Reserve =>
  (asked: Asked) =>
    Effect.suspend(() => {
      let found: ReadonlyArray<RowOf<typeof paceColumns>> = []
      const pace = (sql: Sql) => sql`
        select p.state, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
        from (select state from sync.paces where connection = ${connection} for update) p`
      const begin = Effect.gen(function* () {
        yield* database.execute(
          "Jobs.beginPace",
          (sql) => sql`
            insert into sync.paces (connection, state)
            values (${connection}, ${JSON.stringify(Rate.starting(startRate, allowed).current)}::text::jsonb)
            on conflict (connection) do nothing`,
        )
        return yield* database.row("Jobs.pace", paceColumns, pace)
      })
      const work = Effect.gen(function* () {
        const { now, state } = found[0] ?? (yield* begin)
        const next = reserved({ ...unkept, ...state }, asked, now, allowed)
        yield* database.execute(
          "Jobs.savePace",
          (sql) => sql`
            update sync.paces set state = ${JSON.stringify(next.state)}::text::jsonb
            where connection = ${connection}`,
        )
        return next.reserved
      })
      // Others wait for the row: it is asked for together with the transaction's beginning.
      return database.transaction(work, {
        guard: {
          operation: "Jobs.pace",
          statement: pace,
          passes: (rows) =>
            Effect.sync(() => {
              assertRows("Jobs.pace", paceColumns, rows)
              found = rows
            }),
        },
      })
    })
      .pipe(Effect.either, Effect.runPromise)
      .then(Either.getOrThrowWith((error) => (isPassing(error) ? error : new Unkept({ why: error.message }))))

/** Requests a second before anything is known of a service; it doubles while all is well. */
const { startRate } = defaultTuning

/** How long a process that is done waits to keep what it has learned: it is of use, and no more. */
const keptWithin = "2 seconds"

/** Between two processes that ask alone, one after the other. Without it, all goes on as without a database. */
const remembered = (database: Database, connection: string): PaceMemory => ({
  known: database
    .rows(
      "Jobs.knownPace",
      { state: jsonOf(Known) },
      (sql) => sql`select state from sync.paces where connection = ${connection}`,
    )
    .pipe(
      Effect.map(([found]) => (found === undefined ? null : { ...unkept, ...found.state })),
      Effect.catchAllCause(() => Effect.succeed(null)),
    ),
  // Of a pace that is shared meanwhile, only what was learned of the limit changes: when the next request may go stays.
  keep: ({ bad, betweenProbes, climbed, rate, successes, allowed }) => {
    const learned = { bad, betweenProbes, climbed, rate, successes, allowed }
    const first = { ...Rate.starting(startRate).current, ...learned }
    return database
      .execute(
        "Jobs.rememberPace",
        (sql) => sql`
          insert into sync.paces as p (connection, state)
          values (${connection}, ${JSON.stringify(first)}::text::jsonb)
          on conflict (connection) do update set state = p.state || ${JSON.stringify(learned)}::text::jsonb`,
      )
      .pipe(
        Effect.interruptible,
        Effect.timeoutOption(keptWithin),
        Effect.catchAllCause((cause) => Effect.logDebug("The learned pace was not kept", cause)),
        Effect.asVoid,
      )
  },
})

/** Connections of a process that asks alone: at the limit that was learned before, where one is known. */
export const remembering =
  (database: Database) =>
  (connection: Connection): Layer.Layer<PartnerConnection | Partner, PartnerError> =>
    layer({ ...connection, memory: remembered(database, connection.name) })

/** Connections at the pace that all processes share; with a key for it, they share the token, too. */
export const sharing =
  (database: Database, key: Option.Option<Key>) =>
  (connection: Connection): Layer.Layer<PartnerConnection | Partner, PartnerError> =>
    layer({
      ...connection,
      reserve: reserving(database, connection.name, startRate, connection.limits?.requestsPerSecond),
      ...Option.match(key, {
        onNone: () => ({}),
        onSome: (known) => ({ tokens: keeping(database, known, connection) }),
      }),
    })
