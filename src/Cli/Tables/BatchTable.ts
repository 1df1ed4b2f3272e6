/** A list of batches, and one batch with its files, states and lineage. */
import type { Effect } from "effect"
import { count, counted, harmless, styled } from "../../Common/Text.ts"
import { type KnownBatch, type ListedBatch, nameOf } from "../../Export/Batch/Kept/KnownBatch.ts"
import type { BatchState, KeptChange } from "../../Export/Batch/Kept/States.ts"
import type * as Batches from "../../Export/Batches.ts"
import { flagOf } from "../../Export/Request/StandingBatches.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"
import { contentText } from "./BatchContent.ts"

const tones: Readonly<Record<BatchState, "green" | "red" | "yellow" | undefined>> = {
  preview: "yellow",
  committed: "green",
  acknowledged: "green",
  superseded: undefined,
}

const stateText = (state: BatchState, { color }: Screen): string => {
  const tone = tones[state]
  return tone === undefined ? state : styled(color, tone, state)
}

/** `, as of TIME`, after the state of an as-of batch. */
const asOfText = (asOf: string | null | undefined): string => (asOf == null ? "" : `, as of ${asOf}`)

const columns = [
  { title: "Batch" },
  { title: "State" },
  { title: "Selection", shrinks: true },
  { title: "Formats", shrinks: true },
  { title: "Entries", align: "right" },
  { title: "Written" },
  { title: "By", shrinks: true },
] as const

export const batchListLines = (rows: ReadonlyArray<ListedBatch>, screen: Screen): ReadonlyArray<string> =>
  rows.length === 0
    ? ["There are no batches yet: tieout export writes them."]
    : table(
        columns,
        rows.map((row) => [
          `${row.book}/${row.batch}`,
          `${row.state}${asOfText(row.asOf)}${row.outdated.length === 0 ? "" : ", out of date"}`,
          `${row.scope}${row.baseCurrency === null ? "" : ` in ${row.baseCurrency}`}${row.delta ? " (delta)" : ""}`,
          row.formats.join(","),
          count(row.entries),
          row.at,
          harmless(row.who ?? ""),
        ]),
        screen,
      )

type Shown = Effect.Effect.Success<ReturnType<typeof Batches.show>>

const changeLine = ({ at, byBatch, reason, state, who: by }: KeptChange): string =>
  `  ${at}  ${state} by ${harmless(by)}${byBatch === null ? "" : `, superseded by batch ${byBatch}`}${reason === null ? "" : `: ${harmless(reason)}`}`

export const batchNumbers = (batches: ReadonlyArray<number>): string =>
  batches.length === 0 ? "none" : batches.join(", ")

const lineageLines = ({ lineage, tables }: KnownBatch["manifest"]): ReadonlyArray<string> =>
  lineage === undefined
    ? []
    : [
        `  previous    ${lineage.previous === null ? "none: the book's first batch" : `batch ${lineage.previous.batch}, manifest ${lineage.previous.manifestSha256}`}`,
        `  supersedes  ${batchNumbers(lineage.supersedes)}`,
        ...(lineage.delta
          ? [`  delta       only what batches ${batchNumbers(lineage.follows)} do not have`]
          : []),
        ...lineage.closes.map(
          ({ approvedBy, hash, period, sequence }) =>
            `  close       ${period}, number ${sequence}, ${hash}${approvedBy === undefined ? "" : approvedBy === null ? ", not approved" : `, approved by ${harmless(approvedBy)}`}`,
        ),
        ...(tables === undefined
          ? []
          : [
              `  mapping     ${tables.mappingVersion === null ? "the chart's own accounts" : `version ${tables.mappingVersion}`}`,
            ]),
      ]

export const batchLines = (
  { batch, changes, folder, kept, outdated, problems }: Shown,
  screen: Screen,
): ReadonlyArray<string> => {
  const { manifest } = batch
  const { bankStatements = [] } = manifest
  const whole = problems.length === 0
  return [
    `${nameOf(batch)}: ${stateText(batch.state, screen)}${asOfText(manifest.scope.asOf)}, ${manifest.scope.text}${manifest.base === undefined ? "" : ` in ${manifest.base.currency}`}, ${contentText(manifest)}`,
    ...(outdated.length === 0
      ? []
      : [
          styled(
            screen.color,
            "yellow",
            `  OUT OF DATE: ${outdated.join(", ")} changed since. Export it again: tieout export ${flagOf({ rated: manifest.tables?.rated === true })} --again`,
          ),
        ]),
    `  formats     ${manifest.formats.join(", ")}`,
    `  manifest    ${batch.sha256}`,
    ...lineageLines(manifest),
    ...manifest.currencies.map(
      ({ credit, currency, debit, entries }) =>
        `  total       ${currency} debit ${debit}, credit ${credit}, ${counted(entries, "entry", "entries")}`,
    ),
    ...bankStatements.map(
      ({ account, closing, currency, days, entries, first, last, opening }) =>
        `  statements  ${account} ${currency} ${opening} to ${closing}, ${counted(entries, "entry", "entries")} on ${counted(days, "day")}, ${first} to ${last}`,
    ),
    ...table(
      [
        { title: "  File" },
        { title: "Rows", align: "right" },
        { title: "Bytes", align: "right" },
        { title: "SHA-256" },
      ],
      manifest.files.map(({ bytes, name, rows, sha256 }) => [`  ${name}`, count(rows), count(bytes), sha256]),
      screen,
    ),
    "States",
    `  ${batch.at}  ${manifest.lineage?.state ?? "committed"}${batch.who === null ? "" : ` by ${harmless(batch.who)}`}`,
    ...changes.map(changeLine),
    styled(
      screen.color,
      whole ? "green" : "red",
      whole ? `${folder} is as it was written.` : `${folder} is not as it was written:`,
    ),
    ...problems.map((problem) => `  ${harmless(problem)}`),
    kept
      ? `Its files are kept in the database: tieout batches download ${nameOf(batch)} --out DIR`
      : "Its files are not kept in the database.",
  ]
}
