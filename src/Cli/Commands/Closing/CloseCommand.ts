import { Effect, Either, Layer, Option } from "effect"
import { allBooks } from "../../../Book.ts"
import { approve } from "../../../Close/Approval.ts"
import type { BookClose } from "../../../Close/CloseBooks.ts"
import { foldedName, who } from "../../../Close/Person.ts"
import { bridge, check, close as closeMonth } from "../../../Close.ts"
import { counted, harmless } from "../../../Common/Text.ts"
import { wrapped } from "../../../Common/Wrap.ts"
import { Ledger } from "../../../Ledger.ts"
import { Reconcile } from "../../../Reconcile.ts"
import { Settings } from "../../../Settings.ts"
import { books, booksToRead } from "../../BookEnvironment.ts"
import { book } from "../../CommandOptions.ts"
import { argument, command, flag, optional, repeated, text } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { findingsIn, listOf } from "../../FindingRanges.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"
import { bridgeLines } from "../../Tables/BridgeTable.ts"
import { adviceLines, agreementLines, closeLines, mostListed } from "../../Tables/CloseTable.ts"
import { notReadOf, unreadLines } from "../../Tables/UnreadBooks.ts"

const usage = (detail: string, advice = "") => new UsageError({ detail, advice })

/** Every finding of each `--accept` with its reason, and the reason of the close itself where nothing is accepted. */
export const acceptance = (accept: ReadonlyArray<string>, reasons: ReadonlyArray<string>) => {
  const given = reasons.map((reason) => reason.trim())
  if (given.some((reason) => reason === "" || reason.length > 500)) {
    return Either.left(usage("--reason: expected 1 to 500 characters."))
  }
  const [only = null] = given
  if (accept.length === 0 && given.length <= 1) return Either.right({ accept: [], reason: only })
  if (given.length !== accept.length && given.length !== 1) {
    return Either.left(
      usage(
        `--accept is given ${counted(accept.length, "time")} and --reason ${counted(given.length, "time")}.`,
        "Give one reason for each finding, in their order, or one for all.",
      ),
    )
  }
  const named = Option.all(accept.map(findingsIn))
  if (Option.isNone(named)) {
    return Either.left(usage("--accept: expected findings such as F12, or F12,F20-F31."))
  }
  return Either.right({
    accept: named.value.flatMap((ids, index) => {
      const reason = given[given.length === 1 ? 0 : index] ?? ""
      return ids.map((id) => ({ id, reason }))
    }),
    reason: given.length === 1 ? only : null,
  })
}

const showBridge = Effect.fn("Cli.close.bridge")(function* (period: string, book: Option.Option<string>) {
  const output = yield* Output
  const found = yield* bridge(period, book)
  const screen = output.terminal.stdout
  yield* output.report({
    document: { bridges: found },
    lines: found.flatMap((one) => [`${one.book} ${one.period}`, ...bridgeLines(one, screen), ""]),
  })
})

const showCheck = Effect.fn("Cli.close.check")(function* (period: string, book: Option.Option<string>) {
  const output = yield* Output
  const found = yield* check(period, book)
  yield* output.report({
    document: { closes: found },
    lines: found.flatMap((one) => agreementLines(one, output.terminal.stdout)),
    code: found.every(({ differences }) => differences.length === 0) ? exitCodes.done : exitCodes.failed,
  })
})

/** Records the person who approves a closed month. */
const showApproval = Effect.fn("Cli.close.approve")(function* (
  period: string,
  book: Option.Option<string>,
  by: string,
) {
  const output = yield* Output
  const name = by.trim()
  if (foldedName(name) === "" || name.length > 100) {
    return yield* usage("--by: expected 1 to 100 characters, not all of them invisible.")
  }
  const { close: settings } = yield* Settings
  const approved = yield* approve({ period, book, name, twoPersons: settings.twoPersons })
  yield* output.report({
    document: { approvals: approved.map(({ expected: _, ...one }) => one) },
    lines: approved.flatMap((one) => [
      `${one.book} ${one.period}: close ${one.sequence} approved by ${harmless(one.name)} (${harmless(one.osUser)}, ${harmless(one.databaseUser)} at the database)`,
      `  close     ${one.closeHash}`,
      `  approval  ${one.hash}`,
    ]),
  })
})

/** Books that no month is closed of, since they have no account, and of which something cannot be read, or never was. One with accounts is in its own way. */
const leftOut = Effect.fn("Cli.close.leftOut")(function* (
  book: Option.Option<string>,
  results: ReadonlyArray<BookClose>,
) {
  if (Option.isSome(book)) return []
  const taken = new Set(results.map((result) => result.book))
  return yield* notReadOf((yield* allBooks(Option.none())).filter(({ code }) => !taken.has(code)))
})

/** Accepted findings that block no book, or no longer. `closeMonth` refuses what is no finding. */
const acceptedInVain = (
  accept: ReadonlyArray<{ readonly id: string }>,
  results: ReadonlyArray<BookClose>,
) => {
  const taken = new Set(results.flatMap(({ accepted }) => accepted.map(({ id }) => id.toLowerCase())))
  return accept.filter(({ id }) => !taken.has(id.toLowerCase())).map(({ id }) => id)
}

