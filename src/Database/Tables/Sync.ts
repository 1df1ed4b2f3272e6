/** Runs, the lease that keeps two syncs of one connection apart, and how far every stream has been read. */
import { sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core"
import { bytes, instant } from "./ColumnTypes.ts"

export const sync = pgSchema("sync")

/** What a run may be at. */
export const runCommands = ["sync", "events", "backfill", "replay", "reclassify"] as const
export type RunCommand = (typeof runCommands)[number]

/** `stopped`: it was asked to stop; `abandoned`: its process vanished, which the next run noticed. */
export const runStates = ["running", "done", "failed", "stopped", "abandoned"] as const

export const runs = sync.table(
  "runs",
  {
    runId: integer("run_id").primaryKey().generatedAlwaysAsIdentity(),
    connection: text("connection").notNull(),
    command: text("command").notNull(),
    state: text("state").notNull().default("running"),
    startedAt: instant("started_at").notNull().default(sql`now()`),
    endedAt: instant("ended_at"),
    exitCode: integer("exit_code"),
    summary: jsonb("summary"),
    /** A sync that read its whole connection and ended well: the last of them is the connection's last success. */
    whole: boolean("whole").notNull().default(false),
  },
  (t) => [
    index("runs_connection").on(t.connection, t.runId),
    index("runs_command").on(t.connection, t.command, t.runId),
    index("runs_whole").on(t.connection, t.runId).where(sql`${t.whole}`),
    check("runs_whole_done", sql`not ${t.whole} or ${t.command} = 'sync' and ${t.state} = 'done'`),
    check("runs_state", sql`${t.state} in (${sql.raw(runStates.map((state) => `'${state}'`).join(", "))})`),
  ],
)

/**
 * A fencing epoch per book, and one per connection (book 0): only the run that took the lease last may write. Who takes the
 * connection takes all its books, and who takes a book takes the connection from whoever had it as a whole.
 */
export const leases = sync.table(
  "leases",
  {
    connection: text("connection").notNull(),
    bookId: integer("book_id").notNull().default(0),
    epoch: bigint("epoch", { mode: "bigint" }).notNull(),
    runId: integer("run_id").notNull(),
    takenAt: instant("taken_at").notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.connection, t.bookId] })],
)

/** The books of a run that workers read, each with its result; deleted when the run ends. */
export const bookJobs = sync.table(
  "book_jobs",
  {
    runId: integer("run_id").notNull(),
    bookId: integer("book_id").notNull(),
    task: jsonb("task").notNull(),
    /** Null: not done yet. */
    result: jsonb("result"),
    /** Whether the process that leads the run has gathered the result. */
    taken: boolean("taken").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.runId, t.bookId] }), index("book_jobs_book").on(t.bookId)],
)

/** What workers may be asked to do with a book. */
export const jobKinds = ["sync", "events", "backfill"] as const
export type JobKind = (typeof jobKinds)[number]

/** Books whose job failed on every allowed try and was given up, until a later job does the work that it left. */
export const deadLetters = sync.table(
  "dead_letters",
  {
    bookId: integer("book_id").notNull(),
    kind: text("kind").notNull(),
    runId: integer("run_id").notNull(),
    tries: integer("tries").notNull(),
    why: text("why").notNull(),
    givenUpAt: instant("given_up_at").notNull().default(sql`now()`),
    /** For a backfill: the days that are still to be read again, both included. */
    fromDay: date("from_day"),
    toDay: date("to_day"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.kind] }),
    check("dead_letters_kind", sql`${t.kind} in ('sync', 'events', 'backfill')`),
    check(
      "dead_letters_days",
      sql`(${t.kind} = 'backfill') = (${t.fromDay} is not null) and (${t.fromDay} is null) = (${t.toDay} is null)`,
    ),
  ],
)

