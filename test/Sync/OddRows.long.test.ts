/** Statement rows that no well-behaved service shows: entries of zero, of two accounts, and entries that are enriched later. */
import { randomBytes } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending } from "./Lending.ts"
import { loan, surfaces } from "./Loaned.ts"
import { accountId, credit, debit, deposit, id, partnership } from "./Partnership.ts"
import { balances, findings, journal, postings, rows, sync } from "./Runs.ts"

const mirrored =
  rows(`select position::integer, trim_scale(amount)::text as amount, held from mirror.statement_entries
  order by account_id, position`)

const fresh = TestDatabase.layer

const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => JSON.stringify(error))

layer(TestDatabase.layer, { excludeTestServices: true })("an entry of amount zero", (it) => {
  it.scoped("is mirrored and passed over with a warning, and holds nothing back", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "12.00",
        pageSize: 2,
        statement: [
          credit(11, "10.00", "10.00", id(111)),
          credit(12, "0.00", "10.00", id(111)),
          debit(13, "0", "10.00"),
          credit(14, "2.00", "12.00", id(114)),
        ],
        deposits: [deposit(111, "10.00"), deposit(114, "2.00")],
      })
      const report = yield* sync(service.url)
      expect(report.counters.quarantined).toBe(0)
      expect(yield* mirrored).toEqual([
        { position: 1, amount: "10", held: false },
        { position: 2, amount: "0", held: false },
        { position: 3, amount: "0", held: false },
        { position: 4, amount: "2", held: false },
      ])
      expect(yield* postings).toEqual([
        "deposit cash 10, deposits_clearing -10",
        "deposit cash 2, deposits_clearing -2",
      ])
      expect(yield* findings).toEqual(["zero-entry warning", "zero-entry warning"])
      const before = yield* journal
      held.statement.push(credit(15, "1.00", "13.00"))
      held.balance = "13.00"
      yield* sync(service.url, {}, true)
      expect((yield* journal).slice(0, before.length)).toEqual(before)
      expect(yield* findings).toEqual(["adjustment warning", "zero-entry warning", "zero-entry warning"])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("opens the books at the balance that it shows, where it is the first entry", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "7.00",
        statement: [credit(11, "0.00", "5.00"), credit(12, "2.00", "7.00", id(112))],
        deposits: [deposit(112, "2.00")],
      })
      yield* sync(service.url)
      expect(yield* postings).toEqual([
        "opening_balance cash 5, opening_balance -5",
        "deposit cash 2, deposits_clearing -2",
      ])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped.each([{ balanceBefore: "10.00" }, {}])(
    "is a malformed row where the balance changes, and the entries behind it wait (%o)",
    (stated) =>
      Effect.gen(function* () {
        const zero = { ...credit(12, "0.00", "11.00"), ...stated }
        const { held, service } = yield* partnership({
          balance: "13.00",
          statement: [credit(11, "10.00", "10.00"), zero, credit(14, "2.00", "13.00")],
        })
        yield* sync(service.url)
        expect(
          yield* rows("select raw::json ->> 'amount' as amount, path, reason from mirror.quarantine"),
        ).toEqual([{ amount: "0.00", path: "$.amount", reason: "is zero, but the balance changes" }])
        expect(yield* postings).toEqual(["adjustment cash 10, suspense -10"])
        expect(yield* findings).toEqual([
          "adjustment warning",
          "cash-balance blocking",
          "quarantine blocking",
          "running-balance blocking",
        ])
        held.statement[1] = { ...credit(12, "1.00", "11.00") }
        yield* sync(service.url)
        expect(yield* postings).toHaveLength(3)
        expect(yield* findings).toEqual(["adjustment warning", "adjustment warning", "adjustment warning"])
      }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an amount of very many digits", (it) => {
  it.scoped("is quarantined where the tables could not hold it, and stops nothing else", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00"), credit(12, "9".repeat(31), "10.00")],
      })
      yield* sync(service.url)
      expect(yield* rows("select path, reason from mirror.quarantine")).toEqual([
        { path: "$.amount", reason: "has more than 24 digits before the point" },
      ])
      expect(yield* postings).toEqual(["adjustment cash 10, suspense -10"])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("opens an account at a balance that is twice the largest amount", () =>
    Effect.gen(function* () {
      const most = "9".repeat(24)
      const { service } = yield* partnership({ balance: most, statement: [debit(11, most, most)] })
      yield* sync(service.url)
      expect(yield* postings).toEqual([
        `opening_balance cash 1${"9".repeat(23)}8, opening_balance -1${"9".repeat(23)}8`,
        `adjustment suspense ${most}, cash -${most}`,
      ])
    }).pipe(Effect.provide(fresh)),
  )
})

