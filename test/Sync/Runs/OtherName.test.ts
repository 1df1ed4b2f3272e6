/** A connection that was given another name is another one: its first read says what becomes of the books. */
import { expect, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { partnership, threeDeposits } from "../Partnership.ts"
import { syncWith, variablesFor } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a connection under another name", (it) => {
  it.scoped("is warned of at its first read, unless the settings still have the former one", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ ...threeDeposits })
      const own = variablesFor(service.url)
      const as = (name: string) =>
        Object.fromEntries(
          Object.entries(own).map(([key, value]) => [
            key.replace("TIEOUT_", `TIEOUT_${name.toUpperCase()}_`),
            value,
          ]),
        )
      const said = (variables: Record<string, string>, connection: string) => {
        const lines: Array<string> = []
        const logger = Logger.make(({ message }) => void lines.push(String(message)))
        return syncWith(variables, { connection }).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          Effect.as(lines),
          Effect.map((all) => all.filter((line) => line.includes("never read into this database"))),
        )
      }
      expect(yield* said(own, "default")).toEqual([])
      const beside = { ...own, ...as("beside"), TIEOUT_CONNECTIONS: "{default: {}, beside: {}}" }
      expect(yield* said(beside, "beside")).toEqual([])
      const renamed = { ...as("acme"), TIEOUT_CONNECTIONS: "{acme: {}}" }
      expect(yield* said(renamed, "acme")).toEqual([
        expect.stringContaining(
          "Connection acme was never read into this database, which has books of beside, default: the settings no longer name those.",
        ),
      ])
      expect(yield* said(renamed, "acme")).toEqual([])
    }),
  )
})
