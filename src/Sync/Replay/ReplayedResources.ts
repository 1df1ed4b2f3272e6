/** Quarantined deposits, withdrawals and conversions: absorbed as a page of their list would be. */
import { Array as Arr, Effect, Either } from "effect"
import type { Book } from "../../Book.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import type { KeptRows } from "../../Partner/KeptRows.ts"
import type { Malformed } from "../../Partner/Lists/Page.ts"
import { type Resource, type ResourceType, resourceTypes } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { Hydration, ResourceKey, streamOf } from "../Resources/Hydration.ts"
import { allAbsorbed, allWait, type Tried, type Tries, waitsFor } from "../Runs/ReplayResult.ts"
import { Pages } from "../Statements/StatementPage.ts"

/** Resources per transaction. */
const batchSize = 100

const types: ReadonlyMap<string, ResourceType> = new Map(resourceTypes.map((type) => [streamOf(type), type]))

export const resourceTypeOf = (stream: string): ResourceType | undefined => types.get(stream)

/** The result of trying one item, before anything of it is committed. */
interface Found {
  readonly tries: Tries
  readonly tried: ReadonlyArray<Tried>
  readonly settled: boolean
  readonly resource: Resource | null
  readonly missing: ResourceKey | null
  /** The row that the service has just sent, if that cannot be understood either. */
  readonly malformed: Malformed | null
}

export class ReplayedResources extends Effect.Service<ReplayedResources>()("tieout/Sync/ReplayedResources", {
  effect: Effect.gen(function* () {
    const quarantine = yield* Quarantine
    const hydration = yield* Hydration
    const pages = yield* Pages
    const settings = yield* Settings

    const nothing = { settled: false, resource: null, missing: null, malformed: null }

    /** The kept row cannot be understood; perhaps the service now sends one that can. */
    const ask = Effect.fn("Sync.ReplayedResources.ask")(function* (
      tries: Tries,
      type: ResourceType,
      malformed: Malformed,
    ) {
      const { itemId } = tries.newest
      const waiting: Found = { ...nothing, tries, tried: waitsFor(tries, malformed) }
      if (itemId === null || !isUuidInAnyCase(itemId)) return waiting
      const key = new ResourceKey({ type, id: itemId })
      const answer = yield* Effect.either(hydration.readAll([key]))
      if (Either.isLeft(answer)) {
        return { ...waiting, tried: waitsFor(tries, malformed, answer.left) } satisfies Found
      }
      const { malformed: again, missing, read } = answer.right
      const [resource] = read
      if (resource !== undefined) {
        return { ...nothing, tries, tried: allAbsorbed(tries), settled: true, resource } satisfies Found
      }
      if (missing.length > 0) {
        const gone = `${malformed.reason}; and the service finds no ${type.toLowerCase()} with this identifier now`
        return { ...waiting, tried: allWait(tries, gone, malformed.path), missing: key } satisfies Found
      }
      const row = again[0]?.row ?? malformed
      return { ...waiting, tried: waitsFor(tries, row), malformed: row } satisfies Found
    })

    const look = Effect.fn("Sync.ReplayedResources.look")(function* (tries: Tries, kept: KeptRows) {
      const type = resourceTypeOf(tries.newest.stream) ?? "DEPOSIT"
      const read = kept.resource(type, yield* quarantine.raw(tries.newest.quarantineId))
      if (Either.isLeft(read)) return yield* ask(tries, type, read.left)
      // The mirror may have it from a later read: then the row is history.
      const known = yield* quarantine.overtaken(tries.newest, read.right.id)
      const resource = known ? null : read.right
      return { ...nothing, tries, tried: allAbsorbed(tries), settled: true, resource } satisfies Found
    })

    const replayBatch = (book: Book, batch: ReadonlyArray<Tries>, kept: KeptRows) =>
      Effect.gen(function* () {
        const run = yield* Run
        const found: ReadonlyArray<Found> = yield* Effect.forEach(batch, (tries) => look(tries, kept), {
          concurrency: settings.limits.hydrationConcurrency,
        })
        const settled = found.filter((one) => one.settled).flatMap(({ tries }) => tries.all)
        const withPage = Effect.gen(function* () {
          for (const { malformed, tries } of found) {
            if (malformed !== null) yield* quarantine.put(book, run.runId, tries.newest.stream, [malformed])
          }
          yield* quarantine.resolveRows(settled.map(({ quarantineId }) => quarantineId))
        })
        const read = found.flatMap(({ resource }) => (resource === null ? [] : [resource]))
        const missing = found.flatMap((one) => (one.missing === null ? [] : [one.missing]))
        yield* pages.absorbResources(book, read, missing, withPage)
        return found.flatMap(({ tried }) => tried)
      })

    const replay = (book: Book, items: ReadonlyArray<Tries>, kept: KeptRows) =>
      Effect.forEach(Arr.chunksOf(items, batchSize), (batch) => replayBatch(book, batch, kept)).pipe(
        Effect.map((all) => all.flat()),
      )

    return { replay }
  }),
}) {}
