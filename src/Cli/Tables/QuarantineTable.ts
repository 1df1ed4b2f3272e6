/** Rows in quarantine as a list: never their content, which is personal data. */
import { counted, styled } from "../../Common/Text.ts"
import { type QuarantinedRow, quarantineNumber } from "../../Mirror/QuarantinedRow.ts"
import { table } from "../../Terminal/Table.ts"
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
  const [first, ...others] = waitingRows(rows)
  const months = [...new Set(rows.flatMap(({ acceptedAt }) => acceptedAt ?? []))]
  const cells = rows.map((row) => [
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
  return rows.length === 0 ? [conclusion] : [...table(columns(all), cells, screen), "", conclusion]
}
