import { Option } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import type { JournalEntry } from "../../src/Ledger/JournalEntry.ts"
import { openingBalance } from "../../src/Ledger/Opening.ts"
import { postMovement } from "../../src/Ledger/Posting.ts"
import type { RuleMatch } from "../../src/Ledger/PostingRules.ts"
import type { PostingContext, Subject } from "../../src/Ledger/Subject.ts"
import type { Conversion, Deposit, Resource, StatementEntry, Withdrawal } from "../../src/Partner.ts"

const account = "00000000-0000-4000-8000-000000000001"
const other = "00000000-0000-4000-8000-000000000002"
const resourceId = "00000000-0000-4000-8000-0000000000aa"
const context: PostingContext = {
  flatWithdrawalFee: "inside",
  rule: () => null,
  isLoan: () => false,
  counterparty: Option.flatMap((resource) => resource.counterparty),
}

const sum = (amount: string, currency: string): Money.Money => ({
  amount: Money.fromTrusted(amount),
  currency,
})

const fields = {
  id: resourceId,
  status: "COMPLETED",
  reasonCode: Option.none(),
  externalReference: Option.some("INV-7"),
  counterparty: Option.some("Ada"),
  code: Option.none(),
  transactionHash: Option.none(),
  createdAt: "2026-10-01T00:00:00Z",
  raw: "{}",
}
const ref = (accountId: string, currency: string) => ({ accountId, currency, paymentRails: "SEPA" })

const deposit = (over: Partial<Deposit> = {}): Deposit => ({
  ...fields,
  resourceType: "DEPOSIT",
  account: ref(account, "USD"),
  amount: sum("1000", "USD"),
  fee: Option.some(sum("5", "USD")),
  ...over,
})
const withdrawal = (over: Partial<Withdrawal> = {}): Withdrawal => ({
  ...fields,
  resourceType: "WITHDRAWAL",
  sourceAccount: ref(account, "USD"),
  form: "money",
  amount: sum("1000", "USD"),
  delivered: Option.some(sum("995", "USD")),
  fee: Option.some(sum("5", "USD")),
  reference: Option.none(),
  destinationId: Option.none(),
  ...over,
})
const conversion = (over: Partial<Conversion> = {}): Conversion => ({
  ...fields,
  resourceType: "CONVERSION",
  pairId: resourceId,
  sellAccount: ref(account, "USD"),
  sellAmount: sum("1000", "USD"),
  buyAccount: ref(other, "USDT"),
  buyAmount: sum("994.2031", "USDT"),
  rate: Money.fromTrusted("0.9992"),
  fee: sum("5", "USD"),
  completedAt: Option.none(),
  ...over,
})

let counter = 0
const entry = (
  type: "CREDIT" | "DEBIT",
  amount: string,
  relatedType: string | null,
  over: Partial<StatementEntry> = {},
): StatementEntry => {
  counter += 1
  return {
    entryId: `00000000-0000-4000-8000-${String(counter).padStart(12, "0")}`,
    accountId: account,
    type,
    amount: Money.fromTrusted(amount),
    currency: "USD",
    balanceBefore: Option.none(),
    balanceAfter: Money.fromTrusted("5000"),
    relatedResourceType: Option.fromNullable(relatedType),
    relatedResourceId: relatedType === null ? Option.none() : Option.some(resourceId),
    occurredAt: "2026-10-01T00:00:00Z",
    extra: null,
    ...over,
  }
}

const fresh = (...entries: ReadonlyArray<StatementEntry>): ReadonlyArray<Subject> =>
  entries.map((one, at) => ({ entry: one, position: BigInt(at + 1), posted: Option.none() }))

const lines = ({ kind, lines: posted, sequence }: JournalEntry): string =>
  [
    sequence === 0 ? kind : `${kind} ${sequence}`,
    ...posted.map(
      ({ amount, currency, role }) =>
        `${role}:${currency} ${Money.isPositive(amount) ? "+" : ""}${Money.toText(amount)}`,
    ),
  ].join(" · ")

const posted = (subjects: ReadonlyArray<Subject>, resource: Resource | null, settings = context) =>
  postMovement(subjects, Option.fromNullable(resource), settings).map(lines)

