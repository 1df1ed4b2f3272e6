import { Effect, Either, Layer, Option } from "effect"
import { printed } from "../../../Common/AmountText.ts"
import { count, counted, styled } from "../../../Common/Text.ts"
import { lastDayOf } from "../../../Common/Time.ts"
import { Ledger } from "../../../Ledger.ts"
import { Settings } from "../../../Settings.ts"
import type { AccountBackfill } from "../../../Sync/Backfill/BackfilledStatements.ts"
import { type Days, lieAhead } from "../../../Sync/Backfill/Window.ts"
import { Backfill, type BackfillReport } from "../../../Sync/Backfill.ts"
import { reportDocument } from "../../../Sync/Runs/RunReport.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksForSync, needingCredentials } from "../../BookEnvironment.ts"
import { client, connection, from, period, refuseOtherSurface, surface, to } from "../../CommandOptions.ts"
import { failuresIn, unfinished } from "../../ConnectionFailures.ts"
import { withinDeadline } from "../../Deadline.ts"
import { command } from "../../Declaration.ts"
import { type ExitCode, exitCodes, worst } from "../../ExitCode.ts"
import { failureOf, UsageError } from "../../Failure.ts"
import { type Failure, failureDocument } from "../../FailureDocument.ts"
import { Output } from "../../Output.ts"
import { parseDay, parseMonth } from "../../Period.ts"
import { checkWorkers, withWorkers, workersOption } from "../../Workers.ts"
import { leftOutLines } from "./LeftOut.ts"

interface DayOptions {
  readonly period: Option.Option<string>
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
}

/** The days of `--period`, or from `--from` to `--to`. */
const daysOf = ({ from, period, to }: DayOptions): Either.Either<Days, UsageError> =>
  Either.gen(function* () {
    const wrong = (detail: string) =>
      Either.left(new UsageError({ detail, advice: "Run tieout backfill --help to see what it takes." }))
    if (Option.isSome(period)) {
      if (Option.isSome(from) || Option.isSome(to)) {
        return yield* wrong("Which days? Expected --period, or --from with --to, not both.")
      }
      const month = yield* parseMonth(period.value)
      return { from: `${month}-01`, to: lastDayOf(month) }
    }
    if (Option.isNone(from) || Option.isNone(to)) {
      return yield* wrong("Which days? Expected --period, or --from with --to.")
    }
    const days = { from: yield* parseDay(from.value, "--from"), to: yield* parseDay(to.value, "--to") }
    return days.from > days.to ? yield* wrong(`--to ${days.to} is before --from ${days.from}.`) : days
  })

interface Outcome {
  readonly connection: string
  readonly report: BackfillReport | undefined
  readonly failure: Failure | undefined
}

const remarkOf = (account: AccountBackfill): string => {
  // Its statement shows no entry at all, so that it has no running balance.
  if (account.proved && account.opening === null && account.entries === 0) return "no entries"
  if (account.proved) return account.older > 0 ? `yes; ${count(account.older)} older booked` : "yes"
  const problems = [
    ...(account.breakAt === null ? [] : [`breaks at ${account.breakAt}`]),
    ...(account.missing.length > 0 ? [`${count(account.missing.length)} missing`] : []),
    ...(account.changed.length > 0 ? [`${count(account.changed.length)} changed`] : []),
    ...(account.gone.length > 0 ? [`${count(account.gone.length)} gone`] : []),
    ...(account.unreadable > 0 ? [`${count(account.unreadable)} unreadable`] : []),
  ]
  return `NO: ${problems.length > 0 ? problems.join(", ") : "not every entry was shown; run it again"}`
}

const accountLines = (accounts: ReadonlyArray<AccountBackfill>, screen: Screen): ReadonlyArray<string> => {
  const several = new Set(accounts.map(({ book }) => book)).size > 1
  const balance = (text: string | null, currency: string) => (text === null ? "" : printed(text, currency))
  return table(
    [
      ...(several ? [{ title: "Book" }] : []),
      { title: "Account" },
      { title: "Currency" },
      { title: "Entries", align: "right" },
      { title: "Opening", align: "right" },
      { title: "Closing", align: "right" },
      { title: "Proved", shrinks: true },
    ],
    accounts.map((account) => [
      ...(several ? [account.book] : []),
      account.accountId,
      account.currency,
      count(account.entries),
      balance(account.opening, account.currency),
      balance(account.closing, account.currency),
      remarkOf(account),
    ]),
    screen,
  )
}

/** Findings of any month: a backfill proves the books as they stand now, not only its days. */
const findingLines = (
  { blockingFindings, findingsClosed, findingsOpened }: BackfillReport,
  screen: Screen,
): ReadonlyArray<string> =>
  blockingFindings === 0
    ? []
    : [
        styled(
          screen.color,
          "red",
          `${counted(blockingFindings, "blocking finding")} open (${counted(findingsOpened, "finding")} opened, ${findingsClosed} closed by this backfill). See: tieout reconcile`,
        ),
      ]

