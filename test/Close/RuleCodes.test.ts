/** Posting rules whose account codes have placeholders: one ledger account, whether a rule or a person names it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type ReclassifyRequest, reclassifyAll } from "../../src/Reclassify.ts"
import { json } from "../Partner/Service.ts"
import { account, credit, debit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { balances, rows, sync } from "../Sync/Runs.ts"
import { servicesWith } from "../support/BookServices.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const rules = {
  TIEOUT_RULES: JSON.stringify([
    {
      match: { type: "WITHDRAWAL", reference: "^Payroll" },
      account: { code: "4120-{currency}", name: "Expenses:Payroll:{currency}" },
    },
  ]),
}

const moving = (request: Partial<ReclassifyRequest>) =>
  reclassifyAll({
    ...{ ids: [], to: "6855", name: Option.none(), reason: "Corrected", who: "controller" },
    ...request,
  }).pipe(Effect.provide(servicesWith(rules)))

const paying = partnership({
  balance: "840.00",
  statement: [
    credit(10, "1000.00", "1000.00"),
    debit(11, "100.00", "900.00", id(111)),
    debit(12, "60.00", "840.00", id(112)),
  ],
  withdrawals: [
    withdrawal(111, "100.00", "0.00", { reference: "Payroll" }),
    withdrawal(112, "60.00", "0.00", { reference: "Staff" }),
  ],
})

const payingStaff = partnership({
  balance: "700.00",
  statement: [
    credit(10, "1000.00", "1000.00"),
    debit(11, "100.00", "900.00", id(111)),
    debit(12, "100.00", "800.00", id(112)),
    debit(13, "100.00", "700.00", id(113)),
  ],
  withdrawals: [111, 112, 113].map((n) => withdrawal(n, "100.00", "0.00", { reference: "Staff" })),
})

const named = rows(`
  select a.code || ' ' || a.name || ' ' || trim_scale(sum(p.amount))::text as line from ledger.accounts a
  left join ledger.postings p on p.book_id = a.book_id and p.account_id = a.account_id
  where a.role = 'other' group by a.book_id, a.account_id, a.code, a.name order by a.code, a.account_id`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a rule's account with a placeholder in its code",
  (it) => {
    it.scoped("is the one that a person moves an amount out of", () =>
      Effect.gen(function* () {
        const { service } = yield* paying
        yield* sync(service.url, rules)
        expect(yield* named).toEqual(["4120-USD Expenses:Payroll:USD 100"])
        yield* moving({ ids: [id(11)], name: Option.some("Expenses:Bank") })
        expect(yield* named).toEqual(["4120-USD Expenses:Payroll:USD 0", "6855 Expenses:Bank 100"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped(
      "is the one that a person moves an amount to, by its code in the books or in the settings",
      () =>
        Effect.gen(function* () {
          const { service } = yield* paying
          yield* sync(service.url, rules)
          const { moved } = yield* moving({ ids: [id(12)], to: "4120-USD" })
          expect(moved.map(({ to }) => to)).toEqual([{ code: "4120-USD", name: "Expenses:Payroll:USD" }])
          yield* moving({ ids: [id(10)], to: "4120-{currency}" })
          expect(yield* named).toEqual(["4120-USD Expenses:Payroll:USD -840"])
          expect(yield* balances).toEqual(["1010 840", "4120-USD -840"])
          for (const to of ["4120-USD", "4120-{currency}"]) {
            expect(yield* messageOf(moving({ ids: [id(11)], to }))).toBe(
              `--to: what statement entry ${id(11)} moved stands in 4120-USD Expenses:Payroll:USD already.`,
            )
          }
        }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is the one that a person names before the rule has booked anything", () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "1000.00",
          statement: [credit(10, "1000.00", "1000.00")],
        })
        yield* sync(service.url, rules)
        yield* moving({ ids: [id(10)], to: "4120-USD" })
        expect(yield* rows("select code, name, rule_code from ledger.accounts where role = 'other'")).toEqual(
          [{ code: "4120-USD", name: "Expenses:Payroll:USD", rule_code: "4120-{currency}" }],
        )
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is the one that a rule is proposed for", () =>
      Effect.gen(function* () {
        const { service } = yield* payingStaff
        yield* sync(service.url, rules)
        const { proposals } = yield* moving({ ids: [id(11), id(12), id(13)], to: "4120-USD" })
        expect(proposals.filter(({ by }) => by === "reference").map(({ rule }) => rule)).toEqual([
          '- { match: { reference: "^Staff$" }, account: { code: "4120-{currency}", name: "Expenses:Payroll:{currency}" } }',
        ])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)

/** Codes and names that say which book's an account is. */
const ofClients = {
  TIEOUT_RULES: JSON.stringify([
    {
      match: { type: "WITHDRAWAL", reference: "^Payroll" },
      account: { code: "4120-{client}", name: "Expenses:Payroll {currency}:{client}" },
    },
  ]),
  TIEOUT_CHART_FEES_NAME: "Expenses:Fees:{client}:{currency}",
}

