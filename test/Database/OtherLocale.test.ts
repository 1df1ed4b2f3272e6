/** The locale of a server or a database says what its own letters are, and nothing of the names that the program gives. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { migrate } from "../../src/Database/Migrate.ts"
import { Explain } from "../../src/Explain.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { titles } from "../Explain/Steps.ts"
import { addEntry, openAccount, openBook, putResource, reconciled } from "../Reconcile/Books.ts"
import { sources } from "../support/folderMap.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const services = Layer.mergeAll(Explain.Default, Reconcile.Default).pipe(
  Layer.provideMerge(TestDatabase.turkishLayer),
  Layer.provideMerge(Settings.from({ variables: {} })),
)

layer(services, { excludeTestServices: true })("in a Turkish database", (it) => {
  it.scoped("findings and what explains them have the names that they have everywhere", () =>
    Effect.gen(function* () {
      yield* migrate()
      const account = yield* openAccount(yield* openBook)
      const missing = randomUUID()
      yield* addEntry(account, {
        type: "DEBIT",
        amount: "5.00",
        against: "suspense",
        of: { type: "WITHDRAWAL", id: missing },
      })
      const deposit = yield* putResource(account, { type: "DEPOSIT", amount: "7.00" })
      yield* addEntry(account, { type: "CREDIT", amount: "7.00", of: deposit })
      const found = yield* reconciled(account.book)
      expect(
        found.map(({ check_name, subject_id, subject_type }) => [check_name, subject_type, subject_id]),
      ).toEqual([["missing-resource", "withdrawal", missing]])
      const { explain } = yield* Explain
      expect(titles((yield* explain(deposit.id)).steps)[0]).toContain("deposit")
    }),
  )
})

/** What a person or the service wrote freely, or an index has: both sides of a comparison are made by the same locale. */
const free = [
  "tx_id",
  "txId",
  "reference",
  "hash",
  "Hash",
  "i)",
  "cell.value",
  "a.code",
  "a.name",
  "b.code",
  "'code'",
  "regexp_replace",
]

it("no statement leaves the letters of the program's own names to the locale", () => {
  const files = [...sources(), "drizzle/rules.sql"]
  const found = files.flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => /(?<![\w.])(?:lower|upper)\((?![^)]*collate "C")/.test(line))
      .filter((line) => !free.some((text) => line.includes(text)))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})
