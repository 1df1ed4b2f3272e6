/** Findings as a person names them: `F12`, and `F12-F40` for all from one to another. */
import { Option } from "effect"

/** The most findings that are named at once: what a person can type must not fill the memory. */
const most = 100_000

const range = /^F(\d{1,15})-F(\d{1,15})$/i

/** What one name stands for; none where a range runs backwards or is too long. What is no range stands for itself. */
const namedBy = (name: string): Option.Option<ReadonlyArray<string>> => {
  const [, from, to] = range.exec(name) ?? []
  if (from === undefined || to === undefined) return Option.some([name])
  const [first, last] = [Number(from), Number(to)]
  return last < first || last - first >= most
    ? Option.none()
    : Option.some(Array.from({ length: last - first + 1 }, (_, at) => `F${first + at}`))
}

/** The findings of a list, separated by commas; none where it does not name any, or too many. */
export const findingsIn = (list: string): Option.Option<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const name of list.split(",").map((part) => part.trim())) {
    const named = name === "" ? Option.none() : namedBy(name)
    if (Option.isNone(named) || found.length + named.value.length > most) return Option.none()
    for (const id of named.value) found.push(id)
  }
  return Option.some(found)
}

/** The same list, shorter: three and more in a row as a range. In the order of their numbers. */
export const listOf = (ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  const numbers = [...new Set(ids.map((id) => Number(id.slice(1))))].sort((a, b) => a - b)
  const runs: Array<{ first: number; last: number }> = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run !== undefined && number === run.last + 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs.flatMap(({ first, last }) => {
    if (last - first >= 2) return [`F${first}-F${last}`]
    return last === first ? [`F${first}`] : [`F${first}`, `F${last}`]
  })
}
