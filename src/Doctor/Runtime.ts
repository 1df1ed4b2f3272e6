/** Whether the version of Node that runs this still gets corrections. */

/** The last day of each version of Node, from the schedule of its release group (https://github.com/nodejs/release). */
const lastDays: ReadonlyMap<number, string> = new Map([
  [20, "2026-04-30"],
  [21, "2024-06-01"],
  [22, "2027-04-30"],
  [23, "2025-06-01"],
  [24, "2028-04-30"],
  [25, "2026-06-01"],
])

/** A sentence if a version such as `v20.20.2` no longer gets corrections on a day (ISO 8601); null otherwise. */
export const runtimeWarning = (version: string, today: string): string | null => {
  const major = Number(/^v(\d+)\./.exec(version)?.[1])
  const last = lastDays.get(major)
  if (last === undefined || today <= last) return null
  return `Node ${version.slice(1)} got its last corrections on ${last}: Tieout runs on it, but use Node 22 or 24.`
}
