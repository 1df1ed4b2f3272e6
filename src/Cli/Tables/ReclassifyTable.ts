/** What a reclassification moved or would move. */
import { count, counted, harmless } from "../../Common/Text.ts"
import type { Proposal } from "../../Reclassify/Proposal.ts"
import type { Reapplied } from "../../Reclassify/Reapply.ts"
import type { Reclassified, ReclassifiedAll } from "../../Reclassify.ts"
import { moreLines, table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"

/** The most entries listed, of `--rules` per book; the rest is only counted. */
const mostListed = 50

const changeColumns = [
  { title: "  Entry" },
  { title: "Date" },
  { title: "What", shrinks: true },
  { title: "Debit", shrinks: true },
  { title: "Credit", shrinks: true },
  { title: "Amount", align: "right" },
] as const

const linesOf = ({
  amount,
  effectiveDate,
  from,
  number,
  reason,
  to,
}: Reclassified): ReadonlyArray<string> => [
  `${number ?? "Without a number yet"}: ${amount} from ${harmless(`${from.code} ${from.name}`)} to ${harmless(`${to.code} ${to.name}`)}, dated ${effectiveDate}`,
  `  ${harmless(reason)}`,
]

export const reappliedLines = (
  { book, changed, changes, kept, keptByHand, looked, totals, unnumbered }: Reapplied,
  screen: Screen,
) => [
  `${book}: ${counted(changed, "entry", "entries")} of ${count(looked)} in open months`,
  ...(changes.length === 0
    ? []
    : table(
        changeColumns,
        changes
          .slice(0, mostListed)
          .map(({ amount, credit, debit, description, effectiveDate, number }) => [
            `  ${number}`,
            effectiveDate,
            description,
            debit,
            credit,
            amount,
          ]),
        screen,
      )),
  ...(changed > mostListed ? [`  … and ${count(changed - mostListed)} more.`] : []),
  ...totals.map(
    ({ amount, credit, debit, entries }) =>
      `  Debit ${harmless(debit)}, credit ${harmless(credit)}: ${amount} in ${counted(entries, "entry", "entries")}`,
  ),
  ...(keptByHand === 0
    ? []
    : [
        `  Left where a person put ${keptByHand === 1 ? "it" : "them"}: ${kept.slice(0, mostListed).join(", ")}${keptByHand > mostListed ? ` … (${count(keptByHand)} in all)` : ""}`,
      ]),
  ...(unnumbered === 0
    ? []
    : [
        `  ${counted(unnumbered, "entry has", "entries have")} no number yet and ${unnumbered === 1 ? "is" : "are"} not among them: tieout sync, or --apply, numbers first.`,
      ]),
]

const moveColumns = [
  { title: "  Entry" },
  { title: "Book" },
  { title: "Date" },
  { title: "From", shrinks: true },
  { title: "Amount", align: "right" },
] as const

const proposalLines = ({ by, rule, times, value }: Proposal): ReadonlyArray<string> => [
  `${counted(times, "movement")} of the ${by} ${harmless(JSON.stringify(value))} stand there by hand. A rule would do it by itself; in the settings, under rules:`,
  `  ${rule}`,
]

export const movedLines = (
  { moved, proposals }: ReclassifiedAll,
  preview: boolean,
  all: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const [first] = moved
  if (first === undefined) return ["Nothing is open that could be moved."]
  const inOrder = [...moved].sort((a, b) => {
    const [one, other] = [a.number ?? "", b.number ?? ""]
    return one < other ? -1 : Number(one > other)
  })
  // Of a preview, what would be moved.
  const rows = inOrder
    .slice(0, mostListed)
    .map(({ amount, book, effectiveDate, entryId, from, number, of }) => [
      `  ${number ?? of ?? entryId}`,
      book,
      effectiveDate,
      `${from.code} ${from.name}`,
      amount,
    ])
  const to = [...new Set(moved.map(({ to: { code, name } }) => harmless(`${code} ${name}`)))].join(", ")
  return [
    ...(moved.length === 1 && !preview ? linesOf(first) : table(moveColumns, rows, screen)),
    ...moreLines(moved.length - rows.length).map((line) => `  ${line}`),
    ...(preview
      ? [
          `${counted(moved.length, "entry", "entries")} would go to ${to}. Nothing was moved. To move ${moved.length === 1 ? "it" : "them"}: the same with ${all ? "--apply" : "no --preview"}${all ? ' --reason "…"' : ""}`,
        ]
      : moved.length === 1
        ? []
        : [`${counted(moved.length, "entry", "entries")} moved to ${to}: ${harmless(first.reason)}`]),
    ...proposals.flatMap(proposalLines),
  ]
}
