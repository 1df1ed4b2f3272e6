/** Events that came in by webhook. As long as their table is not there, nothing is shown. */
import { Effect } from "effect"
import { Database } from "../../Database.ts"

export interface InboxEvent {
  readonly connection: string
  readonly eventType: string
  /** Epoch milliseconds. */
  readonly receivedAt: number
  readonly processedAt: number | null
}

export interface InboxOverview {
  /** Events that wait. */
  readonly depth: number
  readonly recent: ReadonlyArray<InboxEvent>
}

const listed = 10
/** More are not counted. */
const mostCounted = 100_000

const readInbox = Effect.fn("Overview.readInbox")(function* () {
  const database = yield* Database
  const depth = yield* database.query(
    "Overview.inboxDepth",
    (sql) => sql<Array<{ waiting: number }>>`
      select count(*)::integer as waiting from (
        select 1 from webhook.inbox where state in ('waiting', 'failed') limit ${mostCounted}) w`,
  )
  const recent = yield* database.query(
    "Overview.inboxRecent",
    (sql) => sql<
      Array<{ connection: string; event_type: string; received_at: number; processed_at: number | null }>
    >`
      select connection, coalesce(type, '(unreadable)') as event_type, (extract(epoch from received_at) * 1000)::float8 as received_at,
        (extract(epoch from processed_at) * 1000)::float8 as processed_at
      from webhook.inbox order by received_at desc limit ${listed}`,
  )
  const inbox: InboxOverview = {
    depth: depth[0]?.waiting ?? 0,
    recent: recent.map((row) => ({
      connection: row.connection,
      eventType: row.event_type,
      receivedAt: row.received_at,
      processedAt: row.processed_at,
    })),
  }
  return inbox
})

/** Null where there is no such table, or one of another shape. */
export const inboxOverview = Effect.fn("Overview.inbox")(function* () {
  const database = yield* Database
  const there = yield* database.query(
    "Overview.inboxThere",
    (sql) => sql<Array<{ there: boolean }>>`select to_regclass('webhook.inbox') is not null as there`,
  )
  if (there[0]?.there !== true) return null
  // A savepoint: what the table lacks must not end the caller's transaction.
  return yield* database.transaction(readInbox()).pipe(
    Effect.catchIf(
      ({ sqlstate }) => sqlstate === "42703",
      ({ message }) => Effect.as(Effect.logWarning(`The webhook events cannot be shown: ${message}`), null),
    ),
  )
})
