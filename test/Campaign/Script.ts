/** Puts operations of Tieout between the events of a history, with faults during them. */
import { day, localDate, monthName, monthStart, timeOf } from "./Calendar.ts"
import type { Span } from "./Flow.ts"
import type { MovedFrom, Operation, Simple, Step } from "./History.ts"
import type { Random } from "./Random.ts"

const formats = [
  "journal",
  "hledger",
  "beancount",
  "ledger",
  "trial-balance",
  "xero",
  "qbo",
  "datev",
] as const
const kinds = ["native", "since-last", "as-of", "base", "again"] as const
const faults = [
  "Unavailable",
  "Timeout",
  "Unreachable",
  "RateLimited",
  "BadResponse",
  "Unauthorized",
] as const

/** Operations on posting rules are added together with the rules, and others by `Upkeep.ts`. */
type Kind = Exclude<Simple["do"], "rerule" | "replay" | "accounts">

/** Makes an operation of each kind. */
const simples: Readonly<Record<Kind, (chance: Random, span: Span) => Simple>> = {
  sync: (chance) => chance.pick([{ do: "sync" }, { do: "sync" }, { do: "sync", full: true }]),
  events: () => ({ do: "events" }),
  backfill: (chance, span) => {
    const month = chance.whole(span.first, span.last)
    return {
      do: "backfill",
      from: `${monthName(month)}-01`,
      to: localDate(span.timeZone, monthStart(span.timeZone, month + 1) - day / 2),
    }
  },
  reclassify: (chance) => ({
    do: "reclassify",
    nth: chance.whole(0, 3),
    code: chance.pick(["4711", "4712"]),
    from: chance.weighted<MovedFrom>([
      [3, "suspense"],
      [2, "clearing"],
      [2, "transit"],
      [0.3, "fee"],
    ]),
  }),
  rates: (chance, span) => ({
    do: "rates",
    date: localDate(span.timeZone, monthStart(span.timeZone, span.first) + chance.whole(0, 60) * day),
    currency: chance.pick(["USD", "USDT"]),
    rate: `0.${chance.whole(7000, 9999)}`,
  }),
  close: (chance) => ({ do: "close", accept: chance.chance(0.7) }),
  reopen: () => ({ do: "reopen" }),
  export: (chance) => ({ do: "export", kind: chance.pick(kinds), format: chance.pick(formats) }),
}

const simple = (chance: Random, span: Span): Simple =>
  chance.weighted<() => Simple>([
    [10, () => ({ do: "sync" })],
    [2, () => ({ do: "sync", quick: true })],
    [1, () => ({ do: "sync", full: true })],
    [1.5, () => ({ do: "sync", workers: 2 })],
    [2, () => simples.events(chance, span)],
    [1, () => simples.backfill(chance, span)],
    [3, () => simples.reclassify(chance, span)],
    [1, () => simples.rates(chance, span)],
    [2, () => simples.close(chance, span)],
    [0.5, () => simples.reopen(chance, span)],
    [1.5, () => simples.export(chance, span)],
  ])()

const operation = (chance: Random, span: Span): Operation => {
  const one = simple(chance, span)
  return chance.weighted<() => Operation>([
    [12, () => one],
    [1, () => ({ do: "both", one, other: simple(chance, span) })],
    [1, () => ({ do: "stopped", of: one, after: chance.whole(1, 12) })],
    [0.5, () => ({ do: "cut", of: one, after: chance.whole(1, 12) })],
  ])()
}

/** A close at any time after the last read: mostly too early for the month that is over. */
const closedUnread = (chance: Random, steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const read = chance.whole(1, steps.length)
  const closed = chance.chance(0.6) ? steps.length : chance.whole(read, steps.length)
  const at = (place: number): string => steps[place - 1]?.at ?? ""
  if (at(read) === "" || at(closed) === "") return steps
  return [
    ...steps.slice(0, read),
    { at: at(read), operation: { do: "sync", ...(chance.chance(0.5) ? { full: true } : {}) } },
    ...steps.slice(read, closed),
    { at: at(closed), operation: { do: "close", accept: chance.chance(0.5) } },
    ...steps.slice(closed),
  ]
}

/** Two entries with the same identifier are noticed by a sync that read the first one before and reads the other now. */
const readMisnamed = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const at = steps.findIndex((step) => "event" in step && step.event.what === "misnamed")
  const one = steps[at]
  if (one === undefined || !("event" in one) || one.event.what !== "misnamed") return steps
  const { entry: name } = one.event
  const before = steps.findIndex(
    (step) => "event" in step && step.event.what === "entry" && step.event.entry === name,
  )
  const sync: Step = { at: one.at, operation: { do: "sync" } }
  return [...steps.slice(0, before), sync, ...steps.slice(before, at + 1), sync, ...steps.slice(at + 1)]
}

/** The same events, with operations between them. */
export const script = (chance: Random, span: Span, events: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const steps = chance.chance(0.4) ? [...readMisnamed(events)] : [...events]
  const count = chance.whole(1, 4)
  for (let index = 0; index < count; index++) {
    const place = chance.whole(0, steps.length)
    const at = steps[place - 1]?.at ?? timeOf(monthStart(span.timeZone, span.first) - day)
    const befalls: Array<Step> = []
    if (chance.chance(0.08)) befalls.push({ at, event: { what: "expired" } })
    if (chance.chance(0.08)) {
      befalls.push({ at, event: { what: "fault", reason: chance.pick(faults), after: chance.whole(1, 15) } })
    }
    steps.splice(place, 0, ...befalls, { at, operation: operation(chance, span) })
  }
  if (chance.chance(0.3)) steps.splice(0, steps.length, ...closedUnread(chance, steps))
  return steps
}

const often: ReadonlyArray<readonly [number, Kind]> = [
  [2, "events"],
  [2, "backfill"],
  [2, "reclassify"],
  [1, "rates"],
  [3, "close"],
  [1.5, "reopen"],
  [3, "export"],
]

/** Adds so many operations of every kind, more of them towards the end. */
export const busier = (
  chance: Random,
  span: Span,
  before: ReadonlyArray<Step>,
  count: number,
): ReadonlyArray<Step> => {
  const steps = [...before]
  for (let index = 0; index < count; index++) {
    const kind = chance.weighted<Kind>([[4, "sync"], ...often])
    const place = Math.max(chance.whole(0, steps.length), chance.whole(0, steps.length))
    const at = steps[place - 1]?.at ?? timeOf(monthStart(span.timeZone, span.first) - day)
    steps.splice(place, 0, { at, operation: simples[kind](chance, span) })
  }
  return steps
}
