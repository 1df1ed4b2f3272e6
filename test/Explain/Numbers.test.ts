/** Any journal number in a file leads back to its journal entry. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { Explain } from "../../src/Explain.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { sandboxRates } from "../Export/SandboxRates.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: { datev: { consultant: 1001, client: 1 }, exchangeResults: true },
})

const exporting = (names: ReadonlyArray<string>, more: Partial<ExportRequest>) =>
  Export.run({
    ...{ formats: names, scope: { kind: "period", period: "2026-09" }, again: true, out: temporaryFolder() },
    ...{ connection: Option.none(), book: Option.some("ORG") },
    tables: { settings: { ...formats, leaveOut: ["USDT", "USDC"] }, baseCurrency: "EUR" },
    ...more,
  })

/** In every form that a file has: in full, shortened, of a summary, of one of several currencies. */
const number = /\b[A-Z][A-Z0-9-]*?-(?:\d{4}-\d{2}|\d{4})-\d{6,}S?(?:-[A-Z]{3,4}(?=,))?/g

const numbersIn = ({ batches }: Export.ExportSummary) =>
  batches.flatMap(({ folder, manifest }) =>
    manifest.files.flatMap(({ name }) => [
      ...new Set(readFileSync(join(folder, name), "latin1").match(number) ?? []),
    ]),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a number in a file", (it) => {
  it.scoped("is found in any form", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 300 })
      yield* sync(sandbox.url)
      yield* addRates(sandboxRates)
      const base = { base: { baseCurrency: "EUR", settings: accounting.valuation, chart } }
      const systems = ["xero", "qbo", "intacct", "sage50", "business-central", "datev", "netsuite"]
      const made = [
        yield* exporting(["camt.053", "journal"], {}),
        yield* exporting(systems, base),
        yield* exporting(systems, { ...base, mode: "summary" }),
        yield* exporting(["netsuite", "datev"], {
          ...{ ...base, rated: true },
          // The period does not begin on the first day, which reverses the revaluation that the batches in EUR have.
          scope: { kind: "range", from: "2026-10-02", to: "2026-10-31" },
        }),
      ]
      const found = [...new Set(made.flatMap(numbersIn))]
      const forms = new Map(found.map((text) => [text.replace(/\d{6,}/, "N"), text]))
      expect([...forms.keys()]).toEqual(
        expect.arrayContaining([
          ...["ORG-2026-09-N", "ORG-2609-N", "ORG-2026-09-NS", "ORG-2609-NS"],
          ...["ORG-FX-2026-09-N", "ORG-2026-10-N-USD"],
        ]),
      )
      const { explain } = yield* Explain
      const { steps: reversal } = yield* explain("ORG-FX-2026-10-000001")
      expect(reversal[0]?.facts).toContainEqual(["reverses", expect.stringMatching(/^ORG-FX-2026-09-\d{6}$/)])
      for (const text of forms.values()) {
        const { steps } = yield* explain(text)
        const counter = /\d{6,}/.exec(text)?.[0] ?? ""
        expect([text, steps[0]?.title]).toEqual([text, expect.stringContaining(counter)])
        const isSummary = /\dS(?:-[A-Z]{3,4})?$/.test(text)
        if (isSummary) {
          expect(steps[0]?.title).toBe(`summary ${text}: its first entry follows`)
          expect(steps[0]?.facts[0]).toEqual([
            "batch",
            expect.stringMatching(/^ORG\/\d+, [a-z0-9, -]+ of 2026-/),
          ])
        }
        const own = steps[isSummary ? 1 : 0]?.title
        expect(own).toMatch(text.includes("FX") ? /^base-currency entry/ : /^journal entry/)
      }
      // A bank statement leads to its batch and its account.
      const [bank] = made[0]?.batches ?? []
      const file = bank?.manifest.files.find(({ format }) => format === "camt.053")?.name ?? ""
      const xml = readFileSync(join(bank?.folder ?? "", file), "utf8")
      const [, message = ""] = /<MsgId>([^<]*)</.exec(xml) ?? []
      const [, statement = ""] = /<Stmt><Id>([^<]*)</.exec(xml) ?? []
      const own = `export batch ORG/${bank?.manifest.batch}`
      for (const [text, ...titles] of [
        [`org/${bank?.manifest.batch}`, own],
        ...[message, statement].map((id) => [id, own, expect.stringMatching(`^account ${id.slice(0, 8)}-`)]),
      ]) {
        const { steps } = yield* explain(String(text))
        expect([text, ...steps.map(({ title }) => title)]).toEqual([text, ...titles])
      }
      // A batch without bank statements has no message.
      const [systemsBatch] = made[1]?.batches ?? []
      const none = message.replace(/\d+$/, String(systemsBatch?.manifest.batch))
      expect(yield* Effect.flip(explain(none))).toMatchObject({ reason: "Unknown" })
      // A payout has no endpoint: its identifier leads to its entry.
      const [payout] = yield* rows(
        "select related_id from mirror.statement_entries where related_type = 'PAYOUT' and amount <> 0 limit 1",
      )
      const { steps } = yield* explain(String(payout?.related_id))
      expect(steps.map(({ title }) => title.split(" ").slice(0, 2).join(" "))).toEqual(
        expect.arrayContaining(["statement entry", "journal entry"]),
      )
    }).pipe(Effect.provide(Explain.Default.pipe(Layer.provideMerge(Settings.from({ variables: {} }))))),
  )
})
