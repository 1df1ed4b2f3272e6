import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"
import * as Money from "../../../src/Common/Money.ts"
import type { Named } from "../../../src/Ledger/Receivables/Claims.ts"
import { type ReportedReceivable, settle } from "../../../src/Ledger/Receivables/ReceivableCash.ts"
import type { ReceivableView } from "../../../src/Ledger/Receivables/ReceivableVersion.ts"
import type { Moved } from "../../../src/Ledger/Receivables/Sharing.ts"

const of = Money.fromTrusted
const text = (amount: Money.Amount): string => Money.toText(Money.plain(amount))
const at = (day: number): string => `2026-10-${String(day).padStart(2, "0")}T12:00:00.000000Z`

const view: ReceivableView = {
  view: "lender",
  repaymentAmount: "outstanding",
  interest: "as_stated",
  interestBetweenReads: "0",
}

type Version = readonly [status: string, principal: string, repayment: string]

const told = (
  receivableId: string,
  issued: number,
  versions: ReadonlyArray<Version>,
): ReportedReceivable => ({
  receivableId,
  currency: "USD",
  counterparty: Option.none(),
  issuedAt: at(issued),
  versions: versions.map(([status, principal, repayment], index) => ({
    version: index + 1,
    status,
    initialPrincipal: of("1000"),
    currentPrincipal: of(principal),
    repaymentAmount: of(repayment),
    servedAt: at(10 + index),
  })),
})

const named = (receivableId: string, txId: string, version: number, day = 12): Named => ({
  receivableId,
  txId,
  version,
  purpose: "repayment",
  txTimestamp: at(day),
})

const moved = (txId: string, amount: string, over: Partial<Moved> = {}): Moved => ({
  txId,
  entryId: `entry of ${txId}`,
  currency: "USD",
  amount: of(amount),
  ...over,
})

const paidBack: ReadonlyArray<Version> = [
  ["ACTIVE", "1000", "1025"],
  ["PAID", "0", "0"],
]

/** The receivable, the transaction, its share, and the rest that no receivable could take. */
const shares = (
  receivables: ReadonlyArray<ReportedReceivable>,
  names: ReadonlyArray<Named>,
  cash: ReadonlyArray<Moved>,
  how: ReceivableView = view,
) =>
  settle(receivables, names, cash, how).flatMap(({ shares: own }) =>
    own.map(
      ({ amount, leftOver, receivableId, unit }) =>
        `${receivableId} ${unit} ${text(amount)}${Money.isZero(leftOver) ? "" : ` + ${text(leftOver)}`}`,
    ),
  )

