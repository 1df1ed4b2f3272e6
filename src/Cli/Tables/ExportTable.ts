/** What an export wrote, batch by batch; for an as-of export also what has changed since. */
import { count, counted, harmless, inShell, styled } from "../../Common/Text.ts"
import { print, sha256Of } from "../../Export/Batch/Manifest/ManifestSeal.ts"
import type { Manifest } from "../../Export/Batch/Manifest.ts"
import type { ExportedBatch } from "../../Export/BookExport.ts"
import { sharedInBatch } from "../../Export/Mapping/SharedCodes.ts"
import { flagOf } from "../../Export/Request/StandingBatches.ts"
import type { Difference } from "../../Export/Source/Difference.ts"
import { lackingText } from "../../Export/Source/LeftOutThen.ts"
import type { ExportSummary, Outdated } from "../../Export.ts"
import { leftOut } from "../../Format/FormatSettings.ts"
import { accumulates, tablesOf } from "../../Format/Formats.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"
import { contentText } from "./BatchContent.ts"
import { ownCodesAdvice, sharedText } from "./SharedCodes.ts"

const fileColumns = [
  { title: "  File" },
  { title: "Rows", align: "right" },
  { title: "Bytes", align: "right" },
] as const

const lineageText = ({ lineage }: Manifest): string => {
  if (lineage === undefined) return ""
  const { delta, follows, state, supersedes } = lineage
  return [
    state === "preview" ? ", a preview" : "",
    delta ? `, only what batch ${follows.join(", ")} does not have` : "",
    supersedes.length === 0 ? "" : `, in place of batch ${supersedes.join(", ")}`,
  ].join("")
}

/** What was imported of the batches that this one takes the place of would be in the accounting system twice. */
const replacedLines = ({ formats, lineage }: Manifest): ReadonlyArray<string> =>
  lineage === undefined || lineage.supersedes.length === 0 || !formats.some(accumulates)
    ? []
    : [
        `  What was imported of batch ${lineage.supersedes.join(", ")} has to leave the accounting system before this is imported: its entries of these days are in here again.`,
      ]

/** Which of its months are closed, and who approved each close. */
const approvalLines = ({ lineage }: Manifest): ReadonlyArray<string> =>
  (lineage?.closes ?? []).map(
    ({ approvedBy = null, period }) =>
      `  ${period} is closed, ${approvedBy === null ? "not approved" : `approved by ${harmless(approvedBy)}`}`,
  )

const differenceColumns = [
  { title: "  Account" },
  { title: "Cur" },
  { title: "Then", align: "right" },
  { title: "Now", align: "right" },
  { title: "Difference", align: "right" },
] as const

const differenceLines = (
  { accounts, entries }: Difference,
  inBase: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const what = inBase ? "recorded or valued differently since" : "recorded since"
  const head = `  ${entries === 0 ? "Nothing" : counted(entries, "entry", "entries")} ${what}.`
  const cells = accounts.map(({ before, code, currency, difference, name, now }) => [
    `  ${code} ${name}`,
    currency,
    before,
    now,
    difference,
  ])
  return accounts.length === 0 ? [head] : [head, ...table(differenceColumns, cells, screen)]
}

/** The difference between an as-of export and now; nothing for other exports. */
const changedSinceLines = (
  { difference, lackingRates }: Pick<ExportedBatch, "difference" | "lackingRates">,
  inBase: boolean,
  screen: Screen,
): ReadonlyArray<string> => [
  ...(difference === null ? [] : differenceLines(difference, inBase, screen)),
  ...(lackingRates === 0
    ? []
    : [
        `  The difference to now is unknown: ${counted(lackingRates, "rate is", "rates are")} missing for later days or entries. tieout export --base lists them.`,
      ]),
]

