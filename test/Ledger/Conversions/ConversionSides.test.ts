/** When a conversion is whole, what is booked then, and that the order in which its entries came does not matter. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Money from "../../../src/Common/Money.ts"
import {
  type LegEntry,
  type Step,
  stepsOf,
  type Terms,
  type Written,
} from "../../../src/Ledger/Conversions/ConversionSides.ts"

const dollars = "00000000-0000-4000-8000-000000000001"
const tethers = "00000000-0000-4000-8000-000000000002"
const elsewhere = "00000000-0000-4000-8000-000000000003"
const exact = Money.fromTrusted

const terms = (over: { sold?: string; fee?: string; bought?: string; boughtFee?: string } = {}): Terms => ({
  sell: {
    accountId: dollars,
    currency: "USD",
    amount: exact(over.sold ?? "1000"),
    fee: exact(over.fee ?? "0"),
  },
  buy: {
    accountId: tethers,
    currency: "USDT",
    amount: exact(over.bought ?? "740"),
    fee: exact(over.boughtFee ?? "0"),
  },
})

/** `amount` is the change of the account's balance; `transit` is given where a fee makes it differ from the opposite amount. */
const leg = (accountId: string, day: number, amount: string, transit?: string): LegEntry => ({
  accountId,
  position: BigInt(day),
  occurredAt: `2026-10-${String(day).padStart(2, "0")}T12:00:00.000000Z`,
  currency: accountId === tethers ? "USDT" : "USD",
  type: amount.startsWith("-") ? "DEBIT" : "CREDIT",
  amount: exact(amount.replace("-", "")),
  transit: transit === undefined ? Money.negate(exact(amount)) : exact(transit),
})

const sold = (day: number, amount: string, transit?: string): LegEntry => leg(dollars, day, amount, transit)
const bought = (day: number, amount: string, transit?: string): LegEntry => leg(tethers, day, amount, transit)

const shown = ({ kind, lines, occurredAt, reverses, sequence }: Step): string =>
  [
    `${sequence} ${kind} ${occurredAt.slice(8, 10)}${reverses === null ? "" : ` of ${reverses}`}`,
    ...lines.map(({ amount, currency, role }) => {
      const text = Money.toText(amount)
      return `${role === "trading" ? "trading" : "transit"}:${currency} ${text.startsWith("-") ? text : `+${text}`}`
    }),
  ].join(" · ")

const planned = (of: Terms, legs: ReadonlyArray<LegEntry>, written: ReadonlyArray<Written> = []) =>
  stepsOf(of, legs, written).map(shown)

/** The planned entries in the form in which the books have them afterwards. */
const booked = (steps: ReadonlyArray<Step>): ReadonlyArray<Written> =>
  steps.map(({ kind, lines, occurredAt, sequence }) => ({
    entryId: BigInt(sequence),
    sequence,
    kind,
    datedAt: occurredAt,
    traded: new Map(
      lines.filter(({ role }) => role === "trading").map(({ amount, currency }) => [currency, amount]),
    ),
  }))

/** The same entries with a numbering after each of them. */
const oneByOne = (of: Terms, legs: ReadonlyArray<LegEntry>): ReadonlyArray<string> => {
  const steps: Array<Step> = []
  legs.forEach((_, at) => {
    steps.push(...stepsOf(of, legs.slice(0, at + 1), booked(steps)))
  })
  return steps.map(shown)
}

