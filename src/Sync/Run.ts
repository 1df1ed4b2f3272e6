/**
 * One run of a connection: its lease, its number and what it counts. Every transaction of a run first proves that the
 * lease is still its own, so that a process that was stalled and overtaken writes nothing.
 */
import { Context, Data, Effect } from "effect"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"

/** Another run has taken the connection since: this one stops and writes nothing more. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{
  readonly connection: string
  readonly runId: number
}> {
  override get message(): string {
    return `Run ${this.runId} of connection ${this.connection} was overtaken by a later one and stopped; nothing of it is half-written. Check with: tieout status.`
  }
}

/** What a run counts, for its summary. */
export interface Counters {
  entries: number
  held: number
  resources: number
  changedResources: number
  missingResources: number
  journalEntries: number
  reclassifications: number
  quarantined: number
  contradictions: number
  receivableVersions: number
  pages: number
}

const noCounts = (): Counters => ({
  entries: 0,
  held: 0,
  resources: 0,
  changedResources: 0,
  missingResources: 0,
  journalEntries: 0,
  reclassifications: 0,
  quarantined: 0,
  contradictions: 0,
  receivableVersions: 0,
  pages: 0,
})

/** How much of what this run has to read is read: for whoever watches. */
export interface Reading {
  readonly statements: { done: number; all: number }
  readonly clients: { done: number; all: number }
}

export class Run extends Context.Tag("tieout/Sync/Run")<
  Run,
  {
    readonly connection: string
    readonly runId: number
    readonly epoch: bigint
    /** ISO 8601, our clock. */
    readonly startedAt: string
    readonly counters: Counters
    readonly reading: Reading
    /** Runs an effect as one transaction of this run: all of it is committed, or none of it. */
    readonly commit: <A, E, R>(
      effect: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | DatabaseError | LeaseLost, R>
  }
>() {}

/** Our clock, ISO 8601. */
export const nowIso = (epochMilliseconds: number): string => new Date(epochMilliseconds).toISOString()

/** Starts a run and takes the lease of the connection. The caller holds the connection's session lock. */
export const beginRun = Effect.fn("Sync.beginRun")(function* (connection: string, command: string) {
  const database = yield* Database
  const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const rows = yield* database.transaction(
    database.query(
      "Sync.beginRun",
      (sql) => sql<Array<{ run_id: number; epoch: bigint }>>`
        with abandoned as (
          update sync.runs set state = 'abandoned', ended_at = now()
          where connection = ${connection} and command = ${command} and state = 'running'),
        run as (
          insert into sync.runs (connection, command) values (${connection}, ${command}) returning run_id)
        insert into sync.leases as l (connection, epoch, run_id)
        select ${connection}, 1, run_id from run
        on conflict (connection) do update set epoch = l.epoch + 1, run_id = excluded.run_id, taken_at = now()
        returning run_id, epoch`,
    ),
  )
  const row = rows[0]
  if (row === undefined) return yield* Effect.dieMessage(`no run could be started for ${connection}`)
  const { run_id: runId, epoch } = row
  const fence = database
    .query(
      "Sync.fence",
      (sql) => sql`select 1 from sync.leases where connection = ${connection} and epoch = ${epoch} for share`,
    )
    .pipe(
      Effect.filterOrFail(
        (found) => found.length === 1,
        () => new LeaseLost({ connection, runId }),
      ),
    )
  return Run.of({
    connection,
    runId,
    epoch,
    startedAt: nowIso(started),
    counters: noCounts(),
    reading: { statements: { done: 0, all: 0 }, clients: { done: 0, all: 0 } },
    commit: (effect) => database.transaction(Effect.zipRight(fence, effect)),
  })
})

/** Writes how a run ended. `summary` is what `--json` prints of it. */
export const endRun = Effect.fn("Sync.endRun")(function* (
  runId: number,
  state: "done" | "failed" | "stopped",
  exitCode: number,
  summary: unknown,
) {
  const database = yield* Database
  yield* database.query(
    "Sync.endRun",
    (sql) => sql`
      update sync.runs set state = ${state}, ended_at = now(), exit_code = ${exitCode},
        summary = ${JSON.stringify(summary)}::text::jsonb
      where run_id = ${runId}`,
  )
})
