import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { nameOf } from "../../src/Reclassify/Target.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { openFindings } from "../../src/Reconcile/Summary.ts"
import { credit, debit, deposit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { findings, postings, rows, sync, syncWith, variablesFor } from "../Sync/Runs.ts"
import { services, servicesWith } from "../support/BookServices.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { bridging, closing } from "./Months.ts"

const moving = (entry: string, to: string, name?: string, reason = "Bank interest") =>
  reclassify({ id: entry, to, name: Option.fromNullable(name), reason, who: "controller" }).pipe(
    Effect.provide(services),
  )

describe("the name of an account to move to", () => {
  const booked = (name: string, currency: string) => ({ name, cash: false, currency })
  const settled = (name: string) => ({ name, cash: false, currency: null })
  it.each([
    [[], null, undefined],
    [[], "Expenses:Bank", "Expenses:Bank"],
    [[booked("Expenses:Bank", "USD")], null, "Expenses:Bank"],
    [[booked("Expenses:Bank", "USD")], "Expenses:Bank", "Expenses:Bank"],
    [[booked("Expenses:Bank:USD", "USD")], null, "Expenses:Bank:EUR"],
    [[booked("Expenses:Bank:USD", "USD")], "Expenses:Bank:{currency}", "Expenses:Bank:{currency}"],
    [[settled("Expenses:Bank:{currency}")], null, "Expenses:Bank:{currency}"],
    [[settled("Expenses:Bank:{currency}")], "Expenses:Bank:EUR", "Expenses:Bank:EUR"],
    [[booked("Expenses:Bank", "USD"), booked("Expenses:Other", "GBP")], "Expenses:Other", "Expenses:Other"],
  ])("of %j, asked for %j, is %j", (known, given, name) => {
    expect(nameOf(known, given, "6855", "EUR", "ORG")).toEqual(Either.right(name))
  })

  it("is the code's own, whatever the currency", () => {
    expect(nameOf([booked("Expenses:Bank", "USD")], "Expenses:Different", "6855", "EUR", "ORG")).toEqual(
      Either.left("--name: 6855 is Expenses:Bank already. Leave --name out, or choose another code."),
    )
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("reclassifying", (it) => {
  it.scoped("dates by the book's own time zone, whatever the setting says now", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "10.00",
        statement: [{ ...credit(10, "10.00", "10.00"), occurredAt: "2026-10-31T23:30:00Z" }],
      })
      yield* sync(service.url)
      const inBerlin = servicesWith({ TIEOUT_ACCOUNTING_TIME_ZONE: "Europe/Berlin" })
      const moved = yield* reclassify({
        id: id(10),
        to: "4400",
        name: Option.some("Income:Interest"),
        reason: "Bank interest",
        who: "controller",
      }).pipe(Effect.provide(inBerlin))
      expect(moved.effectiveDate).toBe("2026-10-31")
      yield* rows(`insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
        select book_id, 'adjustment', 'warning', 'statement_entry', 'x', 'm', '{"occurredAt":"2026-10-31T23:30:00Z"}'
        from mirror.books`)
      const shown = yield* openFindings(yield* allBooks(Option.none()), Option.some("2026-10"))
      expect(shown.map(({ check }) => check)).toEqual(["adjustment"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "does not choose between two books that have the entry, and takes its journal number in one",
    () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "10.00",
          statement: [credit(11, "10.00", "10.00")],
        })
        const own = variablesFor(service.url)
        const others = Object.entries(own).map(([name, value]) => [
          name.replace("TIEOUT_", "TIEOUT_OTHER_"),
          value,
        ])
        const both = { ...own, ...Object.fromEntries(others), TIEOUT_CONNECTIONS: "{default: {}, other: {}}" }
        yield* syncWith(both)
        yield* syncWith(both, { connection: "other" })
        const codes = (yield* allBooks(Option.none())).map(({ code }) => code)
        expect(codes).toHaveLength(2)
        expect(yield* messageOf(moving(id(11), "4400", "Income:Interest:{currency}"))).toBe(
          `"${id(11)}" is in the books ${codes.join(", ")}: name the entry by its journal number there. See: tieout explain ${id(11)}`,
        )
        const number = `${codes[1]}-2026-10-000001`
        const moved = yield* moving(number, "4400", "Income:Interest:{currency}")
        expect(moved).toMatchObject({ book: codes[1], of: number, entryId: id(11) })
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("moves an adjustment out of suspense and closes its finding", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* sync(service.url)
      expect(yield* findings).toEqual(["adjustment warning"])
      expect(yield* messageOf(moving(id(11), "4400"))).toBe(
        '--to: no account of book ORG and no rule of the settings has the code 4400. Name it: --name "Expenses:…"',
      )
      expect(yield* messageOf(moving(id(11), "1010"))).toContain("1010 is a cash account")
      expect(yield* messageOf(moving(id(11), "1990"))).toBe(
        `--to: what statement entry ${id(11)} moved stands in 1990 Assets:Suspense:USD already.`,
      )
      expect(yield* messageOf(moving("ORG-2026-10-000099", "4400"))).toContain("Nothing that is stored here")
      expect((yield* closing("2026-10", { dryRun: true }))[0]?.state).toBe("blocked")

      const [finding] = yield* rows("select 'F' || finding_id as id from reconcile.findings")
      const moved = yield* moving(String(finding?.id), "4400", "Income:Interest:{currency}")
      expect(moved).toEqual({
        book: "ORG",
        number: "ORG-2026-10-000002",
        entryId: id(11),
        of: "ORG-2026-10-000001",
        effectiveDate: "2026-10-01",
        amount: "-10.00 USD",
        from: { code: "1990", name: "Assets:Suspense:USD" },
        to: { code: "4400", name: "Income:Interest:USD" },
        reason: "Bank interest",
      })
      expect(yield* findings).toEqual([])
      expect(
        yield* rows(`select e.description, a.code, a.name, trim_scale(p.amount)::text as amount, e.reverses
          from ledger.journal_entries e join ledger.postings p using (book_id, entry_id)
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          where e.source_type = 'manual' order by p.line_number`),
      ).toEqual([
        {
          description: "Reclassification by hand: Bank interest",
          code: "1990",
          name: "Assets:Suspense:USD",
          amount: "10",
          reverses: null,
        },
        {
          description: "Reclassification by hand: Bank interest",
          code: "4400",
          name: "Income:Interest:USD",
          amount: "-10",
          reverses: null,
        },
      ])
      // It is moved once more by its journal number, because the account was wrong.
      yield* moving("ORG-2026-10-000002", "4410", "Income:Other")
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      expect((yield* closing("2026-10"))[0]?.state).toBe("closed")

      // The month is closed: a move is dated today, and the month stays as it was.
      const late = yield* moving(id(11), "4400")
      const [today] = yield* rows("select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today")
      expect(late.effectiveDate).toBe(today?.today)
      expect((yield* bridging("2026-10"))[0]?.accounts[0]?.difference).toBe("0.00")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a movement that was reclassified by hand", (it) => {
  it.scoped("is corrected from the account where it stands, once its resource is known", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00", id(12))],
      })
      yield* sync(service.url)
      yield* moving(id(11), "4400", "Income:Other")
      held.deposits.push(deposit(12, "10.00"))
      yield* sync(service.url)
      expect(yield* postings).toEqual([
        "unidentified cash 10, suspense -10",
        "reclassification suspense 10, other -10",
        "reclassification other 10, deposits_clearing -10",
      ])
      expect(
        yield* rows(`select a.code, sum(b.debit - b.credit)::text as balance
          from ledger.accounts a join ledger.balances b using (book_id, account_id)
          group by a.code order by a.code`),
      ).toEqual([
        { code: "1010", balance: "10.00" },
        { code: "1020", balance: "-10.00" },
        { code: "1990", balance: "0.00" },
        { code: "4400", balance: "0.00" },
      ])
      expect(yield* messageOf(moving(id(12), "4400"))).toContain("names no statement entry")
    }),
  )

  it.scoped("closes its finding with the next sync, where the process was killed before it could", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* sync(service.url)
      yield* moving(id(11), "4400", "Income:Other")
      yield* unruled("update reconcile.findings set closed_at = null, closed_run = null")
      expect(yield* findings).toEqual(["adjustment warning"])
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("moves the amount of that moment: a fee that comes later is booked by its own entry", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "900.00",
        statement: [credit(10, "1000.00", "1000.00", id(110)), debit(11, "100.00", "900.00", id(111))],
        deposits: [deposit(110, "1000.00")],
        withdrawals: [withdrawal(111, "102.00", "2.00", { status: "PENDING" })],
      })
      yield* sync(service.url)
      yield* moving(id(11), "4200", "Expenses:Rent")
      held.statement.push(debit(12, "2.00", "898.00", id(111)))
      held.balance = "898.00"
      held.withdrawals = [withdrawal(111, "102.00", "2.00")]
      yield* sync(service.url, {}, true)
      expect((yield* postings).slice(1)).toEqual([
        "withdrawal withdrawals_clearing 100, cash -100",
        "reclassification other 100, withdrawals_clearing -100",
        "fee fees 2, cash -2",
      ])
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("stays on its new account, and its return goes there, too", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00", id(12))],
        deposits: [deposit(12, "10.00")],
      })
      yield* sync(service.url)
      yield* moving(id(11), "4120", "Income:Sales")
      yield* sync(service.url, {}, true)
      const returned = {
        ...credit(13, "4.00", "6.00", id(12)),
        type: "DEBIT",
      }
      held.statement.push(returned)
      held.balance = "6.00"
      yield* sync(service.url)
      held.statement.push({ ...returned, entryId: id(14), amount: "6.00", balanceAfter: "0.00" })
      held.balance = "0.00"
      held.deposits = [deposit(12, "10.00", { status: "CANCELED" })]
      yield* sync(service.url, {}, true)
      expect(yield* postings).toEqual([
        "deposit cash 10, deposits_clearing -10",
        "reclassification deposits_clearing 10, other -10",
        "deposit_return other 4, cash -4",
        "deposit_return other 6, cash -6",
      ])
      expect(yield* findings).toEqual([])
      expect(yield* rows("select code, role, rule_code from ledger.accounts order by code")).toEqual([
        { code: "1010", role: "cash", rule_code: "" },
        { code: "1020", role: "deposits_clearing", rule_code: "" },
        { code: "4120", role: "other", rule_code: "4120" },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "moves on to its resource's account where it was an adjustment that names its resource later",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({
          balance: "10.00",
          statement: [credit(11, "10.00", "10.00")],
          deposits: [deposit(12, "11.00", { fee: { amount: "1.00", currency: "USD" } })],
        })
        yield* sync(service.url)
        yield* moving(id(11), "4400", "Income:Interest")
        yield* sync(service.url, {}, true)
        held.statement = [credit(11, "10.00", "10.00", id(12))]
        yield* sync(service.url, {}, true)
        yield* sync(service.url, {}, true)
        expect(yield* postings).toEqual([
          "adjustment cash 10, suspense -10",
          "reclassification suspense 10, other -10",
          "reclassification other 10, fees 1, deposits_clearing -11",
        ])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
