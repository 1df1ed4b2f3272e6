import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { bothSurfaces } from "./Partnership.ts"
import { findings, journal, sync } from "./Runs.ts"

const data = { entries: 400, seed: 5, clients: 12, clientEntries: 400 }

/** A sandbox with faults, read by as many runs as it takes, and the journal of an uninterrupted run in fair weather. */
const inWeather = (faults: string) =>
  Effect.gen(function* () {
    const sandbox = yield* runningSandbox({ ...data, faults })
    return yield* sync(sandbox.url, bothSurfaces)
  })

layer(TestDatabase.layer, { excludeTestServices: true })("A sync of clients in wild weather", (it) => {
  it.scoped("ends with the journal of a faultless one [C2] [C8] [C11] [C14] [C15]", () =>
    Effect.gen(function* () {
      const calm = yield* inWeather("none")
      const expected = yield* journal
      const wild = yield* Effect.gen(function* () {
        const report = yield* inWeather("wild")
        return { report, journal: yield* journal, findings: yield* findings }
      }).pipe(Effect.provide(TestDatabase.layer))
      expect(wild.journal).toEqual(expected)
      expect(wild.journal.length).toBeGreaterThan(1_500)
      expect(wild.report.clientFailures).toEqual([])
      expect(wild.report.clients).toEqual(calm.clients)
      expect(wild.findings).toEqual(yield* findings)
    }),
  )
})
