import { Effect, Either, Layer, Option } from "effect"
import { counted } from "../../../Common/Text.ts"
import { wrapped } from "../../../Common/Wrap.ts"
import { accountKey } from "../../../Inquiry/LastRuns.ts"
import { Status } from "../../../Inquiry/Status.ts"
import { Ledger } from "../../../Ledger.ts"
import { Settings } from "../../../Settings.ts"
import { reportDocument, SyncIncomplete, type SyncReport } from "../../../Sync/Runs/RunReport.ts"
import { Sync, type SyncOptions } from "../../../Sync.ts"
import type { Screen } from "../../../Terminal.ts"
import { needingCredentials, newBooksForSync } from "../../BookEnvironment.ts"
import { client, connection, refuseOtherSurface, surface } from "../../CommandOptions.ts"
import { failuresIn, unfinished } from "../../ConnectionFailures.ts"
import { withinDeadline } from "../../Deadline.ts"
import { command, flag } from "../../Declaration.ts"
import { type ExitCode, exitCodes, worst } from "../../ExitCode.ts"
import { failureOf, UsageError } from "../../Failure.ts"
import { type Failure, failureDocument } from "../../FailureDocument.ts"
import { Output } from "../../Output.ts"
import { isBlocking, standingLines, verdict } from "../../Tables/StandingTable.ts"
import { checkWorkers, withWorkers, workersOption } from "../../Workers.ts"
import { leftOutLines } from "./LeftOut.ts"

/** The result of one connection: a failed run may still have read a lot. */
interface Outcome {
  readonly connection: string
  readonly report: SyncReport | undefined
  readonly failure: Failure | undefined
}

type Counters = SyncReport["counters"]

/** A run's counters, with their names, in the order of its summary. */
const counterWords: ReadonlyArray<readonly [key: keyof Counters, one: string, many: string]> = [
  ["entries", "statement entry", "statement entries"],
  ["resources", "resource read", "resources read"],
  ["changedResources", "changed resource", "changed resources"],
  // Not found, or not understood: the findings say which.
  ["missingResources", "resource that cannot be read", "resources that cannot be read"],
  ["journalEntries", "journal entry", "journal entries"],
  ["reclassifications", "reclassification", "reclassifications"],
  ["held", "entry held back", "entries held back"],
  ["quarantined", "row quarantined", "rows quarantined"],
  ["contradictions", "contradiction", "contradictions"],
  ["receivableVersions", "receivable new or changed", "receivables new or changed"],
]

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, value) => sum + value, 0)

const reportLines = (report: SyncReport): ReadonlyArray<string> => {
  const counts = counterWords
    .filter(([key]) => report.counters[key] > 0)
    .map(([key, one, many]) => counted(report.counters[key], one, many))
  const did = counts.length === 0 ? "nothing new" : counts.join(", ")
  const sent = total(report.requests)
  const each = sent === 0 ? "" : ` (${((report.seconds * 1_000) / sent).toFixed(1)} ms each)`
  return [
    `${report.connection}: ${did}; ${counted(sent, "request")} in ${report.seconds.toFixed(1)} s${each}.`,
    ...(report.clients.read > 0 ? [`${counted(report.clients.read, "client")} read.`] : []),
    ...leftOutLines(report),
  ]
}

const leftClientsOut = ({ report }: Outcome): boolean => (report?.clientFailures.length ?? 0) > 0

const hasFailed = (outcome: Outcome): boolean => outcome.failure !== undefined || leftClientsOut(outcome)

const outcomeLines = ({ connection, failure, report }: Outcome): ReadonlyArray<string> => [
  ...(report === undefined ? [] : reportLines(report)),
  ...(failure === undefined ? [] : [unfinished(connection, failure)]),
]

const outcomeDocument = ({ connection, failure, report }: Outcome): object => ({
  connection,
  ...(report === undefined ? {} : reportDocument(report)),
  ...(failure === undefined ? {} : failureDocument([failure])),
})

const runOne = Effect.fn("Cli.sync.connection")(function* (options: SyncOptions) {
  const { connection } = options
  const sync = yield* Sync
  const result = yield* Effect.either(withinDeadline(connection)(sync.run(options)))
  if (Either.isRight(result))
    return { connection, report: result.right, failure: undefined } satisfies Outcome
  const report = result.left instanceof SyncIncomplete ? result.left.report : undefined
  return { connection, report, failure: failureOf(result.left) } satisfies Outcome
})

