/** Which events are to be processed: the conditions and queries on the inbox. */
import type { Sql } from "../Database/Client.ts"

/** Of `webhook.inbox` as `i`: neither done nor given up. Written out, as the index `inbox_waiting` has it. */
export const isPending = (sql: Sql) => sql`i.state in ('waiting', 'failed')`

/** The oldest events of a connection that are due and, unless it is undefined, were handed out to nobody; locked. */
export const dueOf = (sql: Sql, connection: string, limit: number, handedTo: "nobody" | undefined) => sql`
  select i.event_id, i.digest from webhook.inbox i
  where i.connection = ${connection} and ${isPending(sql)} and i.next_try_at <= now()
    and (${handedTo === undefined}::boolean or not exists (
      select from sync.book_events e
      where e.connection = i.connection and e.event_id = i.event_id and e.digest = i.digest))
  order by i.next_try_at
  limit ${limit}
  for update of i skip locked`

/**
 * The oldest that are due and were handed out for a book; locked. They are found from the book and looked up one by one: of every book
 * that is asked for, those of all others may be waiting as well.
 */
export const dueFor = (sql: Sql, connection: string, limit: number, bookId: number) => {
  const isThat = (other: "e" | "d") => sql`
    i.connection = ${connection} and i.event_id = ${sql(other)}.event_id and i.digest = ${sql(other)}.digest
    and ${isPending(sql)} and i.next_try_at <= now()`
  return sql`
    select l.event_id, l.digest
    from (
      select o.event_id, o.digest
      from (
        select e.event_id, e.digest from sync.book_events e
        where e.book_id = ${bookId} and e.connection = ${connection} offset 0) e
      cross join lateral (
        select i.event_id, i.digest, i.next_try_at from webhook.inbox i where ${isThat("e")} offset 0) o
      order by o.next_try_at
      limit ${limit}) d
    cross join lateral (
      select i.event_id, i.digest from webhook.inbox i where ${isThat("d")} offset 0 for update skip locked) l`
}
