/**
 * Whether everything ties out, and what does not: `reconcile.book_standings` in `drizzle/rules.sql` counts it, and the sentence
 * here is the only one that says it.
 */
import { Effect, Schema } from "effect"
import { counted } from "../Common/Text.ts"
import { float8, int4, int8, jsonOf, nullable, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { type NotRead, notReadText } from "./Unread.ts"

const countByMonth = jsonOf(Schema.Record({ key: Schema.String, value: Schema.Number }))

const tieOutColumns = {
  accounts: int4,
  /** Accounts whose cash or chain does not tie out. */
  off: int4,
  /** Items that stand in suspense. */
  suspense: int4,
  /** Conversions in transit. */
  transit: int4,
  /** Of these, how many keep which month (`2026-10`) from being closed. */
  blocked: countByMonth,
  /** Items in loan clearing, with every leg whose cash is waited for, and loans that were not paid exactly. */
  loans: int4,
  /** Of the legs, how many keep which month from being closed. */
  loansBlocked: countByMonth,
  /** Clearing postings that name no movement. */
  clearing: int4,
  /** Suspense accounts that hold something though no finding of them is open. */
  unexplained: int4,
  /** Blocking findings of other things. */
  otherBlocking: int4,
  /** Warnings of other things: they are told, and prevent nothing. */
  otherWarnings: int4,
  /** All blocking findings, of whatever. */
  blockingFindings: int4,
  /** Rows in quarantine. */
  quarantined: int4,
}

/** Each thing is counted once. All of them zero, but for warnings: everything ties out. */
export type TieOut = RowOf<typeof tieOutColumns>

const bookTieOutColumns = {
  ...tieOutColumns,
  bookId: int4,
  connection: text,
  code: text,
  /** Accounts whose statement has never been read to its end. */
  unread: int4,
  /** Statement entries that are booked. */
  entries: int8,
  /** Seconds since the oldest of its statements was read to its end; null where none was. */
  lag: nullable(float8),
}

/** Of one book. */
export type BookTieOut = RowOf<typeof bookTieOutColumns>

/** The books of these ids by code; null: all. */
export const bookTieOuts = Effect.fn("Reconcile.tieOuts")(function* (books: ReadonlyArray<number> | null) {
  const database = yield* Database
  const { transitDays } = (yield* Settings).reconcile
  return yield* database.rows(
    "Reconcile.tieOuts",
    bookTieOutColumns,
    (sql) => sql`
      select s.book_id as "bookId", s.connection, s.code, s.accounts, s.off, s.unread, s.entries,
        extract(epoch from now() - s.read_at)::float8 as lag, s.suspense, s.transit, s.blocked, s.loans,
        s.loans_blocked as "loansBlocked", s.clearing, s.unexplained, s.other_blocking as "otherBlocking", s.other_warnings as "otherWarnings",
        s.blocking_findings as "blockingFindings", s.quarantined
      from reconcile.book_standings(${transitDays}::integer, ${books === null ? null : `{${books.join(",")}}`}::text::integer[]) s
      order by s.code`,
  )
})

const blockedOf = (
  all: ReadonlyArray<Readonly<Record<string, number>>>,
): Readonly<Record<string, number>> => {
  const months = new Map<string, number>()
  for (const blocked of all)
    for (const [month, count] of Object.entries(blocked)) months.set(month, (months.get(month) ?? 0) + count)
  return Object.fromEntries([...months].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Several books as one. */
export const together = (all: ReadonlyArray<TieOut>): TieOut => {
  const sum = (of: (one: TieOut) => number) => all.reduce((total, one) => total + of(one), 0)
  return {
    accounts: sum((one) => one.accounts),
    off: sum((one) => one.off),
    suspense: sum((one) => one.suspense),
    transit: sum((one) => one.transit),
    blocked: blockedOf(all.map((one) => one.blocked)),
    loans: sum((one) => one.loans),
    loansBlocked: blockedOf(all.map((one) => one.loansBlocked)),
    clearing: sum((one) => one.clearing),
    unexplained: sum((one) => one.unexplained),
    otherBlocking: sum((one) => one.otherBlocking),
    otherWarnings: sum((one) => one.otherWarnings),
    blockingFindings: sum((one) => one.blockingFindings),
    quarantined: sum((one) => one.quarantined),
  }
}

const blocking = (blocked: Readonly<Record<string, number>>): string => {
  const months = Object.entries(blocked).map(
    ([month, count], at) =>
      `${count}${at > 0 ? "" : count === 1 ? " blocks" : " block"} ${at > 0 ? "that of" : "the close of"} ${month}`,
  )
  return months.length === 0 ? "" : ` (${months.join(", ")})`
}

/** What is not explained beside cash, part by part; none: all of it is. */
export const openParts = (found: TieOut): ReadonlyArray<string> => {
  const {
    blocked,
    blockingFindings,
    clearing,
    loans,
    loansBlocked,
    otherBlocking,
    quarantined,
    suspense,
    transit,
    unexplained,
  } = found
  const parts = [
    ...(suspense > 0 ? [`${counted(suspense, "item stands", "items stand")} in suspense`] : []),
    ...(transit > 0
      ? [`${counted(transit, "conversion is", "conversions are")} in transit${blocking(blocked)}`]
      : []),
    ...(loans > 0
      ? [`${counted(loans, "item is", "items are")} open in loan clearing${blocking(loansBlocked)}`]
      : []),
    ...(clearing > 0
      ? [`${counted(clearing, "clearing posting names", "clearing postings name")} no movement`]
      : []),
    ...(unexplained > 0
      ? [`${counted(unexplained, "account holds", "accounts hold")} what no open item explains`]
      : []),
    ...(otherBlocking > 0
      ? [`${counted(otherBlocking, "blocking finding is", "blocking findings are")} open`]
      : []),
    ...(quarantined > 0 ? [`${counted(quarantined, "row is", "rows are")} in quarantine`] : []),
  ]
  // Whatever it is about: nothing ties out while a finding blocks.
  return parts.length > 0 || found.off > 0 || blockingFindings === 0
    ? parts
    : [`${counted(blockingFindings, "blocking finding is", "blocking findings are")} open`]
}

/** Cash, chains, clearing, transit, loans and suspense are explained, and nothing blocking is open. */
export const tiesOut = (found: TieOut): boolean => found.off === 0 && openParts(found).length === 0

/**
 * `Everything ties out`, where it does, and else what does not: `Cash ties out; 3 items stand in suspense, 4 conversions are
 * in transit (2 block the close of 2026-10)`. Of what was not read nothing is said, but that. Without a full stop.
 */
export const tieOutSentence = (found: TieOut, notRead: ReadonlyArray<NotRead> = []): string => {
  const whole = notRead.length === 0
  const unread = whole ? "" : `; not read by the last sync: ${notRead.map(notReadText).join(", ")}`
  if (tiesOut(found)) return `${whole ? "Everything ties out" : "What was read ties out"}${unread}`
  const cash =
    found.off > 0
      ? `${counted(found.off, "account does", "accounts do")} not tie out`
      : `Cash ties out${whole ? "" : " as far as it was read"}`
  const parts = openParts(found)
  return `${cash}${parts.length === 0 ? "" : `; ${parts.join(", ")}`}${unread}`
}

/** How much of it, beside what waits in quarantine, `tieout reconcile` and `tieout items` show. */
export const openItemCount = (found: TieOut): number => openParts({ ...found, quarantined: 0 }).length

/** What a person has to see to before the books can be relied on; what is only on its way needs none. */
export const needsAttention = ({ blockingFindings, off, quarantined }: TieOut): boolean =>
  off + blockingFindings + quarantined > 0
