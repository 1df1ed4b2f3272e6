/** The inbox as a person looks at it. */
import { Effect, Option } from "effect"
import { bool, int4, nullable, oneOf, type RowOf, text } from "../Database/Columns.ts"
import type { Database } from "../Database.ts"

export const states = ["waiting", "done", "failed", "dead", "poison"] as const
export type State = (typeof states)[number]

const listedEventColumns = {
  connection: text,
  eventId: text,
  type: nullable(text),
  /** UTC, ISO 8601. */
  receivedAt: text,
  state: oneOf(...states),
  tries: int4,
  conflict: bool,
  keyId: text,
  algorithm: text,
  /** Why it is not done. */
  error: nullable(text),
  /** What is odd about it though it is done. */
  note: nullable(text),
}

export type ListedEvent = RowOf<typeof listedEventColumns>

const inboxCountColumns = {
  connection: text,
  state: text,
  events: int4,
  /** Of these, how many came with several bodies. */
  conflicts: int4,
  /** When the oldest of them was received, UTC. */
  oldest: text,
}

export type InboxCount = RowOf<typeof inboxCountColumns>

export interface Wanted {
  readonly connection: Option.Option<string>
  readonly state: Option.Option<State>
  readonly limit: number
}

/** The latest first. */
export const list = (database: Database) =>
  Effect.fn("Webhook.Inbox.list")(function* ({ connection, limit, state }: Wanted) {
    return yield* database.rows(
      "Webhook.Inbox.list",
      listedEventColumns,
      (sql) => sql`
        select connection, event_id as "eventId", type, state, tries, conflict, key_id as "keyId", algorithm,
               case when state <> 'done' then error end as error, case when state = 'done' then error end as note,
               to_char(received_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "receivedAt"
        from webhook.inbox
        where (${Option.getOrNull(connection)}::text is null or connection = ${Option.getOrNull(connection)})
          and (${Option.getOrNull(state)}::text is null or state = ${Option.getOrNull(state)})
        order by received_at desc, event_id
        limit ${limit}`,
    )
  })

export const counts = (database: Database) =>
  Effect.fn("Webhook.Inbox.counts")(function* () {
    return yield* database.rows(
      "Webhook.Inbox.counts",
      inboxCountColumns,
      (sql) => sql`
        select connection, state, count(*)::int as events, (count(*) filter (where conflict))::int as conflicts,
               to_char(min(received_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest
        from webhook.inbox
        group by connection, state
        order by connection, state`,
    )
  })
