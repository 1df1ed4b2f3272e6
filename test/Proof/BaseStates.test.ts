/** The states of valued months with conversions in transit, lots and revaluations: each figure is proved, and a month that is to be valued anew is not accused. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { Database } from "../../src/Database.ts"
import * as Export from "../../src/Export.ts"
import { lines } from "../../src/Proof/BaseJournalProof.ts"
import { states } from "../../src/Proof/BaseStatesProof.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { sandboxRates } from "../Export/SandboxRates.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { tried } from "./Falsehood.ts"

const { accounting, chart, formats } = decodeSync(Content)({ accounting: { valuation: { method: "fifo" } } })

const valued = Effect.gen(function* () {
  const sandbox = yield* runningSandbox({ entries: 400 })
  yield* sync(sandbox.url)
  yield* addRates(sandboxRates)
  yield* Export.run({
    formats: ["journal"],
    scope: { kind: "period", period: "2026-10" },
    ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
    tables: { settings: formats, baseCurrency: "EUR" },
    base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
  })
}).pipe(Effect.scoped)

const messages = Effect.map(states(), (wrong) => wrong.map(({ message, row }) => `${row} ${message}`))

const found = (statement: string) =>
  Effect.map(tried("unruled", statement, messages), ({ look, refused }) => {
    expect([statement, refused]).toEqual([statement, ""])
    return (look ?? []).join("\n")
  })

/** The state of October with another value at a path of it. */
const other = (path: string, value: string) =>
  `update valuation.months set state = jsonb_set(state::jsonb, '{${path}}', '${value}')::json where period = '2026-10-01'`

/** Where in the state a conversion in transit is open: its place, its account, and that account's code. */
const openSide = Effect.gen(function* () {
  const [row] = yield* rows(`
    select c.place - 1 as place, s.place - 1 as side, (s.item ->> 'carrying')::numeric as carrying,
      (s.item ->> 'native')::numeric as native
    from valuation.months m
    cross join lateral jsonb_array_elements(m.state::jsonb -> 'conversions') with ordinality c (item, place)
    cross join lateral jsonb_array_elements(c.item -> 'sides') with ordinality s (item, place)
    join ledger.accounts a on a.book_id = m.book_id and a.account_id = (s.item ->> 'accountId')::integer
    where m.period = '2026-10-01' and s.item ->> 'native' <> s.item ->> 'clearedNative' and a.currency <> 'EUR' limit 1`)
  return row ?? (yield* Effect.dieMessage("no conversion is open"))
})

layer(TestDatabase.layer, { excludeTestServices: true })("the state of a valued month", (it) => {
  it.effect("is proved in its conversions in transit, its revaluations and its lots", () =>
    Effect.gen(function* () {
      yield* valued
      expect(yield* messages).toEqual([])
      const { carrying, native, place, side } = yield* openSide
      const at = `conversions,${place},sides,${side}`
      expect(yield* found(other(`${at},carrying`, `"${Number(carrying) + 1}"`))).toContain(
        "cost, by conversion,",
      )
      expect(yield* found(other(`${at},native`, `"${Number(native) + 1}"`))).toContain(
        "holds, by conversion,",
      )
      const [revalued] = yield* rows(`
        select r.item ->> 'minor' as minor from valuation.months m
        cross join lateral jsonb_array_elements(m.state::jsonb -> 'revaluations') r (item)
        where m.period = '2026-10-01' limit 1`)
      expect(yield* found(other("revaluations,0,minor", `"${Number(revalued?.minor) + 1}"`))).toMatch(
        /cost, by its balance,[\s\S]*other revaluations to reverse/,
      )
      const [lot] = yield* rows(`
        select h.place - 1 as place, h.item #>> '{lots,0,1}' as cost, coalesce(h.item #>> '{lots,0,2}', '1') as over
        from valuation.months m
        cross join lateral jsonb_array_elements(m.state::jsonb -> 'holdings') with ordinality h (item, place)
        where m.period = '2026-10-01' and jsonb_array_length(h.item -> 'lots') > 0 limit 1`)
      const dearer = `"${BigInt(String(lot?.cost)) + 500n * BigInt(String(lot?.over))}"`
      expect(yield* found(other(`holdings,${lot?.place},lots,0,1`, dearer))).toContain(
        "has lots that cost more or less than its lines",
      )
    }),
  )

  it.effect("is proved in what its entries take back of the month before", () =>
    Effect.gen(function* () {
      const reversals = Effect.flatMap(Database, (database) =>
        database.query("Test.lines", (sql) => sql<Array<{ message: string }>>`${lines.wrong(sql)}`),
      )
      expect(yield* reversals).toEqual([])
      const october = "series = 'fx' and kind = 'fx_reversal' and period = '2026-10-01'"
      for (const statement of [
        `update valuation.entries set reverses = reverses + 1000 where ${october}`,
        `update valuation.entries set reverses = null where ${october}`,
        "update valuation.entries set reverses = 1 where series = 'fx' and kind = 'fx_revaluation' and period = '2026-10-01'",
        "update valuation.entries set reverses = 1 where series = 'journal' and period = '2026-10-01'",
      ]) {
        const { look = [], written } = yield* tried("unruled", statement, reversals)
        expect([statement, written > 0, look.length]).toEqual([statement, true, written])
      }
      // September was valued anew since: its entries have other numbers until October is.
      const { look } = yield* tried(
        "unruled",
        `update valuation.months set fingerprint = 'another' where period = '2026-09-01';
        update valuation.entries set reverses = reverses + 1000 where ${october}`,
        reversals,
      )
      expect(look).toEqual([])
    }),
  )

  it.effect("is not accused of what is to be valued anew, nor of what is in the base currency", () =>
    Effect.gen(function* () {
      // September was valued anew since October was: October's costs lead on from another one.
      expect(
        yield* found(`
          update valuation.months set fingerprint = 'another' where period = '2026-09-01';
          update valuation.postings set native = native * 2 where period = '2026-10-01' and native is not null`),
      ).toBe("")
      expect(
        yield* found("update valuation.postings set native = native * 2 where native is not null"),
      ).toContain("holds, by its lines,")
    }),
  )
})