describe("One transaction of several receivables", () => {
  const two = [told("a", 2, paidBack), told("b", 1, paidBack)]

  it("is the other's where the one that was issued first was canceled", () => {
    const out = (receivableId: string): Named => ({
      ...named(receivableId, "out", 1),
      purpose: "disbursement",
    })
    const lent: Version = ["ACTIVE", "1000", "1000"]
    const again = [told("a", 1, [lent, ["CANCELED", "1000", "1000"]]), told("b", 2, [lent])]
    expect(shares(again, [out("a"), out("b")], [moved("out", "-1000")])).toEqual(["a out 0", "b out -1000"])
    expect(shares(again, [out("a"), out("b")], [moved("out", "-1400")])).toEqual([
      "a out -400",
      "b out -1000",
    ])
  })

  it("is shared by what each settled", () => {
    expect(shares(two, [named("a", "t", 2), named("b", "t", 2)], [moved("t", "2050")])).toEqual([
      "a t 1025",
      "b t 1025",
    ])
  })

  it("goes to the one that was issued first where it is too little", () => {
    expect(shares(two, [named("a", "t", 2), named("b", "t", 2)], [moved("t", "1500")])).toEqual([
      "a t 475",
      "b t 1025",
    ])
  })

  it("pays interest that was announced, too, where it is named before the version that it settles", () => {
    const original: ReceivableView = { ...view, repaymentAmount: "original" }
    const paid = told("a", 1, [
      ["ACTIVE", "1000", "1025"],
      ["PAID", "0", "1025"],
    ])
    expect(shares([paid], [named("a", "t", 1)], [moved("t", "1025")], original)).toEqual(["a t 1025"])
  })

  it("stands with the last where it is too much", () => {
    expect(shares(two, [named("a", "t", 2), named("b", "t", 2)], [moved("t", "3000")])).toEqual([
      "a t 1025 + 950",
      "b t 1025",
    ])
  })

  it("is the other's beyond what is not owed again, of all transactions together", () => {
    const lent: Version = ["ACTIVE", "1000", "1000"]
    const half: Version = ["ACTIVE", "500", "500"]
    const all = [told("a", 1, [lent, ["PAID", "0", "0"], half]), told("b", 2, [lent, half])]
    const names = [named("a", "t", 2), named("a", "u", 2, 13), named("b", "u", 2, 13)]
    expect(shares(all, names, [moved("t", "300"), moved("u", "700")])).toEqual([
      "a t 300",
      "a u 200",
      "b u 500",
    ])
  })

  describe("that was put right to the other", () => {
    const again: Version = ["ACTIVE", "1000", "1025"]
    const own: ReadonlyArray<Version> = [...paidBack, again, ["PAID", "0", "0"]]
    const other = told("b", 2, paidBack)

    it("stays the other's once the first is paid by cash of its own", () => {
      const names = [named("a", "t", 2), named("b", "t", 2), named("a", "u", 4, 14)]
      const cash = [moved("t", "1025"), moved("u", "1025")]
      expect(shares([told("a", 1, own), other], names, cash)).toEqual(["a t 0", "a u 1025", "b t 1025"])
    })

    it("stays the other's once the first is paid by cash that it shares", () => {
      const names = [named("a", "t", 2), named("b", "t", 2), named("a", "u", 4, 14), named("c", "u", 2, 14)]
      const cash = [moved("t", "1025"), moved("u", "2050")]
      expect(shares([told("a", 1, own), other, told("c", 3, paidBack)], names, cash)).toEqual([
        "a t 0",
        "a u 1025",
        "b t 1025",
        "c u 1025",
      ])
    })

    it("is the other's, too, where the first has another repayment, which only it names", () => {
      const twice: ReadonlyArray<Version> = [
        ["ACTIVE", "1000", "1000"],
        ["ACTIVE", "500", "500"],
        ["PAID", "0", "0"],
        ["ACTIVE", "500", "500"],
      ]
      const all = [told("a", 1, twice), told("b", 2, twice.slice(0, 2))]
      const names = [named("a", "t", 2), named("b", "t", 2), named("a", "u", 3, 13)]
      expect(shares(all, names, [moved("t", "500"), moved("u", "500")])).toEqual([
        "a t 0",
        "a u 500",
        "b t 500",
      ])
    })

    it("is shared as before where an older version was only shown once more", () => {
      const names = [named("a", "t", 2), named("b", "t", 2)]
      expect(shares([told("a", 1, own), other], names, [moved("t", "1500")])).toEqual(["a t 1025", "b t 475"])
    })
  })

  it("pays announced interest before it is the other's", () => {
    const lent: Version = ["ACTIVE", "1000", "1050"]
    const all = [told("a", 1, [lent, ["PAID", "0", "1050"]]), told("b", 2, [lent, ["ACTIVE", "500", "1050"]])]
    const names = [named("a", "t", 2), named("a", "u", 2, 13), named("b", "u", 2, 13)]
    const original: ReceivableView = { ...view, repaymentAmount: "original" }
    expect(shares(all, names, [moved("t", "600"), moved("u", "450")], original)).toEqual([
      "a t 600",
      "a u 450",
      "b u 0",
    ])
  })

  it("is one transaction under all its names", () => {
    const names = [named("a", "hash", 2), named("b", "deposit", 2)]
    const cash = [moved("hash", "2050", { entryId: "e" }), moved("deposit", "2050", { entryId: "e" })]
    expect(shares(two, names, cash)).toEqual(["a deposit 1025", "b deposit 1025"])
  })

  it("is not shared over currencies", () => {
    const euro = { ...told("a", 1, paidBack), currency: "EUR" }
    expect(
      shares([euro, told("b", 2, paidBack)], [named("a", "t", 2), named("b", "t", 2)], [moved("t", "2050")]),
    ).toEqual(["b t 1025 + 1025"])
  })

  it("is capped by the version that names it, not by a later one", () => {
    const half: ReadonlyArray<Version> = [
      ["ACTIVE", "1000", "1025"],
      ["ACTIVE", "500", "525"],
      ["PAID", "0", "0"],
    ]
    const all = [told("a", 1, half), told("b", 2, half.slice(0, 2))]
    const names = [named("a", "t", 2), named("b", "t", 2), named("a", "u", 3, 13)]
    expect(shares(all, names, [moved("t", "1000"), moved("u", "525")])).toEqual([
      "a t 500",
      "a u 525",
      "b t 500",
    ])
  })

  it("settles earlier or later versions with what is left over", () => {
    const late: ReadonlyArray<Version> = [...paidBack, ["PAID", "0", "0"]]
    const early: ReadonlyArray<Version> = [["ACTIVE", "1000", "1025"], ...paidBack]
    const all = [told("a", 1, late), told("b", 2, early)]
    expect(shares(all, [named("a", "t", 3), named("b", "t", 2)], [moved("t", "2050")])).toEqual([
      "a t 1025",
      "b t 1025",
    ])
  })

  it("takes interest between the readings only from what is left over", () => {
    const rate: ReceivableView = { ...view, interestBetweenReads: "1" }
    expect(shares(two, [named("a", "t", 2), named("b", "t", 2)], [moved("t", "2055")], rate)).toEqual([
      "a t 1025",
      "b t 1030",
    ])
  })
})

