/** Rows in quarantine as a list: never their content, which is personal data. */
import { counted, harmless, styled } from "../../Common/Text.ts"
import { type QuarantinedRow, quarantineNumber } from "../../Mirror/QuarantinedRow.ts"
import type { Tried } from "../../Sync/Runs/ReplayResult.ts"
import { moreLines, mostRows, table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"

const columns = (all: boolean) => [
  { title: "Row" },
  { title: "Book" },
  { title: "Stream", shrinks: true },
  { title: "Item", shrinks: true },
  { title: "Reason", prose: true },
  { title: "Path", shrinks: true },
  { title: "First seen" },
  { title: "Last seen" },
  { title: "Run", align: "right" as const },
  ...(all ? [{ title: "Settled" }] : []),
]

/** The rows that nobody has answered for. */
export const waitingRows = (rows: ReadonlyArray<QuarantinedRow>): ReadonlyArray<QuarantinedRow> =>
  rows.filter(({ acceptedAt, resolvedAt }) => resolvedAt === null && acceptedAt === null)

/** To the second; `--json` has the full time. */
export const toSecond = (instant: string | null): string =>
  instant === null ? "" : `${instant.slice(0, 19)}Z`

export const quarantineLines = (
  rows: ReadonlyArray<QuarantinedRow>,
  all: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const waiting = waitingRows(rows)
  const [first, ...others] = waiting
  // Of too many, those that wait for a person come before what is settled or accepted.
  const waits = new Set(waiting)
  const listed =
    rows.length > mostRows ? [...waiting, ...rows.filter((row) => !waits.has(row))].slice(0, mostRows) : rows
  const months = [...new Set(rows.flatMap(({ acceptedAt }) => acceptedAt ?? []))]
  const cells = listed.map((row) => [
    quarantineNumber(row),
    row.book,
    row.stream,
    row.itemId ?? "",
    row.reason,
    row.path,
    toSecond(row.firstSeenAt),
    toSecond(row.lastSeenAt),
    String(row.runId),
    ...(all ? [toSecond(row.resolvedAt)] : []),
  ])
  const conclusion =
    first !== undefined
      ? styled(
          screen.color,
          "red",
          `${counted(others.length + 1, "row waits", "rows wait")}. See: tieout quarantine show ${quarantineNumber(first)}; try again: tieout quarantine replay`,
        )
      : styled(
          screen.color,
          "green",
          months.length === 0
            ? "Nothing waits in quarantine."
            : `Nothing waits for a person: what is left was accepted for good at the close of ${months.join(", ")}.`,
        )
  return rows.length === 0
    ? [conclusion]
    : [...table(columns(all), cells, screen), ...moreLines(rows.length - listed.length), "", conclusion]
}

const triedLine = ({ row, waits }: Tried, { color }: Screen): string => {
  const item = row.itemId === null ? "" : ` ${harmless(row.itemId)}`
  const what = `${quarantineNumber(row).padEnd(6)} ${row.book}, ${harmless(row.stream)}${item}: `
  return waits === null
    ? `${what}${styled(color, "green", "replayed")}`
    : `${what}${styled(color, "red", "still waits")}: ${harmless(waits.path)} ${harmless(waits.reason)}`
}

/** What became of each row that was tried. Of too many, those that still wait come first. */
export const triedLines = (tried: ReadonlyArray<Tried>, screen: Screen): ReadonlyArray<string> => {
  const listed =
    tried.length > mostRows
      ? [...tried.filter(({ waits }) => waits !== null), ...tried.filter(({ waits }) => waits === null)]
      : tried
  return [
    ...listed.slice(0, mostRows).map((one) => triedLine(one, screen)),
    ...moreLines(tried.length - mostRows),
  ]
}
