/** The codes of clients' books, which the service's codes decide: they must not be what other books' numbers begin with. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientBook, organizationBook } from "../../src/Book.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const idOf = (index: number) => `0000000${index}-0000-4000-8000-000000000000`

const codeOf = (connection: string, index: number, code: string) =>
  Effect.map(clientBook(connection, { clientId: idOf(index), code, name: code }), (book) => book.code)

layer(TestDatabase.layer, { excludeTestServices: true })("a client's book", (it) => {
  it.effect("has the client's code", () =>
    Effect.gen(function* () {
      expect(yield* codeOf("default", 1, "Acme 01")).toBe("ACME-01")
      expect(yield* codeOf("default", 2, "FORG")).toBe("FORG")
    }),
  )

  it.effect("leaves the code of another connection's organization to that", () =>
    Effect.gen(function* () {
      expect(yield* codeOf("default", 3, "LATER-ORG")).toBe("LATER-ORG-00000003")
      expect(yield* codeOf("a", 4, "ORG")).toBe("A-ORG-00000004")
      expect((yield* organizationBook("later")).code).toBe("LATER-ORG")
      expect((yield* organizationBook("a")).code).toBe("A-ORG")
    }),
  )

  it.effect("has no numbers that the base-currency journal of another book has", () =>
    Effect.gen(function* () {
      expect(yield* codeOf("default", 5, "Beta")).toBe("BETA")
      expect(yield* codeOf("default", 6, "Beta FX")).toBe("BETA-FX-00000006")
      expect(yield* codeOf("default", 6, "Beta FX")).toBe("BETA-FX-00000006")
    }),
  )
})
