/** The answer to the one question that someone who looks in has: are the books current, and do they tie out? */
import { counted } from "../Terminal/Text.ts"
import type { Snapshot } from "./Overview.ts"
import { spanText } from "./Time.ts"

export interface Verdict {
  /** `bad`: they do not tie out. `late`: they do, but are not current. `none`: there is nothing yet. */
  readonly tone: "good" | "late" | "bad" | "none"
  readonly sentence: string
}

/** How long ago a connection was last read as a whole; null: never. Milliseconds. */
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

const listed = (parts: ReadonlyArray<string>): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`

const troubles = ({ books, findingCounts }: Snapshot): ReadonlyArray<string> => {
  const sum = (of: (book: Snapshot["books"][number]) => number) =>
    books.reduce((total, book) => total + of(book), 0)
  const off = sum((book) => book.off)
  const quarantined = sum((book) => book.quarantined)
  const blocking = findingCounts
    .filter(({ severity }) => severity === "blocking")
    .reduce((total, { count }) => total + count, 0)
  return [
    ...(off > 0 ? [`${counted(off, "account does", "accounts do")} not tie out`] : []),
    ...(blocking > 0 ? [`${counted(blocking, "blocking finding is", "blocking findings are")} open`] : []),
    ...(quarantined > 0 ? [`${counted(quarantined, "row is", "rows are")} in quarantine`] : []),
  ]
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
  const wrong = troubles(snapshot)
  const late = lateness(snapshot, connections, stale)
  if (wrong.length > 0) {
    const also = stale.length > 0 ? `; ${late}` : ""
    const current =
      stale.length > 0 ? "The books do not tie out" : "The books are current, but do not tie out"
    return { tone: "bad", sentence: `${current}: ${listed(wrong)}${also}.` }
  }
  return stale.length > 0
    ? { tone: "late", sentence: `The books tie out, but are not current: ${late}.` }
    : { tone: "good", sentence: "The books are current and tie out." }
}
