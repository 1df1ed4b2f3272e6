/** The inbox as a person looks at it. */
import { Effect, Option } from "effect"
import type { Database } from "../Database.ts"

export const states = ["waiting", "done", "failed", "dead", "poison"] as const
export type State = (typeof states)[number]

export interface ListedEvent {
  readonly connection: string
  readonly eventId: string
  readonly type: string | null
  /** UTC, ISO 8601. */
  readonly receivedAt: string
  readonly state: State
  readonly tries: number
  readonly conflict: boolean
  readonly keyId: string
  readonly algorithm: string
  /** Why it is not done. */
  readonly error: string | null
  /** What is odd about it though it is done. */
  readonly note: string | null
}

export interface InboxCount {
  readonly connection: string
  readonly state: string
  readonly events: number
  /** Of these, how many came with several bodies. */
  readonly conflicts: number
  /** When the oldest of them was received, UTC. */
  readonly oldest: string
}

export interface Wanted {
  readonly connection: Option.Option<string>
  readonly state: Option.Option<State>
  readonly limit: number
}

/** The latest first. */
export const list = (database: Database) =>
  Effect.fn("Webhook.Inbox.list")(function* ({ connection, limit, state }: Wanted) {
    return yield* database.query(
      "Webhook.Inbox.list",
      (sql) => sql<Array<ListedEvent>>`
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
    return yield* database.query(
      "Webhook.Inbox.counts",
      (sql) => sql<Array<InboxCount>>`
        select connection, state, count(*)::int as events, (count(*) filter (where conflict))::int as conflicts,
               to_char(min(received_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest
        from webhook.inbox
        group by connection, state
        order by connection, state`,
    )
  })
