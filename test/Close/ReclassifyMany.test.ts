/** Many reclassifications at once: all or none, in one transaction, with one reason. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { type ReclassifyRequest, reclassifyAll } from "../../src/Reclassify.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { json } from "../Partner/Service.ts"
import { client, lending, move } from "../Sync/Lending.ts"
import { at, loan, paid, standing, surfaces, tx } from "../Sync/Loaned.ts"
import { accountId, bothSurfaces, credit, debit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { findings, rows, sync, syncWith } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const moving = (request: Partial<ReclassifyRequest>) =>
  reclassifyAll({
    ...{ ids: [], to: "6855", name: Option.some("Expenses:Bank"), reason: "Fees", who: "controller" },
    ...request,
  }).pipe(Effect.provide(services))

const allOf = (maxAmount?: string) => ({
  allOf: { check: "adjustment", book: Option.none<string>(), maxAmount: Option.fromNullable(maxAmount) },
})

const variablesOf = (name: string, url: string) => ({
  [`TIEOUT_${name}_BASE_URL`]: url,
  [`TIEOUT_${name}_CLIENT_ID`]: "a",
  [`TIEOUT_${name}_CLIENT_SECRET`]: "b",
  [`TIEOUT_${name}_SCOPE`]: "c",
})

const runs = rows("select count(*)::integer as runs from sync.runs where command = 'reclassify'")

const adjustments = Effect.gen(function* () {
  const { service } = yield* partnership({
    balance: "55.00",
    statement: [credit(11, "100.00", "100.00"), debit(12, "20.00", "80.00"), debit(13, "25.00", "55.00")],
  })
  yield* sync(service.url)
})

/** How often the server is asked. */
const asked = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const database = yield* Database
    let times = 0
    const counted =
      <Args extends ReadonlyArray<unknown>, B>(ask: (...args: Args) => B) =>
      (...args: Args): B => {
        times++
        return ask(...args)
      }
    yield* Effect.provideService(
      effect,
      Database,
      new Database({
        ...database,
        rows: counted(database.rows),
        row: counted(database.row),
        orm: counted(database.orm),
      }),
    )
    return times
  })

