/** The processor time of a campaign, which hardly depends on how busy the machine is. */
import { readdirSync, readFileSync } from "node:fs"
import { Effect } from "effect"
import { askServer } from "./Server.ts"

/** The kernel tells processor time in hundredths of a second, whatever its own clock. */
const millisecondsPerTick = 10

/** A process's fields by proc(5) from the third on: the name before them may hold spaces. */
const fieldsOf = (pid: string): ReadonlyArray<string> => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    // The process has ended meanwhile: its parent counts its time from then on.
    return []
  }
}

const spentIn = (fields: ReadonlyArray<string>): number =>
  fields.reduce((sum, field) => sum + Number(field), 0) * millisecondsPerTick

/** Milliseconds that a server has spent so far: its first process, and the others whether they have ended or not. */
const spentBy = (server: string): number => {
  const first = spentIn(fieldsOf(server).slice(11, 15))
  const others = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(fieldsOf)
    .filter(([, parent]) => parent === server)
  return others.reduce((sum, fields) => sum + spentIn(fields.slice(11, 13)), first)
}

/** Answers a function for the milliseconds that a server has spent so far; undefined where the system does not say. */
export const serverTime = (url: string): Effect.Effect<() => number | undefined> =>
  Effect.map(
    askServer(url, "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid"),
    ([row]) => {
      const pid = String(row?.pid)
      return () => (fieldsOf(pid).length === 0 ? undefined : spentBy(pid))
    },
  )

/** Milliseconds that this process has spent so far. */
export const ownTime = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
