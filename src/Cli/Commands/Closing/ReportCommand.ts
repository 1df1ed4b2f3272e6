import { Effect, Layer, Option } from "effect"
import { count, counted, harmless, styled } from "../../../Common/Text.ts"
import { parseAsOf } from "../../../Ledger/AsOf.ts"
import { Ledger } from "../../../Ledger.ts"
import { stampOf } from "../../../Report/ReportState.ts"
import { type WrittenReport, report as writeReports } from "../../../Report.ts"
import { Settings } from "../../../Settings.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead, refuseReaders } from "../../BookEnvironment.ts"
import { book } from "../../CommandOptions.ts"
import { argument, command, flag, optional, text, withDefault } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { numberEntries } from "../../NumberEntries.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"

const columns = [{ title: "  File" }, { title: "Rows", align: "right" }] as const

const reportLines = ({ folder, manifest }: WrittenReport, screen: Screen): ReadonlyArray<string> => {
  const {
    accepted = [],
    accounts,
    approval = null,
    asOf,
    book,
    draft,
    files,
    period,
    reasons,
    waiting,
  } = manifest
  const when = asOf === null ? "" : ` as of ${asOf}`
  const state = draft
    ? styled(screen.color, "red", "DRAFT")
    : styled(
        screen.color,
        "green",
        `${harmless(stampOf(accepted.length, approval?.name ?? null, waiting))}; ${counted(accounts.length, "account")}, difference 0`,
      )
  const rows = files.map(({ name, rows: held }) => [`  ${name}`, name.endsWith(".csv") ? count(held) : ""])
  return [
    `${book.code} ${period}${when}: ${state}`,
    ...reasons.map((reason) => styled(screen.color, "red", `  ${harmless(reason)}`)),
    folder,
    ...table(columns, rows, screen),
    "",
  ]
}

export const report = command(
  {
    name: "report",
    summary: "Write a month's close package: review files, and one page for the auditor.",
    about: [
      "Trial balance, every posting with its running balance, every account from its opening to the provider's own balance,",
      "roll-forward, conversions, fees, receivables by age, open items, exceptions and late entries, as CSV and report.html, in",
      "DIR/<connection>-<book>/<month>/. A report of the same month that nobody changed is replaced; a folder that holds",
      "anything else is refused. A month that is not closed, or does not tie out, is marked DRAFT, and it ends with 3.",
    ],
    takes: {
      period: argument.text("YYYY-MM"),
      book,
      out: withDefault(text("out", "DIR", "Where the folders go"), "reports"),
      asOf: optional(
        text(
          "as-of",
          "TIME",
          "What the books said then, by the time of recording, and difference.csv to now: 2026-11-05T12:00:00Z, or a day, which means its end",
        ),
      ),
      base: flag(
        "base",
        "Value the month in the base currency first, as tieout export --base does, for the page's rates and results; with --as-of as it was then",
      ),
    },
    examples: [
      ["tieout report 2026-10", "after tieout close 2026-10"],
      ["tieout report 2026-10 --as-of 2026-11-05", "what October looked like at the end of 5 November"],
    ],
    exits: {
      attention: "done, and a report is a draft",
      busy: "another report of that book is being written, or with --as-of something in the books",
    },
  },
  Effect.fn("Cli.report")(
    function* ({ asOf: asOfText, base, book, out, period: text }) {
      const output = yield* Output
      const period = yield* parseMonth(text, "the month")
      const asOf = Option.isNone(asOfText) ? Option.none() : Option.some(yield* parseAsOf(asOfText.value))
      // A valuation is kept, and one as of a time is made in temporary tables.
      if (base) yield* refuseReaders
      yield* numberEntries(!base || Option.isSome(asOf))
      const { accounting, chart } = yield* Settings
      const { baseCurrency, valuation } = accounting
      const reports = yield* writeReports({
        ...{ period, book, out, asOf },
        ...(base ? { base: { baseCurrency, settings: valuation, chart } } : {}),
      })
      yield* output.report({
        document: { reports: reports.map(({ folder, manifest }) => ({ folder, ...manifest })) },
        lines: reports.flatMap((one) => reportLines(one, output.terminal.stdout)),
        code: reports.some(({ manifest }) => manifest.draft) ? exitCodes.attention : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Ledger.Default, booksToRead)),
  ),
)
