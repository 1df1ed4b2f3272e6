/** Plays one history from its first step to its end, and reports what did not hold. */
import { rm } from "node:fs/promises"
import { Cause, Effect, Exit } from "effect"
import type { Database } from "../../src/Database.ts"
import { archiveProblems } from "./ArchivedAtEnd.ts"
import { provedAtEnd } from "./AtEnd.ts"
import { hindsightProblems, remember } from "./Hindsight.ts"
import type { History, Operation, Step } from "./History.ts"
import * as Invariants from "./Invariants.ts"
import { books, type Outcome, operate } from "./Operations.ts"
import { random } from "./Random.ts"
import { correctRate, rateOf } from "./RateTable.ts"
import { asideOf, type Site, siteOf } from "./Site.ts"
import { unnoticed } from "./Standing.ts"
import type { World } from "./World.ts"

export interface Played {
  /** Null where everything held. */
  readonly problem: string | null
  /** The outcomes of all operations, in order. */
  readonly told: ReadonlyArray<string>
}

export interface How {
  readonly connection: string
  readonly out: string
  /** The address of the database that is played in. */
  readonly database: string
  /** Does an operation by its place in the history, where another process may have tried it before. */
  readonly around?: Around
  /** The server on loopback for a history that is read over HTTP, and its world. */
  readonly http?: { readonly url: string; readonly show: (world: World) => void }
}

/** Answers the outcome of an operation; `run` may be executed several times. */
export type Around = (
  site: Site,
  place: number,
  run: Effect.Effect<Outcome, never, Database>,
  tell: (line: string) => void,
) => Effect.Effect<Outcome, never, Database>

const firstLine = (text: string): string => text.split("\n")[0] ?? ""

/** Closed months are unchanged, unless they were reopened. */
const kept = (before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...before].flatMap(([month, digest]) => {
    const found = now.get(month)
    return found === undefined || found === digest ? [] : [`the closed month ${month} has changed`]
  })

/** Whether everything that was read was certainly kept. */
const isKept = ({ do: what }: Operation, { done }: Outcome): boolean =>
  done && (what === "sync" || what === "backfill")

const step = (site: Site, { around, http }: How, place: number, one: Step, told: Array<string>) =>
  Effect.gen(function* () {
    if ("event" in one) {
      site.world.apply(one.event, one.at)
      return []
    }
    site.world.now = Math.max(site.world.now, Date.parse(one.at)) + 1_000
    const run = operate(site, http !== undefined, one.operation)
    const tell = (line: string): void => void told.push(line)
    const outcome = yield* around === undefined ? run : around(site, place, run, tell)
    site.world.settle(isKept(one.operation, outcome))
    told.push(`${one.operation.do}: ${outcome.done ? "" : "failed: "}${firstLine(outcome.told)}`)
    const broken = yield* Invariants.broken(yield* books(site))
    const { operation } = one
    return operation.do === "sync" && operation.quick !== true && outcome.done
      ? [...broken, ...(yield* unnoticed(site))]
      : broken
  })

/** Ends all faults and mends all rows: from now on everything can be read. */
const calmed = (site: Site): void => {
  site.world.faults.length = 0
  for (const { entries } of site.world.accounts.values()) {
    for (const entry of entries) {
      entry.malformed = false
      entry.shownId = entry.id
    }
  }
  for (const resource of site.world.resources.values()) resource.spoiled = null
  site.hook = Effect.void
  Object.assign(site, { ahead: 0, jump: null })
  site.world.now = Math.max(site.world.now, Date.parse(site.history.end))
}

/** Removes what the next history would see: its rates and files. */
const cleaned = (site: Site) =>
  Effect.gen(function* () {
    for (const { currency, date } of site.corrected) {
      yield* correctRate(date, currency, rateOf(currency, date))
    }
    for (const folder of [site.out, asideOf(site)]) {
      yield* Effect.promise(() => rm(folder, { recursive: true, force: true }))
    }
  }).pipe(Effect.orDie)

const playing = (history: History, how: How, told: Array<string>) =>
  Effect.gen(function* () {
    const site = yield* Effect.orDie(siteOf(history, how, how.http?.url))
    how.http?.show(site.world)
    yield* Effect.addFinalizer(() => cleaned(site))
    const overHttp = how.http !== undefined
    const looksBack = random(`${history.seed} hindsight`).chance(1 / 4)
    for (const [place, one] of history.steps.entries()) {
      const found = [...(yield* step(site, how, place, one, told))]
      if (site.closed.size > 0 || ("operation" in one && one.operation.do === "close")) {
        const now = yield* Invariants.digests(yield* books(site))
        found.push(...kept(site.closed, now))
        site.closed = now
      }
      if ("operation" in one && looksBack && site.remembered.length === 0) {
        site.remembered = yield* remember(site, yield* books(site))
      }
      if (found.length > 0) return found.join("; ")
    }
    calmed(site)
    const found = [
      ...(yield* provedAtEnd(site, overHttp, told)),
      ...(yield* hindsightProblems(site, site.remembered)),
    ]
    const last = yield* books(site)
    const now = site.closed.size > 0 ? yield* Invariants.digests(last) : new Map<string, string>()
    const all = [...found, ...(yield* Invariants.broken(last)), ...kept(site.closed, now)]
    if (all.length === 0) all.push(...(yield* archiveProblems(site, overHttp, told)))
    return all.length === 0 ? null : all.join("; ")
  }).pipe(Effect.scoped)

export const play = (history: History, how: How): Effect.Effect<Played, never, Database> => {
  const told: Array<string> = []
  return Effect.exit(playing(history, how, told)).pipe(
    Effect.map(
      (exit): Played => ({
        problem: Exit.isSuccess(exit) ? exit.value : `died: ${Cause.pretty(exit.cause)}`,
        told,
      }),
    ),
  )
}
