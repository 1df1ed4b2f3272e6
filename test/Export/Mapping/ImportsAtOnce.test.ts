/** Several persons import at once, each the column of one system: all of it is kept, in versions one after the other. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as AccountMapping from "../../../src/Export/Mapping.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { openBook } from "../Books.ts"

const codes = [
  ["xero_code", "1010"],
  ["qbo_name", "Bank"],
  ["bc_account", "B10"],
  ["datev_konto", "1200"],
  ["sie_konto", "1930"],
] as const

const identity = ["book", "role", "currency", "code", "name"] as const

layer(TestDatabase.layer, { excludeTestServices: true })("imports at once", (it) => {
  it.effect("keep what each of them says", () =>
    Effect.gen(function* () {
      yield* openBook("TOGETHER", "33333333-0000-4000-8000-000000000011")
      const book = Option.some("TOGETHER")
      const accounts = yield* AccountMapping.current(book)
      const files = codes.map(([column, code]) => {
        const file = join(temporaryFolder(), `${column}.csv`)
        const lines = accounts.map((row) => [...identity.map((name) => row[name]), code].join(","))
        writeFileSync(file, `${[...identity, column].join(",")}\n${lines.join("\n")}\n`)
        return file
      })
      const imported = yield* Effect.forEach(files, (file) => AccountMapping.importFrom(file), {
        concurrency: "unbounded",
      })
      expect(imported.flatMap((books) => books.map(({ version }) => version)).toSorted()).toEqual([
        1, 2, 3, 4, 5,
      ])
      const kept = yield* AccountMapping.current(book)
      for (const [column, code] of codes) {
        expect(kept.map((row) => row[column])).toEqual(accounts.map(() => code))
      }
    }),
  )
})
