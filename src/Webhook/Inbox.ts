/**
 * Events that were received and acknowledged, until their effect is in the books. A listener puts them in. Whoever processes
 * them takes each as a hint only: the service is asked how things stand.
 */
import { and, eq, sql as fragment, inArray, ne } from "drizzle-orm"
import { Duration, Effect, Option, PubSub, Stream } from "effect"
import { bool, bytes, float8, int4, text } from "../Database/Columns.ts"
import { inbox } from "../Database/Tables/Webhook.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { type Delivery, keyOf, type Receipt } from "./Delivery.ts"
import { dueFor, dueOf, isPending, within } from "./InboxDue.ts"
import { counts, list } from "./InboxList.ts"
import { store } from "./InboxStore.ts"

/** Identifies a row: an event may be there with several bodies. */
export interface EventKey {
  readonly connection: string
  readonly eventId: string
  /** SHA-256 of the body, hexadecimal. */
  readonly digest: string
}

/** An event whose effect is in the books. */
export interface DoneEvent extends EventKey {
  /** A note for a person all the same. */
  readonly note?: string | undefined
}

/** An event whose effect is not in the books yet. */
export interface WaitingEvent extends EventKey {
  /** Verbatim, known or not. */
  readonly type: string
  readonly body: Uint8Array
  /** UTC, ISO 8601. */
  readonly receivedAt: string
  /** How often it was taken, this time included. */
  readonly tries: number
  readonly conflict: boolean
}

/** After so many tries an event is dead, unless the caller says otherwise. */
export const defaultTries = 8

/** While the service is away it is tried for about a day: with the longest wait between two tries from the eleventh on. */
export const triesOfOutage = 150

/** How long a process may work at an event before another one may take it. */
const defaultLease = Duration.minutes(2)

const longestError = 2_000
const longestBackoff = Duration.minutes(10)

const takenColumns = {
  event_id: text,
  digest: text,
  type: text,
  body: bytes,
  received_at: text,
  tries: int4,
  conflict: bool,
}

/** 1 s, 2 s, 4 s … at most ten minutes. */
const backoff = (tries: number): Duration.Duration =>
  Duration.min(Duration.seconds(2 ** Math.min(tries - 1, 20)), longestBackoff)

const storable = (text: string): string =>
  text.replaceAll("\u0000", "�").toWellFormed().slice(0, longestError)