/** Books the entries one after the other, each with what is known after it, as pages bring them. */
const oneByOne = (entries: ReadonlyArray<StatementEntry>, resources: ReadonlyArray<Resource | null>) => {
  const out: Array<string> = []
  const standing = new Map<string, Subject>()
  entries.forEach((one, at) => {
    standing.set(one.entryId, { entry: one, position: BigInt(at + 1), posted: Option.none() })
    const made = postMovement([...standing.values()], Option.fromNullable(resources[at] ?? null), context)
    for (const journal of made) {
      const before = standing.get(journal.sourceId)
      if (before === undefined) throw new Error("an entry of no source")
      const kept = Option.match(before.posted, { onNone: () => [], onSome: (state) => state.lines })
      const added = journal.lines.filter((line) => line.role !== "cash")
      standing.set(journal.sourceId, {
        ...before,
        posted: Option.some({ sequence: journal.sequence, lines: [...kept, ...added] }),
      })
    }
    out.push(...made.map(lines))
  })
  return out
}

describe("the posting table", () => {
  it("deposit, fee netted", () => {
    expect(posted(fresh(entry("CREDIT", "995", "DEPOSIT")), deposit())).toEqual([
      "deposit · cash:USD +995 · fees:USD +5 · deposits_clearing:USD -1000",
    ])
  })

  it("deposit, fee separate", () => {
    expect(
      posted(fresh(entry("CREDIT", "1000", "DEPOSIT"), entry("DEBIT", "5", "DEPOSIT")), deposit()),
    ).toEqual(["deposit · cash:USD +1000 · deposits_clearing:USD -1000", "fee · fees:USD +5 · cash:USD -5"])
  })

  it("withdrawal, fee inside", () => {
    expect(posted(fresh(entry("DEBIT", "1000", "WITHDRAWAL")), withdrawal())).toEqual([
      "withdrawal · withdrawals_clearing:USD +995 · fees:USD +5 · cash:USD -1000",
    ])
  })

  it("withdrawal, fee on top", () => {
    expect(posted(fresh(entry("DEBIT", "1005", "WITHDRAWAL")), withdrawal())).toEqual([
      "withdrawal · withdrawals_clearing:USD +1000 · fees:USD +5 · cash:USD -1005",
    ])
  })

  it("withdrawal, fee separate, in both forms", () => {
    const less = fresh(entry("DEBIT", "995", "WITHDRAWAL"), entry("DEBIT", "5", "WITHDRAWAL"))
    expect(posted(less, withdrawal())).toEqual([
      "withdrawal · withdrawals_clearing:USD +995 · cash:USD -995",
      "fee · fees:USD +5 · cash:USD -5",
    ])
    const flat = withdrawal({ form: "flat", delivered: Option.none() })
    const whole = fresh(entry("DEBIT", "1000", "WITHDRAWAL"), entry("DEBIT", "5", "WITHDRAWAL"))
    expect(posted(whole, flat)).toEqual([
      "withdrawal · withdrawals_clearing:USD +1000 · cash:USD -1000",
      "fee · fees:USD +5 · cash:USD -5",
    ])
  })

  it("withdrawal returned, with and without its fee", () => {
    const out = entry("DEBIT", "1000", "WITHDRAWAL")
    expect(posted(fresh(out, entry("CREDIT", "995", "WITHDRAWAL")), withdrawal())[1]).toBe(
      "withdrawal_return · cash:USD +995 · withdrawals_clearing:USD -995",
    )
    expect(posted(fresh(out, entry("CREDIT", "1000", "WITHDRAWAL")), withdrawal())[1]).toBe(
      "withdrawal_return · cash:USD +1000 · withdrawals_clearing:USD -995 · fees:USD -5",
    )
  })

  it("conversion, sell leg with the fee in the sell currency, and its buy leg", () => {
    expect(posted(fresh(entry("DEBIT", "1000", "CONVERSION")), conversion())).toEqual([
      "conversion · conversions_in_transit:USD +995 · fees:USD +5 · cash:USD -1000",
    ])
    const bought = entry("CREDIT", "994.2031", "CONVERSION", { accountId: other, currency: "USDT" })
    expect(posted(fresh(bought), conversion())).toEqual([
      "conversion · cash:USDT +994.2031 · conversions_in_transit:USDT -994.2031",
    ])
  })

  it("conversion that stands in trading from before: it stays there, and a fee of its own is taken from there", () => {
    const standing = { currency: "USD", partnerAccountId: null, rule: null }
    const [sold] = fresh(entry("DEBIT", "1000", "CONVERSION"))
    if (sold === undefined) throw new Error("there is one")
    const before: Subject = {
      ...sold,
      posted: Option.some({
        sequence: 0,
        lines: [
          { ...standing, role: "trading", amount: Money.fromTrusted("995") },
          { ...standing, role: "fees", amount: Money.fromTrusted("5") },
        ],
      }),
    }
    expect(posted([before], conversion())).toEqual([])
    const [, fee] = fresh(entry("DEBIT", "1", "CONVERSION"), entry("DEBIT", "5", "CONVERSION"))
    expect(posted(fee === undefined ? [before] : [before, fee], conversion())).toEqual([
      "reclassification 1 · trading:USD +5 · fees:USD -5",
      "fee · fees:USD +5 · cash:USD -5",
    ])
  })

  it("conversion, an entry on an account of neither side: no fee", () => {
    const elsewhere = entry("DEBIT", "1000", "CONVERSION", { accountId: resourceId })
    expect(posted(fresh(elsewhere), conversion())).toEqual([
      "conversion · conversions_in_transit:USD +1000 · cash:USD -1000",
    ])
  })

  it("conversion, buy leg with the fee in the buy currency", () => {
    const sold = conversion({
      sellAccount: ref(other, "USDT"),
      sellAmount: sum("500", "USDT"),
      buyAccount: ref(account, "USD"),
      buyAmount: sum("497", "USD"),
      fee: sum("2.50", "USD"),
    })
    expect(posted(fresh(entry("CREDIT", "497", "CONVERSION")), sold)).toEqual([
      "conversion · cash:USD +497 · fees:USD +2.50 · conversions_in_transit:USD -499.50",
    ])
  })

  it("payout, and its mirror image", () => {
    expect(posted(fresh(entry("DEBIT", "40", "PAYOUT")), null)).toEqual([
      "payout · payouts_clearing:USD +40 · cash:USD -40",
    ])
    expect(posted(fresh(entry("CREDIT", "40", "PAYOUT")), null)).toEqual([
      "payout_return · cash:USD +40 · payouts_clearing:USD -40",
    ])
  })

  it("an adjustment without a resource stands in suspense", () => {
    expect(posted(fresh(entry("CREDIT", "3", null)), null)).toEqual([
      "adjustment · cash:USD +3 · suspense:USD -3",
    ])
  })

  it("an unknown kind of resource, and a resource that the service does not have, leave the entry in suspense", () => {
    expect(posted(fresh(entry("DEBIT", "3", "REBATE")), null)).toEqual([
      "unidentified · suspense:USD +3 · cash:USD -3",
    ])
    expect(posted(fresh(entry("DEBIT", "3", "DEPOSIT")), null)).toEqual([
      "unidentified · suspense:USD +3 · cash:USD -3",
    ])
  })

  it("the opening balance is the balance before the first entry", () => {
    const [first] = fresh(entry("CREDIT", "1000", "DEPOSIT", { balanceAfter: Money.fromTrusted("1250.50") }))
    expect(first && Option.map(openingBalance(first), lines)).toEqual(
      Option.some("opening_balance · cash:USD +250.50 · opening_balance:USD -250.50"),
    )
    const [none] = fresh(entry("CREDIT", "1000", "DEPOSIT", { balanceAfter: Money.fromTrusted("1000") }))
    expect(none && openingBalance(none)).toEqual(Option.none())
  })

  it("a posting rule moves the line against cash, not the fee", () => {
    const rule = { code: "4120", name: "Expenses:Payroll" }
    const [made] = postMovement(fresh(entry("DEBIT", "1000", "WITHDRAWAL")), Option.some(withdrawal()), {
      ...context,
      rule: () => ({ account: rule, isDirected: false }),
    })
    expect(made?.lines.map((line) => line.rule)).toEqual([rule, null, null])
  })
})

