/** Counts of several places, by key, added up. */
export const addedUp = (...all: ReadonlyArray<ReadonlyMap<string, number>>): ReadonlyMap<string, number> => {
  const sum = new Map<string, number>()
  for (const counts of all) for (const [key, count] of counts) sum.set(key, (sum.get(key) ?? 0) + count)
  return sum
}
