/** A report's files whose checksums were made to fit: their figures are those of the manifest, and of one another. */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as ReportManifest from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import { run } from "../../src/Verify.ts"
import { threeMonths } from "../Close/Months.ts"
import { reporting } from "../Report/Reports.ts"
import { accountId } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The manifest made to fit what stands in the folder, and changed. */
const sealed = (folder: string, change: (text: string) => string = (text) => text) => {
  const path = join(folder, "manifest.json")
  const { digest: _, ...manifest } = Either.getOrThrow(
    ReportManifest.decode(change(readFileSync(path, "utf8"))),
  )
  const files = manifest.files.map((file) => {
    const bytes = readFileSync(join(folder, file.name))
    return { ...file, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }
  })
  writeFileSync(path, ReportManifest.print({ ...manifest, files }))
}

const cash = "USD 1010 Assets:Partner:USD:SEPA:0f8fad5b cash"
const clearing = "USD 1020 Assets:Clearing:Deposits:USD deposits_clearing"
const itemsOf = (name: string) => `the items of ${name} do not add up to its closing balance`

/** The file, what is replaced in it, and what is said then. */
const cases: ReadonlyArray<readonly [string, string, string, ReadonlyArray<string>]> = [
  [
    "trial-balance.csv",
    "100.00,50.00,0.00,150.00",
    "100.00,51.00,0.00,151.00",
    [
      "the totals of USD are not the manifest's: debit, closing",
      `${cash} has other figures than in trial-balance.csv`,
      `${cash} has other figures than in trial-balance.csv`,
      `${cash} has other figures than in trial-balance.csv`,
    ],
  ],
  [
    "gl-detail.csv",
    ",50.00,,150.00",
    ",51.00,,150.00",
    [
      `${cash} does not lead from its opening to its closing balance`,
      "the totals of USD are not the manifest's: debit",
      `${cash} has other figures than in trial-balance.csv`,
    ],
  ],
  [
    "gl-detail.csv",
    "1020,Assets:Clearing:Deposits:USD,deposits_clearing,USD,posting",
    "1021,Assets:Clearing:Deposits:USD,deposits_clearing,USD,posting",
    [
      `${clearing} does not lead from its opening to its closing balance`,
      `${clearing.replace("1020", "1021")} does not lead from its opening to its closing balance`,
      `${clearing} has other figures than in trial-balance.csv`,
      `${clearing.replace("1020", "1021")} has other figures than in trial-balance.csv`,
    ],
  ],
  ["gl-detail.csv", ",50.00,,150.00", ",5O.00,,150.00", ['"5O.00" is no amount']],
  [
    "gl-detail.csv",
    ",50.00,,150.00",
    ",50.00,,150.01",
    ["ORG-2026-09-000001 does not lead to the balance after it"],
  ],
  [
    "gl-detail.csv",
    ",ORG-2026-09-000001,1,",
    ",ORG-2026-09-000002,1,",
    ["has a journal entry that does not balance"],
  ],
  ["open-items.csv", ",-50.00,", ",-51.00,", [itemsOf(clearing)]],
  ["open-items.csv", ",closing,,,,,,,-150.00", ",closing,,,,,,,-150.01", [itemsOf(clearing)]],
  [
    "open-items.csv",
    "1020,Assets:Clearing:Deposits:USD,deposits_clearing,USD,closing",
    "1020,Assets:Clearing:Deposits:USD,suspense,USD,closing",
    [itemsOf(clearing), itemsOf(clearing.replace("deposits_clearing", "suspense"))],
  ],
  [
    "roll-forward.csv",
    ",closing,,,,,150.00",
    ",closing,,,,,150.01",
    [
      `${cash} does not lead from its opening to its closing balance`,
      "the totals of USD are not the manifest's: closing",
      `${cash} has other figures than in trial-balance.csv`,
    ],
  ],
  [
    "account-reconciliation.csv",
    "movement,deposit,1,50.00",
    "movement,deposit,1,49.00",
    [`the movements of account ${accountId} do not lead from its opening to its closing`],
  ],
  ...["opening per books,,,100.00", "closing per books,,,150.00", "provider's balance,,,150.00"].map(
    (line) =>
      [
        "account-reconciliation.csv",
        line,
        line.replace(".00", ".01"),
        [`account ${accountId} has other figures than in the manifest`],
      ] as const,
  ),
  ...["dated later by the books", "difference"].map(
    (line) =>
      [
        "account-reconciliation.csv",
        `,${line},,,0.00`,
        `,${line},,,0.01`,
        [`account ${accountId} has other figures than in the manifest`],
      ] as const,
  ),
  [
    "account-reconciliation.csv",
    `"of earlier months, dated later by the books",,,0.00`,
    `"of earlier months, dated later by the books",,,0.01`,
    [`account ${accountId} has other figures than in the manifest`],
  ],
]

