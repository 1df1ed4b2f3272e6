/** Deliveries of the service's events, stored before they are acknowledged. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, pgSchema, primaryKey, text } from "drizzle-orm/pg-core"
import { bytes, instant } from "./ColumnTypes.ts"

export const webhook = pgSchema("webhook")

export const inbox = webhook.table(
  "inbox",
  {
    connection: text("connection").notNull(),
    /** The event's own identifier; `poison:…` where it could not be read. */
    eventId: text("event_id").notNull(),
    /** SHA-256 of the body: the same event with another body is kept beside the first. */
    digest: bytes("digest").notNull(),
    receivedAt: instant("received_at").notNull().default(sql`now()`),
    /** Verbatim, known or not; null where it could not be read. */
    type: text("type"),
    /** As it was signed, byte for byte. */
    body: bytes("body").notNull(),
    keyId: text("key_id").notNull(),
    algorithm: text("algorithm").notNull(),
    /** `waiting`, `done`, `failed` (tried, and tried again at `next_try_at`), `dead` (given up), `poison` (unreadable). */
    state: text("state", { enum: ["waiting", "done", "failed", "dead", "poison"] }).notNull(),
    tries: integer("tries").notNull().default(0),
    nextTryAt: instant("next_try_at").notNull().default(sql`now()`),
    /** Why it is not done; for one that is done, what is odd about it. */
    error: text("error"),
    /** The same event identifier came with another body. */
    conflict: boolean("conflict").notNull().default(false),
    processedAt: instant("processed_at"),
  },
  (t) => [
    primaryKey({ columns: [t.connection, t.eventId, t.digest] }),
    index("inbox_waiting").on(t.connection, t.nextTryAt).where(sql`${t.state} in ('waiting', 'failed')`),
    index("inbox_troubled")
      .on(t.connection, t.receivedAt)
      .where(sql`${t.state} in ('dead', 'poison') or ${t.conflict}`),
    index("inbox_received").using("brin", t.receivedAt),
    check("inbox_state", sql`${t.state} in ('waiting', 'done', 'failed', 'dead', 'poison')`),
  ],
)
