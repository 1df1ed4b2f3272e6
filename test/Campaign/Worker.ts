/** One worker of a campaign: plays its share of the histories in a database of its own, and reports each. */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Database } from "../../src/Database.ts"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
import type { Asked } from "./Arguments.ts"
import { generate } from "./Generator.ts"
import type { History } from "./History.ts"
import { overHttp } from "./Http.ts"
import { type Played, play } from "./Play.ts"
import { copyOf, inDatabase } from "./Server.ts"
import { shrink } from "./Shrink.ts"

/** A report of a worker: on a history (of so many books), or on the proof of the whole database. */
export interface Told {
  readonly seed: string
  readonly books: number
  readonly problem: string | null
  /** The shortest history that still fails, where it failed. */
  readonly history: History | null
  readonly told: ReadonlyArray<string>
}

/** One in so many is read over the real HTTP adapter. */
const httpEvery = 20

/** How many books one database holds before it is proved as a whole and the next one begins. */
const booksPerDatabase = 100

const most = { tries: 150, seconds: 90 }

/** The number of books of a history. Each is proved by itself, and all share the operations. */
export const booksOf = ({ steps }: History): number =>
  new Set(
    steps.flatMap((step) => ("event" in step && step.event.what === "account" ? [step.event.book] : [])),
  ).size

let places = 0

/** Plays a history in books of its own. */
const playOnce = (
  history: History,
  http: boolean,
  database: string,
): Effect.Effect<Played, never, Database> => {
  places += 1
  const connection = `h${places}`
  const out = join(tmpdir(), `tieout-campaign-${process.pid}`, connection)
  const how = { connection, out, database }
  return http ? overHttp(history, how) : play(history, how)
}

/** `database` is the address of the one that is played in. */
export const playAndShrink = (history: History, http: boolean, shrinking: boolean, database: string) =>
  Effect.gen(function* () {
    const { problem, told } = yield* playOnce(history, http, database)
    const base = { seed: history.seed, books: booksOf(history), told }
    if (problem === null) return { ...base, problem, history: null } satisfies Told
    if (!shrinking) return { ...base, problem, history } satisfies Told
    const again = (one: History) => Effect.map(playOnce(one, http, database), (played) => played.problem)
    const shorter = yield* shrink(history, problem, again, most)
    return { ...base, problem: shorter.problem, history: shorter.history } satisfies Told
  })

/** Every history has settings of its own, so that the checks are repeated with each. */
const isWithoutSettings = ({ name }: { readonly name: string }): boolean => name !== "found-again"

const proof: Effect.Effect<Told, never, Database> = Effect.exit(
  prove().pipe(Effect.provide(Settings.from({ variables: {} }))),
).pipe(
  Effect.map((exit) => {
    const wrong =
      exit._tag === "Failure"
        ? [String(exit.cause)]
        : exit.value.proofs
            .filter(isWithoutSettings)
            .flatMap(({ name, wrong: rows }) =>
              rows.map(({ book, message, row }) => `${name} ${book} ${row}: ${message}`),
            )
    const problem = wrong.length === 0 ? null : wrong.slice(0, 5).join("; ")
    return { seed: "verify --database", books: 0, problem, history: null, told: [] }
  }),
)

/** Plays every `workers`th history from `worker` on until so many books were played, some of them in each copy of the database `template`. */
export const work = (
  { from, histories, seconds, seed, shape, shrink: shrinking, workers }: Asked,
  worker: number,
  template: string,
  tell: (told: Told) => void,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const until = performance.now() + seconds * 1_000
    const share = histories / workers
    let played = 0
    let n = from + worker
    const isOn = () => played < share && performance.now() < until
    const few = (own: string) =>
      Effect.gen(function* () {
        const before = played
        for (; isOn() && played - before < booksPerDatabase; n += workers) {
          const history = generate(`${seed}-${n}`, shape)
          const told = yield* playAndShrink(history, n % httpEvery === 0, shrinking, own)
          played += told.books
          tell(told)
        }
        tell(yield* proof)
      })
    // A book costs more the more books a database holds, because without a vacuum the server's look-ups get slower.
    while (isOn()) {
      yield* Effect.scoped(
        Effect.flatMap(copyOf(template), (own) => Effect.provide(few(own), inDatabase(own))),
      )
    }
    // Nobody reads the spans of a campaign, which every statement would make.
  }).pipe(Effect.withTracerEnabled(false))
