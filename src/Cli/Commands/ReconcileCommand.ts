import { Effect, Layer, Option } from "effect"
import { counted, harmless, styled } from "../../Common/Text.ts"
import type { OpenFinding } from "../../Reconcile/Summary.ts"
import { needsAttention, tieOutSentence, tiesOut } from "../../Reconcile/TieOut.ts"
import { Reconcile, type ReconcileSummary } from "../../Reconcile.ts"
import type { Screen } from "../../Terminal.ts"
import { books, knownConnection } from "../Books.ts"
import { command, flag } from "../Declaration.ts"
import { exitCodes, exitCodeTexts } from "../ExitCode.ts"
import { connection, period } from "../Options.ts"
import { Output } from "../Output.ts"
import { parseMonth } from "../Period.ts"

/** The most findings listed per check; the rest is counted, and `--json` lists all. */
const mostListed = 5

const findingLines = (finding: OpenFinding, color: boolean): ReadonlyArray<string> => [
  `  ${styled(color, finding.severity === "blocking" ? "red" : "yellow", finding.book)}  ${harmless(finding.message)}`,
  `      tieout explain ${harmless(finding.subject)}`,
]

const checkLines = (
  name: string,
  findings: ReadonlyArray<OpenFinding>,
  color: boolean,
): ReadonlyArray<string> => {
  const more = findings.length - mostListed
  return [
    `${name}: ${counted(findings.length, findings[0]?.severity === "blocking" ? "blocking finding" : "warning")}`,
    ...findings.slice(0, mostListed).flatMap((finding) => findingLines(finding, color)),
    ...(more > 0 ? [`  … and ${more} more; --json lists them all.`] : []),
    "",
  ]
}

const linesOf = (summary: ReconcileSummary, screen: Screen): ReadonlyArray<string> => {
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
        screen.color,
      ),
    ),
    `${counted(summary.checks.length, "check")} run; ${counted(summary.opened, "finding")} opened, ${summary.closed} closed.`,
    styled(screen.color, colour, conclusion.join(" ")),
  ]
}

export const reconcile = command(
  {
    name: "reconcile",
    summary: "Check that the books agree with the service, and list what does not.",
    about: [
      "Runs every check over what changed since its last run. A finding stays open until a run proves it gone.",
      "Ends with 3 while a blocking finding is open or something is in quarantine.",
    ],
    takes: {
      connection,
      period: period("Only this month, in the time zone of each book"),
      full: flag("full", "Over all history, not only what changed; the base-currency journal as well"),
    },
    examples: [["tieout reconcile --period 2026-10", "before closing October"]],
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
      const bad = summary.quarantined > 0 || summary.findings.some(({ severity }) => severity === "blocking")
      yield* output.report({
        document: summary,
        lines: linesOf(summary, output.terminal.stdout),
        code: bad ? exitCodes.attention : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Reconcile.Default, books)),
  ),
)
