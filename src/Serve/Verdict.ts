/** The verdict of the status page: are the books current, and do they tie out? */

import { spanText } from "../Common/Time.ts"
import { combined, needsAttention, tieOutSentence, tiesOut } from "../Reconcile/TieOut.ts"
import type { Snapshot } from "./Overview.ts"

export interface Verdict {
  /** `bad`: they do not tie out. `late`: cash does, but something is open, or they are not current. `none`: nothing yet. */
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
  const whose =
    stale.length > 1 && stale.length < connections.length ? `${stale.length} connections have` : one
  if (oldest.some((age) => age === null)) return `${whose} never been read to the end`
  const most = Math.max(...oldest.map((age) => age ?? 0))
  return `${whose} not been read for ${spanText(most / 1_000)}`
}

export const verdictOf = (
  snapshot: Snapshot,
  connections: ReadonlyArray<string>,
  staleAfter: number,
): Verdict => {
  if (snapshot.books.length === 0) return { tone: "none", sentence: "Nothing has been read yet." }
  const stale = staleConnections(snapshot, connections, staleAfter)
  const late = lateness(snapshot, connections, stale)
  const found = combined(snapshot.books)
  if (!tiesOut(found)) {
    const also = stale.length > 0 ? `; ${late}` : ""
    const current = stale.length > 0 ? "" : "The books are current. "
    return {
      tone: needsAttention(found) ? "bad" : "late",
      sentence: `${current}${tieOutSentence(found)}${also}.`,
    }
  }
  return stale.length > 0
    ? { tone: "late", sentence: `Everything ties out, but the books are not current: ${late}.` }
    : { tone: "good", sentence: "The books are current. Everything ties out." }
}
