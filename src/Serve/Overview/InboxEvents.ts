/** Webhook events. Nothing is shown while their table does not exist. */
import { Effect, Option } from "effect"
import { count } from "../../Common/Text.ts"
import { bool, float8, int4, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { isPending } from "../../Webhook/InboxDue.ts"

export interface InboxEvent {
  readonly connection: string
  readonly eventType: string
  /** Epoch milliseconds. */
  readonly receivedAt: number
  readonly state: string
}

/** States that are not done: waiting, to be retried, given up, or unreadable. */
export const openStates = ["waiting", "failed", "dead", "poison"] as const
export type OpenState = (typeof openStates)[number]

const inboxCountColumns = {
  connection: text,
  state: oneOf(...openStates),
  events: int4,
}

export type InboxCount = RowOf<typeof inboxCountColumns>

export interface InboxOverview {
  /** Events that wait or will be retried. */
  readonly depth: number
  readonly counts: ReadonlyArray<InboxCount>
  readonly recent: ReadonlyArray<InboxEvent>
}

const listed = 10
/** The count stops here. */
const mostCounted = 100_000

/** The number of events in a state, over all connections. */
export const inState = (counts: ReadonlyArray<InboxCount>, state: OpenState): number =>
  counts.reduce((sum, row) => sum + (row.state === state ? row.events : 0), 0)

const recentColumns = { connection: text, event_type: text, received_at: float8, state: text }

/** How far back is looked for the latest events; then everything. */
const lookedBack = ["1 minute", "1 hour", "1 day", "7 days", null] as const

/**
 * The latest events, done or not. There is an index of the times in which pages of the table were written, and none of their order:
 * so the last minute is looked at first, and more where it has too few. The whole inbox has the events of months.
 */
const latest = Effect.fn("Overview.latestEvents")(function* () {
  const database = yield* Database
  let found: ReadonlyArray<RowOf<typeof recentColumns>> = []
  for (const back of lookedBack) {
    found = yield* database.rows(
      "Overview.inboxRecent",
      recentColumns,
      (sql) => sql`
        select connection, coalesce(type, '(unreadable)') as event_type, state,
          (extract(epoch from received_at) * 1000)::float8 as received_at
        from webhook.inbox
        ${back === null ? sql`` : sql`where received_at > now() - ${back}::text::interval`}
        order by webhook.inbox.received_at desc limit ${listed}`,
    )
    if (found.length === listed) break
  }
  return found
})

const readInbox = Effect.fn("Overview.readInbox")(function* () {
  const database = yield* Database
  // Each half has its own index; processed events are not read.
  const counts = yield* database.rows(
    "Overview.inboxCounts",
    inboxCountColumns,
    (sql) => sql`
      select connection, state, count(*)::integer as events from (
        (select connection, state from webhook.inbox i where ${isPending(sql)} limit ${mostCounted})
        union all
        (select connection, state from webhook.inbox where state in ('dead', 'poison') limit ${mostCounted})) o
      group by connection, state order by connection, state`,
  )
  const recent = yield* latest()
  const inbox: InboxOverview = {
    depth: inState(counts, "waiting") + inState(counts, "failed"),
    counts: counts.map((row): InboxCount => ({ ...row })),
    recent: recent.map((row) => ({
      connection: row.connection,
      eventType: row.event_type,
      receivedAt: row.received_at,
      state: row.state,
    })),
  }
  return inbox
})

/** Null where the table does not exist or has another shape. */
export const inboxOverview = Effect.fn("Overview.inbox")(function* () {
  const database = yield* Database
  const there = yield* database.rows(
    "Overview.inboxThere",
    { there: bool },
    (sql) => sql`select to_regclass('webhook.inbox') is not null as there`,
  )
  if (there[0]?.there !== true) return null
  // A savepoint: a missing table or column must not abort the caller's transaction.
  return yield* database.transaction(readInbox()).pipe(
    Effect.catchIf(
      ({ sqlstate }) => sqlstate === "42703",
      ({ message }) => Effect.as(Effect.logWarning(`The webhook events cannot be shown: ${message}`), null),
    ),
  )
})

/** Days that an event counts as news for alerts; older ones are only on the page. */
const newsFor = 7

const inboxTroubleColumns = {
  givenUp: int4,
  unreadable: int4,
}

export type InboxTrouble = RowOf<typeof inboxTroubleColumns>

/** Events of the last seven days that will not be processed without a person, of one connection or of all. */
export const inboxTrouble = Effect.fn("Overview.inboxTrouble")(function* (
  connection: Option.Option<string> = Option.none(),
) {
  const database = yield* Database
  const only = Option.getOrNull(connection)
  return yield* database.row(
    "Overview.inboxTrouble",
    inboxTroubleColumns,
    (sql) => sql`
      select (count(*) filter (where state = 'dead'))::integer as "givenUp",
        (count(*) filter (where state = 'poison'))::integer as unreadable
      from webhook.inbox
      where state in ('dead', 'poison') and received_at > now() - make_interval(days => ${newsFor})
        and (${only}::text is null or connection = ${only})`,
  )
})

/** As a sentence; none where there are no such events. */
export const inboxTroubleText = ({ givenUp, unreadable }: InboxTrouble): ReadonlyArray<string> =>
  givenUp + unreadable === 0
    ? []
    : [
        `Of the events of the last seven days ${count(givenUp)} ${givenUp === 1 ? "was" : "were"} given up and ${count(unreadable)} cannot be read. See tieout webhook events.`,
      ]
