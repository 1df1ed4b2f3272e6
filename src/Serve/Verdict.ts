/** The verdict of the status page: are the books current, and do they tie out? */

import { spanText } from "../Common/Time.ts"
import { unreadFor } from "../Reconcile/ReadStates.ts"
import { combined, needsAttention, tieOutSentence, tiesOut } from "../Reconcile/TieOut.ts"
import type { Snapshot } from "./Overview.ts"

export interface Verdict {
  /**
   * `bad`: they do not tie out. `late`: cash ties out, but something is open or left out, or not every book is current. `none`: nothing was
   * read yet.
   */
  readonly tone: "good" | "late" | "bad" | "none"
  readonly sentence: string
}

/** How long ago each connection was last read completely; null: never. Milliseconds. */
const ages = (snapshot: Snapshot, connections: ReadonlyArray<string>): ReadonlyArray<number | null> =>
  connections.map((name) => {
    const found = snapshot.connections.find(({ connection }) => connection === name)?.lastSuccessAt ?? null
    return found === null ? null : snapshot.at - found
  })

/** Connections without a successful sync for longer than `staleAfter` milliseconds. */
const staleConnections = (
  snapshot: Snapshot,
  connections: ReadonlyArray<string>,
  staleAfter: number,
): ReadonlyArray<string> => {
  const known = ages(snapshot, connections)
  return connections.filter((_, index) => {
    const age = known[index] ?? null
    return age === null || age > staleAfter
  })
}

const lateness = (
  snapshot: Snapshot,
  connections: ReadonlyArray<string>,
  stale: ReadonlyArray<string>,
): string => {
  const oldest = ages(snapshot, stale)
  const one = stale.length === 1 && connections.length > 1 ? `connection ${stale[0]} has` : "they have"
  const subject =
    stale.length > 1 && stale.length < connections.length ? `${stale.length} connections have` : one
  if (oldest.some((age) => age === null)) return `${subject} never been read to the end`
  const most = Math.max(...oldest.map((age) => age ?? 0))
  return `${subject} not been read for ${spanText(most / 1_000)}`
}

/** Books that cannot be read, or were not read for longer than `staleAfter` although their connection was. */
const booksBehind = (
  { books }: Snapshot,
  connections: ReadonlyArray<string>,
  stale: ReadonlyArray<string>,
  staleAfter: number,
): string => {
  const behind = books.filter(
    ({ connection, reading }) =>
      connections.includes(connection) &&
      (reading.failing > 0 || (!stale.includes(connection) && unreadFor(reading) * 1_000 > staleAfter)),
  )
  const [first] = behind
  if (first === undefined) return ""
  const most = spanText(Math.max(...behind.map(({ reading }) => unreadFor(reading))))
  return behind.length === 1
    ? `book ${first.code} has not been read whole for ${most}`
    : `${behind.length} books have not been read whole, the longest for ${most}`
}

export const verdictOf = (
  snapshot: Snapshot,
  connections: ReadonlyArray<string>,
  staleAfter: number,
): Verdict => {
  if (snapshot.books.every(({ accounts }) => accounts === 0) && tiesOut(combined(snapshot.books))) {
    return { tone: "none", sentence: "Nothing has been read yet." }
  }
  const stale = staleConnections(snapshot, connections, staleAfter)
  const late = [
    stale.length > 0 ? lateness(snapshot, connections, stale) : "",
    booksBehind(snapshot, connections, stale, staleAfter),
  ]
    .filter((text) => text !== "")
    .join("; ")
  const found = combined(snapshot.books)
  const said = tieOutSentence(found, snapshot.leftOut)
  const isWhole = late === "" && snapshot.leftOut.length === 0
  if (!tiesOut(found)) {
    const also = late === "" ? "" : `; ${late}`
    return {
      tone: needsAttention(found) ? "bad" : "late",
      sentence: `${isWhole ? "The books are current. " : ""}${said}${also}.`,
    }
  }
  if (isWhole) return { tone: "good", sentence: `The books are current. ${said}.` }
  return {
    tone: "late",
    sentence: late === "" ? `${said}.` : `${said}, but the books are not current: ${late}.`,
  }
}
