import { Data, Effect, Either, Layer, Option } from "effect"
import { count, counted, harmless } from "../../../Common/Text.ts"
import { Ledger } from "../../../Ledger.ts"
import { Quarantine } from "../../../Mirror/Quarantine.ts"
import { type QuarantinedRow, quarantineNumber } from "../../../Mirror/QuarantinedRow.ts"
import { unfinishedReplays } from "../../../Sync/Replay/Unfinished.ts"
import { QuarantineReplay } from "../../../Sync/Replay.ts"
import { type ReplayReport, stillWait } from "../../../Sync/Runs/ReplayResult.ts"
import { jsonLines } from "../../../Terminal/Json.ts"
import { listed } from "../../../Terminal/JsonPieces.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksForSync, booksToRead, knownConnection, needingCredentials } from "../../BookEnvironment.ts"
import { connection } from "../../CommandOptions.ts"
import { failuresIn, unfinished, withFailure } from "../../ConnectionFailures.ts"
import { withinDeadline } from "../../Deadline.ts"
import { argument, flag, group, subcommand } from "../../Declaration.ts"
import { type ExitCode, exitCodes, worst } from "../../ExitCode.ts"
import { failureOf, UsageError } from "../../Failure.ts"
import { type Failure, failureDocument } from "../../FailureDocument.ts"
import { Output } from "../../Output.ts"
import { quarantineLines, toSecond, triedLines, waitingRows } from "../../Tables/QuarantineTable.ts"

class NoSuchRow extends Data.TaggedError("NoSuchRow")<{ readonly numbers: ReadonlyArray<string> }> {
  override get message(): string {
    return `There is no row ${this.numbers.join(", ")} in quarantine. See: tieout quarantine list --all`
  }
}

/** `Q12`, in upper or lower case. */
const numberOf = (text: string): Either.Either<bigint, UsageError> => {
  const [, digits] = /^Q(\d{1,18})$/i.exec(text.trim()) ?? []
  return digits === undefined
    ? Either.left(
        new UsageError({
          detail: `Found ${JSON.stringify(text)}, expected the number of a row in quarantine, such as Q12.`,
          advice: "See: tieout quarantine list",
        }),
      )
    : Either.right(BigInt(digits))
}

/** The rows of these numbers, settled or not. */
const rowsOf = Effect.fn("Cli.quarantine.rows")(function* (
  connection: Option.Option<string>,
  ids: ReadonlyArray<bigint>,
) {
  const rows = yield* (yield* Quarantine).list({ connection, ids, settled: true })
  const known = new Set(rows.map(({ quarantineId }) => quarantineId))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) return yield* new NoSuchRow({ numbers: unknown.map((id) => `Q${id}`) })
  return rows
})

const documentOfRow = ({ bookId: _, quarantineId, ...row }: QuarantinedRow) => ({
  number: quarantineNumber({ quarantineId }),
  ...row,
})

