import { Effect, Layer, Option } from "effect"
import { count, counted, styled } from "../../../Common/Text.ts"
import { wrapped } from "../../../Common/Wrap.ts"
import { shortAccount } from "../../../Ledger/LedgerChart.ts"
import { checks } from "../../../Reconcile/Check.ts"
import type { OpenFinding } from "../../../Reconcile/Summary.ts"
import { needsAttention, tieOutSentence, tiesOut } from "../../../Reconcile/TieOut.ts"
import { Reconcile, type ReconcileSummary } from "../../../Reconcile.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { books, knownConnection } from "../../BookEnvironment.ts"
import { book, connection, period } from "../../CommandOptions.ts"
import { command, flag } from "../../Declaration.ts"
import { exitCodes, exitCodeTexts } from "../../ExitCode.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"

/** The most findings listed per check, without --all; the rest is counted, and `--json` lists all. */
const mostListed = 5

const columns = [
  { title: "  No." },
  { title: "Date" },
  { title: "Book" },
  { title: "Account", shrinks: true },
  { title: "Amount", align: "right" },
  { title: "Age", align: "right" },
  { title: "What", prose: true },
] as const

const rowOf = ({ acceptedAt, accountId, amount, book, date, days, findingId, message }: OpenFinding) => [
  `  ${findingId}`,
  date ?? "",
  book,
  accountId === null ? "" : shortAccount(accountId),
  amount ?? "",
  counted(days, "day"),
  acceptedAt === null ? message : `${message} Accepted at the close of ${acceptedAt}.`,
]

export const checkLines = (
  name: string,
  findings: ReadonlyArray<OpenFinding>,
  all: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const [first] = findings
  const shown = all ? findings : findings.slice(0, mostListed)
  const more = findings.length - shown.length
  const blocking = first?.severity === "blocking"
  const accepted = findings.filter(({ acceptedAt }) => acceptedAt !== null).length
  const waiting = findings.length - accepted
  const acceptedText =
    accepted === 0 ? "" : waiting === 0 ? ", accepted" : `, ${count(accepted)} of them accepted`
  const kind = counted(findings.length, blocking ? "blocking finding" : "warning")
  const todo = checks.find((check) => check.name === name)?.todo
  return [
    styled(screen.color, blocking && waiting > 0 ? "red" : "yellow", `${name}: ${kind}${acceptedText}`),
    ...(todo === undefined || waiting === 0 ? [] : wrapped(`  To do: ${todo}.`, screen.width)),
    ...table(columns, shown.map(rowOf), screen),
    ...(more > 0 ? [`  … and ${count(more)} more; --all lists them.`] : []),
    "",
  ]
}

const linesOf = (summary: ReconcileSummary, all: boolean, screen: Screen): ReadonlyArray<string> => {
  const names = [...new Set(summary.findings.map(({ check }) => check))]
  const explained = tiesOut(summary.tieOut) && summary.notRead.length === 0
  const { otherWarnings, quarantined } = summary.tieOut
  const conclusion = [
    `${tieOutSentence(summary.tieOut, summary.notRead)}.`,
    ...(otherWarnings > 0 ? [`${counted(otherWarnings, "warning")}.`] : []),
    ...(quarantined > 0 ? ["See: tieout quarantine list"] : []),
  ]
  const colour = explained ? "green" : needsAttention(summary.tieOut) ? "red" : "yellow"
  return [
    ...names.flatMap((name) =>
      checkLines(
        name,
        summary.findings.filter(({ check }) => check === name),
        all,
        screen,
      ),
    ),
    `${counted(summary.checks.length, "check")} run; ${counted(summary.opened, "finding")} opened, ${summary.closed} closed.`,
    ...wrapped(conclusion.join(" "), screen.width).map((line) => styled(screen.color, colour, line)),
  ]
}

export const reconcile = command(
  {
    name: "reconcile",
    summary: "Check that the books agree with the service, and list what does not.",
    about: [
      "Runs every check over what changed since its last run. A finding stays open until a run proves it gone.",
      "Lists what is to be done, check by check: tieout explain F12 leads to the evidence of each.",
      "Ends with 3 while something is in quarantine, or a blocking finding is open that no close has accepted for good.",
    ],
    takes: {
      connection,
      book,
      period: period("Only this month, in the time zone of each book"),
      full: flag("full", "Over all history, not only what changed; the base-currency journal as well"),
      all: flag("all", `All findings, not only the first ${mostListed} of each check`),
    },
    examples: [
      ["tieout reconcile --period 2026-10", "before closing October"],
      ["tieout reconcile --book ORG --all", "everything that is to be done in a book"],
    ],
    exits: { attention: exitCodeTexts.attention },
  },
  Effect.fn("Cli.reconcile")(
    function* (options) {
      const output = yield* Output
      const period = Option.isSome(options.period)
        ? Option.some(yield* parseMonth(options.period.value))
        : Option.none<string>()
      yield* knownConnection(options.connection)
      const summary = yield* (yield* Reconcile).run({ ...options, period })
      const bad =
        summary.quarantined > 0 ||
        summary.findings.some(({ acceptedAt, severity }) => severity === "blocking" && acceptedAt === null)
      yield* output.report({
        document: summary,
        lines: () => linesOf(summary, options.all, output.terminal.stdout),
        code: bad ? exitCodes.attention : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Reconcile.Default, books)),
  ),
)
