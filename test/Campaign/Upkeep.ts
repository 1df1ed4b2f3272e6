/**
 * What befalls an installation: backups, the restore of one, clocks that jump, rows of the quarantine that are tried again, accounts
 * that are named for an accounting system. Drawn from a random sequence of its own, so that the rest of the history is unaffected.
 */
import type { History, Operation, Step } from "./History.ts"
import { type Random, random } from "./Random.ts"

const hour = 60
const day = 24 * hour

class Script {
  readonly chance: Random
  readonly steps: Array<Step>
  private readonly end: string

  constructor(chance: Random, { end, steps }: History) {
    this.chance = chance
    this.steps = [...steps]
    this.end = end
  }

  /** Answers the place after the operation. */
  put(place: number, operation: Operation): number {
    const at = this.steps[place - 1]?.at ?? this.steps[0]?.at ?? this.end
    this.steps.splice(place, 0, { at, operation })
    return place + 1
  }

  /** A place from that one on. */
  from(place: number): number {
    return this.chance.whole(place, this.steps.length)
  }

  /** A place right after one of such events; any place where there is none. */
  after(events: ReadonlyArray<string>): number {
    const [first, ...more] = this.steps.flatMap((step, place) =>
      "event" in step && events.includes(step.event.what) ? [place + 1] : [],
    )
    return first === undefined ? this.from(0) : this.chance.pick([first, ...more])
  }
}

const clocks = (script: Script): void => {
  const { chance } = script
  let place = 0
  for (let more = chance.whole(1, 2); more > 0; more--) {
    const minutes = chance.pick([-3 * day, -6 * hour, -hour, 2, hour, 9 * hour, 2 * day, 31 * day])
    const after = chance.chance(0.5) ? { after: chance.whole(1, 20) } : {}
    place = script.put(script.from(place), { do: "clock", minutes, ...after })
    place = script.put(place, { do: "sync" })
    // By a clock that is far ahead a month is over that is not.
    if (minutes >= 2 * day) place = script.put(place, { do: "close", accept: false })
    // Somebody mostly sets it right.
    if (!chance.chance(0.7)) continue
    place = script.put(script.from(place), { do: "clock", minutes: 0 })
    place = script.put(chance.chance(0.5) ? place : script.from(place), { do: "sync" })
  }
}

const copies = (script: Script): void => {
  const { chance } = script
  const during = chance.chance(0.4) ? { during: chance.whole(1, 25) } : {}
  // Mostly early, when little is booked.
  let place = script.put(Math.min(script.from(0), script.from(0)), { do: "backup", ...during })
  // Mostly something is read that the copy has not.
  if (chance.chance(0.7)) place = script.put(script.from(place), { do: "sync" })
  place = script.put(chance.chance(0.3) ? place : script.from(place), { do: "restore" })
  // As whoever restores is told. Commands of persons are processes of their own, which remember nothing; a sync may not be.
  script.put(place, { do: "sync" })
}

/** Rows are tried again after something was read that could not be understood, mostly where it can be by then. */
const replays = (script: Script): void => {
  script.put(script.after(["malformed", "spoiled"]), { do: "sync" })
  script.put(script.chance.chance(0.7) ? script.after(["mended", "restored"]) : script.from(0), {
    do: "replay",
  })
}

const names = (script: Script): void => {
  const { chance } = script
  let place = 0
  for (let nth = chance.whole(1, 2); nth > 0; nth--) {
    place = script.put(script.from(place), { do: "accounts", nth, gap: chance.chance(0.2) })
    const kind = chance.pick(["native", "since-last"] as const)
    const format = chance.pick(["xero", "qbo", "datev"])
    place = script.put(script.from(place), { do: "export", kind, format })
  }
}

export const withUpkeep = (history: History): History => {
  const chance = random(`${history.seed} upkeep`)
  const script = new Script(chance, history)
  if (chance.chance(1 / 8)) clocks(script)
  if (chance.chance(1 / 10)) replays(script)
  if (chance.chance(1 / 12)) names(script)
  if (chance.chance(1 / 20)) copies(script)
  return { ...history, steps: script.steps }
}
