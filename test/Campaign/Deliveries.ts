/**
 * Some histories export often to one accounting system or two: months, days within them and everything, deltas and again, while entries come late
 * and months are closed and opened. Drawn from a random sequence of its own, so that the rest of the history is unaffected.
 */
import { day, localDate, monthName, monthStart } from "./Calendar.ts"
import type { Span } from "./Flow.ts"
import type { ExportKind, History, Operation, Step } from "./History.ts"
import { type Random, random } from "./Random.ts"

/** The accounting systems among the formats: each entry goes to them once. */
export const systems = ["xero", "qbo", "datev"] as const

const daysOf = (chance: Random, { first, last, timeZone }: Span): { from: string; to: string } => {
  const month = chance.whole(first, last)
  const end = localDate(timeZone, monthStart(timeZone, month + 1) - day / 2)
  const [from, to] = [chance.whole(1, 28), chance.whole(1, 28)].sort((a, b) => a - b)
  const within = (date = 1): string => `${monthName(month)}-${String(date).padStart(2, "0")}`
  return chance.chance(0.6) ? { from: within(), to: end } : { from: within(from), to: within(to) }
}

const delivery = (chance: Random, span: Span, format: string): Operation => {
  const kind = chance.weighted<ExportKind>([
    [6, "native"],
    [3, "since-last"],
    [2, "again"],
    [0.5, "base"],
  ])
  const isDated = kind !== "since-last" && chance.chance(0.7)
  return { do: "export", kind, format, ...(isDated ? { days: daysOf(chance, span) } : {}) }
}

export const withDeliveries = (history: History, span: Span): History => {
  const chance = random(`${history.seed} deliveries`)
  if (!chance.chance(1 / 6)) return history
  const formats = chance.shuffled(systems).slice(0, chance.whole(1, 2))
  const steps: Array<Step> = [...history.steps]
  const put = (operation: Operation): void => {
    const place = chance.whole(Math.floor(steps.length / 4), steps.length)
    steps.splice(place, 0, { at: steps[place - 1]?.at ?? history.end, operation })
  }
  for (const format of formats) {
    for (let more = chance.whole(2, 4); more > 0; more--) put(delivery(chance, span, format))
  }
  for (let more = chance.whole(1, 3); more > 0; more--) put({ do: "sync" })
  if (chance.chance(0.5)) put({ do: "close", accept: true })
  if (chance.chance(0.3)) put({ do: "reopen" })
  return { ...history, steps }
}