describe("a return", () => {
  const accounts = ["4120", "4130"].map((code) => ({ code, name: `Income:${code}` }))
  /** Books amounts one after the other, each under the rules of its moment. Answers the balance of each account but cash. */
  const booked = (steps: ReadonlyArray<{ readonly cents: number; readonly rule: RuleMatch | null }>) => {
    const subjects: Array<Subject> = []
    const sums = new Map<string, Money.Amount>()
    for (const { cents, rule } of steps) {
      const amount = (Math.abs(cents) / 100).toFixed(2)
      const next = entry(cents > 0 ? "CREDIT" : "DEBIT", amount, "DEPOSIT")
      subjects.push({ entry: next, position: BigInt(subjects.length + 1), posted: Option.none() })
      const resource = deposit({ fee: Option.none(), status: "REJECTED" })
      for (const made of postMovement(subjects, Option.some(resource), { ...context, rule: () => rule })) {
        const at = subjects.findIndex((subject) => subject.entry.entryId === made.sourceId)
        const subject = subjects[at]
        if (subject === undefined) throw new Error("an entry of no source")
        const lines = made.lines.filter(({ role }) => role !== "cash")
        const kept = Option.match(subject.posted, { onNone: () => [], onSome: (before) => before.lines })
        subjects[at] = {
          ...subject,
          posted: Option.some({ sequence: made.sequence, lines: [...kept, ...lines] }),
        }
        for (const { amount: moved, role, rule: account } of lines) {
          const place = account?.code ?? role
          sums.set(place, Money.add(sums.get(place) ?? Money.zero, moved))
        }
      }
    }
    return [...sums].filter(([, left]) => !Money.isZero(left)).map(([place, left]) => ({ place, left }))
  }
  const undirected = fc.constantFrom(null, ...accounts.map((account) => ({ account, isDirected: false })))

  it("comes from the account where the returned amount stands, whatever the rules are by then", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ cents: fc.integer({ min: -500, max: 500 }).filter((n) => n !== 0), rule: undirected }),
          {
            maxLength: 8,
          },
        ),
        undirected,
        (steps, last) => {
          // No account holds an amount that another lacks, and a fully returned movement leaves no balance.
          const signs = new Set(booked(steps).map(({ left }) => Money.isPositive(left)))
          expect(signs.size).toBeLessThanOrEqual(1)
          const sum = steps.reduce((all, { cents }) => all + cents, 0)
          if (sum !== 0) expect(booked([...steps, { cents: -sum, rule: last }])).toEqual([])
        },
      ),
    )
  })

  it("goes to the account of a rule that names its direction", () => {
    const [sales = null, returns = null] = accounts.map((account, at) => ({ account, isDirected: at === 1 }))
    expect(
      booked([
        { cents: 1000, rule: sales },
        { cents: -1000, rule: returns },
      ]).map(({ left, place }) => `${place} ${Money.toText(left)}`),
    ).toEqual(["4120 -10.00", "4130 10.00"])
  })
})