layer(TestDatabase.layer, { excludeTestServices: true })("reclassifying many", (it) => {
  it.scoped("asks the server as often for sixty as for two", () =>
    Effect.gen(function* () {
      const statement = Array.from({ length: 64 }, (_, at) =>
        credit(11 + at, `${at + 1}.00`, `${((at + 1) * (at + 2)) / 2}.00`),
      )
      const { service } = yield* partnership({ balance: "2080.00", statement })
      yield* sync(service.url)
      const all = allOf("62")
      const few = yield* asked(moving({ ...allOf("2"), preview: true }))
      expect(yield* asked(moving({ ...all, preview: true }))).toBe(few)
      const moves = yield* asked(moving(allOf("2")))
      const { moved } = yield* moving({ ...all, preview: true })
      expect(moved).toHaveLength(60)
      expect(yield* asked(moving(all))).toBe(moves)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("moves an entry in each of the books that have it", () =>
    Effect.gen(function* () {
      const own = client(1)
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00")],
      })
      const listed = { accountId, currency: "USD", paymentRails: "SEPA", balance: "10.00", status: "ACTIVE" }
      const of = `/clients/${own.clientId}`
      const lists: Record<string, ReadonlyArray<unknown>> = {
        "/clients": [own],
        [`${of}/accounts`]: [listed],
        [`${of}/accounts/${accountId}/statement`]: held.statement,
        [`${of}/destinations`]: [],
      }
      held.interfere = (path, response) => {
        const items = lists[path.split("?")[0] ?? ""]
        if (items !== undefined) json(response, { items, pageInfo: { hasNextPage: false } })
        return items !== undefined
      }
      yield* sync(service.url, bothSurfaces)
      expect(yield* findings).toContain("account-shared blocking")
      const { moved } = yield* moving(allOf())
      expect(moved.map(({ entryId }) => entryId)).toEqual([id(11), id(11)])
      expect(new Set(moved.map(({ book }) => book)).size).toBe(2)
      expect(yield* findings).not.toContain("adjustment warning")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of two connections says what tells them apart: only findings of a check take a book", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* sync(service.url)
      yield* syncWith(
        { ...variablesOf("OTHER", service.url), TIEOUT_CONNECTIONS: "{other: {surfaces: [organization]}}" },
        { connection: "other" },
      )
      const ids = (yield* rows("select 'F' || finding_id as id from reconcile.open_findings order by 1")).map(
        (row) => String(row.id),
      )
      expect(yield* messageOf(moving({ ids }))).toBe(
        "They are of the connections default, other: name those of one connection at a time.",
      )
      expect(yield* messageOf(moving(allOf()))).toBe(
        "They are of the connections default, other: name one book at a time, with --book.",
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("shows a preview, and moves all findings of a check up to an amount", () =>
    Effect.gen(function* () {
      yield* adjustments
      const shown = yield* moving({ ...allOf("25"), preview: true })
      expect(shown.moved.map(({ amount, effectiveDate, number }) => [amount, effectiveDate, number])).toEqual(
        [
          ["20.00 USD", "2026-10-01", null],
          ["25.00 USD", "2026-10-01", null],
        ],
      )
      // People know the entries by their journal numbers.
      expect(shown.moved.map(({ of }) => of)).toEqual(["ORG-2026-10-000002", "ORG-2026-10-000003"])
      expect([yield* runs, (yield* findings).length]).toEqual([[{ runs: 0 }], 3])
      const { moved, proposals } = yield* moving(allOf("25"))
      expect(moved.map(({ amount, number }) => [number, amount])).toEqual([
        ["ORG-2026-10-000004", "20.00 USD"],
        ["ORG-2026-10-000005", "25.00 USD"],
      ])
      // No rule can match a movement that names no counterparty.
      expect(proposals).toEqual([])
      expect([yield* runs, yield* findings]).toEqual([[{ runs: 1 }], ["adjustment warning"]])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("moves none where one cannot be moved, and says what is wrong with each", () =>
    Effect.gen(function* () {
      yield* adjustments
      yield* moving({ ids: [id(11)] })
      const refused = yield* Effect.flip(moving({ ids: [id(11), id(12), id(11)] }))
      expect(refused.message).toBe(
        `--to: what statement entry ${id(11)} moved stands in 6855 Expenses:Bank already.\nNothing was moved.`,
      )
      const unknown = yield* Effect.flip(moving({ ids: [id(12), "ORG-2026-10-000099"] }))
      expect(unknown.message).toContain("Nothing that is stored here")
      expect(yield* findings).toEqual(["adjustment warning", "adjustment warning"])
      expect(yield* runs).toEqual([{ runs: 1 }])
      // Each is moved once, whatever names it; all in one transaction.
      const { moved } = yield* moving({ ids: [id(12), "ORG-2026-10-000002", id(13)], to: "6856" })
      expect(moved.map(({ entryId }) => entryId)).toEqual([id(12), id(13)])
      expect(
        yield* rows(`select count(distinct recorded_at)::integer as times from ledger.journal_entries
          where source_type = 'manual' and source_id <> '${id(11)}'`),
      ).toEqual([{ times: 1 }])
      expect(yield* findings).toEqual([])
      expect((yield* moving({ ...allOf(), preview: true })).moved).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "moves and closes the findings at once, so that none stays open where a process dies in between",
    () =>
      Effect.gen(function* () {
        yield* adjustments
        const dying = Effect.gen(function* () {
          const reconcile = yield* Reconcile
          return yield* reclassifyAll({
            ...{ ids: [], to: "6855", name: Option.some("Expenses:Bank"), reason: "Fees", who: "controller" },
            ...allOf(),
          }).pipe(
            Effect.provideService(
              Reconcile,
              Reconcile.make({ ...reconcile, month: () => Effect.die("killed") }),
            ),
          )
        }).pipe(Effect.provide(services))
        yield* Effect.exit(dying)
        expect((yield* moving(allOf())).moved.map(({ amount }) => amount)).toEqual([
          "-100.00 USD",
          "20.00 USD",
          "25.00 USD",
        ])
        expect(yield* findings).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("proposes a rule once movements of one counterparty were moved three times", () =>
    Effect.gen(function* () {
      const acme = { remitterName: "Acme (UK) Ltd." }
      const { service } = yield* partnership({
        balance: "40.00",
        statement: [
          credit(11, "10.00", "10.00", id(111)),
          credit(12, "10.00", "20.00", id(112)),
          credit(13, "10.00", "30.00", id(113)),
          credit(14, "10.00", "40.00", id(114)),
        ],
        deposits: [
          deposit(111, "10.00", acme),
          deposit(112, "10.00", acme),
          deposit(113, "10.00", acme),
          deposit(114, "10.00", { remitterName: "Other" }),
        ],
      })
      yield* sync(service.url)
      const sales = { to: "4000", name: Option.some("Income:Sales") }
      expect((yield* moving({ ids: [id(11), id(14)], ...sales })).proposals).toEqual([])
      expect((yield* moving({ ids: [id(12)], ...sales })).proposals).toEqual([])
      expect((yield* moving({ ids: [id(13)], ...sales })).proposals).toEqual([
        {
          ...{ by: "counterparty", value: "Acme (UK) Ltd.", times: 3 },
          rule: '- { match: { counterparty: "^Acme \\\\(UK\\\\) Ltd\\\\.$" }, account: { code: "4000", name: "Income:Sales" } }',
        },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
layer(TestDatabase.layer, { excludeTestServices: true })("a proposed rule", (it) => {
  it.scoped("names the account for every currency, where its name holds that of what was moved", () =>
    Effect.gen(function* () {
      const acme = { remitterName: "Acme" }
      const { service } = yield* partnership({
        balance: "30.00",
        statement: [
          credit(11, "10.00", "10.00", id(111)),
          credit(12, "10.00", "20.00", id(112)),
          credit(13, "10.00", "30.00", id(113)),
        ],
        deposits: [deposit(111, "10.00", acme), deposit(112, "10.00", acme), deposit(113, "10.00", acme)],
      })
      yield* sync(service.url)
      // The chart's own account for fees.
      const { moved, proposals } = yield* moving({
        ids: [id(11), id(12), id(13)],
        to: "6850",
        name: Option.none(),
      })
      expect(moved.map(({ to }) => to.name)).toEqual(Array.from({ length: 3 }, () => "Expenses:Fees:USD"))
      expect(proposals.map(({ rule }) => rule)).toEqual([
        '- { match: { counterparty: "^Acme$" }, account: { code: "6850", name: "Expenses:Fees:{currency}" } }',
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("reclassifying many", (it) => {
  it.scoped("moves the excess of a loan once, whichever of its payments are named", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const first = move(held, "", { type: "CREDIT", amount: 600, on: at(10) })
      const second = move(held, "", { type: "CREDIT", amount: 500, on: at(20) })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      yield* sync(service.url, surfaces)
      held.clock = at(21)
      held.receivables = [
        paid(second, {
          disbursedTransaction: tx(out, 2),
          repaymentTransactions: [tx(first, 10), tx(second, 20)],
        }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* standing).toContain("loan_clearing -75")
      const refused = yield* Effect.flip(moving({ ids: [first, second] }))
      expect(refused.message).toBe(
        `Statement entries ${first}, ${second} are cash of one receivable, ${id(900)}, and the -75.00 USD of it in 1050 Assets:Clearing:Loans:USD can be moved from one of them: name that one.\nNothing was moved.`,
      )
      expect(yield* standing).toContain("loan_clearing -75")
      expect((yield* moving({ ids: [first] })).moved.map(({ amount }) => amount)).toEqual(["-75.00 USD"])
      expect(yield* standing).toContain("other -75")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
