/**
 * What befalls an installation: backups, the restore of one, clocks that jump, rows of the quarantine that are tried again, accounts
 * that are named for an accounting system. Drawn from a random sequence of its own, so that the rest of the history is unaffected.
 */
import type { History, Operation, Step } from "./History.ts"
import { type Random, random } from "./Random.ts"

const hour = 60
const day = 24 * hour

type Put = (from: number, ...operations: ReadonlyArray<Operation>) => number

const clocks = (chance: Random, put: Put): void => {
  let place = 0
  for (let more = chance.whole(1, 2); more > 0; more--) {
    const minutes = chance.pick([-3 * day, -6 * hour, -hour, 2, hour, 9 * hour, 2 * day, 31 * day])
    const after = chance.chance(0.5) ? { after: chance.whole(1, 20) } : {}
    place = put(place, { do: "clock", minutes, ...after }, { do: "sync" })
    // Somebody mostly sets it right.
    if (chance.chance(0.7)) place = put(place, { do: "clock", minutes: 0 }, { do: "sync" })
  }
}

const copies = (chance: Random, put: Put): void => {
  const during = chance.chance(0.4) ? { during: chance.whole(1, 25) } : {}
  const place = put(0, { do: "backup", ...during })
  put(
    chance.chance(0.3) ? -1 : place,
    { do: "restore" },
    ...(chance.chance(0.8) ? [{ do: "sync" } as const] : []),
  )
}

const replays = (chance: Random, put: Put): void => {
  for (let more = chance.whole(1, 2); more > 0; more--) put(0, { do: "sync" }, { do: "replay" })
}

const names = (chance: Random, put: Put): void => {
  let place = 0
  for (let nth = chance.whole(1, 2); nth > 0; nth--) {
    place = put(place, { do: "accounts", nth, gap: chance.chance(0.2) })
    const kind = chance.pick(["native", "since-last"] as const)
    place = put(place, { do: "export", kind, format: chance.pick(["xero", "qbo", "datev"]) })
  }
}

export const withUpkeep = (history: History): History => {
  const chance = random(`${history.seed} upkeep`)
  const steps: Array<Step> = [...history.steps]
  /** At a place from `from` on, or right after the last one where it is -1; answers the place after them. */
  let last = 0
  const put: Put = (from, ...operations) => {
    const place = from < 0 ? last : chance.whole(from, steps.length)
    const at = steps[place - 1]?.at ?? steps[0]?.at ?? history.end
    steps.splice(place, 0, ...operations.map((operation) => ({ at, operation })))
    last = place + operations.length
    return last
  }
  if (chance.chance(1 / 5)) clocks(chance, put)
  if (chance.chance(1 / 6)) replays(chance, put)
  if (chance.chance(1 / 8)) names(chance, put)
  if (chance.chance(1 / 16)) copies(chance, put)
  return { ...history, steps }
}
