/**
 * An accounting system gets a book's entries in one way: in the books' own currencies, in the base currency, or in the currency
 * that moved with rates. Entries written in two ways would arrive twice; and if the way changed from one day to the next, a
 * base-currency revaluation would stand without its reversal, or a reversal without its revaluation.
 */
import { Effect } from "effect"
import { type ByBook, byBook, isIn } from "../../Book/ByBook.ts"
import { isDate, shiftDate } from "../../Common/Time.ts"
import { arrayOf, bool, int4, nullable, type RowOf, text } from "../../Database/Columns.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates, type FormatName } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"
import type { Selection } from "./ExportScope.ts"

export interface Way {
  /** `native`, or the base currency. */
  readonly basis: string
  /** With rates; only in a base currency. */
  readonly rated: boolean
  /** Whether the book's files with rates have exchange results (`formats.exchangeResults`); null: not known, in batches of older versions. */
  readonly hasResults: (code: string) => boolean | null
}

/** How a batch was written, or would be. */
interface Written {
  readonly basis: string
  readonly rated: boolean
  readonly results: boolean | null
}

const columns = {
  bookId: int4,
  code: text,
  batch: int4,
  formats: arrayOf(text),
  basis: text,
  rated: bool,
  results: nullable(bool),
  /** `YYYY-MM-DD`; null: from the first day, to any later one. */
  from: nullable(text),
  to: nullable(text),
}

type OtherBatch = RowOf<typeof columns>

/** Both with rates, where one has the revaluations of a month's end and their reversals and the other has not. */
const differInResults = (other: Written, now: Written): boolean =>
  other.rated &&
  now.rated &&
  other.basis === now.basis &&
  other.results !== null &&
  now.results !== null &&
  other.results !== now.results

/** Standing batches that were written in another way; the first first. */
export const batchesInOtherWays = Effect.fn("Export.batchesInOtherWays")(function* (
  bookIds: ReadonlyArray<number>,
  { basis, hasResults, rated }: Way,
  formats: ReadonlyArray<FormatName>,
) {
  if (!formats.some(accumulates)) return byBook<OtherBatch>([])
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.batchesInOtherWays",
    columns,
    (sql) => sql`
      select s.* from (
        select b.book_id as "bookId", k.code, b.batch, b.formats, b.currency_basis as basis, b.from_date::text as from,
          b.last_day::text as to,
          -- Only those in the base currency have either: years of the others, night by night, are not parsed.
          case when b.currency_basis <> ${nativeBasis} then coalesce(b.manifest #>> '{tables,rated}', '') = 'true' else false end as rated,
          case when b.currency_basis <> ${nativeBasis} then (b.manifest #>> '{tables,exchangeResults}')::boolean end as results
        from export.standing_batches b join mirror.books k on k.book_id = b.book_id
        where b.book_id ${isIn(sql, bookIds)}) s
      where s.basis <> ${basis} or s.rated <> ${rated} or s.results is not null
      order by s.batch`,
  )
  return byBook(
    rows.filter(
      (other) =>
        other.basis !== basis ||
        other.rated !== rated ||
        differInResults(other, { basis, rated, results: hasResults(other.code) }),
    ),
  )
})

const covers = ({ from, to }: OtherBatch, day: string): boolean =>
  (from === null || from <= day) && (to === null || to >= day)

const meets = ({ from, to }: OtherBatch, selection: Selection): boolean =>
  (selection.to === null || from === null || from <= selection.to) &&
  (selection.from === null || to === null || to >= selection.from)

/** `beside`: the way that it is told apart from. */
const wayText = (way: Written, beside: Written): string => {
  const { basis, rated, results } = way
  if (basis === nativeBasis) return "in the books' own currencies"
  const which = differInResults(way, beside)
    ? ` ${results === true ? "and with" : "and without"} exchange results`
    : ""
  return rated ? `in ${basis} with rates${which}` : `in ${basis}`
}

/** `now`: the way of the command. Where the option is the same, a setting is the difference. */
const flagOf = (way: Written, now: Written): string => {
  const { basis, rated, results } = way
  if (basis === nativeBasis) return now.rated ? "without --with-rates" : "without --base"
  const flag = rated ? "with --with-rates" : "with --base"
  if (differInResults(way, now)) return `${flag} and formats.exchangeResults ${results === true}`
  return now.basis === nativeBasis || now.basis === basis
    ? flag
    : `${flag} and accounting.baseCurrency ${basis} again`
}