const listRows = subcommand(
  { name: "list", takes: { all: flag("all", "The rows that are settled, too"), connection } },
  Effect.fn("Cli.quarantine.list")(
    function* ({ all, connection }) {
      const output = yield* Output
      yield* knownConnection(connection)
      const rows = yield* (yield* Quarantine).list({ connection, settled: all })
      const open = waitingRows(rows).length
      yield* output.report({
        document: { open, rows: listed(rows, documentOfRow) },
        lines: () => quarantineLines(rows, all, output.terminal.stdout),
        code: open > 0 ? exitCodes.attention : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Quarantine.Default, booksToRead)),
  ),
)

const showRow = subcommand(
  { name: "show", takes: { row: argument.text("Q12") } },
  Effect.fn("Cli.quarantine.show")(
    function* ({ row: text }) {
      const output = yield* Output
      const id = yield* numberOf(text)
      const [row] = yield* rowsOf(Option.none(), [id])
      if (row === undefined) return
      const raw = yield* (yield* Quarantine).raw(id)
      yield* output.report({
        document: { ...documentOfRow(row), raw },
        lines: [
          `${quarantineNumber(row)}: ${row.book}, ${harmless(row.stream)}`,
          `not understood: ${harmless(row.path)} ${harmless(row.reason)}`,
          `seen: ${row.firstSeenAt} to ${row.lastSeenAt}, last by run ${row.runId}`,
          `settled: ${row.resolvedAt ?? "not yet"}${row.acceptedAt === null ? "" : `, accepted for good at the close of ${row.acceptedAt}`}`,
          "",
          ...jsonLines(raw).map(harmless),
        ],
      })
    },
    Effect.provide(Layer.provideMerge(Quarantine.Default, booksToRead)),
  ),
)

/** The result of one connection. */
interface Outcome {
  readonly connection: string
  readonly result: Either.Either<ReplayReport, Failure>
}

const outcomeLines = ({ connection, result }: Outcome, screen: Screen): ReadonlyArray<string> => {
  if (Either.isLeft(result)) return [unfinished(connection, result.left)]
  const report = result.right
  const waiting = stillWait(report).length
  const replayed = report.tried.length - waiting
  const counts = [
    `${counted(replayed, "row")} replayed`,
    waiting === 1 ? "1 still waits" : `${count(waiting)} still wait`,
    counted(report.entries, "statement entry", "statement entries"),
    counted(report.journalEntries, "journal entry", "journal entries"),
  ]
  return [...triedLines(report.tried, screen), `${connection}: ${counts.join(", ")}.`]
}

const outcomeDocument = ({ connection, result }: Outcome): object => {
  if (Either.isLeft(result)) return { connection, ...failureDocument([result.left]) }
  const { tried, ...report } = result.right
  return {
    ...report,
    rows: tried.map(({ row, waits }) => ({
      number: quarantineNumber(row),
      book: row.book,
      stream: row.stream,
      itemId: row.itemId,
      replayed: waits === null,
      reason: waits?.reason ?? null,
      path: waits?.path ?? null,
    })),
  }
}

const replayRows = subcommand(
  { name: "replay", takes: { rows: argument.repeated("Q12"), connection } },
  Effect.fn("Cli.quarantine.replay")(
    function* ({ connection, rows: texts }) {
      const output = yield* Output
      yield* knownConnection(connection)
      const ids = yield* Effect.forEach(texts, numberOf)
      const replays = yield* QuarantineReplay
      const found =
        ids.length > 0
          ? yield* rowsOf(connection, ids)
          : yield* (yield* Quarantine).list({ connection, settled: false })
      const open = found.filter(({ resolvedAt }) => resolvedAt === null)
      const left = yield* unfinishedReplays(connection)
      const names = [...new Set([...open.map((row) => row.connection), ...left])]
      const outcomes = yield* Effect.forEach(names, (name) =>
        Effect.map(
          Effect.either(withinDeadline(name)(replays.run({ connection: name, rows: ids }))),
          (result): Outcome => ({ connection: name, result: Either.mapLeft(result, failureOf) }),
        ),
      )
      const failures = failuresIn(outcomes.map(withFailure))
      if (failures.length > 0 && failures.length === outcomes.length) return yield* output.fail(failures)
      const settled = found
        .filter(({ resolvedAt }) => resolvedAt !== null)
        .map((row) => `${quarantineNumber(row)} is settled since ${toSecond(row.resolvedAt)}.`)
      const waiting = outcomes.some(
        ({ result }) => Either.isRight(result) && stillWait(result.right).length > 0,
      )
      const codes: ReadonlyArray<ExitCode> = failures.map(({ code }) => code)
      yield* output.report({
        document: { runs: outcomes.map(outcomeDocument), settled: settled.length },
        lines: [
          ...(found.length === 0 ? ["Nothing waits in quarantine."] : settled),
          ...outcomes.flatMap((outcome) => outcomeLines(outcome, output.terminal.stdout)),
          ...(waiting ? ["The next tieout sync asks the service again for what still waits."] : []),
        ],
        code: worst([...codes, waiting ? exitCodes.attention : exitCodes.done]),
      })
    },
    Effect.provide(
      Layer.mergeAll(QuarantineReplay.Default, Ledger.Default, Quarantine.Default).pipe(
        Layer.provideMerge(booksForSync),
      ),
    ),
    needingCredentials,
  ),
)

export const quarantine = group(
  {
    name: "quarantine",
    summary: "List what could not be understood, look at it, and try it again.",
    about: [
      "list: the rows that wait, by number, with the reason and the place in the row. Ends with 3 while a row waits.",
      "show: one row as the service sent it. That is personal data: nothing else shows it, and no log holds it.",
      "replay: tries the rows that wait again, or those named, with today's settings, and books what can be understood now.",
      "A statement entry, and a movement that is still not understood, are asked for again; all else waits for the next sync, which asks",
      "for it. Numbers and reconciles the books concerned, and those of a replay that was stopped. Not while a sync of the connection runs. It is safe to repeat; ends with 3 while a row that was tried still waits.",
    ],
    examples: [
      ["tieout quarantine list", "what waits, and why"],
      ["tieout quarantine replay", "after an upgrade, or once the settings' interface section is corrected"],
      ["tieout quarantine show Q12", "one row as the service sent it"],
    ],
    exits: {
      attention: "done, and a row still waits",
      busy: "a sync of that connection runs, and no row of it was tried",
    },
  },
  [listRows, showRow, replayRows],
)