/** Events of the inbox that workers take, by the book that each is about; deleted once their effect is in the books. */
export const bookEvents = sync.table(
  "book_events",
  {
    connection: text("connection").notNull(),
    eventId: text("event_id").notNull(),
    digest: bytes("digest").notNull(),
    bookId: integer("book_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.connection, t.eventId, t.digest] }),
    index("book_events_book").on(t.bookId),
  ],
)

/** The bearer token that processes share, sealed under a key that is not in the database (`src/Jobs/SealedToken.ts`). */
export const tokens = sync.table("tokens", {
  connection: text("connection").primaryKey(),
  sealed: bytes("sealed").notNull(),
  /** When a new token is asked for. */
  refreshAt: instant("refresh_at").notNull(),
})

/**
 * A night of `tieout serve`, identified by when the schedule fell due: one row, however many processes keep the schedule. The
 * process that works at it holds a lock that dies with the process; the epoch shows which one took it last.
 */
export const nights = sync.table(
  "nights",
  {
    connection: text("connection").notNull(),
    dueAt: instant("due_at").notNull(),
    epoch: integer("epoch").notNull().default(1),
    claimedAt: instant("claimed_at").notNull().default(sql`now()`),
    /** Null: a process works at it, or must take it over. */
    endedAt: instant("ended_at"),
    /** Whether people were told what is open after it. */
    told: boolean("told").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.connection, t.dueAt] })],
)

/** How many requests a second the service bears, as all processes on this database have learned it. */
export const paces = sync.table("paces", {
  connection: text("connection").primaryKey(),
  /** `RateState` of `src/Partner/Pacing/RequestRate.ts`; times in milliseconds since 1970. */
  state: jsonb("state").notNull(),
})

export const checkpoints = sync.table(
  "checkpoints",
  {
    bookId: integer("book_id").notNull(),
    /** `deposits`, `withdrawals`, … or `statement:<accountId>`. */
    stream: text("stream").notNull(),
    /** The cursor to ask with next; null: from the start. It leads to the last page that was read. */
    cursor: text("cursor"),
    /** Identifier of the first item on that page, of a newest-first list that was read to its end its newest one; null: not read yet. */
    leadsTo: text("leads_to"),
    /** The observed order of a list: `oldest-first`, `newest-first`, `unordered`; null: not known yet. */
    ordering: text("ordering"),
    /** Whether reading has reached the end of the stream, or known rows, since the cursor was at the start. */
    complete: boolean("complete").notNull().default(false),
    runId: integer("run_id").notNull(),
    updatedAt: instant("updated_at").notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.stream] })],
)

/** Cursors of statement pages with position and time, so that a later read can start near a period. */
export const pageBoundaries = sync.table(
  "page_boundaries",
  {
    bookId: integer("book_id").notNull(),
    accountId: uuid("account_id").notNull(),
    /** Position of the last entry before the boundary. */
    position: bigint("position", { mode: "bigint" }).notNull(),
    cursor: text("cursor").notNull(),
    occurredAt: instant("occurred_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.accountId, t.position] })],
)

/**
 * The evidence of every stream: when it was last read to its end, and whether it can be read at all. A stream is a list
 * (`accounts`, `deposits`, `withdrawals`, `conversions`, `clients`, `receivables`, `credit_accounts`) or a statement
 * (`statement:<accountId>`).
 */
export const streamReads = sync.table(
  "stream_reads",
  {
    bookId: integer("book_id").notNull(),
    stream: text("stream").notNull(),
    /**
     * When a read that was followed to its end asked for its first page, by the service's clock (`Date`) and no later than by ours; null:
     * none, or the service does not say.
     */
    beganAt: instant("began_at"),
    /** Our clock when that read was committed; null: the stream was never read to its end. */
    endedAt: instant("ended_at"),
    runId: integer("run_id"),
    /** Why the last read failed: `Forbidden`, `NotFound`, `NoPath`, `Inactive`, `Timeout` …; null: it did not. */
    trouble: text("trouble"),
    /** The HTTP status of the failure, where there is one. */
    status: integer("status"),
    detail: text("detail"),
    /** Since when every read has failed, our clock. */
    failingSince: instant("failing_since"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.stream] }),
    check("stream_reads_trouble", sql`(${t.trouble} is null) = (${t.failingSince} is null)`),
  ],
)
