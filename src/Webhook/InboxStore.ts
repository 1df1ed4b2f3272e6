/** How deliveries come into the inbox: many in one statement, each once. */
import { Effect } from "effect"
import { bool, type RowOf, text } from "../Database/Columns.ts"
import { plainArray, plainLiteral, textArray, textLiteral } from "../Database/TextArray.ts"
import type { Database } from "../Database.ts"
import { type Delivery, keyOf } from "./Delivery.ts"

const storedColumns = {
  connection: text,
  event_id: text,
  digest: text,
  conflict: bool,
}

type StoredRow = RowOf<typeof storedColumns>

const base64Of = ({ body }: Delivery): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64")

/** Rows whose event is there several times, with different bodies. */
const doubledIn = (rows: ReadonlyArray<Delivery>): ReadonlySet<Delivery> => {
  const first = new Map<string, Delivery>()
  const doubled = new Set<Delivery>()
  for (const row of rows) {
    const key = `${row.connection}\n${row.eventId}`
    const other = first.get(key)
    if (other === undefined) first.set(key, row)
    else doubled.add(other).add(row)
  }
  return doubled
}

/** The same event with another body, whichever came first. */
const flag = (database: Database, conflicts: ReadonlyArray<StoredRow>) =>
  database.execute(
    "Webhook.Inbox.flag",
    (sql) => sql`
      update webhook.inbox i set conflict = true
      from unnest(${textArray(
        sql,
        conflicts.map(({ connection }) => connection),
      )}, ${textArray(
        sql,
        conflicts.map(({ event_id }) => event_id),
      )}) as k (connection, event_id)
      where i.connection = k.connection and i.event_id = k.event_id and not i.conflict`,
  )

/**
 * Writes again what was there already, without a change. A row is seen by others before the standby of a synchronous replication has
 * it, if whoever wrote it stopped waiting: a process that was stopped, a server that was started again. To find it says nothing of
 * that; the end of a transaction that writes waits until the standby has this and all before it.
 */
const confirm = (database: Database, known: ReadonlyArray<Delivery>) =>
  database.execute(
    "Webhook.Inbox.confirm",
    (sql) => sql`
      select 1
      from unnest(${textArray(
        sql,
        known.map(({ connection }) => connection),
      )}, ${textArray(
        sql,
        known.map(({ eventId }) => eventId),
      )}, ${plainArray(
        sql,
        known.map(({ digest }) => digest),
      )}) as k (connection, event_id, digest)
      join webhook.inbox i on i.connection = k.connection and i.event_id = k.event_id
        and i.digest = decode(k.digest, 'hex')
      -- Two that confirm the same events do not wait in a circle: this lock is shared.
      for key share of i`,
  )

/** Returns the rows that were not there before; once it has succeeded, all are durable. */
export const store = (database: Database) =>
  Effect.fnUntraced(function* (deliveries: ReadonlyArray<Delivery>) {
    const distinct = new Map(deliveries.map((delivery) => [keyOf(delivery), delivery]))
    const rows = [...distinct.values()]
    const doubled = doubledIn(rows)
    const texts = (valueOf: (row: Delivery) => string | null) => textLiteral(rows.map(valueOf))
    const plains = (valueOf: (row: Delivery) => string | null) => plainLiteral(rows.map(valueOf))
    const stored = yield* database.rows(
      "Webhook.Inbox.put",
      storedColumns,
      // `offset 0` keeps the planner from joining: it is to look each event up in the index, however small it believes the
      // table to be when it first makes the plan that the session then keeps. `(select …)` hides from it how long the arrays
      // are: it would plan every statement of few deliveries anew, which costs more than storing them.
      (sql) => sql`
        insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state, error, conflict)
        select t.connection, t.event_id, decode(t.digest, 'hex'), t.type, decode(t.body, 'base64'), t.key_id, t.algorithm,
               case when t.error is null then 'waiting' else 'poison' end, t.error,
               t.doubled = 't' or exists (
                 select from webhook.inbox other
                 where other.connection = t.connection and other.event_id = t.event_id
                   and other.digest <> decode(t.digest, 'hex')
                 offset 0)
        from unnest(
            (select ${texts(({ connection }) => connection)}::text[]), (select ${texts(({ eventId }) => eventId)}::text[]),
            (select ${plains(({ digest }) => digest)}::text[]), (select ${texts(({ type }) => type)}::text[]),
            (select ${texts(base64Of)}::text[]), (select ${texts(({ keyId }) => keyId)}::text[]),
            (select ${texts(({ algorithm }) => algorithm)}::text[]), (select ${texts(({ poison }) => poison)}::text[]),
            (select ${plains((row) => (doubled.has(row) ? "t" : "f"))}::text[]))
          as t (connection, event_id, digest, type, body, key_id, algorithm, error, doubled)
        on conflict (connection, event_id, digest) do nothing
        returning connection, event_id, encode(digest, 'hex') as digest, conflict`,
    )
    const conflicts = stored.filter(({ conflict }) => conflict)
    if (conflicts.length > 0) yield* flag(database, conflicts)
    const written = new Set(
      stored.map(({ connection, digest, event_id }) => keyOf({ connection, digest, eventId: event_id })),
    )
    const known = rows.filter((row) => !written.has(keyOf(row)))
    if (known.length > 0) yield* confirm(database, known)
    return stored.map(({ conflict, connection, digest, event_id }) => ({
      key: keyOf({ connection, digest, eventId: event_id }),
      connection,
      conflict,
    }))
  })
