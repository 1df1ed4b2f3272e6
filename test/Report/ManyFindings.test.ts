/** Reports of months with many thousands of findings, most of which a person has accepted. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { exceptionRows } from "../../src/Report/Exceptions.ts"
import type { Finding } from "../../src/Report/FindingRows.ts"
import { exceptionsOf } from "../../src/Report/ReportState.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const finding = {
  check: "adjustment",
  severity: "warning",
  subject: "",
  message: "",
  evidence: "",
  openedAt: "",
  dated: true,
  ...{ date: null, currency: null, amount: null },
} as const

const state = { close: null, approval: null, locked: false, reasons: [] }

/** How often the numbers of so many findings are looked at to tell which of them were accepted. */
const looksAt = (findings: number): number => {
  let looks = 0
  const counted = <A extends object>(rest: A, id: string) =>
    Object.defineProperty({ ...rest, id }, "id", {
      get: () => {
        looks++
        return id
      },
    })
  const ids = Array.from({ length: findings }, (_, at) => `F${at + 1}`)
  const rows = exceptionRows({
    state: {
      ...state,
      accepted: ids.map((id) => counted({ what: "", reason: "", check: "adjustment" }, id)),
    },
    findings: ids.map((id): Finding => counted(finding, id.toLowerCase())),
    ...{ accounts: [], suspense: new Map(), quarantine: [], reserved: [], unsettled: [] },
  })
  expect(rows).toHaveLength(findings)
  expect(new Set(rows.map(({ what }) => what))).toEqual(new Set(["accepted at the close"]))
  return looks
}

it("looks at twice as many numbers where twice as many findings were accepted", () => {
  expect(looksAt(600) / looksAt(300)).toBeLessThan(2.1)
})

it.scoped("knows the checks of more accepted findings than a statement has room for parameters", () =>
  Effect.gen(function* () {
    const accepted = Array.from({ length: 70_000 }, (_, at) => ({ id: `F${at + 1}`, what: "", reason: "" }))
    const found = yield* exceptionsOf(accepted)
    expect(found).toHaveLength(accepted.length)
    expect(found.every(({ check }) => check === null)).toBe(true)
  }).pipe(Effect.provide(TestDatabase.layer)),
)
