/** Texts of the service as it sends them: the proof of the database accuses none that was kept as it should be. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { debit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { proof } from "./Filled.ts"

/** Everything that JavaScript takes for white space. */
const spaces = [
  ...["\t", "\n", "\v", "\f", "\r", " ", "\u00a0", "\u1680", "\u2028", "\u2029", "\u202f", "\u205f"],
  ...Array.from({ length: 11 }, (_, at) => String.fromCharCode(0x2000 + at)),
  ...["\u3000", "\ufeff"],
]

layer(TestDatabase.layer, { excludeTestServices: true })("the proof of the database", (it) => {
  it.scoped("knows a bank's name with any white space around it, or of white space alone", () =>
    Effect.gen(function* () {
      const names = spaces.flatMap((space) => [`${space}Bank${space}`, space])
      const { service } = yield* partnership({
        balance: String(-names.length),
        statement: names.map((_, at) => debit(100 + at, "1.00", `-${at + 1}.00`, id(200 + at))),
        withdrawals: names.map((bankName, at) =>
          withdrawal(200 + at, "1.00", "0.00", {
            destination: { accountNumber: "DE00", swiftBic: "X", bankName },
          }),
        ),
      })
      yield* sync(service.url)
      const kept = yield* rows("select distinct counterparty from mirror.resources order by 1")
      expect(kept.map(({ counterparty }) => counterparty)).toEqual(["Bank, DE00", "DE00"])
      expect((yield* proof).wrong).toEqual([])
    }),
  )
})