describe("later knowledge", () => {
  it("a separate fee moves back to clearing after an entry that was assumed to include it", () => {
    const entries = [entry("DEBIT", "1000", "WITHDRAWAL"), entry("DEBIT", "5", "WITHDRAWAL")]
    expect(oneByOne(entries, [withdrawal(), withdrawal()])).toEqual([
      "withdrawal · withdrawals_clearing:USD +995 · fees:USD +5 · cash:USD -1000",
      "reclassification 1 · withdrawals_clearing:USD +5 · fees:USD -5",
      "fee · fees:USD +5 · cash:USD -5",
    ])
  })

  it("a flat withdrawal has its fee inside once it is completed, unless the settings say no", () => {
    const one = entry("DEBIT", "1000", "WITHDRAWAL")
    const flat = withdrawal({ form: "flat", status: "PENDING", delivered: Option.none() })
    const [first] = postMovement(fresh(one), Option.some(flat), context)
    expect(first && lines(first)).toBe("withdrawal · withdrawals_clearing:USD +1000 · cash:USD -1000")
    const standing: ReadonlyArray<Subject> = [
      {
        entry: one,
        position: 1n,
        posted: Option.some({
          sequence: 0,
          lines: first?.lines.filter((line) => line.role !== "cash") ?? [],
        }),
      },
    ]
    const completed = { ...flat, status: "COMPLETED" }
    expect(posted(standing, completed)).toEqual([
      "reclassification 1 · fees:USD +5 · withdrawals_clearing:USD -5",
    ])
    expect(posted(standing, completed, { ...context, flatWithdrawalFee: "none" })).toEqual([])
  })

  it("a resource that appears takes the entry out of suspense", () => {
    const one = entry("CREDIT", "995", "DEPOSIT")
    const later = entry("CREDIT", "1", "DEPOSIT")
    const made = oneByOne([one, later], [null, deposit()])
    expect(made.slice(0, 2)).toEqual([
      "unidentified · cash:USD +995 · suspense:USD -995",
      "reclassification 1 · suspense:USD +995 · fees:USD +5 · deposits_clearing:USD -1000",
    ])
  })

  it("posting the same again changes nothing", () => {
    const one = entry("DEBIT", "1000", "WITHDRAWAL")
    const [first] = postMovement(fresh(one), Option.some(withdrawal()), context)
    const standing: ReadonlyArray<Subject> = [
      {
        entry: one,
        position: 1n,
        posted: Option.some({
          sequence: 0,
          lines: first?.lines.filter((line) => line.role !== "cash") ?? [],
        }),
      },
    ]
    expect(posted(standing, withdrawal())).toEqual([])
  })
})
