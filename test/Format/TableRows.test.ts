/** The rows of a journal in import files: what is paired, netted, left out and refused. */
import { describe, expect, it } from "vitest"
import { datev } from "../../src/Format/Datev/Datev.ts"
import type { Account } from "../../src/Format/Entry.ts"
import type { TableJournal } from "../../src/Format/Table/Journals.ts"
import type { Mapped, Profile } from "../../src/Format/Table/Profile.ts"
import { rowsIn } from "../../src/Format/Table/TableRows.ts"

const account = (code: string): Account => ({
  ...{ code, name: code, role: "fees", currency: "USD", scale: 2, partnerAccountId: null },
})

/** Accounts by the names of the system and its dimension: `1200`, `1200 North`. */
const journalOf = (
  lines: ReadonlyArray<readonly [target: string, minor: bigint, base?: bigint]>,
  rate?: bigint,
): readonly [TableJournal, ReadonlyMap<Account, Mapped>] => {
  const mapping = new Map<Account, Mapped>()
  const made = lines.map(([target, minor, base], at) => {
    const [name = "", dimension = ""] = target.split(" ")
    const own = account(`${at}`)
    mapping.set(own, { account: name, dimension })
    return { account: own, minor, number: at + 1, ...(base === undefined ? {} : { base }) }
  })
  const journal: TableJournal = {
    ...{ number: "ORG-2026-10-000001", entries: 1, mode: "detail", date: "2026-10-05", period: "2026-10" },
    ...{ kind: "deposit", description: "", entry: null, recordedAt: "", sourceType: "statement_entry" },
    ...{ currency: "USD", partnerAccountId: null, scale: 2, lines: made },
    ...(rate === undefined ? {} : { rate }),
  }
  return [journal, mapping]
}

const pairs = (...given: Parameters<typeof journalOf>) =>
  rowsIn(...journalOf(...given), datev.template, 0).map(
    ({ base, contra, mapped, minor }) =>
      `${[mapped.account, mapped.dimension].join(" ").trim()} an ${contra?.account} ${minor} ${base}`,
  )

describe("the pairs of a journal", () => {
  it("keep every account's balance, with at most one row fewer than there are accounts", () => {
    expect(
      pairs([
        ["1200", 995n],
        ["6850", 5n],
        ["1020", -700n],
        ["1030", -300n],
      ]),
    ).toEqual(["1200 an 1020 700 700", "1200 an 1030 295 295", "6850 an 1030 5 5"])
  })

  it("net the lines of one account of the system, but keep its dimensions apart", () => {
    expect(
      pairs([
        ["1200", 900n],
        ["1200", -100n],
        ["1020", -800n],
      ]),
    ).toEqual(["1200 an 1020 800 800"])
    expect(
      pairs([
        ["6850 North", 30n],
        ["6850 South", 20n],
        ["1200", -50n],
      ]),
    ).toEqual(["6850 North an 1200 30 30", "6850 South an 1200 20 20"])
  })

  it("never book an account against itself", () => {
    expect(
      pairs([
        ["6850 North", 30n],
        ["6850 South", -30n],
        ["1200", 5n],
        ["1020", -5n],
      ]),
    ).toEqual(["1200 an 1020 5 5"])
  })

  it("have the value of each account in the base currency, where the journal has a rate", () => {
    const rate = 1_100_000n
    // Of two that end together the debit keeps its value, and what is left over stays with the next debit.
    const lines = [
      ["1200", 50n, 45n],
      ["1210", 60n, 55n],
      ["1020", -70n, -64n],
      ["1030", -40n, -36n],
    ] as const
    expect(pairs(lines, rate)).toEqual(["1200 an 1020 50 45", "1210 an 1020 20 19", "1210 an 1030 40 36"])
    const worthless = [
      ["1200", 1n, 0n],
      ["1020", -1n, 0n],
    ] as const
    expect(pairs(worthless, rate)).toEqual([])
    expect(pairs(worthless)).toEqual(["1200 an 1020 1 1"])
  })

  it("are no more than the system takes in a journal", () => {
    const limited = (rowsPerJournal: number): Profile => ({
      ...datev.template,
      limits: { rowsPerJournal, rowsPerFile: 100 },
    })
    const made = journalOf([
      ["1200", 2n],
      ["1020", -1n],
      ["1030", -1n],
    ])
    expect(rowsIn(...made, limited(2), 0)).toHaveLength(2)
    expect(() => rowsIn(...made, limited(1), 0)).toThrow(
      "ORG-2026-10-000001 has 2 rows, datev takes 1 in one journal",
    )
  })
})
