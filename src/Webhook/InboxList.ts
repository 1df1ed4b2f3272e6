/** The inbox as a person looks at it. */
import { and, desc, eq } from "drizzle-orm"
import { Effect, Option } from "effect"
import { int4, type RowOf, text } from "../Database/Columns.ts"
import { isoText } from "../Database/Tables/ColumnTypes.ts"
import { inbox } from "../Database/Tables/Webhook.ts"
import type { Database } from "../Database.ts"

export const states = inbox.state.enumValues
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

const inboxCountColumns = {
  connection: text,
  state: text,
  events: int4,
  /** How many of them came with several bodies. */
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
    const rows = yield* database.orm("Webhook.Inbox.list", (orm) =>
      orm
        .select({
          connection: inbox.connection,
          eventId: inbox.eventId,
          type: inbox.type,
          state: inbox.state,
          tries: inbox.tries,
          conflict: inbox.conflict,
          keyId: inbox.keyId,
          algorithm: inbox.algorithm,
          error: inbox.error,
          receivedAt: isoText(inbox.receivedAt),
        })
        .from(inbox)
        .where(
          and(
            ...Option.toArray(Option.map(connection, (name) => eq(inbox.connection, name))),
            ...Option.toArray(Option.map(state, (name) => eq(inbox.state, name))),
          ),
        )
        .orderBy(desc(inbox.receivedAt), inbox.eventId)
        .limit(limit),
    )
    return rows.map(({ error, ...event }): ListedEvent => {
      const done = event.state === "done"
      return { ...event, error: done ? null : error, note: done ? error : null }
    })
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
