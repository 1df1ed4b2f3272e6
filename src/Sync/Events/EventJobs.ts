/**
 * Hands events of clients' books to workers, if a program provides it. The work stands in the database: an event that arrives
 * while its book is worked at is there for the current job or the next one.
 */
import { Context, Effect, Option } from "effect"
import { allBooks } from "../../Book.ts"
import { bytes, int4, text } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { plainArray, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { isPending, weighed, within } from "../../Webhook/InboxDue.ts"
import { hintOf } from "./EventHint.ts"

/** Asks workers to look at the books, ahead of other waiting jobs. */
export type SendBooks = (
  connection: string,
  books: ReadonlyArray<number>,
) => Effect.Effect<void, DatabaseError>

/** None: the process that follows the events does all the work itself. */
export class EventJobs extends Context.Reference<EventJobs>()("tieout/Sync/EventJobs", {
  defaultValue: (): Option.Option<SendBooks> => Option.none(),
}) {}

/** Events that are looked at together. */
const eventsPerHandOut = 5_000

/** Records the book of each due event. Leaves an event alone if its book is unknown or if it came with several bodies. */
const assign = Effect.fn("Events.assign")(function* (connection: string) {
  const database = yield* Database
  const waiting = yield* database.rows(
    "Events.unassigned",
    { event_id: text, digest: text, type: text, body: bytes },
    (sql) => sql`
      select i.event_id, encode(i.digest, 'hex') as digest, i.type, i.body
      from (${within(
        sql,
        sql`
          select ${weighed(sql)} from webhook.inbox i
          where i.connection = ${connection} and ${isPending(sql)} and i.next_try_at <= now()
            and not i.conflict and i.type is not null
            and not exists (
              select from sync.book_events e
              where e.connection = i.connection and e.event_id = i.event_id and e.digest = i.digest)
          order by i.next_try_at limit ${eventsPerHandOut}`,
      )}) d
      join webhook.inbox i on i.connection = ${connection} and i.event_id = d.event_id and i.digest = d.digest`,
  )
  if (waiting.length === 0) return
  const books = new Map(
    (yield* allBooks(Option.some(connection))).flatMap(({ bookId, clientId }) =>
      Option.match(clientId, { onNone: () => [], onSome: (client) => [[client, bookId] as const] }),
    ),
  )
  const assigned = waiting.flatMap(({ body, digest, event_id, type }) => {
    const bookId = Option.getOrUndefined(
      Option.flatMapNullable(hintOf(type, body).clientId, (client) => books.get(client)),
    )
    return bookId === undefined ? [] : [{ digest, eventId: event_id, bookId: String(bookId) }]
  })
  if (assigned.length === 0) return
  yield* database.execute(
    "Events.assign",
    (sql) => sql`
      insert into sync.book_events (connection, event_id, digest, book_id)
      select ${connection}, t.event_id, decode(t.digest, 'hex'), t.book_id::integer
      from unnest(${textArray(
        sql,
        assigned.map(({ eventId }) => eventId),
      )}, ${plainArray(
        sql,
        assigned.map(({ digest }) => digest),
      )}, ${plainArray(
        sql,
        assigned.map(({ bookId }) => bookId),
      )}) as t (event_id, digest, book_id)
      on conflict do nothing`,
  )
})

/** Books with events that are due now. Forgets the assignments of events that are done, given up or deleted. */
const due = Effect.fn("Events.due")(function* (connection: string) {
  const database = yield* Database
  yield* database.execute(
    "Events.unassign",
    (sql) => sql`
      delete from sync.book_events e
      where e.connection = ${connection} and not exists (
        select from webhook.inbox i
        where i.connection = e.connection and i.event_id = e.event_id and i.digest = e.digest
          and ${isPending(sql)} and not i.conflict)`,
  )
  const rows = yield* database.rows(
    "Events.due",
    { book_id: int4 },
    (sql) => sql`
      select distinct e.book_id from sync.book_events e
      join webhook.inbox i on i.connection = e.connection and i.event_id = e.event_id and i.digest = e.digest
      where e.connection = ${connection} and ${isPending(sql)} and i.next_try_at <= now()
      order by e.book_id`,
  )
  return rows.map(({ book_id }) => book_id)
})

/**
 * Hands out the due events of clients' books. Events that were handed out and are still due are handed out again, since a
 * worker may be gone.
 */
export const handOutEvents = Effect.fn("Events.handOut")(function* (connection: string, send: SendBooks) {
  yield* assign(connection)
  const books = yield* due(connection)
  if (books.length > 0) yield* send(connection, books)
})
