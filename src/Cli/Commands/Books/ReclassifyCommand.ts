import { Effect, Layer, Option } from "effect"
import { who } from "../../../Close/Person.ts"
import { Ledger } from "../../../Ledger.ts"
import { Resources } from "../../../Mirror/Resources.ts"
import { type AllOf, movableChecks } from "../../../Reclassify/Chosen.ts"
import { reapply } from "../../../Reclassify/Reapply.ts"
import { reclassifyAll } from "../../../Reclassify.ts"
import { Reconcile } from "../../../Reconcile.ts"
import { PostingFacts } from "../../../Sync/Statements/PostingFacts.ts"
import { books, booksToRead } from "../../BookEnvironment.ts"
import { argument, choice, command, flag, optional, text } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { movedLines, reappliedLines } from "../../Tables/ReclassifyTable.ts"

/** Characters of a reason: with its prefix, the journal entry's description has at most 200. */
const longestReason = 150

const reasonOf = (given: Option.Option<string>) => {
  const reason = Option.getOrElse(given, () => "").trim()
  return reason === "" || reason.length > longestReason
    ? new UsageError({
        detail: `--reason: expected 1 to ${longestReason} characters, found ${reason.length}.`,
        advice: "It stands in the description of the journal entry.",
      })
    : Effect.succeed(reason)
}

/** `--rules`. */
interface ByRules {
  readonly kind: "rules"
  readonly apply: boolean
  readonly book: Option.Option<string>
  readonly reason: string
}

/** Named entries, or all of a check. */
interface ByHand {
  readonly kind: "hand"
  readonly ids: ReadonlyArray<string>
  readonly all: Option.Option<AllOf>
  /** `--preview`, or `--all-of` without `--apply`. */
  readonly preview: boolean
  readonly to: string
  readonly name: Option.Option<string>
  readonly reason: string
}

const applyRules = Effect.fn("Cli.reclassify.rules")(function* ({ apply, book, reason }: ByRules) {
  const output = yield* Output
  const results = yield* reapply({ book, preview: !apply, reason, who: yield* who })
  const nothing = results.every(({ changed, unnumbered }) => changed === 0 && unnumbered === 0)
  yield* output.report({
    document: { applied: apply, books: results },
    lines: [
      ...results.flatMap((result) => reappliedLines(result, output.terminal.stdout)),
      nothing
        ? "Every entry is on the account that the posting rules name."
        : apply
          ? "Moved. Cash, closed months and numbers that were given are as they were."
          : 'Nothing was moved. To move it: tieout reclassify --rules --apply --reason "…"',
    ],
  })
})

const amountOf = (given: Option.Option<string>) =>
  Option.isNone(given) || /^\d{1,30}(?:\.\d{1,18})?$/.test(given.value)
    ? Effect.succeed(given)
    : new UsageError({
        detail: `--max-amount: found ${JSON.stringify(given.value)}, expected an amount such as 25.00.`,
        advice: "It counts in each finding's own currency.",
      })

const move = Effect.fn("Cli.reclassify.move")(function* ({ all, ids, name, preview, reason, to }: ByHand) {
  const output = yield* Output
  const done = yield* reclassifyAll({
    ...{ ids, to, name, reason, preview, who: yield* who },
    ...(Option.isSome(all) ? { allOf: all.value } : {}),
  })
  const [one] = done.moved
  yield* output.report({
    // For a single entry the document keeps the shape that it had before several could be named.
    document:
      ids.length === 1 && Option.isNone(all) && !preview && one !== undefined ? one : { preview, ...done },
    lines: movedLines(done, preview, Option.isSome(all), output.terminal.stdout),
  })
})

interface Options {
  readonly ids: ReadonlyArray<string>
  readonly allOf: Option.Option<AllOf["check"]>
  readonly apply: boolean
  readonly book: Option.Option<string>
  readonly maxAmount: Option.Option<string>
  readonly preview: boolean
  readonly rules: boolean
  readonly to: Option.Option<string>
  readonly name: Option.Option<string>
  readonly reason: Option.Option<string>
}

const usage = (detail: string) =>
  new UsageError({ detail, advice: "Run tieout reclassify --help to see what it takes." })

