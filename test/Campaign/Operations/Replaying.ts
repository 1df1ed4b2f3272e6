/** Tries again what waits in quarantine. What can be read by then is settled, and a second time nothing is left to do. */
import { Effect, Layer, Option } from "effect"
import { Quarantine } from "../../../src/Mirror/Quarantine.ts"
import { QuarantineReplay } from "../../../src/Sync/Replay.ts"
import { stillWait } from "../../../src/Sync/Runs/ReplayResult.ts"
import type { Site } from "../Site.ts"

/** A defect of the replay. */
class Replayed extends Error {}

/** Identifiers of movements that the service shows, and shows well. */
const wellShown = ({ world }: Site): ReadonlySet<string> =>
  new Set(
    [...world.resources.values()].flatMap(({ book, hidden, id, spoiled }) => {
      const isServed = book === "org" || world.clients.get(book)?.access === "served"
      return isServed && !hidden && spoiled === null ? [id] : []
    }),
  )

const movements = ["deposits", "withdrawals", "conversions"]

export const replay = (site: Site) =>
  Effect.gen(function* () {
    const { run } = yield* QuarantineReplay
    const { list } = yield* Quarantine
    const again = run({ connection: site.connection, rows: [] })
    const quiet = site.world.faults.length === 0
    const well = wellShown(site)
    const { tried } = yield* again
    const open = yield* list({ connection: Option.some(site.connection) })
    const unsettled = open.filter(
      ({ itemId, stream }) => movements.includes(stream) && well.has(itemId?.toLowerCase() ?? ""),
    )
    if (quiet && unsettled.length > 0) {
      const names = unsettled.map(({ itemId, reason, stream }) => `${stream} ${itemId}: ${reason}`)
      return yield* Effect.die(
        new Replayed(`still waits, and the service shows it well: ${names.join(", ")}`),
      )
    }
    const second = yield* again
    const waiting = stillWait(second).length
    if (
      second.entries + second.journalEntries + second.reclassifications > 0 ||
      waiting < second.tried.length
    ) {
      return yield* Effect.die(new Replayed(`a second replay does something: ${JSON.stringify(second)}`))
    }
    return `${tried.length} tried, ${waiting} wait`
  }).pipe(
    Effect.provide(
      Layer.merge(QuarantineReplay.DefaultWithoutDependencies, Quarantine.Default).pipe(
        Layer.provide(site.services),
      ),
    ),
  )
