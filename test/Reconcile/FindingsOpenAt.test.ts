import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { statement as query } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

layer(TestDatabase.layer)("a finding", (it) => {
  it.effect("is open at an instant from when it was found until it was closed", () =>
    Effect.gen(function* () {
      yield* unruled(`
      insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, closed_at)
      values (1, 'cash-balance', 'blocking', 'account', 'closed', '', '{}', '2026-09-02', '2026-09-04'),
        (1, 'cash-balance', 'blocking', 'account', 'open', '', '{}', '2026-09-03', null)`)
      const openOn = (day: string) =>
        Effect.map(
          query(
            `select f.subject_id as subject from reconcile.findings_open_at('2026-09-${day}') f order by 1`,
          ),
          (rows) => rows.map(({ subject }) => subject),
        )
      expect(yield* openOn("01")).toEqual([])
      expect(yield* openOn("02")).toEqual(["closed"])
      expect(yield* openOn("03")).toEqual(["closed", "open"])
      expect(yield* openOn("04")).toEqual(["open"])
    }),
  )

  const late = { occurredAt: "2026-10-31T23:30:00Z", currency: "USD", amount: "-12.50" }
  const yen = { currency: "JPY", amount: "-100" }
  it.effect.each([
    { evidence: late, zone: "UTC", says: "2026-10-31 2026-10 USD -12.50", of: ["2026-10"] },
    { evidence: late, zone: "Europe/Berlin", says: "2026-11-01 2026-11 USD -12.50", of: ["2026-11"] },
    {
      evidence: { ...late, occurredAt: "2026-11-01T03:59:59Z" },
      zone: "America/New_York",
      ...{ says: "2026-10-31 2026-10 USD -12.50", of: ["2026-10"] },
    },
    {
      evidence: { period: "2026-10", currency: "EUR" },
      zone: "UTC",
      says: "- 2026-10 EUR -",
      of: ["2026-10"],
    },
    // What stands in transit is of every month from its first on, and has an amount where it stands in one currency.
    {
      evidence: { since: "2026-10-31", items: [yen] },
      zone: "UTC",
      ...{ says: "2026-10-31 2026-10 JPY -100", of: ["2026-10", "2026-11"] },
    },
    {
      evidence: { since: "2026-10-31", items: [yen, { currency: "EUR", amount: "1.00" }] },
      zone: "UTC",
      ...{ says: "2026-10-31 2026-10 - -", of: ["2026-10", "2026-11"] },
    },
    // What belongs to no month is of each.
    { evidence: { currency: "USD", excess: "1975.00" }, zone: "UTC", says: "- - USD 1975.00", of: "each" },
    { evidence: { currency: "USD", shortfall: "25.00" }, zone: "UTC", says: "- - USD 25.00", of: "each" },
    { evidence: { currency: "EUR", amount: "12,50" }, zone: "UTC", says: "- - EUR -", of: "each" },
    { evidence: { currency: "EUR", amount: "1e3" }, zone: "UTC", says: "- - EUR -", of: "each" },
  ])(
    "has the day, the month and the amount of its evidence: $says in $zone",
    ({ evidence, of, says, zone }) =>
      Effect.gen(function* () {
        const told = `'${JSON.stringify(evidence)}'::jsonb, '${zone}'`
        const months = ["2026-09", "2026-10", "2026-11"]
        const [found] = yield* query(`
        select concat_ws(' ', coalesce(x.day::text, '-'), coalesce(x.month, '-'), coalesce(x.currency, '-'), coalesce(x.amount, '-')) as says,
          ${months.map((month) => `reconcile.is_of_month(${told}, '${month}') as "${month}"`).join(", ")}
        from reconcile.facts_of(${told}) x`)
        expect(found?.says).toBe(says)
        expect(months.filter((month) => found?.[month] === true)).toEqual(of === "each" ? months : of)
      }),
  )
})
