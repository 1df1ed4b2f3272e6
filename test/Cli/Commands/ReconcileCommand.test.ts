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
  acceptedAt: null,
} as const

describe("the findings of a check", () => {
  it.each([60, 80])("fit a terminal of %i columns, and so does the advice on them", (width) => {
    for (const { name } of checks) {
      const screen = { interactive: true, width, color: false }
      const lines = checkLines(name, [{ ...finding, check: name }], false, screen)
      expect(lines.filter((line) => line.length > width)).toEqual([])
    }
  })

  it("say which of them a close accepted, and advise nothing where it accepted all", () => {
    const screen = { interactive: false, width: Number.POSITIVE_INFINITY, color: false }
    const accepted = {
      ...finding,
      check: "account-gone",
      severity: "blocking",
      acceptedAt: "2026-09",
    } as const
    const [some, advice, , first] = checkLines(
      "account-gone",
      [accepted, { ...accepted, acceptedAt: null }],
      false,
      screen,
    )
    expect(some).toBe("account-gone: 2 blocking findings, 1 of them accepted")
    expect(advice).toMatch(/^ {2}To do: /)
    expect(first).toMatch(/1359\.90 EUR\. Accepted at the close of 2026-09\.$/)
    const [all, title] = checkLines("account-gone", [accepted], false, screen)
    expect(all).toBe("account-gone: 1 blocking finding, accepted")
    expect(title).toMatch(/^ {2}No\. /)
  })
})
