import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Manifest, print } from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import { conversionsSheet } from "../../src/Report/Conversions/ConversionsSheet.ts"
import { differenceSheet } from "../../src/Report/DifferenceSheet.ts"
import { exceptionsSheet } from "../../src/Report/Exceptions.ts"
import { feesSheet } from "../../src/Report/Fees.ts"
import { generalLedgerSheet } from "../../src/Report/GeneralLedger.ts"
import { lateSheet } from "../../src/Report/LateSheet.ts"
import { ageingSheet } from "../../src/Report/Receivables/Ageing.ts"
import { reconciliationSheet } from "../../src/Report/ReconciliationSheet.ts"
import { rollForwardSheet } from "../../src/Report/RollForward.ts"
import { trialBalanceSheet } from "../../src/Report/TrialBalanceSheet.ts"

const sheets = [
  ...[trialBalanceSheet, generalLedgerSheet, reconciliationSheet, rollForwardSheet, conversionsSheet],
  ...[feesSheet, ageingSheet, exceptionsSheet, lateSheet],
]

const emptyReport: Manifest = {
  ...{ product: "tieout", kind: "report", version: "0.1.0", formatVersion: 1, connection: "default" },
  ...{ book: { code: "ORG", name: "Organization", clientId: null }, period: "2026-10", timeZone: "UTC" },
  ...{ asOf: null, createdAt: "2026-11-01T00:00:00Z", state: "open", close: null, draft: true },
  ...{ reasons: ["open"], files: [], currencies: [], accounts: [] },
}

/** Writes the report of a month without accounts, with all its files; what the manifest says otherwise is `over`. */
export const writeEmptyReport = (folder: string, over: Partial<Manifest> = {}): void => {
  mkdirSync(folder, { recursive: true })
  const beside = over.asOf === null || over.asOf === undefined ? [] : [differenceSheet]
  const headers = [...sheets, ...beside].map(({ columns, name }): readonly [string, string] => [
    name,
    `${Object.keys(columns).join(",")}\r\n`,
  ])
  const files = [...headers, ["report.html", "<!doctype html>\n"] as const].map(([name, text]) => {
    writeFileSync(join(folder, name), text)
    return { name, rows: 0, bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") }
  })
  writeFileSync(join(folder, "manifest.json"), print({ ...emptyReport, files, ...over }))
}