describe("The amounts due and paid", () => {
  const dues = (cash: string, versions = paidBack) =>
    settle([told("a", 1, versions)], [named("a", "t", 2)], [moved("t", cash)], view).map(
      ({ repaid: { due, paid, waiting } }) => [text(due), text(paid), text(waiting)],
    )

  it("are equal where exactly the due amount was paid", () => {
    expect(dues("1025")).toEqual([["1025", "1025", "0"]])
  })

  it("show an excess and a shortfall", () => {
    expect(dues("3000")).toEqual([["1025", "3000", "0"]])
    expect(dues("1000")).toEqual([["1025", "1000", "0"]])
  })

  it("show unpaid interest that the cash of a later version pays after all as an excess", () => {
    const versions: ReadonlyArray<Version> = [...paidBack, ["PAID", "0", "0"]]
    const names = [named("a", "t", 2), named("a", "u", 3, 14)]
    const [one] = settle([told("a", 1, versions)], names, [moved("t", "400"), moved("u", "625")], view)
    expect(one === undefined ? [] : [one.repaid.due, one.repaid.paid].map(text)).toEqual(["1000", "1025"])
    expect(Option.isSome(one?.since ?? Option.none())).toBe(true)
  })

  it("are not due where the repayment is owed again, whatever became of its cash", () => {
    const again: ReadonlyArray<Version> = [...paidBack, ["ACTIVE", "1000", "1025"]]
    expect(dues("1025", again)).toEqual([["0", "1025", "0"]])
    expect(dues("0", again)).toEqual([["0", "0", "0"]])
    expect(dues("1010", again)).toEqual([["0", "1010", "0"]])
    const [unseen] = settle([told("a", 1, again)], [], [], view)
    expect(unseen?.legs.map(({ purpose }) => purpose)).toEqual(["disbursement"])
    expect(unseen === undefined ? [] : [text(unseen.repaid.due), text(unseen.repaid.waiting)]).toEqual([
      "0",
      "0",
    ])
    // It is repaid after all.
    const names = [named("a", "t", 2), named("a", "u", 4, 14)]
    const [after] = settle(
      [told("a", 1, [...again, ["PAID", "0", "0"]])],
      names,
      [moved("t", "0"), moved("u", "1025")],
      view,
    )
    expect(after === undefined ? [] : [text(after.repaid.due), text(after.repaid.paid)]).toEqual([
      "1025",
      "1025",
    ])
  })

  it("wait where no transaction is named", () => {
    const [one] = settle([told("a", 1, paidBack)], [], [], view)
    expect(
      one === undefined ? [] : [text(one.repaid.due), text(one.repaid.waiting), text(one.lent.waiting)],
    ).toEqual(["1025", "1025", "1000"])
  })
})

