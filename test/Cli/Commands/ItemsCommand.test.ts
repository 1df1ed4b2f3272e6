/** The books at the terminal: the trial balance, an account's register, and the items of its balance. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Verify from "../../../src/Verify.ts"
import { closing, threeMonths } from "../../Close/Months.ts"
import { json } from "../../Partner/Service.ts"
import { reporting } from "../../Report/Reports.ts"
import { credit, id, partnership } from "../../Sync/Partnership.ts"
import { sync } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the books at the terminal", (it) => {
  it.scoped("balance, register and items show them, and refuse unknown accounts", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      held.statement.push({
        ...credit(14, "1234.50", "1409.50"),
        occurredAt: "2026-10-06T12:00:00Z",
      })
      held.balance = "1409.50"
      yield* sync(service.url)
      yield* closing("2026-08")
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const tieout = (...args: ReadonlyArray<string>) =>
        Effect.map(run(args, { DATABASE_URL: url, TIEOUT_LOG_LEVEL: "none" }), ({ code, error, out }) => ({
          code,
          lines: `${out}${error}`.trimEnd().split("\n"),
        }))
      const shown = (...lines: ReadonlyArray<string>) => ({ code: 0, lines })

      expect(yield* tieout("balance")).toEqual(
        shown(
          "ORG",
          "Code  Account                           Role               Cur    Debit   Credit   Balance",
          "1010  Assets:Partner:USD:SEPA:0f8fad5b  cash               USD  1409.50     0.00   1409.50",
          "1020  Assets:Clearing:Deposits:USD      deposits_clearing  USD     0.00   175.00   -175.00",
          "1990  Assets:Suspense:USD               suspense           USD     0.00  1234.50  -1234.50",
          "      Total                                                USD  1409.50  1409.50      0.00",
        ),
      )
      expect((yield* tieout("balance", "--as-of", "2026-10-05")).lines.slice(2)).toEqual([
        "1010  Assets:Partner:USD:SEPA:0f8fad5b  cash               USD  175.00    0.00   175.00",
        "1020  Assets:Clearing:Deposits:USD      deposits_clearing  USD    0.00  175.00  -175.00",
        "      Total                                                USD  175.00  175.00     0.00",
      ])
      expect((yield* tieout("balance", "--as-of", "2026-10-04")).lines.slice(2, 3)).toEqual([
        "1010  Assets:Partner:USD:SEPA:0f8fad5b  cash               USD  150.00    0.00   150.00",
      ])

      expect(yield* tieout("register", "1020", "--period", "2026-09")).toEqual(
        shown(
          "ORG  1020  Assets:Clearing:Deposits:USD  USD",
          "Date        Number              Description  Counterparty  Reference  Debit  Credit  Balance",
          "                                Opening                                              -100.00",
          "2026-09-10  ORG-2026-09-000001  Deposit                                       50.00  -150.00",
          "                                Closing                                              -150.00",
        ),
      )
      const last = yield* tieout("register", "1010", "--limit", "1", "--json")
      expect(JSON.parse(last.lines.join("\n"))).toMatchObject({
        accounts: [
          {
            book: "ORG",
            code: "1010",
            opening: "175.00",
            closing: "1409.50",
            postings: 4,
            lines: [
              { date: "2026-10-06", number: "ORG-2026-10-000002", amount: "1234.50", balance: "1409.50" },
            ],
          },
        ],
      })
      expect((yield* tieout("register", "1010", "--limit", "1")).lines.at(-1)).toBe(
        "The last 1 of 4 postings; --limit N shows more.",
      )

      const days = "\\s+[\\d,]+"
      const has = (text: string) => expect.stringMatching(new RegExp(`^${text}$`))
      expect(yield* tieout("items", "1020")).toEqual({
        code: 0,
        lines: [
          "ORG  1020  Assets:Clearing:Deposits:USD",
          has("Since +Days  What +Amount  State +Counterparty  Reference"),
          has("2026-08 +the whole month \\(--period lists it\\) +-100.00"),
          has(`2026-09-10${days}  ${id(112)}   -50.00  deposit`),
          has(`2026-10-05${days}  ${id(113)}   -25.00  deposit`),
          "3 lines, together the balance: -175.00 USD",
        ],
      })
      expect(yield* tieout("items", "1020", "--period", "2026-08")).toEqual({
        code: 0,
        lines: [
          "ORG  1020  Assets:Clearing:Deposits:USD",
          has("Since +Days  What +Amount  State +Counterparty  Reference"),
          has(`2026-08-10 +21  ${id(111)}  -100.00  deposit`),
          "1 line, together the balance at the end of 2026-08: -100.00 USD",
        ],
      })
      expect((yield* tieout("items", "1990", "--period", "2026-09")).lines).toEqual([
        "ORG  1990  Assets:Suspense:USD",
        "Nothing is open; the balance at the end of 2026-09: 0.00 USD",
      ])
      const [item] = JSON.parse((yield* tieout("items", "1990", "--json")).lines.join("\n")).accounts
      expect(item).toMatchObject({
        balance: "-1234.50",
        items: [{ line: "item", itemType: "STATEMENT_ENTRY", since: "2026-10-06", amount: "-1234.50" }],
      })
      const [clearing] = JSON.parse((yield* tieout("items", "1020", "--json")).lines.join("\n")).accounts
      expect(clearing.items[0]).toMatchObject({ line: "month", since: "2026-08-01", last: "2026-08-31" })
      expect((yield* tieout("status")).lines.at(-1)).toContain("Cash ties out; 1 item stands in suspense.")

      const refused = (text: string) => ({
        code: 2,
        lines: expect.arrayContaining([expect.stringContaining(text)]),
      })
      expect(yield* tieout("items", "1010")).toEqual(refused("tieout register 1010"))
      expect(yield* tieout("items", "7")).toEqual(refused('no account with the code "7"'))
      expect(yield* tieout("register", "7")).toEqual(refused('no account with the code "7"'))
      expect(yield* tieout("register", "1010", "--limit", "0")).toEqual(refused("--limit"))
      expect(yield* tieout("balance", "--as-of", "2026-02-30")).toEqual(refused("--as-of"))
      expect(yield* tieout("balance", "--book", "X")).toEqual(refused("There is no book X"))
    }),
  )

  it.scoped("balance and register tell accounts apart whose identifiers begin alike", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ balance: "10", statement: [credit(21, "10", "10")] })
      const [first, second] = [id(1), id(2)]
      const pageInfo = { hasNextPage: false }
      held.interfere = (path, response) => {
        const [route = ""] = path.split("?")
        const account = { currency: "USD", paymentRails: "SEPA", status: "ACTIVE" }
        if (route === "/accounts")
          json(response, {
            items: [
              { ...account, accountId: first, balance: "10" },
              { ...account, accountId: second, balance: "7" },
            ],
            pageInfo,
          })
        else if (route.endsWith(`/${second}/statement`))
          json(response, { items: [{ ...credit(22, "7", "7"), accountId: second }], pageInfo })
        else return false
        return true
      }
      yield* sync(service.url)
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const tieout = (...args: ReadonlyArray<string>) =>
        Effect.map(run(args, { DATABASE_URL: url, TIEOUT_LOG_LEVEL: "none" }), ({ out }) => out)
      const balances = yield* tieout("balance", "--json")
      expect(JSON.parse(balances)).toMatchObject({
        books: [
          {
            accounts: [
              { code: "1010", partnerAccountId: first, balance: "10.00" },
              { code: "1010", partnerAccountId: second, balance: "7.00" },
              { code: "1990", partnerAccountId: null },
            ],
          },
        ],
      })
      const registers = yield* tieout("register", "1010")
      for (const one of [first, second])
        expect(registers).toContain(`ORG  1010  Assets:Partner:USD:SEPA:0f8fad5b (${one})  USD`)
      const { folder } = yield* reporting("2026-10", temporaryFolder())
      expect((yield* Verify.run(folder)).problems).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
