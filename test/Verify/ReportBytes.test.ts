/** One changed byte of a report's manifest is found, whatever the text that it decodes to. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Manifest, print } from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import { run } from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

/** What stands for a character that is none, as a reason that was pasted may hold it. */
const replacement = "\ufffd"

const manifest: Manifest = {
  ...{ product: "tieout", kind: "report", version: "0.1.0", formatVersion: 1, connection: "default" },
  ...{ book: { code: "ORG", name: "Organization", clientId: null }, period: "2026-10", timeZone: "UTC" },
  ...{ asOf: null, createdAt: "2026-11-01T00:00:00Z", state: "open", close: null, draft: true },
  ...{ reasons: [`Caf${replacement}`], files: [], currencies: [], accounts: [] },
}

it.effect("a byte that is no UTF-8 is a change, also where it reads as the same text", () =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    const file = join(folder, "manifest.json")
    writeFileSync(file, print(manifest))
    expect((yield* run(folder)).problems).toEqual([])
    const bytes = readFileSync(file)
    const at = bytes.indexOf(replacement)
    writeFileSync(file, Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]))
    expect((yield* run(folder)).problems).toEqual([
      {
        file: "manifest.json",
        line: null,
        message: "has changed since it was written: its digest is not that of its content",
      },
    ])
  }),
)

it.effect(
  "its control totals lead from opening to closing, and nothing is left over where it is no draft",
  () =>
    Effect.gen(function* () {
      const said = Effect.fnUntraced(function* (over: Partial<Manifest>) {
        const folder = temporaryFolder()
        writeFileSync(join(folder, "manifest.json"), print({ ...manifest, ...over }))
        return (yield* run(folder)).problems.map(({ message }) => message)
      })
      const total = {
        currency: "USD",
        scale: 2,
        opening: "0.00",
        debit: "5.00",
        credit: "5.00",
        closing: "0.00",
      }
      expect(yield* said({ currencies: [total] })).toEqual([])
      for (const over of [{ opening: "0.01" }, { debit: "5.01" }, { credit: "5.01" }, { closing: "0.01" }]) {
        expect(yield* said({ currencies: [{ ...total, ...over }] })).toEqual([
          "the totals of USD do not lead from opening to closing",
        ])
      }
      const account = {
        ...{ accountId: "a", currency: "USD", opening: "0.00", closing: "5.00", datedLater: "1.00" },
        ...{ carried: "2.00", provider: "8.01", difference: "0.01" },
      }
      expect(yield* said({ accounts: [account] })).toEqual([])
      const leads = "the amounts of account a do not lead from its closing to the provider's balance"
      for (const over of [
        { closing: "5.01" },
        { datedLater: "1.01" },
        { carried: "2.01" },
        { provider: "8.02" },
      ]) {
        expect(yield* said({ accounts: [{ ...account, ...over }] })).toEqual([leads])
      }
      expect(yield* said({ accounts: [account], draft: false })).toEqual([
        "account a is off by 0.01 USD, and it is no draft",
      ])
    }),
)