describe("a conversion", () => {
  const whole =
    "0 conversion_whole 06 · trading:USD +1000 · transit:USD -1000 · transit:USDT +740 · trading:USDT -740"

  it("is whole with the entry that completes it, on whichever side", () => {
    expect(planned(terms(), [sold(5, "-1000")])).toEqual([])
    expect(planned(terms(), [sold(5, "-1000"), bought(6, "740")])).toEqual([whole])
    expect(planned(terms(), [bought(5, "740"), sold(6, "-1000")])).toEqual([whole])
  })

  it("is not booked again where the books have it", () => {
    const legs = [sold(5, "-1000"), bought(6, "740")]
    expect(planned(terms(), legs, booked(stepsOf(terms(), legs, [])))).toEqual([])
  })

  it("waits for all entries of a side", () => {
    const legs = [sold(5, "-1000"), bought(5, "370"), bought(6, "370")]
    expect(planned(terms(), legs.slice(0, 2))).toEqual([])
    expect(planned(terms(), legs)).toEqual([whole])
  })

  it("takes what completes the other total that the service may mean: 713 and the fee of 27 are 740 as well", () => {
    const of = terms({ boughtFee: "27" })
    // What is left of the amount after the fee looks whole by itself, and so does the amount that follows.
    const legs = [sold(5, "-1000"), bought(6, "713", "-740"), bought(7, "27", "-27")]
    const other =
      "0 conversion_whole 06 · trading:USD +1000 · transit:USD -1000 · transit:USDT +767 · trading:USDT -767"
    expect(planned(of, legs)).toEqual([other])
    expect(oneByOne(of, legs)).toEqual([whole, "1 reclassification 06 · transit:USDT +27 · trading:USDT -27"])
    // What completes neither stands in transit.
    expect(planned(of, [...legs.slice(0, 2), bought(7, "20", "-20")])).toEqual([whole])
  })

  it("moves the amounts less the fees: inside, on top, separate, in the buy currency", () => {
    const moved = (of: Terms, ...legs: ReadonlyArray<LegEntry>) =>
      planned(of, legs).map((step) => step.split(" · ").slice(1).join(" "))
    const net = ["trading:USD +995 transit:USD -995 transit:USDT +740 trading:USDT -740"]
    const full = ["trading:USD +1000 transit:USD -1000 transit:USDT +740 trading:USDT -740"]
    const fee = terms({ fee: "5" })
    expect(moved(fee, sold(5, "-1000", "995"), bought(5, "740"))).toEqual(net)
    expect(moved(fee, sold(5, "-1005", "1000"), bought(5, "740"))).toEqual(full)
    expect(moved(fee, sold(5, "-995"), bought(5, "740"))).toEqual([])
    expect(moved(fee, sold(5, "-995"), bought(5, "740"), sold(6, "-5", "0"))).toEqual(net)
    expect(moved(fee, sold(5, "-1000", "995"), sold(5, "5", "0"), bought(5, "740"))).toEqual(net)
    expect(moved(fee, sold(5, "-900"), sold(5, "5", "0"), bought(5, "740"))).toEqual([])
    expect(moved(terms({ boughtFee: "2" }), sold(5, "-1000"), bought(5, "738", "-740"))).toEqual(full)
  })

  it("is not whole by amounts that are zero, nor by entries on another account: those stay in transit", () => {
    expect(planned(terms({ bought: "0" }), [sold(5, "-1000")])).toEqual([])
    expect(planned(terms(), [leg(elsewhere, 5, "-1000"), bought(6, "740")])).toEqual([])
    expect(planned(terms(), [sold(5, "-1000"), bought(6, "740"), leg(elsewhere, 4, "-1")])).toEqual([whole])
  })

  it("is not whole by a side that a person has moved elsewhere", () => {
    expect(planned(terms(), [sold(5, "-1000", "0"), bought(6, "740")])).toEqual([])
    expect(planned(terms(), [sold(5, "-1000"), bought(6, "740", "0")])).toEqual([])
  })

  it("has entries of one instant in the order of their accounts and their positions, however they are read", () => {
    const at = (one: LegEntry, position: bigint) => ({ ...one, position })
    const legs = [at(sold(6, "-1000"), 9n), at(bought(6, "740"), 1n), at(bought(6, "100"), 2n)]
    // In any other order 840 have been bought by the time that all is sold.
    expect(planned(terms(), legs)).toEqual([whole])
    expect(planned(terms(), legs.toReversed())).toEqual([whole])
    expect(planned(terms(), [...legs.slice(1), ...legs.slice(0, 1)])).toEqual([whole])
  })

  it("is whole when an over-credit has been pulled back", () => {
    expect(planned(terms(), [sold(5, "-1000"), bought(5, "840"), bought(6, "-100")])).toEqual([whole])
  })

  it("stays whole while later entries stand in transit", () => {
    expect(planned(terms(), [sold(5, "-1000"), bought(6, "740"), bought(7, "100")])).toEqual([whole])
    expect(planned(terms(), [sold(5, "-1000"), bought(6, "740"), sold(7, "1000")])).toEqual([whole])
  })

  it("is reversed by the entry that returns both sides, and may become whole again", () => {
    const back = [sold(5, "-1000"), bought(6, "740"), sold(7, "1000"), bought(8, "-740")]
    const reversal =
      "1 conversion_reversal 08 of 0 · transit:USD +1000 · trading:USD -1000 · trading:USDT +740 · transit:USDT -740"
    expect(planned(terms(), back)).toEqual([whole, reversal])
    expect(planned(terms(), [...back, bought(9, "740"), sold(10, "-1000")])).toEqual([
      whole,
      reversal,
      whole.replace("0 conversion_whole 06", "2 conversion_whole 10"),
    ])
    const again = [...back, bought(9, "740"), sold(10, "-1000")]
    expect(oneByOne(terms(), again)).toEqual(planned(terms(), again))
    const first = stepsOf(terms(), again.slice(0, 2), [])
    expect(planned(terms(), again, booked(first)), "returned and made again between two numberings").toEqual(
      planned(terms(), again).slice(1),
    )
  })

  it("is reversed although its fee was kept", () => {
    const kept = [sold(5, "-1000", "995"), bought(6, "740"), sold(7, "995"), bought(8, "-740")]
    expect(planned(terms({ fee: "5" }), kept)[1]).toBe(
      "1 conversion_reversal 08 of 0 · transit:USD +995 · trading:USD -995 · trading:USDT +740 · transit:USDT -740",
    )
  })

  it("is corrected under the next sequence by a fee that turns out to be separate", () => {
    const fee = terms({ fee: "5" })
    const before = stepsOf(fee, [sold(5, "-1000", "995"), bought(6, "740")], [])
    const after = [sold(5, "-1000", "1000"), bought(6, "740"), sold(7, "-5", "0")]
    expect(planned(fee, after, booked(before))).toEqual([
      "1 reclassification 06 · trading:USD +5 · transit:USD -5",
    ])
    const all = [...booked(before), ...booked(stepsOf(fee, after, booked(before)))]
    expect(planned(fee, after, all)).toEqual([])
    const back = [...after, bought(8, "-740"), sold(9, "1000")]
    expect(planned(fee, back, all)).toEqual([
      "2 conversion_reversal 09 of 0 · transit:USD +1000 · trading:USD -1000 · trading:USDT +740 · transit:USDT -740",
    ])
  })

  it("is reversed where other terms or older entries show that it was never whole", () => {
    const legs = [sold(5, "-1000"), bought(6, "740")]
    const before = booked(stepsOf(terms(), legs, []))
    expect(planned(terms({ bought: "741" }), legs, before)).toEqual([
      "1 conversion_reversal 06 of 0 · transit:USD +1000 · trading:USD -1000 · trading:USDT +740 · transit:USDT -740",
    ])
  })

  it("is whole again where other terms show that it was never returned, in whatever order the books are read", () => {
    const legs = [sold(5, "-1000", "995"), bought(6, "740"), sold(7, "995"), bought(8, "-740")]
    const before = booked(stepsOf(terms({ fee: "5" }), legs, []))
    expect(before.map(({ kind }) => kind)).toEqual(["conversion_whole", "conversion_reversal"])
    const again = [
      "2 conversion_whole 06 · trading:USD +995 · transit:USD -995 · transit:USDT +740 · trading:USDT -740",
    ]
    expect(planned(terms(), legs, before)).toEqual(again)
    expect(planned(terms(), legs, before.toReversed())).toEqual(again)
  })

  it("moves nothing between two accounts of one currency and one amount", () => {
    const same = terms({ sold: "10", bought: "10" })
    const inDollars = { ...same, buy: { ...same.buy, accountId: elsewhere, currency: "USD" } }
    expect(planned(inDollars, [sold(5, "-10"), leg(elsewhere, 6, "10")])).toEqual([])
  })
})

