/** The demo ends where a controller wants to be: a closed month, its report, and files that other systems take. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasXmllint, validate } from "../../support/camtSchema.ts"
import { program } from "../../support/Program.ts"

it.live("the demo closes a month, and what it exports of it is valid", () =>
  Effect.gen(function* () {
    const { cwd, start } = yield* program
    const { code, error, out } = yield* start(["demo"], { TIEOUT_USER: "jane" })
    expect(code, error).toBe(0)
    expect(out.split("\n").slice(1, 8)).toEqual([
      "October 2026 is closed, with 4 exceptions accepted.",
      "Its report is whole; the page for the auditor: reports/demo/default-ORG/2026-10/report.html",
      "The books as journal.csv: exports/demo/default-ORG/2026-10/1",
      "The books as books.journal: exports/demo/default-ORG/2026-10/2",
      "The books as journal.parquet: exports/demo/default-ORG/2026-10/3",
      expect.stringMatching(
        /^For Xero, [\d,]+ lines in \d+ files of at most 300, balanced, with the journal's balances: exports\/demo\/default-ORG\/2026-10\/4$/,
      ),
      expect.stringMatching(
        /^Bank statements \(camt\.053\) of 7 accounts, each day .*: exports\/demo\/default-ORG\/2026-10\/5$/,
      ),
    ])
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
