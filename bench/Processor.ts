/** Processor time from /proc, on Linux only (0 elsewhere): the measure that counts on a machine that others use as well. */
import { readdirSync, readFileSync } from "node:fs"

/** Clock ticks per second, as every Linux that Node runs on has them. */
const ticks = 100

const fieldsOf = (pid: number | "self"): ReadonlyArray<string> => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field is a name in parentheses, which may hold anything; what follows begins with the third.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

/** The numbers of `proc(5)`, from 3 on. */
const field = (fields: ReadonlyArray<string>, number: number): number => Number(fields[number - 3] ?? 0)

/** Seconds of a process that still runs, all its threads. */
export const processSeconds = (pid: number): number => {
  const fields = fieldsOf(pid)
  return (field(fields, 14) + field(fields, 15)) / ticks
}

/** Seconds of the children that this process has seen end. */
export const endedChildren = (): number => {
  const fields = fieldsOf("self")
  return (field(fields, 16) + field(fields, 17)) / ticks
}

/** Seconds that a Postgres server has used so far, its sessions included, by the process of one of them. */
export const serverSeconds = (session: number): number => {
  const postmaster = field(fieldsOf(session), 4)
  const endedSessions = (): number => {
    const own = fieldsOf(postmaster)
    return field(own, 14) + field(own, 15) + field(own, 16) + field(own, 17)
  }
  for (;;) {
    const ended = endedSessions()
    const living = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => fieldsOf(Number(name)))
      .filter((fields) => field(fields, 4) === postmaster)
      .reduce((sum, fields) => sum + field(fields, 14) + field(fields, 15), 0)
    // A session that ended meanwhile could be counted in neither of the two, or in both.
    if (ended === endedSessions()) return (ended + living) / ticks
  }
}

/** The processor time since the start that went to other programs, and to other machines on the same hardware. */
export const machine = (): (() => { readonly steal: number }) => {
  const read = () => {
    try {
      return (/^cpu +(.*)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? "").split(" ").map(Number)
    } catch {
      return []
    }
  }
  const before = read()
  return () => {
    const spent = read().map((now, at) => now - (before[at] ?? 0))
    const all = spent.slice(0, 8).reduce((sum, each) => sum + each, 0)
    return { steal: all === 0 ? 0 : (spent[7] ?? 0) / all }
  }
}
