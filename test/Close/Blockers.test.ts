/** Everything that blocks a month is listed by number with its amount, and a person accepts each. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { adviceLines, closeLines } from "../../src/Cli/Tables/CloseTable.ts"
import { close } from "../../src/Close.ts"
import { openFindings } from "../../src/Reconcile/Summary.ts"
import { json } from "../Partner/Service.ts"
import { reporting, sheet, textOf } from "../Report/Reports.ts"
import { exchange } from "../Sync/Exchange.ts"
import { accountOf, creditAccount, lending, move, receivable } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { id } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { servicesWith } from "../support/BookServices.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

const screen = { interactive: true, width: 400, color: false }

layer(TestDatabase.layer, { excludeTestServices: true })("a month with several blockers", (it) => {
  it.scoped("lists each by its number with its amount, and closes when all are accepted", () =>
    Effect.gen(function* () {
      const { service } = yield* exchange({
        moves: [
          { on: "usd", at: "2026-09-04", amount: "250" },
          { on: "usd", at: "2026-09-05", amount: "-100", of: 500 },
        ],
        conversions: { 500: { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "ACTIVE" } },
      })
      yield* sync(service.url)
      const [blocked] = yield* closing("2026-09")
      const found = (blocked?.blockers ?? []).map(({ what }) => what)
      expect(found).toEqual([
        expect.stringMatching(/^adjustment: .*250\.00 USD/),
        expect.stringMatching(/^conversion-in-transit: .*100\.00 USD/),
      ])
      const ids = (blocked?.blockers ?? []).map(({ id }) => id ?? "")
      for (const id of ids) expect(id).toMatch(/^F\d+$/)
      expect(blocked === undefined ? [] : adviceLines([blocked], screen)).toEqual([
        "What to do:",
        expect.stringMatching(/^ {2}adjustment: tieout reclassify F… --to CODE/),
        expect.stringMatching(/^ {2}conversion-in-transit: wait for the other side/),
        "To take responsibility for them as they are:",
        `  tieout close 2026-09 --book ORG --accept ${ids.join(",")} --reason "…"`,
      ])
      // For several books, one command accepts all.
      const other = blocked && {
        ...blocked,
        book: "CL-7",
        blockers: [{ check: "adjustment", hint: "", id: "F77", what: "" }],
      }
      expect(
        blocked === undefined || other === undefined ? [] : adviceLines([other, blocked], screen).at(-1),
      ).toBe(`  tieout close 2026-09 --accept ${ids.join(",")},F77 --reason "…"`)
      // Everything fits the terminal except the command, which is meant to be copied.
      const narrow = { ...screen, width: 60 }
      const lines = blocked === undefined ? [] : closeLines([blocked], false, narrow)
      expect(lines.filter((line) => line.length > 60 && !/account/i.test(line))).toEqual([])
      const many = blocked && {
        ...blocked,
        blockers: Array.from({ length: 1_030 }, (_, at) => ({
          ...{ id: `F${at}`, check: at < 25 ? "quarantine" : "adjustment" },
          ...{ what: "found", hint: "tieout explain" },
        })),
        accepted: Array.from({ length: 30 }, (_, at) => ({ id: `F${at}`, what: "found", reason: "Known" })),
      }
      const listed = (verbose: boolean) => (many === undefined ? [] : closeLines([many], verbose, screen))
      const findingsIn = (lines: ReadonlyArray<string>) =>
        lines.filter((line) => /^ {2}F\d+ /.test(line)).length
      const acceptedIn = (lines: ReadonlyArray<string>) =>
        lines.filter((line) => line.startsWith("  accepted F")).length
      expect([findingsIn(listed(true)), acceptedIn(listed(true))]).toEqual([1_030, 30])
      expect([findingsIn(listed(false)), acceptedIn(listed(false))]).toEqual([40, 20])
      expect(listed(false)).toContain(
        "  … and 5 more of quarantine, 985 more of adjustment; --verbose lists them.",
      )
      expect(listed(false)).toContain("  … and 10 more accepted.")
      const [closed] = yield* closing("2026-09", {
        accept: ids.map((id) => ({ id, reason: "Known to the bank" })),
      })
      expect([closed?.state, closed?.blockers]).toEqual(["closed", []])
      expect(yield* rows("select jsonb_array_length(accepted) as accepted from ledger.closes")).toEqual([
        { accepted: 2 },
      ])
      const [next] = yield* closing("2026-10", { dryRun: true })
      expect(
        next?.blockers.map(({ id }) => id),
        "accepted for one month alone",
      ).toEqual(ids)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an adjustment", (it) => {
  it.scoped("blocks the month in which it happened, at its last moment too, and none before", () =>
    Effect.gen(function* () {
      const { service } = yield* exchange({
        moves: [
          { on: "usd", at: "2026-09-04", amount: "250" },
          { on: "usd", at: "2026-10-31T23:59:59Z", amount: "-5" },
          { on: "usd", at: "2026-11-01T00:00:00Z", amount: "-7" },
        ],
      })
      yield* sync(service.url)
      const amounts = (period: string, accept: ReadonlyArray<{ id: string; reason: string }> = []) =>
        Effect.map(closing(period, { accept }), ([book]) => ({
          ids: book?.blockers.map(({ id }) => id ?? "") ?? [],
          what: book?.blockers.map(({ what }) => /[\d.]+ USD/.exec(what)?.[0]) ?? [],
        }))
      const september = yield* amounts("2026-09")
      expect(september.what).toEqual(["250.00 USD"])
      yield* amounts(
        "2026-09",
        september.ids.map((id) => ({ id, reason: "Known" })),
      )
      expect((yield* amounts("2026-10")).what).toEqual(["250.00 USD", "5.00 USD"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("what is to be done", (it) => {
  it.scoped("is listed from the oldest, whatever order the accounts are read in", () =>
    Effect.gen(function* () {
      const days = ["2026-09-04", "2026-09-09", "2026-09-06", "2026-09-02", "2026-09-11", "2026-09-03"]
      const { service } = yield* exchange({
        listed: ["usd", "eur", "usdt", "usd2"],
        moves: [
          ...days.slice(0, 2).map((at) => ({ on: "usd", at, amount: "1" }) as const),
          ...days.slice(2, 3).map((at) => ({ on: "eur", at, amount: "1" }) as const),
          ...days.slice(3, 5).map((at) => ({ on: "usdt", at, amount: "1" }) as const),
          ...days.slice(5).map((at) => ({ on: "usd2", at, amount: "1" }) as const),
        ],
        conversions: {},
      })
      yield* sync(service.url)
      const found = yield* openFindings(yield* allBooks(Option.none()), Option.none())
      expect(found.map(({ date }) => date)).toEqual(days.toSorted())
      // The numbers follow the same order, so that a list by number is a list by age.
      expect(found.map(({ findingId }) => findingId)).toEqual(days.map((_, at) => `F${at + 1}`))
      const [blocked] = yield* closing("2026-09")
      expect(blocked?.blockers.map(({ id }) => id)).toEqual(found.map(({ findingId }) => findingId))
    }),
  )
})

const closingWithCredit = (accept: ReadonlyArray<{ readonly id: string; readonly reason: string }> = []) =>
  close({
    ...{ period: "2026-10", book: Option.none(), dryRun: false, accept, who: "controller", reason: null },
  }).pipe(
    Effect.map(([book]) => book),
    Effect.provide(servicesWith(surfaces)),
  )

/** 250 without a resource, 100 sold by a conversion that is still running, and 3,000 paid on a receivable of 1,025. */
const october = Effect.gen(function* () {
  const { held, service } = yield* lending()
  const conversion = {
    conversionId: id(500),
    pairId: id(800),
    sellAccount: { accountId: accountOf(""), currency: "USD", paymentRails: "SWIFT" },
    sellAmount: { amount: "100.00", currency: "USD" },
    buyAccount: { accountId: id(77), currency: "EUR", paymentRails: "SEPA" },
    buyAmount: { amount: "90.00", currency: "EUR" },
    rate: "0.9",
    fee: { amount: "0.00", currency: "USD" },
    status: "ACTIVE",
    createdAt: "2026-10-05T00:00:00Z",
  }
  held.interfere = (path, response) => {
    if (path !== `/conversions/${id(500)}`) return false
    json(response, conversion)
    return true
  }
  move(held, "", { type: "CREDIT", amount: 250, on: "2026-10-04T12:00:00Z" })
  move(held, "", {
    ...{ type: "DEBIT", amount: 100, on: "2026-10-05T12:00:00Z" },
    ...{ relatedType: "CONVERSION", relatedId: id(500) },
  })
  const lent = move(held, "", { type: "DEBIT", amount: 1000, on: "2026-10-06T12:00:00Z" })
  const loan = receivable({
    ...{ status: "ACTIVE", repaymentAmount: "1025.00" },
    disbursedTransaction: { txId: lent, txTimestamp: "2026-10-06T12:00:00Z" },
  })
  held.clock = "2026-10-07T00:00:00Z"
  held.receivables = [loan]
  held.creditAccounts = [creditAccount("1000.00", "1025.00")]
  yield* sync(service.url, surfaces)
  const paid = move(held, "", { type: "CREDIT", amount: 3000, on: "2026-10-20T12:00:00Z" })
  held.clock = "2026-11-02T00:00:00Z"
  held.receivables = [
    {
      ...loan,
      ...{ status: "PAID", currentPrincipal: "0.00", repaymentAmount: "0.00" },
      repaymentTransactions: [{ txId: paid, txTimestamp: "2026-10-20T12:00:00Z" }],
    },
  ]
  held.creditAccounts = [creditAccount("0.00", "0.00")]
  yield* sync(service.url, surfaces)
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a month with a conversion in transit, an overpaid receivable and an item in suspense",
  (it) => {
    it.scoped("lists the three with their amounts, and is stamped with what was accepted", () =>
      Effect.gen(function* () {
        yield* october
        const blocked = yield* closingWithCredit()
        expect(blocked?.blockers.map(({ what }) => what)).toEqual([
          expect.stringMatching(/^loan-clearing: .*1025\.00 USD.*3000\.00 USD/),
          expect.stringMatching(/^adjustment: .*250\.00 USD/),
          expect.stringMatching(/^conversion-in-transit: .*100\.00 USD/),
        ])
        const ids = (blocked?.blockers ?? []).map((blocker) => blocker.id ?? "")
        const closed = yield* closingWithCredit(
          ids.map((finding) => ({ id: finding, reason: "Known to the bank" })),
        )
        expect([closed?.state, closed?.blockers]).toEqual(["closed", []])
        // All of them can be moved: none stays accepted for later months.
        expect(closed?.accepted.map(({ evidence }) => evidence)).toEqual([undefined, undefined, undefined])
        const out = temporaryFolder()
        const { folder } = yield* reporting("2026-10", out)
        const page = textOf(folder, "report.html")
        expect(page).toContain(
          "closed, not approved, 3 accepted exceptions, 1 suspense item, 1 conversion in transit<",
        )
        for (const finding of ids) expect(page).toContain(finding)
        const exceptions = sheet(folder, "exceptions.csv").filter(({ severity }) => severity === "accepted")
        expect(exceptions.map(({ amount, id }) => [id, amount])).toEqual([
          [ids[0], "1975.00"],
          [ids[1], "250.00"],
          [ids[2], "100.00"],
        ])
        expect(page).not.toContain("verything ties out")
      }),
    )
  },
)
