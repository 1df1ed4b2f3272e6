/** One changed byte of a report's manifest is found, whatever the text that it decodes to. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Manifest } from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import { run } from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { writeEmptyReport } from "./EmptyReport.ts"

/** What stands for a character that is none, as a reason that was pasted may hold it. */
const replacement = "\ufffd"

it.effect("a byte that is no UTF-8 is a change, also where it reads as the same text", () =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    const file = join(folder, "manifest.json")
    writeEmptyReport(folder, { reasons: [`Caf${replacement}`] })
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

/** What is said of the manifest alone: the other files are those of a month without accounts. */
const said = Effect.fnUntraced(function* (over: Partial<Manifest>) {
  const folder = temporaryFolder()
  writeEmptyReport(folder, over)
  const { problems } = yield* run(folder)
  return problems.filter(({ file }) => file === "manifest.json").map(({ message }) => message)
})

const close = {
  sequence: 1,
  hash: "a".repeat(64),
  who: "Ada",
  at: "2026-11-02T00:00:00Z",
  reason: null,
}

/** What a closed month's manifest says otherwise. */
const closed: Partial<Manifest> = { state: "closed", close, draft: false, reasons: [] }

it.effect(
  "its control totals lead from opening to closing, and nothing is left over where it is no draft",
  () =>
    Effect.gen(function* () {
      const total = {
        currency: "USD",
        scale: 2,
        opening: "0.00",
        debit: "5.00",
        credit: "5.00",
        closing: "0.00",
      }
      expect(yield* said({ currencies: [total] })).toEqual([])
      const leads = "the totals of USD do not lead from opening to closing"
      const zero = "the accounts in USD do not add up to zero"
      expect(yield* said({ currencies: [{ ...total, closing: "0.01" }] })).toEqual([leads])
      for (const over of [{ opening: "0.01" }, { debit: "5.01" }, { credit: "5.01" }]) {
        expect(yield* said({ currencies: [{ ...total, ...over }] })).toEqual([leads, zero])
      }
      for (const over of [
        { opening: "0.01", closing: "0.01" },
        { debit: "5.01", closing: "0.01" },
      ]) {
        expect(yield* said({ currencies: [{ ...total, ...over }] })).toEqual([zero])
      }
      const account = {
        ...{ accountId: "a", currency: "USD", opening: "0.00", closing: "5.00", datedLater: "1.00" },
        ...{ carried: "2.00", provider: "8.01", difference: "0.01" },
      }
      expect(yield* said({ accounts: [account] })).toEqual([])
      const amounts = "the amounts of account a do not lead from its closing to the provider's balance"
      for (const over of [
        { closing: "5.01" },
        { datedLater: "1.01" },
        { carried: "2.01" },
        { provider: "8.02" },
      ]) {
        expect(yield* said({ accounts: [{ ...account, ...over }] })).toEqual([amounts])
      }
      expect(yield* said({ ...closed, accounts: [account] })).toEqual([
        "account a is off by 0.01 USD, and it is no draft",
      ])
    }),
)

it.effect("what it says of its close and of its files is the same in all places", () =>
  Effect.gen(function* () {
    const approval = { name: "Grace", at: "2026-11-03T00:00:00Z", closeHash: close.hash, hash: "b" }
    expect(yield* said({ ...closed, approval })).toEqual([])
    expect(yield* said({ ...closed, approval: null })).toEqual([])
    const another = ["names the approval of another close, by Grace"]
    expect(yield* said({ ...closed, approval: { ...approval, closeHash: "c" } })).toEqual(another)
    expect(yield* said({ approval })).toEqual(another)
    expect(yield* said({ draft: false })).toEqual([
      "is no draft, but says why it is one",
      "is no draft, but names no close",
    ])
    expect(yield* said({ ...closed, close: null })).toEqual(["is no draft, but names no close"])
    expect(yield* said({ ...closed, draft: true })).toEqual(["is a draft, but does not say why"])
    expect(yield* said({ ...closed, state: "open" })).toEqual(["is of an open month, but names its close"])
    const lacking = (name: string) => `names no file ${name}`
    expect(yield* said({ files: [] })).toEqual(
      [
        ...["trial-balance.csv", "gl-detail.csv", "account-reconciliation.csv", "roll-forward.csv"],
        ...["conversions.csv", "fees.csv", "receivables-ageing.csv", "exceptions.csv", "late-entries.csv"],
        "report.html",
      ].map(lacking),
    )
    // What came with later versions.
    expect(yield* said({ accepted: [], waiting: { suspense: 0, transit: 0 } })).toEqual(
      ["open-items.csv", "close-package.xlsx"].map(lacking),
    )
    expect(yield* said({ asOf: "2026-11-05T12:00:00.000Z", files: [] })).toContain(lacking("difference.csv"))
  }),
)