describe("Any receivables with any transactions", () => {
  const names = ["a", "b", "c", "d"]
  const txs = ["t", "u", "v", "w"]
  const amounts = fc.constantFrom("0", "10", "475.5", "1000", "1025", "3000.25", "-250")
  const versions = fc.array(
    fc.tuple(
      fc.constantFrom("ACTIVE", "ACTIVE", "PAID", "CANCELED", "PENDING"),
      fc.constantFrom("0", "400", "1000"),
      fc.constantFrom("0", "25", "30.5"),
    ),
    { minLength: 1, maxLength: 4 },
  )
  const world = fc.record({
    receivables: fc.tuple(versions, versions, versions, versions),
    issued: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 4 }),
    named: fc.uniqueArray(
      fc.record({
        receivableId: fc.constantFrom(...names),
        txId: fc.constantFrom(...txs),
        version: fc.integer({ min: 1, max: 4 }),
        purpose: fc.constantFrom("repayment" as const, "repayment" as const, "disbursement" as const),
        txTimestamp: fc.integer({ min: 12, max: 14 }).map(at),
      }),
      { selector: ({ receivableId, txId }) => `${receivableId} ${txId}`, maxLength: 10 },
    ),
    cash: fc.uniqueArray(
      fc.record({ txId: fc.constantFrom(...txs), entry: fc.constantFrom("e", "f", "g"), amount: amounts }),
      { selector: ({ entry, txId }) => `${entry} ${txId}`, maxLength: 6 },
    ),
    how: fc.constantFrom<ReceivableView>(
      view,
      { ...view, repaymentAmount: "original" },
      { ...view, interestBetweenReads: "0.3" },
    ),
  })
  type World = typeof world extends fc.Arbitrary<infer A> ? A : never

  const inputs = ({ cash, issued, named: links, receivables }: World) => {
    // An entry has one amount, whatever names lead to it.
    const amountOf = new Map<string, string>(cash.map(({ amount, entry }) => [entry, amount]))
    return {
      told: names.map((name, index) =>
        told(
          name,
          issued[index] ?? 1,
          (receivables[index] ?? []).map(
            ([status, principal, interest]): Version => [
              status,
              principal,
              text(Money.add(of(principal), of(interest))),
            ],
          ),
        ),
      ),
      named: links,
      moved: cash.map(({ entry, txId }) => moved(txId, amountOf.get(entry) ?? "0", { entryId: entry })),
      amountOf,
    }
  }

  it("use every unit of cash that is named once, and no other", () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { amountOf, moved: cash, named: links, told: all } = inputs(drawn)
        const found = settle(all, links, cash, drawn.how).flatMap((one) => one.shares)
        const used = new Map<string, Money.Amount>()
        for (const share of found) {
          const key = share.entries.join(" ")
          used.set(key, Money.total([used.get(key) ?? Money.zero, share.amount, share.leftOver]))
        }
        const entries = found.map((share) => share.entries.join(" "))
        const distinct = [...new Set(entries)].flatMap((key) => key.split(" "))
        expect(new Set(distinct).size).toBe(distinct.length)
        for (const [key, amount] of used)
          expect(text(amount)).toBe(
            text(Money.total(key.split(" ").map((entry) => of(amountOf.get(entry) ?? "0")))),
          )
      }),
    )
  })

  it("give no receivable more than it settles", () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { moved: cash, named: links, told: all } = inputs(drawn)
        for (const one of settle(all, links, cash, { ...drawn.how, interestBetweenReads: "0" })) {
          const sum = (purpose: string) =>
            Money.total(one.shares.filter((share) => share.purpose === purpose).map(({ amount }) => amount))
          expect(Money.isNegative(sum("repayment"))).toBe(false)
          expect(Money.isPositive(sum("disbursement"))).toBe(false)
          expect(Money.isPositive(Money.subtract(Money.negate(sum("disbursement")), of("1000")))).toBe(false)
        }
      }),
    )
  })

  it("give the same shares in whatever order they came", () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { moved: cash, named: links, told: all } = inputs(drawn)
        const shown = (found: ReturnType<typeof settle>) =>
          found
            .flatMap(({ receivableId, shares: own, versions }) => [
              ...own.map(
                ({ amount, leftOver, unit }) => `${receivableId} ${unit} ${text(amount)} ${text(leftOver)}`,
              ),
              ...versions.flatMap(({ repayments, version }) =>
                repayments.map(({ cash: x }) => `${receivableId} ${version} ${Option.map(x, text)}`),
              ),
            ])
            .sort()
        const forwards = shown(settle(all, links, cash, drawn.how))
        expect(
          shown(settle([...all].reverse(), [...links].reverse(), [...cash].reverse(), drawn.how)),
        ).toEqual(forwards)
      }),
    )
  })

  it("leave only amounts in clearing that were not paid exactly", () => {
    fc.assert(
      fc.property(world, (drawn) => {
        const { moved: cash, named: links, told: all } = inputs(drawn)
        for (const { legs, lent, repaid, shares: own, taken, takenBack } of settle(all, links, cash, view)) {
          // The amount waited for is at most the missing amount.
          for (const [purpose, { due, paid }] of [
            ["disbursement", lent],
            ["repayment", repaid],
          ] as const) {
            const open = Money.total(
              legs.filter((leg) => leg.purpose === purpose).map(({ amount }) => amount),
            )
            if (Money.isPositive(open))
              expect(Money.isNegative(Money.subtract(Money.subtract(due, paid), open))).toBe(false)
          }
          // Clearing gives the repaid less the lent amount, except for interest that was settled and not paid.
          const net = Money.subtract(repaid.due, lent.due)
          expect(Money.isNegative(Money.subtract(net, taken))).toBe(false)
          // An excess of one transaction does not make up for interest that another left unpaid, and neither does the cash of a
          // repayment that was taken back.
          const single = own.filter(({ purpose }) => purpose === "repayment").length <= 1
          if (
            single &&
            Money.isZero(takenBack) &&
            !Money.isPositive(Money.subtract(Money.subtract(repaid.due, repaid.waiting), repaid.paid))
          )
            expect(text(taken)).toBe(text(net))
        }
      }),
    )
  })
})
