import { Effect, Layer, Option } from "effect"
import { who } from "../../Close/Who.ts"
import { count, counted, harmless } from "../../Common/Text.ts"
import { Ledger } from "../../Ledger.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { type Reapplied, reapply } from "../../Reclassify/Reapply.ts"
import { type Reclassified, reclassify as reclassifyEntry } from "../../Reclassify.ts"
import { Reconcile } from "../../Reconcile.ts"
import { PostingFacts } from "../../Sync/Statements/PostingFacts.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"
import { books } from "../Books.ts"
import { argument, command, flag, optional, text } from "../Declaration.ts"
import { exitCodeTexts } from "../ExitCode.ts"
import { UsageError } from "../Failure.ts"
import { Output } from "../Output.ts"

/** Characters of a reason: with its prefix, the journal entry's description has at most 200. */
const longestReason = 150

/** The most entries listed per book; the rest is only counted. */
const mostListed = 50

const changeColumns = [
  { title: "  Entry" },
  { title: "Date" },
  { title: "What", shrinks: true },
  { title: "Debit", shrinks: true },
  { title: "Credit", shrinks: true },
  { title: "Amount", align: "right" },
] as const

const reasonOf = (given: Option.Option<string>) => {
  const reason = Option.getOrElse(given, () => "").trim()
  return reason === "" || reason.length > longestReason
    ? new UsageError({
        detail: `--reason: expected 1 to ${longestReason} characters, found ${reason.length}.`,
        advice: "It stands in the description of the journal entry.",
      })
    : Effect.succeed(reason)
}

const linesOf = ({
  amount,
  effectiveDate,
  from,
  number,
  reason,
  to,
}: Reclassified): ReadonlyArray<string> => [
  `${number ?? "Without a number yet"}: ${amount} from ${harmless(`${from.code} ${from.name}`)} to ${harmless(`${to.code} ${to.name}`)}, dated ${effectiveDate}`,
  `  ${harmless(reason)}`,
]

const reappliedLines = (
  { book, changed, changes, kept, keptByHand, looked, totals }: Reapplied,
  screen: Screen,
) => [
  `${book}: ${counted(changed, "entry", "entries")} of ${count(looked)} in open months`,
  ...(changes.length === 0
    ? []
    : table(
        changeColumns,
        changes
          .slice(0, mostListed)
          .map(({ amount, credit, debit, description, effectiveDate, number }) => [
            `  ${number}`,
            effectiveDate,
            description,
            debit,
            credit,
            amount,
          ]),
        screen,
      )),
  ...(changed > mostListed ? [`  … and ${count(changed - mostListed)} more.`] : []),
  ...totals.map(
    ({ amount, credit, debit, entries }) =>
      `  ${harmless(debit)} from ${harmless(credit)}: ${amount} in ${counted(entries, "entry", "entries")}`,
  ),
  ...(keptByHand === 0
    ? []
    : [
        `  Left where a person put ${keptByHand === 1 ? "it" : "them"}: ${kept.slice(0, mostListed).join(", ")}${keptByHand > mostListed ? ` … (${count(keptByHand)} in all)` : ""}`,
      ]),
]

const applyRules = Effect.fn("Cli.reclassify.rules")(function* (options: {
  readonly apply: boolean
  readonly book: Option.Option<string>
  readonly reason: Option.Option<string>
}) {
  const output = yield* Output
  const reason = options.apply ? yield* reasonOf(options.reason) : "preview"
  const results = yield* reapply({
    book: options.book,
    preview: !options.apply,
    reason,
    who: yield* who,
  })
  const nothing = results.every(({ changed }) => changed === 0)
  yield* output.report({
    document: { applied: options.apply, books: results },
    lines: [
      ...results.flatMap((result) => reappliedLines(result, output.terminal.stdout)),
      nothing
        ? "Everything stands where the posting rules send it."
        : options.apply
          ? "Moved. Cash, closed months and numbers that were given are as they were."
          : 'Nothing was moved. To move it: tieout reclassify --rules --apply --reason "…"',
    ],
  })
})

const moveOne = Effect.fn("Cli.reclassify.one")(function* (options: {
  readonly id: string
  readonly to: Option.Option<string>
  readonly name: Option.Option<string>
  readonly reason: Option.Option<string>
}) {
  const output = yield* Output
  if (Option.isNone(options.to)) {
    return yield* new UsageError({
      detail: "--to is missing: the account to move to.",
      advice: "Run tieout reclassify --help to see what it takes.",
    })
  }
  const reason = yield* reasonOf(options.reason)
  const done = yield* reclassifyEntry({
    id: options.id,
    to: options.to.value.trim(),
    name: options.name,
    reason,
    who: yield* who,
  })
  yield* output.report({ document: done, lines: linesOf(done) })
})

export const reclassify = command(
  {
    name: "reclassify",
    usage: "(ID --to CODE --reason TEXT [--name NAME] | --rules [--apply --reason TEXT] [--book B])",
    summary:
      "Move what stands in suspense to the account that it belongs to, or what changed posting rules move.",
    about: [
      "ID: a journal number, a finding (F12) or a statement entry. Moves all that stands of it in suspense, or else in a clearing",
      "account or in transit, by a journal entry of its own, dated as the entry, or today where its month is closed. Cash is never touched.",
      "Its finding closes. Not while a sync of the connection runs (exit code 4).",
      "--rules: applies the posting rules of the settings again to the entries of open months. Shows what would move; with --apply",
      "it moves it, by reclassifications dated as their entries. What a person has moved stays, and so do closed months. A return",
      "of what a person has moved goes to the same account.",
    ],
    takes: {
      id: argument.optional("ID"),
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
      apply: flag("apply", "With --rules: moves them; without it they are only shown"),
      book: optional(
        text("book", "B", "With --rules: only this book, by its code or its client's identifier"),
        "all",
      ),
    },
    examples: [
      [
        'tieout reclassify F12 --to 6855 --name "Expenses:Bank" --reason "Account fee of October"',
        "by its finding",
      ],
      ['tieout reclassify ORG-2026-10-000007 --to 4120 --reason "Interest"', "by its journal number"],
      ["tieout reclassify --rules", "what changed posting rules would move"],
    ],
    exits: { busy: exitCodeTexts.busy },
  },
  Effect.fn("Cli.reclassify")(
    function* ({ apply, book, id, name, reason, rules, to }) {
      const oneGiven = Option.isSome(id) || Option.isSome(to) || Option.isSome(name)
      if (rules && !oneGiven) return yield* applyRules({ apply, book, reason })
      if (!rules && !apply && Option.isNone(book) && Option.isSome(id)) {
        return yield* moveOne({ id: id.value, to, name, reason })
      }
      return yield* new UsageError({
        detail: "Expected an ID with --to and --reason, or --rules with --apply or without.",
        advice: "Run tieout reclassify --help to see what it takes.",
      })
    },
    Effect.provide(
      Layer.mergeAll(Ledger.Default, Reconcile.Default, Resources.Default, PostingFacts.Default).pipe(
        Layer.provideMerge(books),
      ),
    ),
  ),
)
