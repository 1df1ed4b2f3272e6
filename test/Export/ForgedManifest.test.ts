/** Manifests that were sealed again: what they say in one place contradicts what they say in another, or what stands beside. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Manifest } from "../../src/Export/Batch/Manifest.ts"
import * as Verify from "../../src/Verify.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { forgeManifest, toForge } from "./Forge.ts"

const formats = ["journal", "hledger", "trial-balance", "xero", "gl-detail"]

type Change = (manifest: Manifest) => Manifest

const scoped =
  (scope: Partial<Manifest["scope"]>): Change =>
  (manifest) => ({ ...manifest, scope: { ...manifest.scope, ...scope } })

const otherDates = "the scope 2026-10 has not the dates of such a scope"

const close = (period: string): Change => {
  const one = { period, sequence: 1, hash: "0".repeat(64) }
  return (manifest) => ({
    ...manifest,
    ...(manifest.lineage === undefined ? {} : { lineage: { ...manifest.lineage, closes: [one] } }),
  })
}

/** What is changed, how, and what is said then. */
const cases: ReadonlyArray<readonly [what: string, change: Change, problem: string]> = [
  ["numbered after a step, so that gaps seem right", scoped({ since: "3" }), otherDates],
  ["an older day of a month's scope", scoped({ from: "2026-09-01" }), otherDates],
  ["a month's scope that ends early", scoped({ to: "2026-10-30" }), otherDates],
  ["a month's scope that begins late", scoped({ from: "2026-10-02" }), otherDates],
  ["a month's scope without an end", scoped({ to: null }), otherDates],
  ["as of a time, which the name does not say", scoped({ asOf: "2026-11-01T00:00:00Z" }), otherDates],
  ["a month's scope as one of everything", scoped({ kind: "all" }), otherDates],
  ["a month's scope as one of news", scoped({ kind: "since-last" }), otherDates],
  [
    "everything, though only of a month",
    scoped({ kind: "all", text: "all" }),
    "the scope all has not the dates of such a scope",
  ],
  [
    "news, though only of a month",
    scoped({ kind: "since-last", text: "since-3", since: "3" }),
    "the scope since-3 has not the dates of such a scope",
  ],
  [
    "a range by another name",
    scoped({ kind: "range", text: "2026-10-01_2026-10-30" }),
    "the scope 2026-10-01_2026-10-30 has not the dates of such a scope",
  ],
  [
    "entries that other batches are said to have, though it follows none",
    scoped({ covered: [{ from: "2026-10-01", to: "2026-10-02", through: "5" }] }),
    "the scope 2026-10 leaves entries to other batches, but the batch follows none",
  ],
  [
    "a close of an earlier month",
    close("2026-09"),
    "names a close of 2026-09, which is outside the scope 2026-10",
  ],
  [
    "a close of a later month",
    close("2026-11"),
    "names a close of 2026-11, which is outside the scope 2026-10",
  ],
  [
    "another first number",
    (manifest) => ({ ...manifest, firstNumber: "FORGED-2026-10-000002" }),
    "its entries run from FORGED-2026-10-000002 to FORGED-2026-10-000006, those of its periods from FORGED-2026-10-000001 to FORGED-2026-10-000006",
  ],
  [
    "another last number",
    (manifest) => ({ ...manifest, lastNumber: null }),
    "its entries run from FORGED-2026-10-000001 to null, those of its periods from FORGED-2026-10-000001 to FORGED-2026-10-000006",
  ],
  [
    "complete, with a reason why it is not",
    (manifest) => ({ ...manifest, reasons: ["1 finding is open"] }),
    "is complete, but says why it is not",
  ],
  [
    "not complete, for no reason",
    (manifest) => ({ ...manifest, complete: false }),
    "is not complete, but does not say why",
  ],
  [
    "without the totals of a currency that moved",
    (manifest) => ({
      ...manifest,
      currencies: manifest.currencies.filter(({ currency }) => currency !== "USD"),
      postings: manifest.currencies.reduce(
        (sum, { currency, postings }) => (currency === "USD" ? sum : sum + postings),
        0,
      ),
    }),
    "has no totals of USD, in which its accounts moved",
  ],
  [
    "with totals of a currency that no account has",
    (manifest) => ({
      ...manifest,
      currencies: [
        ...manifest.currencies,
        { currency: "EUR", scale: 2, debit: "0.00", credit: "0.00", entries: 0, postings: 0 },
      ],
    }),
    "the totals of EUR are not those of its accounts",
  ],
  [
    "more entries than numbers, in a part of a month",
    (manifest) => ({
      ...scoped({ kind: "range", text: "2026-10-01_2026-10-30", to: "2026-10-30" })(manifest),
      entries: 7,
      periods: manifest.periods.map((period) => ({ ...period, entries: 7 })),
    }),
    "the journal numbers of 2026-10 (FORGED-2026-10-000001 to FORGED-2026-10-000006) are not gapless",
  ],
  [
    "a format without its file",
    (manifest) => ({ ...manifest, formats: [...manifest.formats, "beancount"] }),
    "names no file of beancount: books.beancount",
  ],
  [
    "a file without its format",
    (manifest) => ({ ...manifest, formats: manifest.formats.filter((name) => name !== "journal") }),
    "has the format journal, in which the batch was not exported",
  ],
]

/** Files whose absence no total shows, and how the manifest names each. */
const files: ReadonlyArray<readonly [file: string, lacking: string]> = [
  ["journal.csv", "journal: journal.csv"],
  ["books.journal", "hledger: books.journal"],
  ["trial-balance.csv", "trial-balance: trial-balance.csv"],
  ["statement.csv", "statement: statement.csv"],
  ["Chart_Of_Accounts_20261001_20261031.csv", "chart-of-accounts"],
  ["Trial_Balance_20261001_20261031.csv", "period-balances"],
]

layer(TestDatabase.layer)("a forged manifest", (it) => {
  const exported = Effect.runSync(Effect.cached(toForge(formats)))

  const messagesOf = Effect.fnUntraced(function* (change: Change) {
    const { problems } = yield* Verify.run(forgeManifest(yield* exported, change))
    return problems.map(({ message }) => message)
  })

  it.effect("is found where it contradicts itself", () =>
    Effect.gen(function* () {
      expect(yield* messagesOf((manifest) => manifest)).toEqual([])
      for (const [what, change, problem] of cases) {
        expect([what, yield* messagesOf(change)]).toEqual([what, expect.arrayContaining([problem])])
      }
    }),
  )

  it.effect("is found where a file was taken away, or is said to be another one that nobody reads", () =>
    Effect.gen(function* () {
      for (const [file, lacking] of files) {
        const without = yield* messagesOf((manifest) => ({
          ...manifest,
          files: manifest.files.filter(({ name }) => name !== file),
        }))
        expect([file, without]).toEqual([file, [`names no file of ${lacking}`]])
        const relabelled = yield* messagesOf((manifest) => ({
          ...manifest,
          files: manifest.files.map((each) =>
            each.name === file ? { ...each, format: "difference" } : each,
          ),
        }))
        const problems = [`names no file of ${lacking}`, "is no file of the format difference"]
        expect([file, relabelled.toSorted()]).toEqual([file, problems.toSorted()])
      }
    }),
  )
})