/** What is asked for: before a database is opened, which a command that writes brought up to date. */
const askedOf = Effect.fn("Cli.reclassify.asked")(function* (
  options: Options,
): Effect.fn.Return<ByRules | ByHand, UsageError> {
  const { allOf, apply, book, ids, name, rules, to } = options
  const named = ids.length > 0
  const every = Option.isSome(allOf)
  const target = Option.isSome(to) || Option.isSome(name)
  if (rules && !named && !every && !target && !options.preview && Option.isNone(options.maxAmount)) {
    return { kind: "rules", apply, book, reason: apply ? yield* reasonOf(options.reason) : "preview" }
  }
  const ofFindings = every && !named && !options.preview
  const ofNames = named && !every && !apply && Option.isNone(book) && Option.isNone(options.maxAmount)
  if (rules || !(ofFindings || ofNames)) {
    return yield* usage(
      "Expected one or more IDs, or --all-of CHECK, with --to and --reason, or --rules with --apply or without.",
    )
  }
  if (Option.isNone(to)) return yield* usage("--to is missing: the account to move to.")
  const preview = options.preview || (every && !apply)
  const maxAmount = yield* amountOf(options.maxAmount)
  const reason = preview && Option.isNone(options.reason) ? "preview" : yield* reasonOf(options.reason)
  const all = Option.map(allOf, (check) => ({ check, book, maxAmount }))
  return { kind: "hand", ids, all, preview, to: to.value.trim(), name, reason }
})

const writes = (asked: ByRules | ByHand): boolean => (asked.kind === "rules" ? asked.apply : !asked.preview)

export const reclassify = command(
  {
    name: "reclassify",
    usage:
      "(ID … --to CODE --reason TEXT [--name NAME] [--preview] | --all-of CHECK --to CODE [--name NAME] [--book B] [--max-amount X] [--apply --reason TEXT] | --rules [--apply --reason TEXT] [--book B])",
    summary:
      "Move what stands in suspense to the account that it belongs to, or what changed posting rules move.",
    about: [
      "ID: a journal number, a finding (F12) or a statement entry. Moves all that stands of it in suspense, or else in a clearing",
      "account, in transit, or in loan clearing beyond what was due, by a journal entry of its own, dated as the entry, or since when",
      "it stands in loan clearing; or today where that month is closed. Cash is never touched.",
      "Its finding closes. Not while a sync of the connection runs (exit code 4). Several are moved all or none, in one",
      "transaction, with one reason. --preview shows what would be moved. Where a person moves movements of one counterparty or",
      "reference to one account for the third time, it proposes the posting rule for that.",
      "--all-of CHECK: everything that the open findings of a check are about. Shows what would move; with --apply it moves it.",
      "--rules: applies the posting rules of the settings again to the entries of open months. Shows what would move; with --apply",
      "it moves it, by reclassifications dated as their entries. What a person has moved stays, and so do closed months. A return",
      "of what a person has moved goes to the same account.",
    ],
    takes: {
      ids: argument.repeated("ID"),
      allOf: optional(
        choice(
          "all-of",
          "CHECK",
          `All open findings of this check: ${movableChecks.join(", ")}`,
          movableChecks,
        ),
      ),
      maxAmount: optional(
        text("max-amount", "X", "With --all-of: no larger amounts, in each finding's own currency"),
      ),
      preview: flag("preview", "With IDs: shows what would be moved"),
      to: optional(text("to", "CODE", "The account's code")),
      reason: optional(
        text(
          "reason",
          "TEXT",
          `Why; it stands in the journal entry's description. Required, at most ${longestReason} characters`,
        ),
      ),
      name: optional(
        text(
          "name",
          "NAME",
          "The account's name, such as Expenses:Bank; needed where nothing has the code yet",
        ),
      ),
      rules: flag(
        "rules",
        "All entries of open months that the posting rules of the settings send elsewhere now",
      ),
      apply: flag("apply", "With --rules and --all-of: moves them; without it they are only shown"),
      book: optional(
        text(
          "book",
          "B",
          "With --rules and --all-of: only this book, by its code or its client's identifier",
        ),
        "all",
      ),
    },
    examples: [
      [
        'tieout reclassify F12 --to 6855 --name "Expenses:Bank" --reason "Account fee of October"',
        "by its finding",
      ],
      ['tieout reclassify ORG-2026-10-000007 --to 4120 --reason "Interest"', "by its journal number"],
      ['tieout reclassify F12 F13 F17 --to 6855 --reason "Account fees of October"', "several at once"],
      [
        "tieout reclassify --all-of adjustment --max-amount 25 --to 6855",
        "all small adjustments; with --apply and a reason it moves them",
      ],
      ["tieout reclassify --rules", "what changed posting rules would move"],
    ],
    exits: { busy: "a sync of that connection runs, and nothing of it was moved" },
  },
  Effect.fn("Cli.reclassify")(function* (options) {
    const asked = yield* askedOf(options)
    yield* Effect.gen(function* () {
      yield* asked.kind === "rules" ? applyRules(asked) : move(asked)
    }).pipe(
      Effect.provide(
        Layer.mergeAll(Ledger.Default, Reconcile.Default, Resources.Default, PostingFacts.Default).pipe(
          Layer.provideMerge(writes(asked) ? books : booksToRead),
        ),
      ),
    )
  }),
)
