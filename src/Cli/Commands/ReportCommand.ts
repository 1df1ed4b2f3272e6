import { Args, Command, Options as Flags } from "@effect/cli"
import { Effect, Layer, Option } from "effect"
import { count, counted, harmless, styled } from "../../Common/Text.ts"
import { parseAsOf } from "../../Ledger/AsOf.ts"
import { Ledger } from "../../Ledger.ts"
import { stampOf } from "../../Report/State.ts"
import { type WrittenReport, report as writeReports } from "../../Report.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"
import { books } from "../Books.ts"
import { exitCodes } from "../ExitCode.ts"
import * as Options from "../Options.ts"
import { Output } from "../Output.ts"
import { month } from "../Period.ts"
import { numberEntries } from "./ExportCommand.ts"

const columns = [{ title: "  File" }, { title: "Rows", align: "right" }] as const

const reportLines = ({ folder, manifest }: WrittenReport, screen: Screen): ReadonlyArray<string> => {
  const { accepted = [], accounts, asOf, book, draft, files, period, reasons } = manifest
  const when = asOf === null ? "" : ` as of ${asOf}`
  const state = draft
    ? styled(screen.color, "red", "DRAFT")
    : styled(
        screen.color,
        "green",
        `${stampOf(accepted)}; ${counted(accounts.length, "account")}, difference 0`,
      )
  const rows = files.map(({ name, rows: held }) => [`  ${name}`, name.endsWith(".html") ? "" : count(held)])
  return [
    `${book.code} ${period}${when}: ${state}`,
    ...reasons.map((reason) => styled(screen.color, "red", `  ${harmless(reason)}`)),
    folder,
    ...table(columns, rows, screen),
    "",
  ]
}

export const report = Command.make(
  "report",
  {
    period: Args.text({ name: "YYYY-MM" }),
    book: Options.book,
    out: Flags.text("out").pipe(Flags.withDefault("reports")),
    asOf: Flags.text("as-of").pipe(Flags.optional),
  },
  Effect.fn("Cli.report")(
    function* ({ asOf: asOfText, book, out, period: text }) {
      const output = yield* Output
      const period = yield* month(text, "the month")
      const asOf = Option.isNone(asOfText) ? Option.none() : Option.some(yield* parseAsOf(asOfText.value))
      yield* numberEntries()
      const reports = yield* writeReports({ period, book, out, asOf })
      yield* output.report({
        document: { reports: reports.map(({ folder, manifest }) => ({ folder, ...manifest })) },
        lines: reports.flatMap((one) => reportLines(one, output.terminal.stdout)),
        code: reports.some(({ manifest }) => manifest.draft) ? exitCodes.attention : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Ledger.Default, books)),
  ),
)
