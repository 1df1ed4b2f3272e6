import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { account, credit, debit, id, partnership } from "./Partnership.ts"
import { balances, rows, sync, variablesFor } from "./Runs.ts"

const flat = (index: number) => ({
  ...{ withdrawalId: id(index), sourceAccount: account, amount: "100", feeAmount: "5", currency: "USD" },
  destination: { accountNumber: "DE00", swiftBic: "X", bankName: "Bank" },
  ...{ status: "COMPLETED", createdAt: "2026-10-01T00:00:00Z" },
})

/** One withdrawal with a debit of its amount, and one whose fee is a debit of its own beside the rest. */
const twoWithdrawals = {
  withdrawals: [flat(11), flat(12)],
  statement: [
    credit(20, "300", "300"),
    debit(21, "100", "200", id(11)),
    debit(22, "95", "105", id(12)),
    debit(23, "5", "100", id(12)),
  ],
  balance: "100",
}

const none = { TIEOUT_ACCOUNTING_FLAT_WITHDRAWAL_FEE: "none" }

const backfill = (url: string, variables: Record<string, string>) =>
  Effect.flatMap(Backfill, (service) =>
    service.run({ connection: "default", days: { from: "2026-10-01", to: "2026-10-31" } }),
  ).pipe(
    Effect.provide(
      Backfill.Default.pipe(
        Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
      ),
    ),
    Effect.scoped,
    unpaced,
  )

const statedFees = rows(`
  select message from reconcile.findings where closed_at is null and check_name = 'stated-fee'
    and book_id = (select max(book_id) from mirror.books) order by 1`).pipe(
  Effect.map((found) => found.map(({ message }) => message)),
)

const bookedAs = (booked: string, now: string) =>
  `Completed withdrawal of 100.00 USD states a fee of 5.00 USD and was booked with ${booked} USD as its fee; accounting.flatWithdrawalFee is ${now} now. To book it so: tieout backfill --period 2026-10.`

const notShown =
  "Completed withdrawal of 100.00 USD states a fee of 5.00 USD that no entry shows; it is not booked."

layer(TestDatabase.layer, { excludeTestServices: true })("A changed accounting.flatWithdrawalFee", (it) => {
  it.scoped("is said of every withdrawal that is booked by the former one, until a backfill books it", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership(twoWithdrawals)
      const { url } = service
      yield* sync(url)
      expect(yield* statedFees).toEqual([])
      expect(yield* balances).toContain("6850 10")

      yield* sync(url, none)
      expect(yield* balances).toContain("6850 10")
      expect(yield* statedFees).toEqual([bookedAs("5.00", "none")])
      yield* backfill(url, none)
      expect(yield* balances).toContain("6850 5")
      expect(yield* statedFees).toEqual([notShown])

      // Back again: the fee is not in the books, and nothing else would say so.
      yield* sync(url)
      expect(yield* balances).toContain("6850 5")
      expect(yield* statedFees).toEqual([bookedAs("0.00", "inside")])
      yield* backfill(url, {})
      expect(yield* balances).toContain("6850 10")
      expect(yield* statedFees).toEqual([])
    }),
  )
})
