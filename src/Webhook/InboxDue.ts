/** Which events are to be processed: the conditions and queries on the inbox. */
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../Database/Client.ts"

/** Of `webhook.inbox` as `i`: neither done nor given up. Written out, as the index `inbox_waiting` has it. */
export const isPending = (sql: Sql) => sql`i.state in ('waiting', 'failed')`

/** Bytes of bodies that one process takes, or looks at, at once: five thousand of the largest would be more than a small machine has. */
const mostBytes = 16 * 1024 * 1024

/** The columns that `within` goes by, of `webhook.inbox` as `i`. The size is known without reading the body. */
export const weighed = (sql: Sql) => sql`i.event_id, i.digest, i.next_try_at, octet_length(i.body) as size`

/** The oldest of these events whose bodies are not too much at once, but the first of them in any case. */
export const within = (sql: Sql, events: PendingQuery<Row[]>) => sql`
  select w.event_id, w.digest
  from (
    select o.event_id, o.digest, sum(o.size) over (order by o.next_try_at, o.event_id, o.digest) - o.size as before
    from (${events}) o) w
  where w.before < ${mostBytes}`

/** The oldest events of a connection that are due and, unless it is undefined, were handed out to nobody; locked. */
export const dueOf = (sql: Sql, connection: string, limit: number, handedTo: "nobody" | undefined) => sql`
  select ${weighed(sql)} from webhook.inbox i
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
    select l.event_id, l.digest, l.next_try_at, l.size
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
      select ${weighed(sql)} from webhook.inbox i where ${isThat("d")} offset 0 for update skip locked) l`
}
