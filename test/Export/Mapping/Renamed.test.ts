/** What an accountant called the accounts stays when a changed chart, or another name for a rule's account, renames them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { accountNumber } from "../../../src/Explain/ExplainAccountNumber.ts"
import type { MappingRow } from "../../../src/Export/Mapping/MappingRow.ts"
import { type Named, renamedRows } from "../../../src/Export/Mapping/Renamed.ts"
import * as AccountMapping from "../../../src/Export/Mapping.ts"
import { threeMonths } from "../../Close/Months.ts"
import { sync } from "../../Sync/Runs.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { exporting } from "../Exporting.ts"

const chart = {
  TIEOUT_CHART_CASH_CODE: "1100",
  TIEOUT_CHART_CASH_NAME: "Assets:Bank:{client}:{currency}:{rail}:{account}",
  TIEOUT_CHART_DEPOSITS_CLEARING_CODE: "1200-{currency}",
  TIEOUT_CHART_DEPOSITS_CLEARING_NAME: "Assets:Incoming:{currency}",
}

const named = (role: string, code: string, name: string, partnerAccountId: string | null = null): Named => ({
  ...{ role, code, name, partnerAccountId, currency: "EUR" },
})

const rowOf = ({ partnerAccountId, ...account }: Named, kept = true): MappingRow => ({
  ...account,
  partnerAccountId: kept ? (partnerAccountId ?? "") : "",
  xero_code: `X-${account.name}`,
})

const north = named("cash", "1010", "Assets:North", "a")
const south = named("cash", "1010", "Assets:South", "b")
const fees = named("fees", "6850", "Expenses:Fees")

const namesOf = (rows: ReadonlyArray<MappingRow>) =>
  rows.map(({ code, name, xero_code }) => `${code} ${name}: ${xero_code}`)

layer(TestDatabase.layer, { excludeTestServices: true })("a mapping of renamed accounts", (it) => {
  it("follows each account by what stays of it, also where all of them change places", () => {
    const rows = [north, south, fees].map((one) => rowOf(one))
    expect(
      namesOf(
        renamedRows(rows, [
          named("cash", "1020", "Assets:A", "a"),
          named("cash", "1020", "Assets:B", "b"),
          named("fees", "1010", "Assets:North"),
        ]),
      ),
    ).toEqual([
      "1020 Assets:A: X-Assets:North",
      "1020 Assets:B: X-Assets:South",
      "1010 Assets:North: X-Expenses:Fees",
    ])
  })

  it("leaves in doubt which of two bank accounts is which where a version from before does not say it", () => {
    const rows = [north, south, fees].map((one) => rowOf(one, false))
    const now = [
      { ...north, name: "Assets:A" },
      { ...south, name: "Assets:B" },
      { ...fees, code: "6851" },
    ]
    expect(namesOf(renamedRows(rows, now))).toEqual([
      "1010 Assets:North: X-Assets:North",
      "1010 Assets:South: X-Assets:South",
      "6851 Expenses:Fees: X-Expenses:Fees",
    ])
    expect(namesOf(renamedRows(rows, [{ ...north, name: "Assets:A" }, south, fees]))[0]).toBe(
      "1010 Assets:A: X-Assets:North",
    )
  })

  it("knows two accounts of one role by their codes, when both get other names", () => {
    const [rent, wages] = [named("other", "6100", "Rent"), named("other", "6200", "Wages")]
    const now = [
      { ...wages, name: "Salaries" },
      { ...rent, name: "Offices" },
    ]
    expect(
      namesOf(
        renamedRows(
          [rent, wages].map((one) => rowOf(one)),
          now,
        ),
      ),
    ).toEqual(["6100 Offices: X-Rent", "6200 Salaries: X-Wages"])
  })

  it.scoped(
    "is that of the file and of the next batch after a sync with another chart, and explains its codes",
    () =>
      Effect.gen(function* () {
        const { service } = yield* threeMonths
        yield* sync(service.url)
        const file = `${temporaryFolder()}/accounts.csv`
        const coded = (yield* AccountMapping.current(Option.none())).map((row) => ({
          ...row,
          bc_account: `B${row.code}`,
        }))
        yield* AccountMapping.writeTo(file, coded)
        yield* AccountMapping.importFrom(file)
        yield* sync(service.url, chart)
        const rows = yield* AccountMapping.current(Option.none())
        expect(rows.map(({ bc_account, code }) => `${code}: ${bc_account}`)).toEqual([
          "1100: B1010",
          "1200-USD: B1020",
        ])
        const steps = yield* accountNumber("B1020")
        expect(JSON.stringify(steps)).toContain("1200-USD Assets:Incoming:USD")
        const again = `${temporaryFolder()}/accounts.csv`
        yield* AccountMapping.writeTo(again, rows)
        expect(yield* AccountMapping.importFrom(again)).toMatchObject([
          { version: 2, changes: [], unmapped: [] },
        ])
        const out = temporaryFolder()
        const { batches } = yield* exporting("ORG", out)({ kind: "period", period: "2026-08" }, [
          "business-central",
        ])
        const folder = batches[0]?.folder ?? ""
        const written = readdirSync(folder).find((name) => name.startsWith("business-central")) ?? ""
        const text = readFileSync(join(folder, written), "utf8")
        expect(text).toContain(",B1010,")
        expect(text).toContain(",B1020,")
      }).pipe(inOwnDatabase),
  )
})