const movingOfClients = (request: Partial<ReclassifyRequest>) =>
  reclassifyAll({
    ...{ ids: [], to: "4120-ORG", name: Option.none(), reason: "Corrected", who: "controller" },
    ...request,
  }).pipe(Effect.provide(servicesWith(ofClients)))

layer(TestDatabase.layer, { excludeTestServices: true })("a rule's account that names the book", (it) => {
  it.scoped("may be called what it is called in the book", () =>
    Effect.gen(function* () {
      const { service } = yield* paying
      yield* sync(service.url, ofClients)
      const wrong = movingOfClients({ ids: [id(12)], name: Option.some("Expenses:Other") })
      expect(yield* messageOf(wrong)).toBe(
        "--name: 4120-ORG is Expenses:Payroll USD:ORG already. Leave --name out, or choose another code.",
      )
      const { moved } = yield* movingOfClients({
        ids: [id(12)],
        name: Option.some("Expenses:Payroll USD:ORG"),
      })
      expect(moved.map(({ to }) => to)).toEqual([{ code: "4120-ORG", name: "Expenses:Payroll USD:ORG" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("may be called so before the rule has booked anything, too", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "1000.00",
        statement: [credit(10, "1000.00", "1000.00")],
      })
      yield* sync(service.url, ofClients)
      const wrong = movingOfClients({ ids: [id(10)], name: Option.some("Expenses:Other") })
      expect(yield* messageOf(wrong)).toBe(
        "--name: 4120-ORG is Expenses:Payroll USD:ORG already. Leave --name out, or choose another code.",
      )
      yield* movingOfClients({ ids: [id(10)], name: Option.some("Expenses:Payroll USD:ORG") })
      expect(yield* named).toEqual(["4120-ORG Expenses:Payroll USD:ORG -1000"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("has the name of the currency that is moved, where the book has it in another one", () =>
    Effect.gen(function* () {
      const euros = { accountId: id(2), currency: "EUR" }
      const accounts = [
        { ...account, balance: "900.00", status: "ACTIVE" },
        { ...account, ...euros, balance: "5.00", status: "ACTIVE" },
      ]
      const lists = new Map<string, ReadonlyArray<object>>([
        ["/accounts", accounts],
        [`/accounts/${id(2)}/statement`, [{ ...credit(20, "5.00", "5.00"), ...euros }]],
      ])
      const { service } = yield* partnership({
        statement: [credit(10, "1000.00", "1000.00"), debit(11, "100.00", "900.00", id(111))],
        withdrawals: [withdrawal(111, "100.00", "0.00", { reference: "Payroll" })],
        interfere: (path, response) => {
          const items = lists.get(path.split("?")[0] ?? "")
          if (items !== undefined) json(response, { items, pageInfo: { hasNextPage: false } })
          return items !== undefined
        },
      })
      yield* sync(service.url, ofClients)
      const { moved } = yield* movingOfClients({ ids: [id(20)], preview: true })
      expect(moved.map(({ to }) => to)).toEqual([{ code: "4120-ORG", name: "Expenses:Payroll EUR:ORG" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is the one that a rule is proposed for, by the name that the settings give it", () =>
    Effect.gen(function* () {
      const { service } = yield* payingStaff
      yield* sync(service.url, ofClients)
      const ids = [id(11), id(12), id(13)]
      const { proposals } = yield* movingOfClients({ ids })
      expect(proposals.filter(({ by }) => by === "reference").map(({ rule }) => rule)).toEqual([
        '- { match: { reference: "^Staff$" }, account: { code: "4120-{client}", name: "Expenses:Payroll {currency}:{client}" } }',
      ])
      const again = yield* movingOfClients({ ids, to: "6850" })
      expect(again.proposals.filter(({ by }) => by === "reference").map(({ rule }) => rule)).toEqual([
        '- { match: { reference: "^Staff$" }, account: { code: "6850", name: "Expenses:Fees:{client}:{currency}" } }',
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
