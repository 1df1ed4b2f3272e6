import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { shiftDate } from "../../src/Common/Time.ts"
import type { OpenedAccount } from "../../src/Format/Entry.ts"
import { oneLine } from "../../src/Format/OneLine.ts"
import { beancountNames } from "../../src/Format/PlainText/BeancountNames.ts"
import { indentedNames } from "../../src/Format/PlainText/IndentedNames.ts"
import { openingDate } from "../../src/Format/PlainText/RunningBalances.ts"

const account = (name: string, code = "1", currency = "USD", role = "fees"): OpenedAccount => ({
  account: { code, name, role, currency, scale: 2, partnerAccountId: null },
  opening: 0n,
})

const names = (map: ReadonlyMap<unknown, string>): ReadonlyArray<string> => [...map.values()]

describe("account names", () => {
  it("stay as they are where the format can hold them", () => {
    const accounts = [account("Expenses:Fees:USD"), account("Assets:Clearing:Deposits:EUR")]
    expect(names(indentedNames(accounts))).toEqual(["Expenses:Fees:USD", "Assets:Clearing:Deposits:EUR"])
    expect(names(beancountNames(accounts))).toEqual(["Expenses:Fees:USD", "Assets:Clearing:Deposits:EUR"])
  })

  it("stay exactly as they are in hledger and ledger, but for what would be no name", () => {
    const names = [
      "Income:Sales & Services",
      "Expenses:Payroll:École d'été (HQ)",
      'Assets:"Main"; #1 = 100% | <x>',
    ]
    for (const name of names) expect([...indentedNames([account(name)]).values()]).toEqual([name])
    const changed = ["* Income:A", "(Income:B)", "[[Income:C]]", ";", "Income:  a\tb"].map((name) =>
      account(name),
    )
    expect([...indentedNames(changed).values()]).toEqual([
      "Income:A",
      "Income:B)",
      "Income:C]]",
      "Expenses:1",
      "Income:a b",
    ])
  })

  it("get a top level from their role, capitals and hyphens for beancount", () => {
    const accounts = [
      account("payroll (HQ):été & co", "41"),
      account("Income", "43", "USD", "interest_income"),
    ]
    expect(names(beancountNames(accounts))).toEqual(["Expenses:Payroll-HQ:Été-co", "Income:43"])
  })

  it("get the code where two would be the same, and a count where that is the same too", () => {
    const accounts = [
      account("Expenses:A-B", "1"),
      account("Expenses:A-B", "2"),
      account("Expenses:A-B", "2"),
    ]
    expect(names(indentedNames(accounts))).toEqual(["Expenses:A-B:1", "Expenses:A-B:2", "Expenses:A-B:2-2"])
  })

  it("are shared by the currencies of one account", () => {
    const accounts = [account("Expenses:Payroll", "4120", "EUR"), account("Expenses:Payroll", "4120", "USD")]
    expect(names(indentedNames(accounts))).toEqual(["Expenses:Payroll", "Expenses:Payroll"])
    expect(names(beancountNames(accounts))).toEqual(["Expenses:Payroll", "Expenses:Payroll"])
    const above = [...accounts, account("Expenses:Payroll:HQ")]
    expect(names(beancountNames(above))).toEqual([
      "Expenses:Payroll:Own",
      "Expenses:Payroll:Own",
      "Expenses:Payroll:HQ",
    ])
  })

  it("are leaves in beancount", () => {
    const accounts = [account("Expenses:Fees"), account("Expenses:Fees:USD", "2")]
    expect(names(beancountNames(accounts))).toEqual(["Expenses:Fees:Own", "Expenses:Fees:USD"])
  })

  it("tell all accounts apart, whatever they are called, and hold nothing that the formats refuse", () => {
    const piece = fc.string({ unit: fc.constantFrom(..."aB1 -:;|()[]\"'\u202E\n\té漢=*!~"), maxLength: 8 })
    const some = fc.tuple(piece, piece, fc.constantFrom("USD", "EUR"), fc.constantFrom("fees", "cash"))
    fc.assert(
      fc.property(fc.array(some, { maxLength: 12 }), (list) => {
        const accounts = list.map(([name, code, currency, role]) => account(name, code, currency, role))
        const indented = indentedNames(accounts)
        const pairs = accounts.map((opened) => `${indented.get(opened.account)} ${opened.account.currency}`)
        expect(new Set(pairs).size).toBe(accounts.length)
        for (const name of indented.values()) {
          expect(name).toMatch(/^[^\s:;*!][^\n\t]*$/)
          expect(name).not.toMatch(/ {2}|::|:$| $|^\(.*\)$|^\[.*\]$/)
        }
        const beans = beancountNames(accounts)
        const bean = names(beans)
        const kept = accounts.map((opened) => `${beans.get(opened.account)} ${opened.account.currency}`)
        expect(new Set(kept).size).toBe(accounts.length)
        for (const name of bean) {
          expect(name).toMatch(
            /^(Assets|Liabilities|Equity|Income|Expenses)(:[\p{Lu}\p{Nd}][\p{L}\p{N}-]*)+$/u,
          )
          expect(bean.some((other) => other.startsWith(`${name}:`))).toBe(false)
        }
      }),
    )
  })
})

describe("text and dates", () => {
  it("become one harmless line that keeps its letters", () => {
    expect(oneLine("  a\r\n\u202Eb\u2066 \u0000\u0085漢字\u2028é\uFEFF ")).toBe("a b 漢字 é")
  })

  it("are left alone where they are one already", () => {
    const text = fc.string({ unit: fc.constantFrom(..."aZ9 ~!\u00a0\t\n\u007f\u0085\u200b\u202eé漢\ud83d") })
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "grapheme" })), (some) => {
        const line = oneLine(some)
        expect(oneLine(line)).toBe(line)
        expect(line).toBe(
          some
            .replace(/[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|\p{Cs}/gu, "")
            .replace(/[\p{Cc}\s]+/gu, " ")
            .trim(),
        )
      }),
    )
  })

  it("cross months and leap days", () => {
    expect(shiftDate("2028-02-28", 1)).toBe("2028-02-29")
    expect(shiftDate("2026-01-01", -1)).toBe("2025-12-31")
    expect(openingDate("2026-10-01", "2026-10-05")).toBe("2026-09-30")
    expect(openingDate(null, "2026-10-05")).toBe("2026-10-04")
    expect(openingDate(null, undefined)).toBeUndefined()
  })
})
