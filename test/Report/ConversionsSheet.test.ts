/** A conversion that has no rate of its own in a month says why: it was returned, or its other leg is elsewhere. */
import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Legs, remarkOf } from "../../src/Report/Conversions/ConversionRemark.ts"
import { json } from "../Partner/Service.ts"
import { accountId, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { clock } from "../support/clock.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet } from "./Reports.ts"

const dollars = { accountId, currency: "USD", paymentRails: "SEPA" }
const euros = { accountId: id(2), currency: "EUR", paymentRails: "SEPA" }

const conversion = (index: number, status: string, buyAmount = "90.00") => ({
  conversionId: id(index),
  pairId: id(800),
  sellAccount: dollars,
  sellAmount: { amount: "100.00", currency: "USD" },
  buyAccount: euros,
  buyAmount: { amount: buyAmount, currency: "EUR" },
  rate: "0.9",
  fee: { amount: "0.00", currency: "USD" },
  status,
  createdAt: "2026-09-01T00:00:00Z",
})

const leg = (index: number, of: number, amount: string, balanceAfter: string, day: string, euro = false) => ({
  entryId: id(index),
  accountId: euro ? euros.accountId : accountId,
  type: amount.startsWith("-") ? "DEBIT" : "CREDIT",
  amount: amount.replace("-", ""),
  currency: euro ? "EUR" : "USD",
  balanceAfter,
  relatedResourceType: "CONVERSION",
  relatedResourceId: id(of),
  occurredAt: `${day}T12:00:00Z`,
})

/** 100 USD for 90 EUR: returned within September; bought in October; on its way; returned in October; bought; and bought in part. */
const world = partnership({
  conversions: [
    conversion(501, "CANCELED", "0.00"),
    conversion(502, "COMPLETED"),
    conversion(503, "ACTIVE"),
    conversion(504, "CANCELED", "0.00"),
    conversion(505, "COMPLETED"),
    conversion(506, "COMPLETED", "81.00"),
  ],
  statement: [
    leg(11, 501, "-100.00", "900.00", "2026-09-10"),
    leg(12, 501, "100.00", "1000.00", "2026-09-11"),
    leg(13, 502, "-100.00", "900.00", "2026-09-12"),
    leg(14, 503, "-100.00", "800.00", "2026-09-13"),
    leg(15, 504, "-100.00", "700.00", "2026-09-14"),
    leg(16, 505, "-100.00", "600.00", "2026-09-15"),
    leg(18, 506, "-100.00", "500.00", "2026-09-16"),
    leg(19, 506, "10.00", "510.00", "2026-09-17"),
    leg(17, 504, "100.00", "610.00", "2026-10-02"),
  ],
  interfere: (path, response) => {
    const bought = [
      leg(21, 505, "90.00", "90.00", "2026-09-15", true),
      leg(23, 506, "81.00", "171.00", "2026-09-17", true),
      leg(22, 502, "90.00", "261.00", "2026-10-01", true),
    ]
    const both = [
      { ...dollars, balance: "610.00", status: "ACTIVE" },
      { ...euros, balance: "261.00", status: "ACTIVE" },
    ]
    const [route = ""] = path.split("?")
    const one = both.find((account) => route === `/accounts/${account.accountId}`)
    const items =
      route === "/accounts" ? both : route === `/accounts/${euros.accountId}/statement` ? bought : null
    if (one !== undefined) json(response, one)
    if (items !== null) json(response, { items, pageInfo: { hasNextPage: false } })
    return one !== undefined || items !== null
  },
})

layer(TestDatabase.layer, { excludeTestServices: true })("conversions.csv", (it) => {
  it.scoped("shows what was returned, and where the other leg is", () =>
    Effect.gen(function* () {
      const { service } = yield* world
      yield* sync(service.url)
      const rowsOf = (period: string) =>
        Effect.map(reporting(period, temporaryFolder()), ({ folder }) =>
          sheet(folder, "conversions.csv").map((row) => [
            ...[row.conversion?.slice(-3), row.sold, row.returned, row.bought, row.effective_rate],
            row.remark,
          ]),
        )
      expect(yield* rowsOf("2026-09")).toEqual([
        ["501", "100.00", "100.00", "", "", "returned: 100.00 USD sold, 100.00 USD returned"],
        ["502", "100.00", "", "", "", "the bought leg is dated in 2026-10"],
        ["503", "100.00", "", "", "", "the bought leg has not come yet"],
        ["504", "100.00", "", "", "", "returned: what was sold came back in 2026-10"],
        ["505", "100.00", "", "90.00", "0.9000000000", ""],
        [
          ...["506", "100.00", "10.00", "81.00", "0.9000000000"],
          "returned in part: 100.00 USD sold, 10.00 USD returned",
        ],
      ])
      expect(yield* rowsOf("2026-10")).toEqual([
        ["502", "", "", "90.00", "", "the sold leg is dated in 2026-09"],
        ["504", "", "100.00", "", "", "returned: it was sold in 2026-09"],
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a conversion as of a time", (it) => {
  it.scoped("has its fee in the currency that was known then", () =>
    Effect.gen(function* () {
      const then = { ...conversion(502, "ACTIVE"), fee: { amount: "1.00", currency: "EUR" } }
      const { held, service } = yield* partnership({
        conversions: [then],
        statement: [leg(13, 502, "-100.00", "900.00", "2026-09-12")],
        balance: "900.00",
      })
      yield* sync(service.url)
      const [now] = yield* rows(
        `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      )
      const moment = String(now?.now)
      held.conversions = [{ ...then, fee: { amount: "2.00", currency: "USD" } }]
      yield* sync(service.url, {}, true)
      const feeCurrencies = (asOf?: string) =>
        Effect.map(
          reporting("2026-09", temporaryFolder(), asOf === undefined ? {} : { asOf }),
          ({ folder }) => sheet(folder, "conversions.csv").map((row) => row.fee_currency),
        )
      expect(yield* feeCurrencies()).toEqual(["USD"])
      expect(yield* feeCurrencies(moment)).toEqual(["EUR"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the effective rate beside the stated one", (it) => {
  it.scoped("differs by no digit that was rounded away", () =>
    Effect.gen(function* () {
      const sold = [leg(11, 507, "-300.00", "700.00", "2026-09-10")]
      const bought = [leg(21, 507, "100.00", "100.00", "2026-09-10", true)]
      const { service } = yield* partnership({
        conversions: [{ ...conversion(507, "COMPLETED", "100.00"), rate: "0.333333333333" }],
        interfere: (path, response) => {
          const [route = ""] = path.split("?")
          const both = [
            { ...dollars, balance: "700.00", status: "ACTIVE" },
            { ...euros, balance: "100.00", status: "ACTIVE" },
          ]
          const items =
            route === "/accounts" ? both : { [accountId]: sold, [id(2)]: bought }[route.split("/")[2] ?? ""]
          if (items === undefined || !/accounts$|statement$/.test(route)) return false
          json(response, { items, pageInfo: { hasNextPage: false } })
          return true
        },
      })
      yield* sync(service.url)
      const { folder } = yield* reporting("2026-09", temporaryFolder())
      const [row] = sheet(folder, "conversions.csv")
      expect([row?.effective_rate, row?.stated_rate, row?.rate_difference]).toEqual([
        "0.3333333333",
        "0.333333333333",
        "0.0000000000",
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a conversion between two rails", (it) => {
  it.scoped("has its sides told apart by account, since both have one currency", () =>
    Effect.gen(function* () {
      const onTron = { accountId, currency: "USDT", paymentRails: "TRON" }
      const onAvalanche = { accountId: id(2), currency: "USDT", paymentRails: "AVALANCHE" }
      const money = (amount: string) => ({ amount, currency: "USDT" })
      const between = (index: number) => ({
        ...conversion(index, "COMPLETED"),
        ...{ sellAccount: onTron, sellAmount: money("100"), buyAccount: onAvalanche, buyAmount: money("99") },
        ...{ rate: "1", fee: money("1") },
      })
      const sold = [
        { ...leg(11, 501, "-100", "900", "2026-09-10"), currency: "USDT" },
        { ...leg(12, 502, "-100", "800", "2026-09-30"), currency: "USDT" },
      ]
      const bought = [
        { ...leg(21, 501, "99", "99", "2026-09-10", true), currency: "USDT" },
        { ...leg(22, 502, "99", "198", "2026-10-01", true), currency: "USDT" },
      ]
      const { service } = yield* partnership({
        conversions: [between(501), between(502)],
        interfere: (path, response) => {
          const [route = ""] = path.split("?")
          const both = [
            { ...onTron, balance: "800", status: "ACTIVE" },
            { ...onAvalanche, balance: "198", status: "ACTIVE" },
          ]
          const items =
            route === "/accounts" ? both : { [accountId]: sold, [id(2)]: bought }[route.split("/")[2] ?? ""]
          if (items === undefined || !/accounts$|statement$/.test(route)) return false
          json(response, { items, pageInfo: { hasNextPage: false } })
          return true
        },
      })
      yield* sync(service.url)
      const rowsOf = (period: string) =>
        Effect.map(reporting(period, temporaryFolder()), ({ folder }) =>
          sheet(folder, "conversions.csv").map((row) =>
            [
              row.conversion?.slice(-3),
              row.sold,
              row.returned,
              row.bought,
              row.fee,
              row.spread,
              row.remark,
            ].join("|"),
          ),
        )
      expect(yield* rowsOf("2026-09")).toEqual([
        "501|100.00000000||99.00000000|1.00000000|1.00000000|",
        "502|100.00000000|||1.00000000||the bought leg is dated in 2026-10",
      ])
      expect(yield* rowsOf("2026-10")).toEqual([
        "502|||99.00000000|0.00000000||the sold leg is dated in 2026-09",
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "what the service said of a conversion then",
  (it) => {
    it.scoped("is in a report as of a time, whatever the service says now", () =>
      Effect.gen(function* () {
        const conversions = [conversion(503, "ACTIVE"), conversion(502, "COMPLETED")]
        const { held, service } = yield* partnership({
          conversions,
          balance: "800.00",
          withdrawals: [{ withdrawalId: id(601) }],
          statement: [
            leg(13, 502, "-100.00", "900.00", "2026-09-12"),
            leg(14, 503, "-100.00", "800.00", "2026-09-13"),
          ],
        })
        const before = yield* clock
        yield* sync(service.url)
        const then = yield* clock
        held.withdrawals = [withdrawal(601, "1.00", "0.00", { status: "PENDING" })]
        conversions[0] = { ...conversion(503, "COMPLETED"), rate: "0.91" }
        yield* sync(service.url)
        const said = (options: Parameters<typeof reporting>[2], period = "2026-09") =>
          Effect.map(reporting(period, temporaryFolder(), options), ({ folder }) => ({
            conversions: sheet(folder, "conversions.csv").map((row) =>
              [row.conversion?.slice(-3), row.status, row.stated_rate].join(" "),
            ),
            open: sheet(folder, "exceptions.csv").flatMap((row) =>
              row.what === "quarantine"
                ? [`quarantine: ${row.message}`]
                : row.what === "not completed"
                  ? [
                      [row.id?.slice(-3), row.subject, row.date, row.amount, row.currency, row.message].join(
                        " ",
                      ),
                    ]
                  : [],
            ),
          }))
        const moved = "503 1060 2026-09-13 100.00 USD The conversion has moved money and is still ACTIVE."
        const unread =
          "quarantine: 1 of what the service sent could not be understood: tieout quarantine list"
        expect(yield* said({})).toEqual({
          conversions: ["502 COMPLETED 0.9", "503 COMPLETED 0.91"],
          open: [],
        })
        expect(yield* said({ asOf: then })).toEqual({
          conversions: ["502 COMPLETED 0.9", "503 ACTIVE 0.9"],
          open: [unread, moved],
        })
        // It stands there until it is completed, whatever the month.
        expect(yield* said({ asOf: then }, "2026-10")).toEqual({ conversions: [], open: [unread, moved] })
        expect(yield* said({ asOf: yield* clock })).toEqual(yield* said({}))
        expect(yield* said({ asOf: before })).toEqual({ conversions: [], open: [] })
      }),
    )
  },
)

describe("the remark on a conversion", () => {
  it("does not call a leg on its way that should be there", () => {
    const none: Legs = {
      ...{ status: "ACTIVE", whole: false, sold: null, returned: null, bought: null },
      ...{ soldIn: null, returnedIn: null, boughtIn: null },
    }
    const sold = { ...none, sold: "1.00 USD" }
    expect(remarkOf({ ...sold, status: null })).toContain("does not give")
    expect(remarkOf({ ...sold, status: "COMPLETED" })).toBe(
      "the bought leg is not in the books: see exceptions.csv",
    )
    expect(remarkOf({ ...sold, status: "CANCELED" })).toBe(
      "canceled, and what was sold has not been returned yet",
    )
    // One side may be bought before the other is sold: what is missing is named by its side, not by an order that it does not have.
    expect(remarkOf({ ...none, bought: "1.00 EUR", soldIn: "2026-11" })).toBe(
      "the sold leg is dated in 2026-11",
    )
    expect(remarkOf({ ...sold, whole: true, bought: "1.00 EUR", returned: "0.10 USD" })).toBe(
      "returned in part: 1.00 USD sold, 0.10 USD returned",
    )
    expect(remarkOf({ ...none, soldIn: "2026-09", boughtIn: "2026-09" })).toBe(
      "a fee only: the legs are dated in 2026-09",
    )
  })
})
