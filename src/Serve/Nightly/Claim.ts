/**
 * Decides which process works at a connection's night, among all that keep the schedule on one database. A night is one row,
 * identified by when the schedule fell due. The process that works at it has the row's epoch and holds a lock, which is free as
 * soon as the process is gone. All times are by the database's clock, since those of the machines may differ.
 */
import { Duration, Effect, ExecutionStrategy, Exit, Option, Scope } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { bool, float8, int4, nullable, timestamptz } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"

export interface Night {
  /** When the schedule fell due. Epoch milliseconds. */
  readonly due: number
  /** The night is made up for at a start: only connections that have not been read since. */
  readonly isMissed: boolean
}

/** Nights of a connection that are kept. */
const keptFor = "400 days"

/** A night that ended later than this was worked at while the clock was ahead, and is still to come: as `sync.last_success` has it. */
const endedAtMost = (sql: Sql) => sql`clock_timestamp() + interval '1 minute'`

/** A connection's night, as found before it is claimed. */
export interface Known {
  readonly epoch: number | null
  readonly ended: boolean
  /** The connection was read completely since it was due. */
  readonly succeeded: boolean
}

export const lookAt = Effect.fn("Nightly.lookAt")(function* (connection: string, { due }: Night) {
  const database = yield* Database
  const known: Known = yield* database.row(
    "Nightly.lookAt",
    { epoch: nullable(int4), ended: bool, succeeded: bool },
    (sql) => sql`
      select n.epoch, coalesce(n.ended_at < ${endedAtMost(sql)}, false) as ended,
        coalesce(s.ended_at >= d.due, false) as succeeded
      from (select to_timestamp(${due}::float8 / 1000) as due) d
      left join sync.nights n on n.connection = ${connection} and n.due_at = d.due
      left join lateral sync.last_success(${connection}) s on true`,
  )
  return known
})

/**
 * Whether the night is done, or left to others. A missed night is tried again by a process that starts, unless the connection
 * was read since.
 */
export const isOver = ({ isMissed }: Night, { ended, epoch, succeeded }: Known): boolean =>
  isMissed ? succeeded && (epoch === null || ended) : ended

/** How long it is until the night, by the database's clock, since this machine's may be ahead. */
export const untilDue = Effect.fn("Nightly.untilDue")(function* ({ due }: Night) {
  const database = yield* Database
  const { early } = yield* database.row(
    "Nightly.untilDue",
    { early: float8 },
    (sql) =>
      sql`select greatest(0, ${due}::float8 - extract(epoch from clock_timestamp()) * 1000)::float8 as early`,
  )
  return Duration.millis(Math.ceil(early))
})

/** The database's clock. Epoch milliseconds. */
export const databaseNow = Effect.fn("Nightly.databaseNow")(function* () {
  const database = yield* Database
  const { now } = yield* database.row(
    "Nightly.now",
    { now: float8 },
    (sql) => sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  )
  return now
})

/** A night that this process works at. */
export interface Claim {
  /** Another process began it, and that process is gone or has lost its lock. */
  readonly isTakeover: boolean
  /** Fails when the lock is lost: from then on another may take the night. */
  readonly lost: Effect.Effect<never, DatabaseError>
  /** Whether no other process has taken it since. */
  readonly holds: Effect.Effect<boolean, DatabaseError, Database>
  /** Marks the night as ended: no process needs to try it again. */
  readonly end: Effect.Effect<void, DatabaseError, Database>
  readonly release: Effect.Effect<void>
}

interface Taken {
  readonly epoch: number
  /** By the database's clock, as its text. */
  readonly claimedAt: string
}

/** The night's row, unless it has ended meanwhile; a night that had ended before it was first looked at is begun again. */
const take = Effect.fn("Nightly.take")(function* (connection: string, { due }: Night, known: Known) {
  const database = yield* Database
  return yield* database.transaction(
    Effect.gen(function* () {
      yield* database.execute(
        "Nightly.forgetNights",
        (sql) => sql`
          delete from sync.nights
          where connection = ${connection} and due_at < to_timestamp(${due}::float8 / 1000) - ${keptFor}::interval`,
      )
      const [taken] = yield* database.rows(
        "Nightly.claim",
        { epoch: int4, claimedAt: timestamptz },
        (sql) => sql`
          insert into sync.nights as n (connection, due_at) values (${connection}, to_timestamp(${due}::float8 / 1000))
          on conflict (connection, due_at) do update
            set epoch = n.epoch + 1, claimed_at = now(), ended_at = null, told = false
            where n.ended_at is null or n.ended_at >= ${endedAtMost(sql)} or n.epoch = ${known.ended ? (known.epoch ?? 0) : 0}::integer
          returning epoch, claimed_at as "claimedAt"`,
      )
      return Option.fromNullable(taken)
    }),
  )
})

/**
 * Takes a connection's night; none if another process works at it or has ended it. Held until it is released, or until the
 * scope closes.
 */
export const claim = Effect.fn("Nightly.claim")(function* (connection: string, night: Night, known: Known) {
  const database = yield* Database
  const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
  const release = Scope.close(scope, Exit.void)
  /** The row while it is this claim's. A failover may lose a claim, and the next one then gets the same epoch. */
  const own = (sql: Sql, { claimedAt, epoch }: Taken) => sql`
    connection = ${connection} and due_at = to_timestamp(${night.due}::float8 / 1000) and epoch = ${epoch}
    and claimed_at = ${claimedAt}::timestamptz and ended_at is null`
  const isOwn = (taken: Taken) =>
    database.row(
      "Nightly.holds",
      { holds: bool },
      (sql) => sql`select exists (select 1 from sync.nights where ${own(sql, taken)}) as holds`,
    )
  return yield* database.tryLock(`night:${connection}`).pipe(
    Scope.extend(scope),
    Effect.flatMap(({ lost }) =>
      Effect.map(
        take(connection, night, known),
        Option.map(
          (row): Claim => ({
            isTakeover: row.epoch > 1 && !known.ended,
            lost,
            holds: Effect.map(isOwn(row), ({ holds }) => holds),
            end: database.execute(
              "Nightly.end",
              (sql) => sql`update sync.nights set ended_at = now() where ${own(sql, row)}`,
            ),
            release,
          }),
        ),
      ),
    ),
    Effect.catchTag("LockBusy", () => Effect.succeedNone),
    Effect.tap((taken) => (Option.isNone(taken) ? release : Effect.void)),
    Effect.onError(() => release),
  )
})

/** Whether people must still be told what is open after a night: returns true once, to the first process that asks. */
export const tellOnce = Effect.fn("Nightly.tellOnce")(function* (
  { due }: Night,
  connections: ReadonlyArray<string>,
) {
  const database = yield* Database
  const marked = yield* database.rows(
    "Nightly.tellOnce",
    { told: bool },
    (sql) => sql`
      update sync.nights set told = true
      where due_at = to_timestamp(${due}::float8 / 1000) and connection = any(${textArray(sql, connections)})
        and ended_at is not null and not told
      returning told`,
  )
  return marked.length > 0
})