/** On these two days a time zone decides whether the books can have the day at all. */
layer(TestDatabase.layer, { excludeTestServices: true })("a time at the edge of the years", (it) => {
  it.scoped.each([
    { zone: "America/New_York", at: "1970-01-01T00:00:00Z" },
    { zone: "Asia/Tokyo", at: "2199-12-31T15:00:00Z" },
  ])(
    "of an entry is quarantined in $zone, where its day lies outside, and stops nothing else",
    ({ at, zone }) =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "12.00",
          statement: [credit(11, "10.00", "10.00"), { ...credit(12, "2.00", "12.00"), occurredAt: at }],
        })
        yield* sync(service.url, { TIEOUT_ACCOUNTING_TIME_ZONE: zone })
        expect(yield* rows("select path, reason from mirror.quarantine")).toEqual([
          { path: "$.occurredAt", reason: `lies outside the years 1970 to 2199 in ${zone}` },
        ])
        expect(yield* postings).toEqual(["adjustment cash 10, suspense -10"])
      }).pipe(Effect.provide(fresh)),
  )

  it.scoped("of an entry is booked where its day lies within", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "12.00",
        statement: [
          { ...credit(11, "10.00", "10.00"), occurredAt: "1970-01-01T05:00:00Z" },
          { ...credit(12, "2.00", "12.00"), occurredAt: "2199-12-31T23:59:59.999999Z" },
        ],
      })
      yield* sync(service.url, { TIEOUT_ACCOUNTING_TIME_ZONE: "America/New_York" })
      expect(
        yield* rows("select effective_date::text as day from ledger.journal_entries order by effective_date"),
      ).toEqual([{ day: "1970-01-01" }, { day: "2199-12-31" }])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("of a loan's transaction is quarantined with its receivable, and another one is booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const never = { txId: "TX-1", txTimestamp: "1970-01-01T00:00:00Z" }
      held.receivables = [
        loan({ disbursedTransaction: never }),
        loan({ receivableId: id(901), paymentTransaction: never }),
      ]
      yield* sync(service.url, { ...surfaces, TIEOUT_ACCOUNTING_TIME_ZONE: "America/New_York" })
      expect(yield* rows("select item_id, path from mirror.quarantine")).toEqual([
        { item_id: id(900), path: "$.disbursedTransaction.txTimestamp" },
      ])
      expect(yield* rows("select distinct resource_id from ledger.journal_entries")).toEqual([
        { resource_id: id(901) },
      ])
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a code of payment rails that is endless", (it) => {
  it.scoped("is quarantined where it is looked up by, and stops nothing else", () =>
    Effect.gen(function* () {
      // Random, since an index would hold what can be compressed.
      const endless = randomBytes(30_000).toString("hex")
      const { held, service } = yield* lending()
      held.interfere = (path, response) => {
        if (!path.startsWith("/settings/payment-rails")) return false
        json(response, { items: [{ code: endless }, { code: "SWIFT" }], pageInfo: { hasNextPage: false } })
        return true
      }
      held.receivables = [loan({ paymentRails: endless }), loan({ receivableId: id(901) })]
      yield* sync(service.url, surfaces)
      expect(yield* rows("select path, reason from mirror.quarantine order by path")).toEqual([
        { path: "$.code", reason: "has more than 255 characters" },
        { path: "$.paymentRails", reason: "has more than 255 characters" },
      ])
      expect(
        yield* rows(`select item_id from mirror.reference_items where kind = 'payment_rail'
          union all select distinct resource_id::text from ledger.journal_entries`),
      ).toEqual([{ item_id: "SWIFT" }, { item_id: id(901) }])
    }).pipe(Effect.provide(fresh)),
  )
})

const other = id(2)

