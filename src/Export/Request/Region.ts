/**
 * Sets of journal entries by their effective date and their numbering step, without a list of them: days with the same spans of
 * steps stand together, the earliest first. The selection of a batch is such a set, and so is the union of several.
 */
import { shiftDate } from "../../Common/Time.ts"

/** Numbering steps above `after`, up to `through`. */
export interface Span {
  readonly after: bigint
  readonly through: bigint
}

/** Days `YYYY-MM-DD`, both included. Spans are in order and do not touch. */
export interface Slab {
  readonly from: string
  readonly to: string
  readonly spans: ReadonlyArray<Span>
}

/** In order, without days that have nothing. */
export type Region = ReadonlyArray<Slab>

/** Everything that a batch could hold: no numbering step is beyond it. */
export const everyStep = 2n ** 63n - 1n

/** The days that an entry may have: `journal_entries_dates`. */
export const firstDay = "1970-01-01"
export const lastDay = "2199-12-31"

const later = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const earlier = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const joined = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const result: Array<Span> = []
  const inOrder = spans
    .filter(({ after, through }) => through > after)
    .sort((a, b) => (a.after < b.after ? -1 : 1))
  for (const span of inOrder) {
    const last = result.at(-1)
    if (last === undefined || span.after > last.through) result.push(span)
    else result[result.length - 1] = { after: last.after, through: later(last.through, span.through) }
  }
  return result
}

const without = (spans: ReadonlyArray<Span>, taken: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  let left = spans
  for (const { after, through } of taken) {
    left = left.flatMap((span) =>
      [
        { after: span.after, through: earlier(span.through, after) },
        { after: later(span.after, through), through: span.through },
      ].filter((piece) => piece.through > piece.after),
    )
  }
  return left
}

const sameSpans = (a: ReadonlyArray<Span>, b: ReadonlyArray<Span>): boolean =>
  a.length === b.length &&
  a.every(({ after, through }, index) => after === b[index]?.after && through === b[index]?.through)

/** The spans of a day. */
const spansOn = (region: Region, day: string): ReadonlyArray<Span> =>
  region.find(({ from, to }) => from <= day && day <= to)?.spans ?? []

/** Cuts the days where any of the regions changes, decides each piece, and puts equal neighbours together. */
const pieceByPiece = (
  regions: ReadonlyArray<Region>,
  decide: (spans: ReadonlyArray<ReadonlyArray<Span>>) => ReadonlyArray<Span>,
): Region => {
  const starts = [
    ...new Set(regions.flat().flatMap(({ from, to }) => (to < lastDay ? [from, shiftDate(to, 1)] : [from]))),
  ].sort()
  const result: Array<Slab> = []
  for (const [index, from] of starts.entries()) {
    const next = starts[index + 1]
    const to = next === undefined ? lastDay : shiftDate(next, -1)
    const spans = decide(regions.map((region) => spansOn(region, from)))
    const last = result.at(-1)
    if (spans.length === 0) continue
    if (last !== undefined && shiftDate(last.to, 1) === from && sameSpans(last.spans, spans)) {
      result[result.length - 1] = { ...last, to }
    } else result.push({ from, to, spans })
  }
  return result
}

export const box = (from: string | null, to: string | null, after: bigint, through: bigint): Region =>
  through > after ? [{ from: from ?? firstDay, to: to ?? lastDay, spans: [{ after, through }] }] : []

export const union = (regions: ReadonlyArray<Region>): Region =>
  pieceByPiece(regions, (spans) => joined(spans.flat()))

export const subtract = (region: Region, taken: Region): Region =>
  pieceByPiece([region, taken], ([own = [], other = []]) => without(own, other))

export const intersect = (a: Region, b: Region): Region => subtract(a, subtract(a, b))

/** The step up to which entries of every day are in it. */
export const wholeThrough = (region: Region): bigint => {
  let day = firstDay
  let through: bigint | undefined
  for (const { from, spans, to } of region) {
    const [first] = spans
    if (from !== day || first === undefined || first.after !== 0n) return 0n
    through = through === undefined ? first.through : earlier(through, first.through)
    if (to === lastDay) return through
    day = shiftDate(to, 1)
  }
  return 0n
}
