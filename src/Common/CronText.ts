/**
 * Validates a cron schedule of five fields without loading the scheduler, which only `tieout serve` does. By hand, since
 * Effect's `Cron` accepts what node-cron refuses (`5/3`): the mistake would show only when `serve` starts.
 */

interface FieldRange {
  readonly from: number
  readonly to: number
  /** The first name stands for `from`. */
  readonly names: ReadonlyArray<string>
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

/** Minute, hour, day of month, month, day of week. */
const ranges: ReadonlyArray<FieldRange> = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: months },
  { from: 0, to: 7, names: weekdays },
]

const valueOf = (text: string, { from, names }: FieldRange): number => {
  const named = names.indexOf(text.toLowerCase().slice(0, 3))
  return /^\d+$/.test(text) ? Number(text) : named < 0 ? Number.NaN : from + named
}

const item = /^(?:\*|([0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?)(?:\/(\d+))?$/

const isItem = (text: string, range: FieldRange): boolean => {
  const [whole, first, upTo, step] = item.exec(text) ?? []
  const last = upTo ?? first
  if (whole === undefined || step === "0") return false
  // node-cron allows a step only after `*` and ranges.
  if (step !== undefined && first !== undefined && upTo === undefined) return false
  if (first === undefined || last === undefined) return true
  const [from, to] = [valueOf(first, range), valueOf(last, range)]
  return from >= range.from && to <= range.to && from <= to
}

/** Whether there are five fields and each is valid. */
export const isCron = (text: string): boolean => {
  const fields = text.split(" ")
  return (
    fields.length === ranges.length &&
    ranges.every((range, index) => (fields[index] ?? "").split(",").every((part) => isItem(part, range)))
  )
}
