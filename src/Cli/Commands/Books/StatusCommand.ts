import { Effect, Layer } from "effect"
import { allBooks } from "../../../Book.ts"
import { counted } from "../../../Common/Text.ts"
import { spanText } from "../../../Common/Time.ts"
import { wrapped } from "../../../Common/Wrap.ts"
import { describeServer } from "../../../Database/ConnectionSettings.ts"
import { Database } from "../../../Database.ts"
import { type UnmappedBook, unmappedAccounts } from "../../../Export/Mapping.ts"
import { Status, type StatusSummary } from "../../../Inquiry/Status.ts"
import { type InboxTrouble, inboxTrouble, inboxTroubleText } from "../../../Serve/Overview/InboxEvents.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead, knownConnection } from "../../BookEnvironment.ts"
import { connection } from "../../CommandOptions.ts"
import { command } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { Output } from "../../Output.ts"
import { isBlocking, standingLines, verdict } from "../../Tables/StandingTable.ts"
import { type UnreadBook, unreadLines, unreadOf } from "../../Tables/UnreadBooks.ts"

const runColumns = [
  { title: "Connection" },
  { title: "Last run" },
  { title: "Started" },
  { title: "Ended" },
  { title: "State" },
]

/** The mapping is the accountant's concern: a gap in it blocks an export, not the books. */
const unmappedLines = (unmapped: ReadonlyArray<UnmappedBook>): ReadonlyArray<string> =>
  unmapped.length === 0
    ? []
    : [
        ...unmapped
          .slice(0, mostUnmapped)
          .map(
            ({ accounts, book, column }) =>
              `${book}: ${counted(accounts.length, "account")} without ${column}.`,
          ),
        ...(unmapped.length > mostUnmapped
          ? [`… and ${counted(unmapped.length - mostUnmapped, "column")} more.`]
          : []),
        "Exports that need them are refused. See: tieout accounts export",
      ]

const mostUnmapped = 10

const jobLines = (jobs: StatusSummary["jobs"]): ReadonlyArray<string> =>
  jobs.map(
    ({ active, connection, dead, oldest, waiting }) =>
      `${connection}: ${counted(waiting, "book")} ${waiting === 1 ? "waits" : "wait"} for workers${oldest === null ? "" : ` (for up to ${spanText(oldest)})`}, ${active} under way, ${dead} given up.`,
  )

const linesOf = (
  summary: StatusSummary,
  unread: ReadonlyArray<UnreadBook>,
  unmapped: ReadonlyArray<UnmappedBook>,
  events: InboxTrouble,
  screen: Screen,
): ReadonlyArray<string> => {
  if (summary.runs.length === 0) return ["Nothing has been read yet. Run: tieout sync"]
  const runs = summary.runs.map((run) => [
    run.connection,
    run.command,
    run.startedAt,
    run.endedAt ?? "",
    run.state,
  ])
  return [
    ...table(runColumns, runs, screen),
    "",
    ...standingLines(summary.accounts, screen),
    ...verdict(summary.tieOut, summary.notRead, screen),
    ...[
      ...unreadLines("Not readable", unread),
      ...jobLines(summary.jobs),
      ...inboxTroubleText(events),
      ...unmappedLines(unmapped),
    ].flatMap((line) => wrapped(line, screen.width)),
  ]
}

export const status = command(
  {
    name: "status",
    summary: "Show every account, whether it ties out, and what beside cash is open.",
    about: ["Reads the database only; needs no credentials."],
    takes: { connection },
    examples: [["tieout status", "where the books stand"]],
    exits: { attention: "quarantine or blocking findings, or an account that does not tie out" },
  },
  Effect.fn("Cli.status")(
    function* ({ connection }) {
      const output = yield* Output
      yield* knownConnection(connection)
      const summary = yield* (yield* Status).read(connection)
      const database = describeServer((yield* Database).settings)
      const books = yield* allBooks(connection)
      const unread = yield* unreadOf(books)
      const unmapped = yield* unmappedAccounts(books)
      const events = yield* inboxTrouble(connection)
      yield* output.report({
        document: {
          database,
          ...summary,
          unread,
          events,
          unmapped: unmapped.map(({ accounts, ...book }) => ({ ...book, accounts: accounts.length })),
        },
        lines: () => [
          `Read from ${database}.`,
          "",
          ...linesOf(summary, unread, unmapped, events, output.terminal.stdout),
        ],
        code:
          isBlocking(summary.open) ||
          summary.accounts.some(
            ({ acceptedAt, beingRead, tiesOut }) => !tiesOut && !beingRead && acceptedAt === null,
          )
            ? exitCodes.attention
            : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Status.Default, booksToRead)),
  ),
)
