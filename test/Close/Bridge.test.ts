/** Each row of the bridge adds up from its own columns, even while entries of earlier months are dated later. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bridgeLines, shortBridgeLines } from "../../src/Cli/Tables/BridgeTable.ts"
import { windowOf } from "../../src/Sync/Backfill/Window.ts"
import { json } from "../Partner/Service.ts"
import { minor, reporting, sheet } from "../Report/Reports.ts"
import { accountId, credit, id, partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { bridging, closing, movement, threeMonths } from "./Months.ts"

const total = (
  rows: ReturnType<typeof sheet>,
  isMeant: (row: ReturnType<typeof sheet>[number]) => boolean,
): bigint => rows.filter(isMeant).reduce((sum, { amount }) => sum + minor(amount), 0n)

layer(TestDatabase.layer, { excludeTestServices: true })("the bridge", (it) => {
  it.scoped("says what earlier months carry forward, and foots", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      for (const month of ["2026-08", "2026-09", "2026-10"]) yield* closing(month)
      const [quiet] = yield* bridging("2026-10")
      // Entries of August and of October that are reported once both are closed: they are dated to the first open day.
      for (const late of [
        movement(14, "7.00", "182.00", "2026-08-30"),
        movement(15, "2.00", "184.00", "2026-10-20"),
      ]) {
        held.statement.push(late.entry)
        held.deposits.push(late.deposit)
      }
      held.balance = "184.00"
      yield* sync(service.url)

      const found: Array<ReadonlyArray<string | undefined>> = []
      for (const month of ["2026-08", "2026-09", "2026-10", "2026-11"]) {
        const [bridge] = yield* bridging(month)
        const account = bridge?.accounts[0]
        found.push([
          ...[account?.opening, account?.closing, account?.lateElsewhere, account?.carried],
          ...[account?.booksOpening, account?.booksClosing, account?.closingDifference],
        ])
      }
      expect(found).toEqual([
        ["0.00", "107.00", "7.00", "0.00", "0.00", "100.00", "0.00"],
        ["107.00", "157.00", "0.00", "7.00", "100.00", "150.00", "0.00"],
        ["157.00", "184.00", "2.00", "7.00", "150.00", "175.00", "0.00"],
        // Both are dated in this month, so that nothing is carried forward.
        ["184.00", "184.00", "0.00", "0.00", "175.00", "184.00", "0.00"],
      ])
      const [before] = yield* bridging("2026-07")
      expect(before?.accounts).toEqual([])
      const [october] = yield* bridging("2026-10")
      if (october === undefined) return yield* Effect.dieMessage("no bridge")
      const [titles = ""] = bridgeLines(october, { interactive: false, color: false, width: 400 })
      expect(titles.trim().split(/ {2,}/)).toEqual([
        "Account",
        "Cur",
        "Statement opening",
        "Movements",
        "Statement closing",
        "Late, dated later",
        "Earlier, dated later",
        "Late, dated here",
        "Opening booked",
        "Books opening",
        "Books moved",
        "Books closing",
        "Difference",
      ])
      // A close prints the accounts whose statement and books differ, and counts the others.
      const screen = { interactive: false, color: false, width: 400 }
      expect(shortBridgeLines(october, screen)).toEqual(bridgeLines(october, screen))
      expect(quiet === undefined ? [] : shortBridgeLines(quiet, screen)).toEqual([
        "  1 account: the books close as the provider's statement does, difference 0",
      ])
    }),
  )

  it.scoped("begins a month at its first midnight, where clocks are put back from one to midnight then", () =>
    inOwnDatabase(
      Effect.gen(function* () {
        const held = (index: number, amount: string, balanceAfter: string, at: string) => {
          const one = movement(index, amount, balanceAfter, "2026-11-01")
          return { ...one, entry: { ...one.entry, occurredAt: at } }
        }
        // Havana's November begins with the hour from midnight to one twice, at 04:00 and at 05:00 in UTC.
        const movements = [
          held(11, "100.00", "100.00", "2026-11-01T03:59:59Z"),
          held(12, "50.00", "150.00", "2026-11-01T04:30:00Z"),
          held(13, "25.00", "175.00", "2026-11-01T05:30:00Z"),
        ]
        const { service } = yield* partnership({
          balance: "175.00",
          statement: movements.map(({ entry }) => entry),
          deposits: movements.map(({ deposit }) => deposit),
        })
        yield* sync(service.url, { TIEOUT_ACCOUNTING_TIME_ZONE: "America/Havana" })
        const found: Array<ReadonlyArray<string | undefined>> = []
        for (const month of ["2026-10", "2026-11"]) {
          const [bridge] = yield* bridging(month)
          const account = bridge?.accounts[0]
          found.push([account?.opening, account?.closing, account?.booksClosing, account?.closingDifference])
        }
        expect(found).toEqual([
          ["0.00", "100.00", "100.00", "0.00"],
          ["100.00", "175.00", "175.00", "0.00"],
        ])
        const days = { from: "2026-10-31", to: "2026-11-01" }
        expect(yield* windowOf(days, "America/Havana")).toMatchObject({
          ...{ start: "2026-10-31T04:00:00.000000Z", end: "2026-11-02T05:00:00.000000Z" },
        })
        expect(yield* windowOf({ from: days.to, to: days.to }, "America/Havana")).toMatchObject({
          start: "2026-11-01T04:00:00.000000Z",
        })
      }),
    ),
  )

  it.scoped(
    "says where the opening balance of an account is booked that is first read after its month was closed",
    () =>
      inOwnDatabase(
        Effect.gen(function* () {
          const { held, service } = yield* threeMonths
          yield* sync(service.url)
          for (const month of ["2026-08", "2026-09"]) yield* closing(month)
          const late = id(2)
          const account = (of: string, balance: string) => ({
            ...{ accountId: of, currency: "USD", paymentRails: "SEPA", balance, status: "ACTIVE" },
          })
          const payout = (index: number, amount: string, balanceAfter: string, occurredAt: string) => ({
            ...credit(index, amount, balanceAfter),
            ...{ accountId: late, relatedResourceType: "PAYOUT", occurredAt },
          })
          const statement = [
            payout(31, "5.00", "65.00", "2026-08-20T12:00:00Z"),
            payout(32, "1.00", "66.00", "2026-10-07T12:00:00Z"),
          ]
          const page = (items: ReadonlyArray<unknown>) => ({ items, pageInfo: { hasNextPage: false } })
          held.interfere = (path, response) => {
            const [route = ""] = path.split("?")
            const answer = {
              "/accounts": page([account(accountId, held.balance), account(late, "66.00")]),
              [`/accounts/${late}`]: account(late, "66.00"),
              [`/accounts/${late}/statement`]: page(statement),
            }[route]
            if (answer === undefined) return false
            json(response, answer)
            return true
          }
          yield* sync(service.url)
          const found: Array<ReadonlyArray<string | undefined>> = []
          for (const month of ["2026-08", "2026-09", "2026-10"]) {
            const [bridge] = yield* bridging(month)
            const one = bridge?.accounts.find((each) => each.accountId === late)
            // The report lists the same entries, and opening balances by themselves as well.
            const { folder } = yield* reporting(month, temporaryFolder())
            const sumOf = (what: string) =>
              total(
                sheet(folder, "late-entries.csv"),
                (row) => row.provider_account === late && row.what === what,
              )
            expect([
              sumOf("of this month, dated later"),
              sumOf("of an earlier month, dated here"),
              sumOf("opening balance, dated here"),
              sumOf("opening balance, dated later"),
            ]).toEqual([
              ...[one?.lateElsewhere, one?.lateHere, one?.openingBooked].map(minor),
              minor(month === "2026-08" ? "60" : "0"),
            ])
            found.push([
              ...[one?.opening, one?.movements, one?.closing, one?.lateElsewhere, one?.lateHere],
              ...[
                one?.openingBooked,
                one?.carried,
                one?.booksOpening,
                one?.booksMovements,
                one?.booksClosing,
              ],
              ...[one?.difference, one?.closingDifference],
            ])
          }
          expect(found).toEqual([
            [
              "60.00",
              "5.00",
              "65.00",
              "5.00",
              "0.00",
              "0.00",
              "60.00",
              "0.00",
              "0.00",
              "0.00",
              "0.00",
              "0.00",
            ],
            [
              "65.00",
              "0.00",
              "65.00",
              "0.00",
              "0.00",
              "0.00",
              "65.00",
              "0.00",
              "0.00",
              "0.00",
              "0.00",
              "0.00",
            ],
            [
              "65.00",
              "1.00",
              "66.00",
              "0.00",
              "5.00",
              "60.00",
              "0.00",
              "0.00",
              "66.00",
              "66.00",
              "0.00",
              "0.00",
            ],
          ])
        }),
      ),
  )
})
