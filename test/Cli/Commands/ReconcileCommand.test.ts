/** What `tieout reconcile` prints of a check's findings. */
import { describe, expect, it } from "vitest"
import { checkLines } from "../../../src/Cli/Commands/Books/ReconcileCommand.ts"
import { checks } from "../../../src/Reconcile/Check.ts"

const finding = {
  findingId: "F12",
  severity: "blocking",
  book: "CL-00001",
  message: "The conversion has stood in transit since 2026-08-23 (93 days, active): 1359.90 EUR.",
  subject: "F12",
  openedAt: "2026-08-23T00:00:00Z",
  date: "2026-08-23",
  accountId: "0578e8e8-1234-4567-89ab-0123456789ab",
  amount: "1359.90 EUR",
  days: 93,
} as const

describe("the findings of a check", () => {
  it.each([60, 80])("fit a terminal of %i columns, and so does the advice on them", (width) => {
    for (const { name } of checks) {
      const screen = { interactive: true, width, color: false }
      const lines = checkLines(name, [{ ...finding, check: name }], false, screen)
      expect(lines.filter((line) => line.length > width)).toEqual([])
    }
  })
})
