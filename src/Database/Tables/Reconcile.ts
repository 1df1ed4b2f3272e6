/** Findings: what does not tie out, with its evidence. */
import { sql } from "drizzle-orm"
import {
  bigint,
  check,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core"
import { instant } from "./ColumnTypes.ts"

export const reconcile = pgSchema("reconcile")

export const findings = reconcile.table(
  "findings",
  {
    findingId: bigint("finding_id", { mode: "bigint" }).primaryKey().generatedAlwaysAsIdentity(),
    bookId: integer("book_id").notNull(),
    check: text("check_name").notNull(),
    severity: text("severity").notNull(),
    /** What the finding is about: an account, a resource, an entry, a currency, an export batch. */
    subjectType: text("subject_type").notNull(),
    subjectId: text("subject_id").notNull(),
    message: text("message").notNull(),
    evidence: jsonb("evidence").notNull(),
    openedAt: instant("opened_at").notNull().default(sql`now()`),
    openedRun: integer("opened_run"),
    /** When it was found as it stands here. */
    seenAt: instant("seen_at").notNull().default(sql`now()`),
    closedAt: instant("closed_at"),
    closedRun: integer("closed_run"),
  },
  (t) => [
    uniqueIndex("findings_open")
      .on(t.bookId, t.check, t.subjectType, t.subjectId)
      .where(sql`${t.closedAt} is null`),
    index("findings_book").on(t.bookId, t.openedAt),
    check("findings_severity", sql`${t.severity} in ('warning', 'blocking')`),
  ],
)

/** Resources whose check waits: they were complete only after a statement's last page was read. */
export const deferred = reconcile.table(
  "deferred",
  {
    bookId: integer("book_id").notNull(),
    resourceId: uuid("resource_id").notNull(),
    resourceType: text("resource_type").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.resourceId, t.resourceType] })],
)

/**
 * How far a book's changes have been reconciled: every run up to and including `through_run`, and the control totals of every
 * batch up to and including `through_batch`.
 */
export const progress = reconcile.table("progress", {
  bookId: integer("book_id").primaryKey(),
  throughRun: integer("through_run").notNull(),
  throughBatch: integer("through_batch").notNull().default(0),
  /** What the settings said of the checks then (a digest): by others, everything is to be checked again. Null: not known. */
  settings: text("settings"),
  reconciledAt: instant("reconciled_at").notNull().default(sql`now()`),
})
