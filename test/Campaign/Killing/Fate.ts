/** Starts one operation in a process of its own and does not let it finish. */
import { Data, Effect, Option } from "effect"
import type { Database } from "../../../src/Database.ts"
import { aside } from "../../support/aside.ts"
import type { History, Kill } from "../History.ts"
import { placeOf } from "../History.ts"
import type { Outcome } from "../Operations.ts"
import type { Site } from "../Site.ts"
import type { Command, Line } from "./Command.ts"
import type { Process } from "./Processes.ts"
import { differing, epochOf, marks, takeLeaseAway } from "./Straggler.ts"

/** How the process ended: by the signal, or by itself before it reached the place. */
export interface Fate {
  readonly signalled: boolean
  readonly told: string
}

interface Seen {
  place: string | null
  ended: Extract<Line, { line: "ended" | "died" }> | null
}

/** The process did something that no operation may do. */
export class KilledBadly extends Data.TaggedError("KilledBadly")<{ readonly message: string }> {}

/** How long a resumed process may take to end, and how long a suspended one may keep others waiting (milliseconds). */
const endsWithin = "60 seconds"
const waitsAtMost = 4_000

const ids = (rows: ReadonlyArray<{ readonly pid: number }>): ReadonlySet<number> =>
  new Set(rows.map(({ pid }) => pid))

/** The database's sessions other than the one that asks. */
const sessions = aside(
  (sql) => sql<Array<{ pid: number }>>`
    select pid from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
).pipe(Effect.map(ids))

const others = (before: ReadonlySet<number>) =>
  Effect.map(sessions, (now) => [...now].filter((pid) => !before.has(pid)))

/** Waits until the sessions of a killed client are gone: the server ends one when it next reads from its socket. */
const gone = (before: ReadonlySet<number>) =>
  Effect.repeat(Effect.zipLeft(others(before), Effect.promise(pause)), {
    until: (left) => left.length === 0,
    times: 250,
  })

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

const cut = (before: ReadonlySet<number>, by: Kill["by"]) =>
  Effect.gen(function* () {
    const list = `{${(yield* others(before)).join(",")}}`
    yield* aside(
      (sql) => sql`
        select pg_terminate_backend(pid) from unnest(${list}::integer[]) as s (pid)
        where ${by === "stop, all cut"} or exists (
          select 1 from pg_locks l where l.pid = s.pid and l.locktype = 'advisory' and l.granted)`,
    )
  })

interface How {
  readonly process: Process
  readonly history: History
  readonly site: Site
  readonly step: number
  readonly url: string
  readonly kill: Kill
  /** Whether the next process starts at once, perhaps before the sessions of the killed one are gone. */
  readonly hurried: boolean
  /** The operation that another process does while this one is suspended. */
  readonly meanwhile: Effect.Effect<Outcome, never, Database>
}

const commandOf = ({ history, kill, site, step, url }: How): Command => ({
  ...{ history, step, connection: site.connection, out: site.out, url, kill },
  ...{ readToEnd: [...site.world.readToEnd], moments: site.moments, announced: site.announced },
})

/** Listens to what the process reports of one operation. */
const heard = ({ kill, process, site }: How) => {
  const seen: Seen = { place: null, ended: null }
  let timer: NodeJS.Timeout | undefined
  const heardOf = (said: Line["line"]) =>
    new Promise<void>((resolve) => {
      waiting.set(said, resolve)
    })
  const waiting = new Map<Line["line"], () => void>()
  const atPlace = heardOf("place")
  const atEnd = Promise.race([heardOf("ended"), process.gone]).then(() => clearTimeout(timer))
  process.onLine = (line) => {
    if (line.line === "served") site.world.note(line.served)
    if (line.line === "begins" && kill.of === "millisecond") {
      timer = setTimeout(() => process.signal("SIGKILL"), kill.nth)
    }
    if (line.line === "place") {
      const { nth, text } = line
      const of = kill.of === "request" ? "request" : "statement"
      seen.place = `${placeOf({ ...kill, of, nth })}: ${text}`
    }
    if (line.line === "ended" || line.line === "died") seen.ended = line
    waiting.get(line.line === "died" ? "ended" : line.line)?.()
  }
  return { seen, atPlace, atEnd }
}

/** The operations that write under a single lease; a backfill and events take a new one for each turn. */
const leased = new Set(["sync", "reclassify"])

const operationOf = ({ history, step }: How): string => {
  const found = history.steps[step]
  return found !== undefined && "operation" in found ? found.operation.do : ""
}

/** Starts the operation and waits for its fate. */
export const fate = (how: How): Effect.Effect<Fate, KilledBadly, Database> =>
  Effect.gen(function* () {
    const { kill, process } = how
    const before = yield* sessions
    const { atEnd, atPlace, seen } = heard(how)
    const epoch = epochOf(how.site.connection)
    const free = yield* epoch
    let overtaken: ReadonlyMap<string, string> | null = null
    process.begin(commandOf(how))
    let meanwhile = ""
    if (kill.by !== "kill") yield* Effect.promise(() => Promise.race([atPlace, atEnd]))
    if (kill.by !== "kill" && seen.place !== null) {
      if (kill.by === "stop, locks cut" || kill.by === "stop, all cut") yield* cut(before, kill.by)
      // Where it holds a lock that others wait for, it is resumed before they end.
      let isStill = true
      const goesOn = setTimeout(() => {
        isStill = false
        process.signal("SIGCONT")
      }, waitsAtMost)
      const own = yield* epoch
      if (kill.by === "stop, lease taken") yield* takeLeaseAway(how.site.connection)
      else meanwhile = (yield* how.meanwhile).told
      clearTimeout(goesOn)
      const isOvertaken = own > free && (yield* epoch) > own
      if (isStill && isOvertaken && leased.has(operationOf(how))) overtaken = yield* marks
      process.signal("SIGCONT")
    }
    // The first signal may arrive before the process has suspended itself.
    const again = setInterval(() => process.signal("SIGCONT"), 200)
    yield* Effect.promise(() => atEnd.finally(() => clearInterval(again))).pipe(
      Effect.timeoutFail({
        duration: endsWithin,
        onTimeout: () => new KilledBadly({ message: `a process does not end (${placeOf(kill)})` }),
      }),
      Effect.tapError(() => Effect.sync(() => process.signal("SIGKILL"))),
    )
    if (!how.hurried || overtaken !== null) yield* gone(before)
    if (overtaken !== null) {
      const tables = differing(overtaken, yield* marks)
      if (tables.length > 0) {
        const message = `${seen.place} (${kill.by}): it wrote to ${tables.join(", ")} after it was overtaken`
        return yield* new KilledBadly({ message })
      }
    }
    return yield* told(kill, seen, meanwhile)
  })

const told = (kill: Kill, { ended, place }: Seen, meanwhile: string): Effect.Effect<Fate, KilledBadly> => {
  if (ended?.line === "died") return new KilledBadly({ message: `${placeOf(kill)}: it died: ${ended.cause}` })
  const end = Option.match(Option.fromNullable(ended), {
    onNone: () => "",
    onSome: ({ done, told: text }) => `, it ended ${done ? "well" : `with ${text.split("\n")[0]}`}`,
  })
  const other = meanwhile === "" ? "" : `, meanwhile: ${meanwhile.split("\n")[0]}`
  if (place !== null) return Effect.succeed({ signalled: true, told: `${place}${other}${end}` })
  return ended === null && kill.of === "millisecond"
    ? Effect.succeed({ signalled: true, told: placeOf(kill) })
    : Effect.succeed({ signalled: false, told: `${placeOf(kill)} was not reached${end}` })
}
