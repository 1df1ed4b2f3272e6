/** Which lines a summary adds up, and which it keeps apart. */
import { describe, expect, it } from "vitest"
import type { Account, Entry } from "../../src/Format/Entry.ts"
import type { TableJournal } from "../../src/Format/Table/Journals.ts"
import { type SummaryStyle, summaryJournals } from "../../src/Format/Table/SummaryJournals.ts"

const account = (code: string, role: string, partnerAccountId: string | null = null): Account => ({
  ...{ code, role, partnerAccountId, name: `${role} ${code}`, currency: "EUR", scale: 2 },
})
const cash = account("1010", "cash", "a")
const clearing = account("1020", "deposits_clearing")
const fees = account("6850", "fees")
const unrealized = account("7910", "fx_unrealized")

let numbers = 0

const entry = (
  effectiveDate: string,
  lines: ReadonlyArray<readonly [Account, bigint]>,
  own: Partial<Entry> = {},
): Entry => {
  numbers += 1
  return {
    number: `ORG-2026-10-${String(numbers).padStart(6, "0")}`,
    ...{ period: effectiveDate.slice(0, 7), effectiveDate, kind: "deposit", description: "Deposit" },
    ...{ occurredAt: "", recordedAt: "", recordedOn: "", sourceType: "statement_entry", sourceId: "s" },
    ...{ resourceType: null, resourceId: null, externalReference: null, counterparty: null },
    ...{ reverses: null, lateFor: null },
    lines: lines.map(([of, minor], at) => ({ account: of, minor, number: at + 1 })),
    ...own,
  }
}

const told = ({ date, description, lines, number }: TableJournal) => [
  `${number} ${date}: ${description}`,
  ...lines.map((line) => `${line.account.code} ${line.minor}`),
]

const summed = (entries: ReadonlyArray<Entry>, style: SummaryStyle, most = 300) => {
  const journals = summaryJournals(new Set(), most, (of) => of, style)
  return [...entries.flatMap((each) => journals.add(each)), ...journals.end()].map(told)
}

describe("a summary", () => {
  const entries = () => {
    numbers = 0
    return [
      entry("2026-10-01", [
        [cash, 995n],
        [fees, 5n],
        [clearing, -1000n],
      ]),
      entry("2026-10-01", [
        [cash, -300n],
        [clearing, 300n],
      ]),
      entry("2026-10-30", [
        [cash, -695n],
        [clearing, 695n],
      ]),
    ]
  }

  it("by day has a journal for each day, with debits and credits", () => {
    expect(summed(entries(), { by: "day", net: false })).toEqual([
      [
        "ORG-2026-10-000001 2026-10-01: 2 entries, ORG-2026-10-000001 to ORG-2026-10-000002",
        ...["1010 995", "1010 -300", "6850 5", "1020 300", "1020 -1000"],
      ],
      ["ORG-2026-10-000003 2026-10-30: 1 entry, ORG-2026-10-000003", "1010 -695", "1020 695"],
    ])
  })

  it("by month names the days that it really has; net has a line per account, and none for a net of zero", () => {
    expect(summed(entries(), { by: "month", net: true })).toEqual([
      [
        "ORG-2026-10-000001 2026-10-30: 2026-10-01 to 2026-10-30: 3 entries, ORG-2026-10-000001 to ORG-2026-10-000003",
        ...["6850 5", "1020 -5"],
      ],
    ])
  })

  it("shortens its text where there is less room, without cutting a range", () => {
    const lines = [
      [cash, 1n],
      [clearing, -1n],
    ] as const
    const numbered = [1, 2, 4, 6, 7, 9].map((number) =>
      entry("2026-10-01", lines, { number: `ORG-2026-10-00000${number}` }),
    )
    const journals = summaryJournals(new Set(), 300, (of) => of, { by: "day", net: true })
    const made = [...numbered.flatMap((each) => journals.add(each)), ...journals.end()]
    expect(made.map(({ description, shorter }) => [description, ...(shorter ?? [])])).toEqual([
      [
        "6 entries, ORG-2026-10-000001 to ORG-2026-10-000002, ORG-2026-10-000004, ORG-2026-10-000006 to ORG-2026-10-000007 and others",
        "6 entries, ORG-2026-10-000001 to ORG-2026-10-000002, ORG-2026-10-000004 and others",
        "6 entries, ORG-2026-10-000001 to ORG-2026-10-000002 and others",
      ],
    ])
  })

  it("keeps revaluations and their reversals apart, and in the order of the days", () => {
    numbers = 0
    const valued = { sourceType: "valuation" }
    const found = summed(
      [
        entry(
          "2026-10-01",
          [
            [cash, -7n],
            [unrealized, 7n],
          ],
          { ...valued, kind: "fx_reversal" },
        ),
        entry("2026-10-01", [
          [cash, 10n],
          [clearing, -10n],
        ]),
        entry(
          "2026-10-31",
          [
            [cash, 9n],
            [unrealized, -9n],
          ],
          { ...valued, kind: "fx_revaluation" },
        ),
      ],
      { by: "month", net: true },
    )
    expect(found.map(([head = "", ...lines]) => [head.slice(11, 29), ...lines])).toEqual([
      ["-000001 2026-10-01".slice(0, 18), "1010 -7", "7910 7"],
      ["-000002 2026-10-01".slice(0, 18), "1010 10", "1020 -10"],
      ["-000003 2026-10-31".slice(0, 18), "1010 9", "7910 -9"],
    ])
  })
})