/** The currencies that the settings keep out of an accounting system's files, where the books moved any. */
const leftOutLines = (manifest: Manifest): ReadonlyArray<string> => {
  const { bankLeftOut = [], currencies, formats, holds, read, tables } = manifest
  const ofTables = tablesOf(formats).flatMap((format) => leftOut(format, { leaveOut: tables?.leftOut ?? [] }))
  const out = [...ofTables, ...bankLeftOut]
  const texts =
    holds === undefined
      ? currencies
          .filter(({ currency }) => out.includes(currency))
          .map(({ currency, entries }) => `${currency} (${counted(entries, "entry", "entries")})`)
      : out.flatMap((currency) => {
          const accounts = read.filter((account) => account.currency === currency)
          return accounts.length === 0 ? [] : [`${currency} (${counted(accounts.length, "account")})`]
        })
  return texts.length === 0 ? [] : [`  left out by formats.leaveOut: ${texts.join(", ")}`]
}

/** Bank accounts and wallets that are one account in the system: right where a single account there holds all of them. */
const sharedLines = (manifest: Manifest): ReadonlyArray<string> =>
  sharedInBatch(manifest).flatMap((shared) => [
    `  ${sharedText(shared, `In ${shared.column}`)}`,
    `    ${ownCodesAdvice(shared.column)}`,
  ])

/** Entries of which no file but the list of native movements has anything; their numbers are missing in the others. */
const omittedLines = ({ base }: Manifest): ReadonlyArray<string> =>
  base === undefined || base.omitted === 0
    ? []
    : [
        `  ${counted(base.omitted, "entry is", "entries are")} worth 0.00 ${base.currency} and in native_movements.csv alone`,
      ]

const batchLines = (
  { difference, folder, lackingRates, manifest }: ExportedBatch,
  screen: Screen,
): ReadonlyArray<string> => {
  const { base, batch, book, files, firstNumber, lastNumber, reasons, scope } = manifest
  const numbers = firstNumber === null ? "" : `, ${firstNumber} to ${lastNumber ?? firstNumber}`
  const rows = files.map(({ bytes, name, rows }) => [`  ${name}`, count(rows), count(bytes)])
  return [
    `${book.code}/${batch} ${scope.text}${base === undefined ? "" : ` in ${base.currency}`}: ${contentText(manifest)}${numbers}${lineageText(manifest)}`,
    folder,
    `  manifest ${sha256Of(print(manifest))}`,
    ...table(fileColumns, rows, screen),
    ...replacedLines(manifest),
    ...leftOutLines(manifest),
    ...sharedLines(manifest),
    ...omittedLines(manifest),
    ...approvalLines(manifest),
    ...changedSinceLines({ difference, lackingRates }, base !== undefined, screen),
    ...reasons.map((reason) => styled(screen.color, "red", `INCOMPLETE: ${reason}`)),
    "",
  ]
}

const outdatedLine = ({ batch, book, formats, months, rated, scope }: Outdated): string =>
  `OUT OF DATE: ${book}/${batch} ${scope} ${formats.join(",")}: ${months.join(", ")} changed since. Export it again with ${flagOf({ rated })} --again.`

export const exportLines = (
  { batches, empty, exported, lacking, outdated, unchanged }: ExportSummary,
  screen: Screen,
): ReadonlyArray<string> => [
  ...batches.flatMap((batch) => batchLines(batch, screen)),
  ...empty.map((book) => `${book}: no entries; left out.`),
  ...unchanged.map((book) => `${book}: nothing new.`),
  ...exported.map(
    ({ batches: existing, book, formats }) =>
      `${book} ${formats.join(",")}: nothing new, batch ${existing.join(", ")} has it. To export it again: --again`,
  ),
  ...lacking.map((one) => styled(screen.color, "yellow", lackingText(one))),
  ...outdated.map((batch) => styled(screen.color, "yellow", outdatedLine(batch))),
  ...(batches[0] === undefined
    ? []
    : [`Check a folder by its files alone: tieout verify ${inShell(batches[0].folder)}`]),
]
