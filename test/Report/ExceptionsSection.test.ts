import { expect, it } from "vitest"
import { exceptionsSection } from "../../src/Report/Page/Tables.ts"

const unfinished = {
  what: "not completed",
  severity: "note",
  id: "ee4865d3-9918-49d4-b4aa-58bea2f48503",
  subject: "4120",
  date: "2026-08-14",
  currency: "EUR",
  amount: "1217.32",
  message: "The withdrawal has moved money and is still PENDING.",
  since: "2026-08-14",
  who: null,
  reason: null,
}

it("says where movements that the service has not completed are listed, whatever account a rule has sent them to", () => {
  const sheet = { name: "exceptions.csv", rows: 1, bytes: 1, sha256: "", first: [unfinished] }
  expect(exceptionsSection(sheet, 1).text).toContain(
    "1 movement that the service has not completed stands in exceptions.csv.",
  )
})

it("keeps a finding's number and an account's code on one line, and lets a UUID break", () => {
  const ids = ["F14", "1990", unfinished.id]
  const first = ids.map((id) => ({ ...unfinished, severity: "warning", id }))
  const { text } = exceptionsSection({ name: "exceptions.csv", rows: 3, bytes: 1, sha256: "", first }, 0)
  expect(ids.map((id) => new RegExp(`<code class="(\\w+)">${id}<`).exec(text)?.[1])).toEqual([
    "nowrap",
    "nowrap",
    "id",
  ])
})

it("counts movements that the service has not completed beyond the rows that a report keeps in memory", () => {
  const first = [{ ...unfinished, severity: "warning" }, ...Array.from({ length: 4_999 }, () => unfinished)]
  const { text } = exceptionsSection(
    { name: "exceptions.csv", rows: 7_001, bytes: 1, sha256: "", first },
    7_000,
  )
  expect(text).toContain("7,000 movements that the service has not completed stand in exceptions.csv.")
  expect(text).not.toContain("are shown")
})