export class Inbox extends Effect.Service<Inbox>()("tieout/Webhook/Inbox", {
  scoped: Effect.gen(function* () {
    const database = yield* Database
    const storeRows = store(database)
    const arrived = yield* PubSub.sliding<string>(1_024)

    const keysOf = (keys: ReadonlyArray<EventKey>) => ({
      connections: keys.map(({ connection }) => connection),
      ids: keys.map(({ eventId }) => eventId),
      digests: keys.map(({ digest }) => digest),
    })

    /** Stores deliveries in one statement; when it succeeds they are durable. One receipt for each, in their order. */
    const put = Effect.fn("Webhook.Inbox.put")(function* (deliveries: ReadonlyArray<Delivery>) {
      const stored = yield* storeRows(deliveries)
      const receipts = new Map(stored.map((row) => [row.key, row.conflict]))
      yield* PubSub.publishAll(arrived, new Set(stored.map(({ connection }) => connection)))
      return deliveries.map((delivery): Receipt => {
        const conflict = receipts.get(keyOf(delivery))
        if (conflict === undefined) return "known"
        return conflict ? "conflict" : "stored"
      })
    })

    /**
     * Takes the oldest events that are due, for as long as `lease`: not finished by then, they are due again, so that one
     * that was taken by a process that died is not lost. Two takers never get the same event within a lease.
     */
    const take = Effect.fn("Webhook.Inbox.take")(function* (
      connection: string,
      limit: number,
      lease: Duration.Duration = defaultLease,
      /** Only events that were handed out for this book, or to `nobody`. Undefined: all that are due. */
      handedTo?: number | "nobody",
    ) {
      const rows = yield* database.rows(
        "Webhook.Inbox.take",
        takenColumns,
        (sql) => sql`
          with due as (
            ${within(sql, typeof handedTo === "number" ? dueFor(sql, connection, limit, handedTo) : dueOf(sql, connection, limit, handedTo))}
          ), taken as (
            update webhook.inbox i
            set tries = i.tries + 1, next_try_at = now() + make_interval(secs => ${Duration.toSeconds(lease)})
            from due
            where i.connection = ${connection} and i.event_id = due.event_id and i.digest = due.digest
            returning i.event_id, i.digest, i.type, i.body, i.received_at, i.tries, i.conflict
          )
          select event_id, encode(digest, 'hex') as digest, type, body, tries, conflict,
                 to_char(received_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as received_at
          from taken
          order by received_at, event_id`,
      )
      return rows.map(
        ({ body, conflict, digest, event_id, received_at, tries, type }): WaitingEvent => ({
          connection,
          eventId: event_id,
          digest,
          type,
          body,
          receivedAt: received_at,
          tries,
          conflict,
        }),
      )
    })

    /**
     * Marks events as done: their effect is in the books. Returns the seconds since each was received. May be part of the
     * caller's transaction.
     */
    const finish = Effect.fn("Webhook.Inbox.finish")(function* (keys: ReadonlyArray<DoneEvent>) {
      if (keys.length === 0) return []
      const { connections, digests, ids } = keysOf(keys)
      const notes = keys.map(({ note }) => note ?? null)
      const rows = yield* database.rows(
        "Webhook.Inbox.finish",
        { seconds: float8 },
        (sql) => sql`
          update webhook.inbox i set state = 'done', processed_at = now(), error = k.note
          from unnest(${textArray(sql, connections)}, ${textArray(sql, ids)}, ${plainArray(sql, digests)},
              ${textArray(sql, notes)}) as k (connection, event_id, digest, note)
          where i.connection = k.connection and i.event_id = k.event_id and i.digest = decode(k.digest, 'hex')
            and ${isPending(sql)}
          returning extract(epoch from now() - i.received_at)::float8 as seconds`,
      )
      return rows.map(({ seconds }) => seconds)
    })

    /** Marks a failed try: the event is tried again after a wait that grows each time, and is dead after `most` tries. */
    const fail = Effect.fn("Webhook.Inbox.fail")(function* (
      events: ReadonlyArray<EventKey & { readonly tries: number }>,
      error: string,
      most: number = defaultTries,
    ) {
      if (events.length === 0) return
      const { connections, digests, ids } = keysOf(events)
      const waits = events.map(({ tries }) => String(Duration.toSeconds(backoff(tries))))
      yield* database.execute(
        "Webhook.Inbox.fail",
        (sql) => sql`
          update webhook.inbox i
          set state = case when i.tries >= ${most} then 'dead' else 'failed' end, error = ${storable(error)},
              next_try_at = now() + make_interval(secs => k.wait::float8),
              processed_at = case when i.tries >= ${most} then now() end
          from unnest(${textArray(sql, connections)}, ${textArray(sql, ids)}, ${plainArray(sql, digests)},
              ${plainArray(sql, waits)}) as k (connection, event_id, digest, wait)
          where i.connection = k.connection and i.event_id = k.event_id and i.digest = decode(k.digest, 'hex')
            and ${isPending(sql)}`,
      )
    })

    /** Makes events due at once whose time was made while the database's clock was ahead: no wait is as long. */
    const byClock = Effect.fn("Webhook.Inbox.byClock")(function* (connection: string) {
      yield* database.execute(
        "Webhook.Inbox.byClock",
        (sql) => sql`
          update webhook.inbox i set next_try_at = now()
          where i.connection = ${connection} and ${isPending(sql)}
            and i.next_try_at > now() + make_interval(secs => ${2 * Duration.toSeconds(longestBackoff)})`,
      )
    })

    /** Makes events due at once that a process had taken which is known to be gone. */
    const release = Effect.fn("Webhook.Inbox.release")(function* (connection: string) {
      return yield* database.execute(
        "Webhook.Inbox.release",
        (sql) => sql`
          update webhook.inbox set next_try_at = now()
          where connection = ${connection} and state = 'waiting' and next_try_at > now()`,
      )
    })

    /**
     * Sets events back to waiting: these, or all that are dead; only those of the connection, if one is given. Poison stays
     * poison. Returns the events that were set back.
     */
    const replay = Effect.fn("Webhook.Inbox.replay")(function* (
      which: ReadonlyArray<string> | "dead",
      connection: Option.Option<string> = Option.none(),
    ) {
      const rows = yield* database.orm("Webhook.Inbox.replay", (orm) =>
        orm
          .update(inbox)
          .set({ state: "waiting", tries: 0, nextTryAt: fragment`now()`, error: null, processedAt: null })
          .where(
            and(
              ...(which === "dead"
                ? [eq(inbox.state, "dead")]
                : [ne(inbox.state, "poison"), inArray(inbox.eventId, which)]),
              ...Option.toArray(Option.map(connection, (name) => eq(inbox.connection, name))),
            ),
          )
          .returning({ connection: inbox.connection, eventId: inbox.eventId }),
      )
      yield* PubSub.publishAll(arrived, new Set(rows.map((event) => event.connection)))
      return rows
    })

    return {
      put,
      take,
      finish,
      fail,
      byClock,
      release,
      replay,
      list: list(database),
      counts: counts(database),
      /** The names of connections for which something new has been stored by this process. May leave some out. */
      arrivals: Stream.fromPubSub(arrived),
    }
  }),
}) {}