/** A service with a second USD account. */
const twoAccounts = (first: ReadonlyArray<object>, second: ReadonlyArray<object>) =>
  Effect.gen(function* () {
    const balanceOf = (statement: ReadonlyArray<object>) => {
      const last = statement.at(-1)
      return last !== undefined && "balanceAfter" in last ? last.balanceAfter : "0"
    }
    const world = { first, second }
    const { service } = yield* partnership({
      interfere: (path, response) => {
        const [route = ""] = path.split("?")
        const accounts = [
          [accountId, world.first],
          [other, world.second],
        ] as const
        const shown = accounts.map(([of, statement]) => ({
          accountId: of,
          currency: "USD",
          paymentRails: "SEPA",
          balance: balanceOf(statement),
          status: "ACTIVE",
        }))
        const pageInfo = { hasNextPage: false }
        if (route === "/accounts") json(response, { items: shown, pageInfo })
        else if (route === `/accounts/${other}/statement`) json(response, { items: world.second, pageInfo })
        else if (route === `/accounts/${accountId}/statement`)
          json(response, { items: world.first, pageInfo })
        else return false
        return true
      },
    })
    return { service, world }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("one entry on two accounts", (it) => {
  const elsewhere = (index: number, amount: string, balanceAfter: string) => ({
    ...credit(index, amount, balanceAfter),
    accountId: other,
  })

  it.scoped("is refused by an error that names both, and nothing of the second statement is booked", () =>
    Effect.gen(function* () {
      const { service, world } = yield* twoAccounts([credit(11, "10.00", "10.00")], [])
      yield* sync(service.url)
      const before = yield* journal
      world.second = [elsewhere(11, "10.00", "10.00"), elsewhere(12, "5.00", "15.00")]
      const told = yield* failureOf(sync(service.url))
      expect(told).toContain(
        `statement entry ${id(11)} is in the statements of two accounts, ${accountId} and ${other}`,
      )
      expect(yield* journal).toEqual(before)
      expect(yield* rows(`select 1 from mirror.statement_entries where account_id = '${other}'`)).toEqual([])
      expect(yield* rows("select 1 from mirror.contradictions")).toEqual([])
      world.second = [elsewhere(13, "10.00", "10.00"), elsewhere(12, "5.00", "15.00")]
      yield* sync(service.url)
      expect(yield* findings).toEqual(Array.from({ length: 3 }, () => "adjustment warning"))
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("books at most one of two statements that are read at once", () =>
    Effect.gen(function* () {
      const { service } = yield* twoAccounts(
        [credit(11, "10.00", "10.00")],
        [elsewhere(11, "10.00", "10.00"), elsewhere(12, "5.00", "15.00")],
      )
      expect(yield* failureOf(sync(service.url))).toMatch(
        /in the statements of two accounts, \S+0000[12] and \S+0000[12]/,
      )
      const accounts = yield* rows("select distinct account_id from mirror.statement_entries")
      expect(accounts).toHaveLength(1)
      expect(yield* rows("select 1 from ledger.journal_entries where kind = 'opening_balance'")).toEqual([])
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an entry that is enriched later", (it) => {
  const enriching = Effect.gen(function* () {
    const world = yield* partnership({
      balance: "15.00",
      statement: [credit(11, "10.00", "10.00"), credit(12, "5.00", "15.00")],
      deposits: [deposit(111, "11.00", { fee: { amount: "1.00", currency: "USD" } })],
    })
    yield* sync(world.service.url)
    expect(yield* findings).toEqual(["adjustment warning", "adjustment warning", "movement-entries blocking"])
    return world
  })

  it.scoped("is a new version, not a contradiction: it leaves suspense with its fee", () =>
    Effect.gen(function* () {
      const { held, service } = yield* enriching
      held.statement[0] = credit(11, "10.00", "10.00", id(111))
      yield* sync(service.url, {}, true)
      expect(yield* postings).toEqual([
        "adjustment cash 10, suspense -10",
        "adjustment cash 5, suspense -5",
        "reclassification suspense 10, fees 1, deposits_clearing -11",
      ])
      expect(yield* findings).toEqual(["adjustment warning"])
      expect(yield* rows("select 1 from mirror.contradictions")).toEqual([])
      expect(
        yield* rows(`select v.version, v.related_type, e.related_type as now, e.related_id as id
          from mirror.statement_entry_versions v join mirror.statement_entries e using (book_id, entry_id)`),
      ).toEqual([{ version: 1, related_type: null, now: "DEPOSIT", id: id(111) }])
      const before = yield* journal
      yield* sync(service.url, {}, true)
      expect(yield* journal).toEqual(before)
    }).pipe(Effect.provide(fresh)),
  )

  const ruled = (...rules: ReadonlyArray<readonly [type: string, code: string]>) => ({
    TIEOUT_RULES: JSON.stringify(
      rules.map(([type, code]) => ({
        match: { type },
        account: { code, name: `Ruled:R${code}:{currency}` },
      })),
    ),
  })

  it.scoped.each([
    ["suspense", {}, credit(11, "10.00", "10.00")],
    ["an account that a rule names", ruled(["ADJUSTMENT", "4700"]), credit(11, "10.00", "10.00")],
    ["suspense where its deposit could not be read", {}, credit(11, "10.00", "10.00", id(111))],
  ] as const)(
    "stays where the rules of that day sent it out of %s, whatever they say when it is read again",
    ([, before, first]) =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({ balance: "10.00", statement: [first], deposits: [] })
        yield* sync(service.url, before)
        held.deposits = [deposit(111, "10.00")]
        held.statement[0] = credit(11, "10.00", "10.00", id(111))
        yield* sync(service.url, ruled(["DEPOSIT", "4711"]), true)
        const sent = yield* balances
        expect(sent).toEqual(["1010 10", "4711 -10"])
        held.deposits = [deposit(111, "10.00", { externalReference: "changed" })]
        yield* sync(service.url, {}, true)
        expect(yield* balances).toEqual(sent)
      }).pipe(Effect.provide(fresh)),
  )

  it.scoped("is a contradiction where anything else changes, or a resource is taken back", () =>
    Effect.gen(function* () {
      const { held, service } = yield* enriching
      held.statement[0] = {
        ...credit(11, "10.00", "10.00", id(111)),
        occurredAt: "2026-10-01T00:00:12Z",
      }
      held.statement[1] = credit(12, "5.00", "15.00", id(111))
      yield* sync(service.url, {}, true)
      expect(yield* findings).toContain("contradiction blocking")
      expect(yield* rows("select entry_id from mirror.statement_entry_versions")).toEqual([
        { entry_id: id(12) },
      ])
      held.statement[1] = credit(12, "5.00", "15.00")
      yield* sync(service.url, {}, true)
      expect(yield* rows("select 1 from mirror.contradictions")).toHaveLength(2)
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a movement that says it moved nothing yet",
  (it) => {
    it.scoped("is booked by its entries, and by its amount once it has one", () =>
      Effect.gen(function* () {
        const nothing = { amount: { amount: "0.00", currency: "USD" } }
        const { held, service } = yield* partnership({
          balance: "10.00",
          deposits: [
            deposit(112, "0.00", { ...nothing, status: "REJECTED" }),
            deposit(111, "0.00", { ...nothing, status: "PENDING" }),
          ],
          statement: [credit(11, "10.00", "10.00", id(111))],
        })
        yield* sync(service.url)
        expect(yield* rows("select 1 from mirror.quarantine")).toEqual([])
        expect(yield* postings).toEqual(["deposit cash 10, deposits_clearing -10"])
        held.deposits[1] = deposit(111, "12.00", { fee: { amount: "2.00", currency: "USD" } })
        yield* sync(service.url)
        expect(yield* balances).toEqual(["1010 10", "1020 -12", "6850 2"])
        expect(yield* findings).toEqual([])
      }).pipe(Effect.provide(fresh)),
    )

    it.scoped("blocks a close where an entry moves it all the same", () =>
      Effect.gen(function* () {
        const nothing = { amount: { amount: "0.00", currency: "USD" } }
        const { service } = yield* partnership({
          balance: "10.00",
          deposits: [deposit(111, "0.00", { ...nothing, status: "REJECTED" })],
          statement: [credit(11, "10.00", "10.00", id(111))],
        })
        yield* sync(service.url)
        expect(yield* findings).toEqual(["clearing-nets blocking"])
      }).pipe(Effect.provide(fresh)),
    )
  },
)
