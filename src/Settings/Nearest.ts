/** The known name that a person most likely meant. */

/** The Levenshtein distance. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** The candidate that a person most likely meant, if any is near enough. */
export const nearest = (
  found: string,
  candidates: ReadonlyArray<string>,
  most = Math.max(1, found.length / 3),
): string | undefined => {
  const plain = (text: string) => text.toLowerCase().replace(/[_-]/g, "")
  const ranked = candidates
    .map((candidate) => ({ candidate, away: distance(plain(found), plain(candidate)) }))
    .sort((a, b) => a.away - b.away)
  const [best] = ranked
  return best !== undefined && best.away <= most ? best.candidate : undefined
}