/** Of the books and days, those whose month ends with a revaluation. */
const revaluedOn = Effect.fn("Export.revaluedOn")(function* (
  asked: ReadonlyArray<{ readonly bookId: number; readonly day: string }>,
) {
  if (asked.length === 0) return new Set<string>()
  const books = asked.map(({ bookId }) => String(bookId))
  const days = asked.map(({ day }) => day)
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.revaluedOn",
    { bookId: int4, day: text },
    (sql) => sql`
      select distinct e.book_id as "bookId", e.effective_date::text as day
      from (
        select u.book_id, u.day::date as day
        from unnest(${plainArray(sql, books, "int4")}, ${plainArray(sql, days)}) as u (book_id, day)) a
      join valuation.entries e on e.book_id = a.book_id and e.period = date_trunc('month', a.day::timestamp)::date
        and e.series = 'fx' and e.effective_date = a.day and e.kind = 'fx_revaluation'`,
  )
  return new Set(rows.map(({ bookId, day }) => `${bookId} ${day}`))
})

/** The days on either side of the selection's borders, each with the last day of the month that ends there. */
const bordersOf = ({ from, to }: Selection) =>
  [
    ...(from === null ? [] : [{ outside: shiftDate(from, -1), end: shiftDate(from, -1) }]),
    ...(to === null ? [] : [{ outside: shiftDate(to, 1), end: to }]),
    // The first day of the calendar has none before it, the last one none after it.
  ].filter(({ outside }) => isDate(outside))

/** The options of one selection with all days of these batches: beside it stands nothing in another way. */
const wholeRange = (selection: Selection, batches: ReadonlyArray<OtherBatch>): string => {
  const from = [selection.from, ...batches.map((batch) => batch.from)]
  const to = [selection.to, ...batches.map((batch) => batch.to)]
  const days = (all: ReadonlyArray<string | null>) => all.filter((day) => day !== null).sort()
  return from.includes(null) || to.includes(null)
    ? "--all"
    : `--from ${days(from)[0]} --to ${days(to).at(-1)}`
}

/** `others`: the book's batches of the format in other ways. */
const refuse = (
  format: FormatName,
  way: Way,
  selection: Selection,
  other: OtherBatch,
  others: ReadonlyArray<OtherBatch>,
  day: string | undefined,
) => {
  const now = { ...way, results: way.hasResults(other.code) }
  const has = `Batch ${other.code}/${other.batch} has ${day === undefined ? `days of ${selection.text}` : day} for ${format} ${wayText(other, now)}.`
  const what =
    day === undefined
      ? `Written ${wayText(now, other)} they would come a second time: go on ${flagOf(other, now)}, or write them in the other way with --again, to be imported in the batch's place.`
      : `Written ${wayText(now, other)}, ${selection.text} would leave the revaluation at that border without its reversal, or reverse one that ${format} does not have: go on ${flagOf(other, now)}, or write all of it at once ${flagOf(now, now)}: ${wholeRange(selection, others)} --again.`
  const days =
    selection.kind === "since-last"
      ? " --since-last goes with neither: name a month with --period, or --all."
      : ""
  return exportError("Usage", `${has} ${what}${days} Nothing was written.`)
}

/**
 * Fails if a batch of the selection would overlap with, or border on, one that was written in another way. Returns, by book,
 * the batches that the selection supersedes: with `again`, those with any of its days.
 */
export const refuseOtherWays = Effect.fn("Export.refuseOtherWays")(function* (
  bookIds: ReadonlyArray<number>,
  others: ByBook<OtherBatch>,
  way: Way,
  selection: Selection,
  formats: ReadonlyArray<FormatName>,
  again: boolean,
) {
  const all = bookIds.flatMap((bookId) =>
    formats.filter(accumulates).flatMap((format) => {
      const own = others.of({ bookId }).filter((other) => other.formats.includes(format))
      return own.map((other) => ({ bookId, format, other, own }))
    }),
  )
  const met = all.filter(({ other }) => meets(other, selection))
  const [first] = met
  if (first !== undefined && !again) {
    return yield* refuse(first.format, way, selection, first.other, first.own, undefined)
  }
  const beside = all.flatMap((one) =>
    bordersOf(selection).flatMap(({ end, outside }) =>
      covers(one.other, outside) && !meets(one.other, selection) ? [{ ...one, end, outside }] : [],
    ),
  )
  const revalued = yield* revaluedOn(beside.map(({ bookId, end }) => ({ bookId, day: end })))
  const torn = beside.find(({ bookId, end }) => revalued.has(`${bookId} ${end}`))
  if (torn !== undefined)
    return yield* refuse(torn.format, way, selection, torn.other, torn.own, torn.outside)
  return byBook(met.map(({ bookId, format, other: { batch } }) => ({ bookId, format, batch })))
})
