/** What an export of a time says of the difference to now. */

import { counted } from "../../Common/Text.ts"
import type { Difference } from "../../Export/Source/Difference.ts"
import type { ExportedBatch } from "../../Export.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"

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
  const what = inBase ? "recorded or valued otherwise since" : "recorded since"
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

/** No line where the export is not one of a time. */
export const thenAndNow = (
  { difference, lackingRates }: Pick<ExportedBatch, "difference" | "lackingRates">,
  inBase: boolean,
  screen: Screen,
): ReadonlyArray<string> => [
  ...(difference === null ? [] : differenceLines(difference, inBase, screen)),
  ...(lackingRates === 0
    ? []
    : [
        `  What is different now cannot be told: ${counted(lackingRates, "rate")} of later days or entries lack. tieout export --base lists them.`,
      ]),
]