const linesOf = ({ connection, failure, report }: Outcome, screen: Screen): ReadonlyArray<string> => {
  if (report === undefined) return failure === undefined ? [] : [unfinished(connection, failure)]
  const requests = Object.values(report.requests).reduce((sum, value) => sum + value, 0)
  const open = report.accounts.filter(({ proved }) => !proved).length
  const isWhole = failure === undefined && report.clientFailures.length === 0
  return [
    `${connection}, ${report.window.from} to ${report.window.to}:`,
    ...accountLines(report.accounts, screen),
    "",
    `${counted(report.counters.journalEntries, "journal entry", "journal entries")} posted, ${counted(report.counters.changedResources, "changed movement")}; ${counted(requests, "request")} in ${report.seconds.toFixed(1)} s.`,
    ...leftOutLines(report),
    ...(report.accounts.length === 0
      ? ["No statement was read."]
      : [
          styled(
            screen.color,
            open > 0 ? "red" : isWhole ? "green" : "yellow",
            open === 0
              ? `Every running balance${isWhole ? "" : " that was read"} carries from the opening to the closing balance.`
              : `${counted(open, "account is", "accounts are")} not proved. See: tieout reconcile`,
          ),
        ]),
    ...findingLines(report, screen),
    "",
  ]
}

const isAmiss = ({ report }: Outcome): boolean =>
  report !== undefined &&
  (report.blockingFindings > 0 ||
    report.clientFailures.length > 0 ||
    report.accounts.some(({ proved }) => !proved))

export const backfill = command(
  {
    name: "backfill",
    usage:
      "(--period YYYY-MM | --from DATE --to DATE) [--connection NAME] [--surface NAME] [--client ID] [--workers N]",
    summary: "Read a period again and prove it from its opening to its closing balance.",
    about: [
      "Reads everything that touches the days again, whatever the syncs have read: proves each statement's running balance",
      "entry by entry, reads the movements behind it by identifier, and books what is older than all that was known. Entries",
      "that were missing, changed or are gone are reported and never overwrite what is in the books (exit code 3). An account",
      "that has moved since the last sync is read on to its end, and the books are proved as they stand then: a blocking",
      "finding of any month is exit code 3, too. It may run beside a sync: each waits while the other writes.",
      "With --workers the clients' books are read by that many processes beside this one, and by every tieout worker elsewhere",
      "(Node 22.12 or newer); 0: by those elsewhere alone. They take events and nights first.",
    ],
    takes: {
      period: period("A month of the accounting time zone"),
      from,
      to,
      connection,
      surface,
      client,
      workers: workersOption,
    },
    examples: [
      ["tieout backfill --period 2026-10", "before the month is closed"],
      ["tieout backfill --from 2026-10-01 --to 2026-10-15 --client C-17", "two weeks of one client"],
    ],
    exits: {
      attention:
        "done, with an account that is not proved, blocking findings, or a client that could not be read",
      busy: "another backfill of that connection runs",
    },
  },
  Effect.fn("Cli.backfill")(
    function* ({ client, connection, surface, workers, ...dates }) {
      const output = yield* Output
      const days = yield* daysOf(dates)
      const { accounting, connectionNames } = yield* Settings
      if (yield* lieAhead(days, accounting.timeZone)) {
        return yield* new UsageError({
          detail: `${days.from} to ${days.to} lies ahead. Nothing was read.`,
          advice: "Name a month, or days, that have begun.",
        })
      }
      const service = yield* Backfill
      const names = Option.isSome(connection) ? [connection.value] : connectionNames
      const all = Effect.forEach(names, (name) =>
        service.run({ connection: name, days, surface, client }).pipe(
          withinDeadline(name, "backfill"),
          Effect.either,
          Effect.map(
            Either.match({
              onLeft: (error): Outcome => ({
                connection: name,
                report: undefined,
                failure: failureOf(error),
              }),
              onRight: (report): Outcome => ({ connection: name, report, failure: undefined }),
            }),
          ),
        ),
      )
      const outcomes = yield* withWorkers(workers)(all)
      const failures = failuresIn(outcomes)
      if (outcomes.every(({ report }) => report === undefined)) return yield* output.fail(failures)
      const codes: ReadonlyArray<ExitCode> = failures.map(({ code }) => code)
      yield* output.report({
        document: {
          runs: outcomes.map(({ connection: name, failure, report }) => ({
            connection: name,
            ...(report === undefined ? {} : reportDocument(report)),
            ...(failure === undefined ? {} : failureDocument([failure])),
          })),
        },
        lines: outcomes.flatMap((outcome) => linesOf(outcome, output.terminal.stdout)),
        code: worst([...codes, outcomes.some(isAmiss) ? exitCodes.attention : exitCodes.done]),
      })
    },
    Effect.provide(Layer.mergeAll(Backfill.Default, Ledger.Default).pipe(Layer.provideMerge(booksForSync))),
    needingCredentials,
    (effect, options) =>
      Effect.all([refuseOtherSurface(options), checkWorkers(options.workers), effect], { discard: true }),
  ),
)
