/** Checks a close package from its files alone: each file is unchanged, and the figures add up. */
import { Either } from "effect"
import { parse } from "../Common/MinorUnits.ts"
import { Problems } from "../Common/Problems.ts"
import { isRecord } from "../Common/Record.ts"
import { decode, isSealed, type Manifest } from "../Export/Batch/Manifest/ReportManifest.ts"
import { checkFiles } from "../Export/Batch/Manifest/WrittenFiles.ts"
import { manifestFile } from "../Export/Batch/Manifest.ts"
import { checkReportPlace } from "./FolderPlace.ts"
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

const checkFigures = ({ accounts, currencies, draft }: Manifest, problems: Problems): void => {
  for (const { closing, credit, currency, debit, opening } of currencies) {
    if (!addUpTo([opening, debit], [credit, closing])) {
      problems.add(manifestFile, null, `the totals of ${currency} do not lead from opening to closing`)
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
