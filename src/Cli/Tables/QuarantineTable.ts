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

/** To the second; `--json` has the full time. */
export const toSecond = (instant: string | null): string =>
  instant === null ? "" : `${instant.slice(0, 19)}Z`

export const quarantineLines = (
  rows: ReadonlyArray<QuarantinedRow>,
  all: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const open = rows.filter(({ resolvedAt }) => resolvedAt === null).length
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
    open === 0
      ? styled(screen.color, "green", "Nothing waits in quarantine.")
      : styled(
          screen.color,
          "red",
          `${counted(open, "row waits", "rows wait")}. See: tieout quarantine show ${cells[0]?.[0] ?? ""}; try again: tieout quarantine replay`,
        )
  return rows.length === 0 ? [conclusion] : [...table(columns(all), cells, screen), "", conclusion]
}