export const close = command(
  {
    name: "close",
    usage:
      "(YYYY-MM [--book B] [--dry-run] [--verbose] [--accept F12[,F20-F31…] --reason TEXT]… [--bridge | --check] | approve YYYY-MM --by NAME [--book B])",
    summary: "Prove a month complete and lock it, with its balances and a chained hash.",
    about: [
      "A month closes where every list and statement was read to its end after it, by the service's clock, the running balances",
      "were proved again, nothing blocking is open, and nothing is in quarantine or in suspense. What is in the way is listed,",
      "nothing is locked, and it ends with 3. Months close in order, each book by itself; what comes later for a closed month is",
      "dated to the first open day. Who closed, when and why is kept: TIEOUT_USER, or else the user of the operating system.",
      "approve: signs a closed month off, as a record of its own that is chained to the close's hash. With close.twoPersons it is",
      "another person: another name, and logged in as another user. A reopening ends it.",
    ],
    takes: {
      words: argument.repeated("YYYY-MM"),
      book,
      by: optional(text("by", "NAME", "With approve: who takes responsibility for the close")),
      dryRun: flag("dry-run", "Say what would be in the way; lock nothing"),
      accept: repeated(
        text(
          "accept",
          "F12[,F20-F31…]",
          "Take responsibility for findings, in this close, one by one or from one to another. Of what is gone or will never add up (docs/close.md) it stands until its evidence changes. May be repeated",
        ),
      ),
      reason: repeated(text("reason", "TEXT", "Why: one for each --accept in their order, or one for all")),
      bridge: flag(
        "bridge",
        "Only show the way from the provider's statement to the books, with late entries; locks nothing",
      ),
      verbose: flag(
        "verbose",
        `Print all that is in the way, not only the first ${mostListed} of each check, and the bridge of every account, not of those alone that late entries or a difference set apart`,
      ),
      check: flag(
        "check",
        "Only recompute the hash and the balances of a closed month; ends with 1 where they do not agree",
      ),
    },
    examples: [
      ["tieout close 2026-10 --dry-run", "what is in the way of closing October"],
      ['tieout close 2026-10 --accept F12,F13 --reason "Bank confirmed, see ticket 7"', "with findings open"],
      ["tieout close 2026-10 --check", "does October still agree with its close?"],
      ['tieout close approve 2026-10 --by "Ada Jones"', "sign October off"],
    ],
    exits: { attention: "not closed: something is in the way" },
  },
  Effect.fn("Cli.close")(
    function* ({ accept, book, bridge: bridging, by, check: checking, dryRun, reason, verbose, words }) {
      const output = yield* Output
      const [first = "", second = ""] = words
      const approving = first === "approve"
      if (words.length !== (approving ? 2 : 1) || approving !== Option.isSome(by)) {
        return yield* usage(
          "Expected a month, or approve, a month and --by.",
          "Run tieout close --help to see what it takes.",
        )
      }
      const period = yield* parseMonth(approving ? second : first, "the month")
      if (Option.isSome(by)) {
        if (bridging || checking || dryRun || verbose || accept.length + reason.length > 0) {
          return yield* usage("approve takes --by and --book alone.")
        }
        return yield* showApproval(period, book, by.value)
      }
      const taken = yield* acceptance(accept, reason)
      if (bridging || checking) {
        if ((bridging && checking) || dryRun || verbose || accept.length + reason.length > 0) {
          return yield* usage("--bridge and --check stand alone: each only shows, and closes nothing.")
        }
        return yield* bridging ? showBridge(period, book) : showCheck(period, book)
      }
      const results = yield* closeMonth({ period, book, dryRun, ...taken, who: yield* who })
      const wrong = acceptedInVain(taken.accept, results)
      const notes = listOf(wrong).map((name) =>
        name.includes("-")
          ? `${name} are not in the way of closing ${period}: nothing was accepted for them.`
          : `${name} is not in the way of closing ${period}: nothing was accepted for it.`,
      )
      const unread = yield* leftOut(book, results)
      const blocked = results.some(({ state }) => state === "blocked")
      yield* output.report({
        document: { dryRun, notAccepted: wrong, unread, books: results },
        lines: () => [
          ...closeLines(results, verbose, output.terminal.stdout),
          ...notes.map(harmless),
          ...unreadLines("Without any account to close, and not read", unread).flatMap((line) =>
            wrapped(harmless(line), output.terminal.stdout.width),
          ),
          ...adviceLines(results, output.terminal.stdout),
        ],
        code: blocked ? exitCodes.attention : exitCodes.done,
      })
    },
    (effect, { bridge: bridging, check: checking }) =>
      Effect.provide(
        effect,
        Layer.mergeAll(Ledger.Default, Reconcile.Default).pipe(
          Layer.provideMerge(bridging || checking ? booksToRead : books),
        ),
      ),
  ),
)