describe("any history of a conversion", () => {
  const amounts = ["1000", "500", "740", "370", "100", "5"]
  const anyLeg = fc
    .tuple(
      fc.constantFrom(dollars, tethers),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(...amounts),
      fc.boolean(),
    )
    .map(([account, day, amount, out]) => leg(account, day, out ? `-${amount}` : amount))
  const history = fc
    .uniqueArray(anyLeg, { selector: (one) => `${one.accountId}${one.position}`, maxLength: 9 })
    .map((legs) => [...legs])
  const likely = fc
    .tuple(history, fc.array(fc.constantFrom("sold", "bought", "back", "pulled"), { maxLength: 7 }))
    .map(([, moves]) =>
      moves.map((move, at) => {
        if (move === "sold") return sold(at + 1, "-1000")
        if (move === "bought") return bought(at + 1, "740")
        return move === "back" ? sold(at + 1, "1000") : bought(at + 1, "-740")
      }),
    )
  const histories = fc.oneof(history, likely)

  const sums = (steps: ReadonlyArray<Step>, role: string) => {
    const sum = new Map<string, Money.Amount>()
    for (const line of steps.flatMap(({ lines }) => lines)) {
      if (line.role === role)
        sum.set(line.currency, Money.add(sum.get(line.currency) ?? Money.zero, line.amount))
    }
    return [...sum].map(([currency, amount]) => `${currency} ${Money.toText(Money.plain(amount))}`).sort()
  }

  it("gives the same entries in whatever order its legs came", () => {
    fc.assert(
      fc.property(
        histories.chain((legs) =>
          fc.tuple(fc.constant(legs), fc.shuffledSubarray(legs, { minLength: legs.length })),
        ),
        ([legs, mixed]) => {
          expect(planned(terms(), mixed)).toEqual(planned(terms(), legs))
        },
      ),
      { numRuns: 400 },
    )
  })

  it("gives the same balances in balanced entries, however often it was numbered on the way", () => {
    fc.assert(
      fc.property(
        histories.chain((legs) =>
          fc.tuple(
            fc.constant(legs),
            fc.shuffledSubarray(legs, { minLength: legs.length }),
            fc.array(fc.boolean()),
          ),
        ),
        ([legs, mixed, numbered]) => {
          const steps: Array<Step> = []
          mixed.forEach((_, at) => {
            if (numbered[at] === true) steps.push(...stepsOf(terms(), mixed.slice(0, at + 1), booked(steps)))
          })
          steps.push(...stepsOf(terms(), mixed, booked(steps)))
          const nonzero = (texts: ReadonlyArray<string>) => texts.filter((text) => !text.endsWith(" 0"))
          for (const role of ["trading", "conversions_in_transit"]) {
            expect(nonzero(sums(steps, role))).toEqual(nonzero(sums(stepsOf(terms(), legs, []), role)))
          }
          expect(stepsOf(terms(), mixed, booked(steps))).toEqual([])
          for (const { lines } of steps) {
            expect(lines.length).toBeGreaterThan(0)
            for (const currency of ["USD", "USDT"]) {
              const own = lines.filter((line) => line.currency === currency)
              expect(Money.isZero(Money.total(own.map(({ amount }) => amount)))).toBe(true)
            }
          }
          expect(steps.map(({ sequence }) => sequence)).toEqual(steps.map((_, at) => at))
        },
      ),
      { numRuns: 400 },
    )
  })
})