layer(TestDatabase.layer, { excludeTestServices: true })("the figures of a report", (it) => {
  it.scoped("are those of its manifest, and of its other files", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      const { folder } = yield* reporting("2026-09", temporaryFolder())
      const said = Effect.map(run(folder), ({ notes, problems }) => [
        ...problems.map(({ message }) => message),
        ...notes,
      ])
      expect(yield* said).toEqual([])
      const before = readFileSync(join(folder, "manifest.json"))
      for (const [file, from, to, messages] of cases) {
        const path = join(folder, file)
        const text = readFileSync(path, "utf8")
        expect([file, from, text.includes(from)]).toEqual([file, from, true])
        writeFileSync(path, text.replace(from, to))
        sealed(folder)
        const found = yield* said
        expect([file, to, found.filter((message) => messages.includes(message))]).toEqual([
          file,
          to,
          messages,
        ])
        writeFileSync(path, text)
        writeFileSync(join(folder, "manifest.json"), before)
      }
      sealed(folder, (text) => text.replace(/("name": "gl-detail.csv",\s+"rows": )\d+/, "$11"))
      expect(yield* said).toEqual([expect.stringMatching(/^has \d+ rows, the manifest says 1$/)])
      writeFileSync(join(folder, "manifest.json"), before)
      // The provider's account, changed in its file and in the manifest alike, is not the cash of the books.
      const provider = join(folder, "account-reconciliation.csv")
      const rows = readFileSync(provider, "utf8")
      const notTheCash = `${cash} has other figures than in trial-balance.csv`
      writeFileSync(
        provider,
        rows.replaceAll(/((?:opening|closing) per books|provider's balance),,,1/g, "$1,,,2"),
      )
      sealed(folder, (text) => {
        const at = text.indexOf('"accounts": [')
        return text.slice(0, at) + text.slice(at).replaceAll(/"1(\d\d\.00)"/g, '"2$1"')
      })
      expect(yield* said).toEqual([notTheCash])
      writeFileSync(provider, `${rows.split("\r\n")[0]}\r\n`)
      sealed(folder, (text) =>
        text
          .replace(/"accounts": \[[^\]]*\]/, '"accounts": []')
          .replace(/("name": "account-reconciliation.csv",\s+"rows": )\d+/, "$10"),
      )
      expect(yield* said).toEqual([notTheCash])
      writeFileSync(provider, rows)
      writeFileSync(join(folder, "manifest.json"), before)
      // A manifest that was changed by hand.
      const changed = (amount: string) => (text: string) =>
        text.replace('"opening": "0.00"', `"opening": "${amount}"`)
      expect(changed("1")(before.toString())).not.toBe(before.toString())
      sealed(folder, changed("0.001"))
      expect(yield* said).toContain("the totals of USD are not the manifest's: opening")
      for (const amount of ["00.00", "0.0000000000000000001"]) {
        writeFileSync(join(folder, "manifest.json"), changed(amount)(before.toString()))
        expect(yield* said).toEqual([expect.stringMatching(/^cannot be read: /)])
      }
      writeFileSync(join(folder, "manifest.json"), before)
      // Of another version.
      const path = join(folder, "roll-forward.csv")
      writeFileSync(path, readFileSync(path, "utf8").replace(",balance\r\n", ",saldo\r\n"))
      sealed(folder)
      expect(yield* said).toEqual([
        "roll-forward.csv has other columns than this version writes: its figures were not added up.",
      ])
    }),
  )
})
