/** One operation that somebody begins in a process of their own, and does not bring to its end. */
import { Data, Effect, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import type { History, Kill } from "../History.ts"
import { placeOf } from "../History.ts"
import type { Outcome } from "../Operations.ts"
import type { Site } from "../Site.ts"
import type { Command, Line } from "./Command.ts"
import type { Process } from "./Processes.ts"
import { differing, epochOf, marks } from "./Straggler.ts"

/** How it ended: by its signal, or of itself before that place was reached. */
export interface Fate {
  readonly signalled: boolean
  readonly told: string
}

interface Seen {
  place: string | null
  ended: Extract<Line, { line: "ended" | "died" }> | null
}

/** What it did while it could is no outcome that an operation may have. */
export class KilledBadly extends Data.TaggedError("KilledBadly")<{ readonly message: string }> {}

/** Seconds that a process may take to its end after it goes on, and one that is stopped may keep others waiting. */
const endsWithin = "60 seconds"
const waitsAtMost = 4_000

const ids = (rows: ReadonlyArray<{ readonly pid: number }>): ReadonlySet<number> =>
  new Set(rows.map(({ pid }) => pid))

/** Sessions of the database other than the one that asks. */
const sessions = Effect.flatMap(Database, ({ client }) =>
  Effect.promise(
    () => client<Array<{ pid: number }>>`
      select pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  ),
).pipe(Effect.map(ids))

const others = (before: ReadonlySet<number>) =>
  Effect.map(sessions, (now) => [...now].filter((pid) => !before.has(pid)))

/** The server lets go of a client that was killed when it next reads of it. */
const gone = (before: ReadonlySet<number>) =>
  Effect.repeat(Effect.zipLeft(others(before), Effect.promise(pause)), {
    until: (left) => left.length === 0,
    times: 250,
  })

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

const cut = (before: ReadonlySet<number>, by: Kill["by"]) =>
  Effect.gen(function* () {
    const { client } = yield* Database
    const list = `{${(yield* others(before)).join(",")}}`
    yield* Effect.promise(
      () => client`
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
  /** Whether the next goes on at once, with the sessions of the one that was killed perhaps still there. */
  readonly hurried: boolean
  /** What somebody else does while it is stopped. */
  readonly meanwhile: Effect.Effect<Outcome, never, Database>
}

const commandOf = ({ history, kill, site, step, url }: How): Command => ({
  ...{ history, step, connection: site.connection, out: site.out, url, kill },
  ...{ readToEnd: [...site.world.readToEnd], moments: site.moments, announced: site.announced },
})

/** Hears what a process says of one operation. */
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

/** They write under the lease and nothing else: what others do, a process may do after another one has. */
const leased = new Set(["sync", "backfill", "reclassify"])

const operationOf = ({ history, step }: How): string => {
  const found = history.steps[step]
  return found !== undefined && "operation" in found ? found.operation.do : ""
}

/** Begins the operation and waits for what becomes of it. */
export const fate = (how: How): Effect.Effect<Fate, KilledBadly, Database> =>
  Effect.gen(function* () {
    const { kill, process } = how
    const before = new Set([...(yield* sessions), ...(yield* own)])
    const { atEnd, atPlace, seen } = heard(how)
    const epoch = epochOf(how.site.connection)
    const free = yield* epoch
    let overtaken: ReadonlyMap<string, string> | null = null
    process.begin(commandOf(how))
    let meanwhile = ""
    if (kill.by !== "kill") yield* Effect.promise(() => Promise.race([atPlace, atEnd]))
    if (kill.by !== "kill" && seen.place !== null) {
      if (kill.by !== "stop") yield* cut(before, kill.by)
      // Where it holds what others wait for, it goes on before them.
      let isStill = true
      const goesOn = setTimeout(() => {
        isStill = false
        process.signal("SIGCONT")
      }, waitsAtMost)
      const own = yield* epoch
      meanwhile = (yield* how.meanwhile).told
      clearTimeout(goesOn)
      const isOvertaken = own > free && (yield* epoch) > own
      if (isStill && isOvertaken && leased.has(operationOf(how))) overtaken = yield* marks
      process.signal("SIGCONT")
    }
    yield* Effect.promise(() => atEnd).pipe(
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

/** The sessions of this process: more may be opened while the other one works, but no statement is sent meanwhile. */
const own = Effect.flatMap(Database, ({ client }) =>
  Effect.promise(() => client<Array<{ pid: number }>>`select pg_backend_pid() as pid`),
).pipe(Effect.map(ids))

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
