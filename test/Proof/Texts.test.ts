/** Texts of the service as it sends them: the proof of the database accuses none that was kept as it should be. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { credit, debit, deposit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { postings, rows, sync } from "../Sync/Runs.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
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

  it.scoped("knows fields that are empty where they may be absent", () =>
    inOwnDatabase(
      Effect.gen(function* () {
        const conversion = {
          ...{
            conversionId: id(40),
            pairId: id(41),
            status: "ACTIVE",
            rate: "1.1",
            createdAt: "2026-10-01T00:00:00Z",
          },
          sellAccount: { accountId: id(1), currency: "USD", paymentRails: "SEPA" },
          sellAmount: { amount: "5.00", currency: "USD" },
          buyAccount: { accountId: id(2), currency: "EUR", paymentRails: "SEPA" },
          buyAmount: { amount: "5.50", currency: "EUR" },
          fee: { amount: "0.00", currency: "USD" },
          completedAt: "",
        }
        const texts = {
          ...{ remitterName: "", externalReference: "", reasonCode: "" },
          ...{ code: "", reference: "", transactionHash: "" },
        }
        const nameless = { accountNumber: "DE00", swiftBic: "X", bankName: "Bank", destinationId: "" }
        const { service } = yield* partnership({
          balance: "3.00",
          statement: [
            { ...credit(11, "10.00", "10.00"), relatedResourceType: "", relatedResourceId: "" },
            debit(12, "2.00", "8.00", id(200)),
            { ...debit(13, "5.00", "3.00", id(40)), relatedResourceType: "CONVERSION" },
          ],
          deposits: [deposit(30, "1.00", { ...texts, status: "PENDING", fee: "", feeAmount: "" })],
          withdrawals: [withdrawal(200, "2.00", "0.00", { ...texts, destination: nameless })],
          conversions: [conversion],
        })
        yield* sync(service.url)
        expect(yield* rows("select * from mirror.quarantine")).toEqual([])
        expect(yield* postings).toContain("adjustment cash 10, suspense -10")
        expect(
          yield* rows(`select counterparty, external_reference, reason_code, code, reference, transaction_hash
            from mirror.resources where resource_type = 'DEPOSIT'`),
        ).toEqual([
          {
            ...{ counterparty: null, external_reference: null, reason_code: null },
            ...{ code: null, reference: null, transaction_hash: null },
          },
        ])
        expect((yield* proof).wrong).toEqual([])
      }),
    ),
  )
})
