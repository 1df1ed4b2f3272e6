/** What a beancount journal can hold: beancount computes with 28 significant digits. bean-check itself says where the limit lies. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Account, Entry, OpenedAccount } from "../../src/Format/Entry.ts"
import { beancount } from "../../src/Format/PlainText/Beancount.ts"
import { Unholdable } from "../../src/Format/Table/Journals.ts"
import { RunningTotals } from "../../src/Format/Totals.ts"
import { isInstalled } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const account = (role: string, name: string): Account => ({
  ...{ code: "1", name, role, currency: "USD", scale: 2, partnerAccountId: null },
})
const cash = account("cash", "Assets:Cash")
const fees = account("fees", "Expenses:Fees")
const clearing = account("deposits_clearing", "Assets:Clearing")

type Lines = ReadonlyArray<readonly [account: Account, minor: bigint]>

const entry = (nth: number, lines: Lines): Entry => ({
  ...{ number: `ORG-2026-10-00000${nth}`, period: "2026-10", effectiveDate: "2026-10-02", kind: "deposit" },
  ...{
    occurredAt: "2026-10-02T10:00:00.000000Z",
    recordedAt: "2026-10-02T10:00:00.000000Z",
    recordedOn: "2026-10-02",
  },
  ...{ description: "", sourceType: "manual", sourceId: "s", resourceType: null, resourceId: null },
  ...{ externalReference: null, counterparty: null, reverses: null, lateFor: null },
  lines: lines.map(([of, minor], at) => ({ number: at + 1, account: of, minor })),
})

/** The journal of entries that follow opening balances of cash and clearing. */
const journal = (opening: bigint, ...entries: ReadonlyArray<Lines>): string => {
  const accounts: ReadonlyArray<OpenedAccount> = [
    { account: cash, opening },
    { account: fees, opening: 0n },
    { account: clearing, opening: -opening },
  ]
  const context = { book: { code: "ORG", name: "Org" }, scope: "all", from: "2026-10-01", accounts }
  const writer = beancount.open(context)
  const parts = [
    writer.begin("2026-10-02"),
    writer.write(entries.map((lines, at) => entry(at + 1, lines))),
    writer.end(new RunningTotals()),
  ]
  return parts.join("")
}

const beanCheck = (text: string) => {
  const file = join(temporaryFolder(), "books.beancount")
  writeFileSync(file, text)
  const { status, stderr } = spawnSync("bean-check", ["--no-cache", file], { encoding: "utf8" })
  return { status, stderr }
}

/** 28 nines, two of them after the point. */
const most = 10n ** 28n - 1n

describe("a beancount journal", () => {
  it.skipIf(!isInstalled("bean-check", "the limit is not tried"))(
    "holds 28 digits in amounts, in balances and in the sums of a transaction, as bean-check confirms",
    () => {
      const texts = [
        journal(most - 1n, [
          [fees, 1n],
          [cash, 1n],
          [clearing, -2n],
        ]),
        // Zeros at the end are no digits that would be lost.
        journal(0n, [
          [cash, 10n ** 36n],
          [clearing, -(10n ** 36n)],
        ]),
      ]
      for (const text of texts) expect(beanCheck(text)).toEqual({ status: 0, stderr: "" })
      const longer = journal(0n, [
        [cash, most],
        [clearing, -most],
      ]).replaceAll("99.99 ", "99.999 ")
      expect(beanCheck(longer).status).toBe(1)
    },
  )

  it("refuses an amount of more digits, with its entry", () => {
    const lines: Lines = [
      [cash, most + 2n],
      [clearing, -(most + 2n)],
    ]
    expect(() => journal(0n, lines)).toThrow(
      new Unholdable(
        "100000000000000000000000000.01 USD of ORG-2026-10-000001 has more than the 28 digits with which beancount computes",
      ),
    )
  })

  it("refuses an entry whose lines add up to more digits on the way", () => {
    const lines: Lines = [
      [cash, most],
      [fees, 2n],
      [clearing, -most],
      [clearing, -2n],
    ]
    expect(() => journal(0n, lines)).toThrow(
      new Unholdable(
        "100000000000000000000000000.01 USD, what lines 1 to 2 of ORG-2026-10-000001 add up to, has more than the 28 digits with which beancount computes",
      ),
    )
  })

  it("refuses a balance of more digits, of whatever account, with the entry that makes it", () => {
    const lines: Lines = [
      [fees, most],
      [cash, -most],
    ]
    const more: Lines = [
      [fees, 2n],
      [cash, -2n],
    ]
    expect(() => journal(0n, lines, more)).toThrow(
      new Unholdable(
        "100000000000000000000000000.01 USD, the balance of account 1 (Expenses:Fees) after ORG-2026-10-000002, has more than the 28 digits with which beancount computes",
      ),
    )
  })

  it("refuses an opening balance of more digits", () => {
    expect(() => journal(most + 2n)).toThrow(
      new Unholdable(
        "100000000000000000000000000.01 USD of the opening balances has more than the 28 digits with which beancount computes",
      ),
    )
  })
})
