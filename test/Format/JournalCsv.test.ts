import { parse } from "csv-parse/sync"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { guarded } from "../../src/Common/Csv.ts"
import { journal } from "../../src/Format/Csv/JournalCsv.ts"
import type { Account, Entry } from "../../src/Format/Entry.ts"
import { journalColumns } from "../../src/Verify/JournalRow.ts"

const cash: Account = {
  code: "1010",
  name: "Assets:Partner",
  role: "cash",
  currency: "USDT",
  scale: 8,
  partnerAccountId: "p",
}
const trading: Account = {
  ...cash,
  code: "=3020",
  name: 'Equity:"T", x',
  role: "trading",
  partnerAccountId: null,
}

const entry = (texts: Partial<Entry>): Entry => ({
  number: "ORG-2026-10-000007",
  period: "2026-10",
  effectiveDate: "2026-10-31",
  occurredAt: "2026-10-31T10:00:00.000001Z",
  recordedAt: "2026-11-01T03:30:00.000000Z",
  recordedOn: "2026-11-01",
  kind: "conversion",
  description: "Conversion",
  sourceType: "statement_entry",
  sourceId: "s",
  resourceType: null,
  resourceId: null,
  externalReference: null,
  counterparty: null,
  reverses: null,
  lateFor: null,
  lines: [
    { number: 1, account: cash, minor: 1_00000001n },
    { number: 2, account: trading, minor: -1_00000001n },
  ],
  ...texts,
})

const written = (entries: ReadonlyArray<Entry>): string => {
  const accounts = [cash, trading].map((account) => ({ account, opening: 0n }))
  const context = { book: { code: "ORG", name: "Org" }, scope: "all", from: null, accounts }
  const writer = journal.open(context)
  return `${writer.begin(undefined)}${writer.write(entries)}`
}

/** Anything that Postgres can hold in a text. */
const text = fc.oneof(
  fc.string({ unit: "binary" }).filter((some) => !some.includes("\0") && some.isWellFormed()),
  fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n",; ａ＝') }),
)

describe("journal.csv", () => {
  it("is this, to the byte", () => {
    expect(
      written([entry({ externalReference: "+1", reverses: "ORG-2026-10-000001", lateFor: "2026-09" })]),
    ).toBe(
      `${journalColumns.join(",")}
ORG-2026-10-000007,1,ORG,2026-10,2026-10-31,2026-10-31T10:00:00.000001Z,2026-11-01T03:30:00.000000Z,1010,Assets:Partner,cash,p,USDT,1.00000001,,conversion,Conversion,statement_entry,s,,,'+1,,ORG-2026-10-000001,2026-09
ORG-2026-10-000007,2,ORG,2026-10,2026-10-31,2026-10-31T10:00:00.000001Z,2026-11-01T03:30:00.000000Z,'=3020,"Equity:""T"", x",trading,,USDT,,1.00000001,conversion,Conversion,statement_entry,s,,,'+1,,ORG-2026-10-000001,2026-09
`,
    )
  })

  it("reads back as what was written, whatever the text, and no cell is a formula", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, fc.option(text)), { minLength: 1 }), (texts) => {
        const csv = written(
          texts.map(([description, counterparty, externalReference]) =>
            entry({ description, counterparty, externalReference }),
          ),
        )
        const rows = parse<Record<string, string>>(csv, { columns: true, record_delimiter: "\n" })
        expect(rows).toHaveLength(texts.length * 2)
        texts.forEach(([description, counterparty, reference], at) => {
          expect(rows[at * 2]).toMatchObject({
            description: guarded(description),
            counterparty: guarded(counterparty),
            external_reference: guarded(reference ?? ""),
          })
        })
        for (const row of rows) {
          for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
        }
      }),
    )
  })
})
