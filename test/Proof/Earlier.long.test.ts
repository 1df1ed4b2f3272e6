/** What was said before: earlier versions of a movement, by which reports of a past day are written, and the entry that a reversal takes back. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { exchange } from "../Sync/Exchange.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { tried } from "./Falsehood.ts"
import { found, proof } from "./Filled.ts"

const mischief: ReadonlyArray<readonly [statement: string, named: string]> = [
  [
    "update mirror.resource_versions set status = 'COMPLETED'",
    "resources: ORG: conversion 0f8fad5b-d9cb-469f-a165-000000000500, version 1 says that its status was COMPLETED; the service said ACTIVE",
  ],
  ["update mirror.resource_versions set final = true", "version 1 was ACTIVE, and is taken for final"],
  [
    "update mirror.resource_versions set rate = rate + 1",
    "version 1 says that its rate was 1.9; the service said 0.9",
  ],
  [
    "update mirror.resource_versions set fee_currency = 'CHF'",
    "version 1 says that its fee was in CHF, which the service did not name",
  ],
  [
    "update ledger.journal_entries set reverses = null where kind = 'conversion_reversal'",
    "entry-source: ORG: journal entry ORG-2026-10-000003 reverses no entry of its conversion",
  ],
  [
    "update ledger.journal_entries set reverses = 1 where kind = 'conversion_reversal'",
    "entry-source: ORG: journal entry ORG-2026-10-000003 reverses no entry of its conversion",
  ],
  [
    `update ledger.journal_entries set reverses = (select o.entry_id from ledger.journal_entries o where o.kind = 'conversion' limit 1)
      where kind = 'conversion_reversal'`,
    "entry-source: ORG: journal entry ORG-2026-10-000003 reverses no entry of its conversion",
  ],
  [
    `update ledger.journal_entries set reverses = (select o.entry_id from ledger.journal_entries o where o.kind = 'conversion_whole')
      where kind = 'conversion'`,
    "says that it reverses another entry, which conversion entries do not",
  ],
  [
    "update mirror.statement_entries set related_type = null, related_id = null where position = 2",
    "entry-source: ORG: journal entry ORG-2026-10-000001 is of account",
  ],
  [
    "update mirror.statement_entries set related_type = null where position = 2",
    "entry-source: ORG: journal entry ORG-2026-10-000001 is of account",
  ],
  [
    "update reconcile.progress set through_batch = 1",
    "stream-reads: ORG: the reconciliation says it went through batch 1, the last one is none",
  ],
]

layer(TestDatabase.layer, { excludeTestServices: true })("what was said before", (it) => {
  it.scoped("is proved by the answers of that time", () =>
    Effect.gen(function* () {
      const of = 500
      const { held, service } = yield* exchange({
        opening: { usd: "1000" },
        moves: [
          { on: "usd", at: "2026-09-05", amount: "-100", of },
          { on: "eur", at: "2026-09-06", amount: "90", of },
        ],
        conversions: { [of]: { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "ACTIVE" } },
      })
      yield* sync(service.url)
      held.conversions[of] = { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "CANCELED" }
      held.moves.push(
        { on: "usd", at: "2026-10-01", amount: "100", of },
        { on: "eur", at: "2026-10-02", amount: "-90", of },
      )
      yield* sync(service.url)
      expect(yield* rows("select status, final, rate, fee_currency from mirror.resource_versions")).toEqual([
        { status: "ACTIVE", final: false, rate: "0.9", fee_currency: "USD" },
      ])
      expect(yield* proof).toMatchObject({ ok: true, wrong: [] })
      for (const [statement, named] of mischief) {
        const { look: wrong = [], written } = yield* tried("unruled", statement, found)
        expect([statement, written > 0]).toEqual([statement, true])
        expect(wrong.join("\n")).toContain(named)
      }
    }),
  )
})