const standing = Effect.fn("Cli.sync.standing")(function* (
  connection: Option.Option<string>,
  outcomes: ReadonlyArray<Outcome>,
) {
  const brought = outcomes.flatMap(({ connection: name, report }) =>
    [...(report?.newEntries ?? [])].map(([id, count]) => [accountKey(name, id), count] as const),
  )
  const { accounts, notRead, open, tieOut } = yield* (yield* Status).read(connection, new Map(brought))
  return { open, tieOut, notRead, accounts }
})

const linesOf = (
  outcomes: ReadonlyArray<Outcome>,
  { accounts, notRead, tieOut }: Effect.Effect.Success<ReturnType<typeof standing>>,
  screen: Screen,
): ReadonlyArray<string> => [
  ...standingLines(accounts, screen),
  "",
  ...outcomes.flatMap(outcomeLines).flatMap((line) => wrapped(line, screen.width)),
  ...verdict(tieOut, notRead, screen, outcomes.some(hasFailed)),
]

export const sync = command(
  {
    name: "sync",
    usage: "[--connection NAME] [--surface NAME] [--client ID] [--full | --quick] [--workers N]",
    summary: "Read what is new at the service, book it and prove it.",
    about: [
      "Reads every account's statement from where the last run stopped, fetches the deposits, withdrawals and conversions",
      "behind it, posts the journal entries and numbers them. Each page is one transaction: killed at any moment, the same",
      "command goes on where it stopped. It never writes to the service. Every client of the client surface is a book of its",
      "own; a client that cannot be read is named at the end and does not stop the others (exit code 3).",
      "With --workers the clients' books are read by that many processes beside this one, and by every tieout worker elsewhere,",
      "all at one pace (Node 22.12 or newer); 0: by those elsewhere alone.",
    ],
    takes: {
      connection,
      surface,
      client,
      full: flag(
        "full",
        "Read all lists and statements again from the start; what is known already changes nothing",
      ),
      quick: flag(
        "quick",
        "Only statements whose account's balance has moved, or that were never read: for the hours between full runs",
      ),
      workers: workersOption,
    },
    examples: [
      ["tieout sync", "what a nightly job runs"],
      ["tieout sync --connection acme-uk --json", "one connection, the result as JSON"],
      ["tieout sync --workers 4", "a thousand clients, on all cores"],
    ],
    exits: {
      attention: "done, with quarantine or blocking findings, or without a client that could not be read",
      busy: "another sync of that connection runs",
    },
  },
  Effect.fn("Cli.sync")(
    function* ({ client, connection, full, quick, surface, workers }) {
      const output = yield* Output
      if (full && quick) {
        return yield* new UsageError({
          detail:
            "--full and --quick exclude each other: --full reads everything, --quick as little as possible.",
          advice: "Run tieout sync --help to see what it takes.",
        })
      }
      const { connectionNames } = yield* Settings
      const names = Option.isSome(connection) ? [connection.value] : connectionNames
      // A failing connection does not stop the others; the worst outcome decides the exit code.
      const all = Effect.forEach(names, (name) => runOne({ connection: name, full, quick, surface, client }))
      const outcomes = yield* withWorkers(workers)(all)
      const codes = outcomes.flatMap(
        ({ failure }): ReadonlyArray<ExitCode> => (failure ? [failure.code] : []),
      )
      // Where nothing was read, there are only failures to report.
      if (outcomes.every(({ report }) => report === undefined)) {
        return yield* output.fail(failuresIn(outcomes))
      }
      const stands = yield* standing(connection, outcomes)
      yield* output.report({
        document: { runs: outcomes.map(outcomeDocument), ...stands },
        lines: linesOf(outcomes, stands, output.terminal.stdout),
        code: worst([
          ...codes,
          isBlocking(stands.open) || outcomes.some(leftClientsOut) ? exitCodes.attention : exitCodes.done,
        ]),
      })
    },
    Effect.provide(
      Layer.mergeAll(Sync.Default, Ledger.Default, Status.Default).pipe(Layer.provideMerge(newBooksForSync)),
    ),
    needingCredentials,
    (effect, options) =>
      Effect.all([refuseOtherSurface(options), checkWorkers(options.workers), effect], { discard: true }),
  ),
)
