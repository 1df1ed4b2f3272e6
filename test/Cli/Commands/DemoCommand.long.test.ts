/** The demo ends with a closed month, its report, and files that other systems take. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { endLines } from "../../../src/Cli/Commands/Trial/DemoCommand.ts"
import { problemsOf } from "../../Docs/JsonPage.ts"
import { hasXmllint, validate } from "../../support/camtSchema.ts"
import { program } from "../../support/Program.ts"

it.live("the demo closes a month, and its exports are valid", () =>
  Effect.gen(function* () {
    const { cwd, start } = yield* program
    // A database of the person's own, which the demo leaves alone.
    const url = join(cwd, "url")
    writeFileSync(url, "postgres://jane@127.0.0.1:9/books")
    const variables = { TIEOUT_USER: "jane", DATABASE_URL_FILE: url }
    const { code, error, out } = yield* start(["demo", "--json"], variables)
    expect(code, error).toBe(0)
    expect(problemsOf("`tieout demo`", out)).toEqual([])
    expect(JSON.parse(out)).toMatchObject({
      folders: [1, 2, 3, 4, 5].map((batch) => `exports/demo/default-ORG/2026-10/${batch}`),
      reports: ["reports/demo/default-ORG/2026-10"],
    })
    const at = (folder: string) => join(cwd, "exports/demo/default-ORG/2026-10", folder)
    const named = (folder: string, prefix: string) =>
      readdirSync(at(folder)).filter((name) => name.startsWith(prefix))
    const xero = named("4", "xero-EUR-")
    expect(xero.length).toBeGreaterThan(1)
    for (const name of xero) {
      const lines = readFileSync(join(at("4"), name), "utf8")
        .trimEnd()
        .split("\n")
      expect(lines.length - 1).toBeLessThanOrEqual(300)
    }
    const bank = named("5", "camt.053-")
    expect(bank.length).toBe(7)
    for (const name of bank) {
      if (hasXmllint) expect(validate(join(at("5"), name))).toBe("")
    }
    expect(readFileSync(join(cwd, "reports/demo/default-ORG/2026-10/report.html"), "utf8")).toContain(
      "4 accepted exceptions",
    )
  }),
)

it("its last lines list the results and where they are", () => {
  const file = (name: string, rows: number) => ({ name, rows })
  expect(
    endLines({
      findings: 4,
      report: [{ folder: "reports/demo/default-ORG/2026-10", files: [file("report.html", 0)] }],
      books: [{ folder: "exports/1", files: [file("journal.csv", 9), file("accounts.csv", 2)] }],
      xero: [
        {
          folder: "exports/4",
          files: [file("journal.csv", 9), file("xero-EUR-1.csv", 1_300), file("xero-EUR-2.csv", 7)],
        },
      ],
      bank: [{ folder: "exports/5", files: [file("camt.053-1.xml", 3)] }],
    }),
  ).toEqual([
    "October 2026 is closed, with 4 exceptions accepted.",
    "Its report is whole; the page for the auditor: reports/demo/default-ORG/2026-10/report.html",
    "The books as journal.csv: exports/1",
    "For Xero, 1,307 lines in 2 files of at most 300, balanced, with the journal's balances: exports/4",
    "Bank statements (camt.053) of 1 account, each day from its opening to its closing balance: exports/5",
  ])
})
