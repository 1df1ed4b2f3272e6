/** Checks a close package from its files alone: each file is unchanged, and the figures add up. */
import { Either } from "effect"
import { parse } from "../../Common/MinorUnits.ts"
import { Problems } from "../../Common/Problems.ts"
import { isRecord } from "../../Common/Record.ts"
import { decode, isSealed, type Manifest } from "../../Export/Batch/Manifest/ReportManifest.ts"
import { checkFiles } from "../../Export/Batch/Manifest/WrittenFiles.ts"
import { manifestFile } from "../../Export/Batch/Manifest.ts"
import { checkReportPlace } from "../FolderPlace.ts"
import { ReportTotals } from "./ReportTotals.ts"

/** Whether a manifest is a report's, even if it cannot be decoded. */
export const isReport = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && value.kind === "report"
  } catch {
    return false
  }
}

/** Whether decimals of any number of digits add up to the same as others. */
const addUpTo = (amounts: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean => {
  const scale = Math.max(...[...amounts, ...others].map((amount) => (amount.split(".")[1] ?? "").length))
  const sum = (all: ReadonlyArray<string>) => all.reduce((total, amount) => total + parse(amount, scale), 0n)
  return sum(amounts) === sum(others)
}

/** The files that a report has, whatever it says; those of later versions by what came with them. */
const neededFiles = ({ accepted, asOf, waiting }: Manifest): ReadonlyArray<string> => [
  ...["trial-balance.csv", "gl-detail.csv", "account-reconciliation.csv", "roll-forward.csv"],
  ...["conversions.csv", "fees.csv", "receivables-ageing.csv", "exceptions.csv", "late-entries.csv"],
  ...(accepted === undefined ? [] : ["open-items.csv"]),
  ...(waiting === undefined ? [] : ["close-package.xlsx"]),
  ...(asOf === null ? [] : ["difference.csv"]),
  "report.html",
]

/** What the manifest says in several places must be the same in all of them. */
const checkState = (manifest: Manifest, problems: Problems): void => {
  const { approval, close, draft, files, reasons, state } = manifest
  const wrong = (message: string) => problems.add(manifestFile, null, message)
  if (draft !== reasons.length > 0) {
    wrong(draft ? "is a draft, but does not say why" : "is no draft, but says why it is one")
  }
  if (close === null && !draft) wrong("is no draft, but names no close")
  if (close !== null && state === "open") wrong("is of an open month, but names its close")
  if (approval !== undefined && approval !== null && approval.closeHash !== close?.hash) {
    wrong(`names the approval of another close, by ${approval.name}`)
  }
  for (const name of neededFiles(manifest)) {
    if (!files.some((file) => file.name === name)) wrong(`names no file ${name}`)
  }
}

const checkFigures = ({ accounts, currencies, draft }: Manifest, problems: Problems): void => {
  for (const { closing, credit, currency, debit, opening } of currencies) {
    if (!addUpTo([opening, debit], [credit, closing])) {
      problems.add(manifestFile, null, `the totals of ${currency} do not lead from opening to closing`)
    }
    if (!addUpTo([debit], [credit]) || !addUpTo([opening], ["0"])) {
      problems.add(manifestFile, null, `the accounts in ${currency} do not add up to zero`)
    }
  }
  for (const { accountId, carried = "0", closing, currency, datedLater, difference, provider } of accounts) {
    if (!addUpTo([closing, datedLater, carried, difference], [provider])) {
      problems.add(
        manifestFile,
        null,
        `the amounts of account ${accountId} do not lead from its closing to the provider's balance`,
      )
    }
    if (!draft && /[1-9]/.test(difference)) {
      problems.add(
        manifestFile,
        null,
        `account ${accountId} is off by ${difference} ${currency}, and it is no draft`,
      )
    }
  }
}

/** `bytes`: the manifest's. Returns it where it can be decoded. */
export const checkReport = async (
  folder: string,
  bytes: Buffer,
  problems: Problems,
): Promise<Manifest | undefined> => {
  const text = bytes.toString("utf8")
  const decoded = decode(text)
  if (Either.isLeft(decoded)) {
    problems.add(manifestFile, null, `cannot be read: ${decoded.left.message}`)
    return undefined
  }
  // Bytes that are no UTF-8 may read as the text that was written.
  if (!(isSealed(decoded.right, text) && bytes.equals(Buffer.from(text, "utf8")))) {
    problems.add(
      manifestFile,
      null,
      "has changed since it was written: its digest is not that of its content",
    )
  }
  checkReportPlace(folder, decoded.right, problems)
  checkState(decoded.right, problems)
  const totals = new ReportTotals(decoded.right)
  const inside = new Problems()
  await checkFiles(folder, decoded.right, problems, {
    contentOf: (name) => totals.contentOf(name, inside),
    elsewhere: () => undefined,
  })
  checkFigures(decoded.right, problems)
  totals.finish(inside)
  problems.absorb(inside)
  return decoded.right
}
