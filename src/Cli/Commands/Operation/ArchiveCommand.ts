import { join } from "node:path"
import { Clock, Effect, Option } from "effect"
import type { BookArchive } from "../../../Archive/BookArchive.ts"
import { type Archived, archive as archiveYear } from "../../../Archive.ts"
import { who } from "../../../Close/Person.ts"
import { counted, harmless, styled } from "../../../Common/Text.ts"
import type { Screen } from "../../../Terminal.ts"
import { knownConnection, ownersBooks } from "../../BookEnvironment.ts"
import { book, connection } from "../../CommandOptions.ts"
import { argument, command, flag, optional, text } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"

/** What a person calls the tables that rows leave: of one row, of several. */
const names = {
  "ledger.journal_entries": ["journal entry", "journal entries"],
  "ledger.postings": ["line", "lines"],
  "mirror.resources": ["deposit, withdrawal or conversion", "deposits, withdrawals and conversions"],
  "valuation.entries": ["valued entry", "valued entries"],
} as const

const leavingText = ({ rows }: BookArchive): string =>
  Object.entries(names)
    .flatMap(([table, [one, several]]) => {
      const held = rows[table] ?? 0n
      return held === 0n ? [] : [counted(held, one, several)]
    })
    .join(", ")

/** Why movements stay. */
const reasons: Readonly<Record<string, string>> = {
  opening: "opening balances of accounts",
  loan: "of loans, which are shared out anew with each version",
  "moved later": "with entries after the year",
  "open item": "open in suspense or in transit",
  "not final": "not over by the year's end",
  "not read": "of movements that could not be read",
  finding: "with a finding that is open, or was at a later close",
  contradiction: "read with two contents",
  "to be looked at": "waiting for a check or for numbering",
}

const bookLines =
  (year: number, { color }: Screen) =>
  (one: BookArchive) => {
    const name = `${one.book} ${year}`
    const kept = one.kept.map(
      ({ entries, movements, why }) =>
        `  stay: ${counted(movements, "movement")} with ${counted(entries, "journal entry", "journal entries")}, ${reasons[why] ?? why}`,
    )
    switch (one.state) {
      case "archived":
        return [styled(color, "green", `${name}: archived, ${leavingText(one)}`), ...kept]
      case "archivable":
        return [styled(color, "green", `${name}: can be archived, ${leavingText(one)}`), ...kept]
      case "nothing to archive":
        return [`${name}: nothing to archive, or archived already`]
      case "refused":
        return [
          styled(color, "red", `${name}: not archived, ${counted(one.refusals.length, "thing")} in the way`),
          ...one.refusals.map((what) => `  ${harmless(one.book)} ${harmless(what)}`),
        ]
    }
  }

const dumpLines = ({ dump }: Archived): ReadonlyArray<string> =>
  dump === null
    ? []
    : [
        `${dump.file} holds the whole database as of ${dump.createdAt}: ${counted(dump.rows, "row")}, ${counted(dump.bytes, "byte")}, read back and proved.`,
        `  SHA-256  ${dump.sha256}`,
        "Keep it as long as the law wants the books of that year, in two places; nothing else has its entries.",
        "Now run: tieout verify --database",
      ]

const parseYear = (given: string) =>
  /^(?:19[7-9]\d|20\d\d|21\d\d)$/.test(given)
    ? Effect.succeed(Number(given))
    : Effect.fail(
        new UsageError({
          detail: `YEAR: found ${JSON.stringify(given)}, expected a calendar year such as 2024.`,
          advice: "",
        }),
      )

export const archive = command(
  {
    name: "archive",
    summary: "Move a closed year out of the database, into a dump that is proved first.",
    about: [
      "YEAR: a calendar year in each book's time zone whose months are all closed; what earlier years still hold goes with it.",
      "Writes the whole database to a file as tieout backup does, reads it back, and only then removes the journal entries, their",
      "lines and valuations, and the deposits, withdrawals and conversions of movements that are over. Statement entries, balances,",
      "closes, batches and whatever is open, lent or moved later stay, so that all that is proved later still holds. An archived month cannot",
      "be reopened, exported or reported again here: restore FILE into an empty database for that. Needs the rights of the owner",
      "of the tables. A book in whose way something stands is left out and named, and it ends with 3.",
    ],
    takes: {
      year: argument.text("YEAR"),
      connection,
      book,
      out: optional(text("out", "FILE", "The dump"), "archives/tieout-YEAR-TIME.gz"),
      dryRun: flag("dry-run", "Say what would leave, what stays, and what stands in the way; change nothing"),
      neverValued: flag(
        "never-valued",
        "Archive books that were never valued in the base currency; they never can be after that",
      ),
    },
    examples: [
      ["tieout archive 2024 --dry-run", "what would leave, and what is in the way"],
      ["tieout archive 2024 --out /archive/tieout-2024.gz", "move it out"],
    ],
    exits: {
      attention: "something stands in the way of a book",
      busy: "a sync, backfill or export runs, and nothing more was removed",
    },
  },
  Effect.fn("Cli.archive")(function* ({ book, connection, dryRun, neverValued, out, year: given }) {
    const output = yield* Output
    const year = yield* parseYear(given)
    yield* knownConnection(connection)
    const now = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")
    const file = Option.getOrElse(out, () => join("archives", `tieout-${year}-${now}Z.gz`))
    const done = yield* archiveYear({
      ...{ year, connection, book, file, dryRun, neverValued },
      who: yield* who,
    })
    const refused = done.books.some(({ state }) => state === "refused")
    yield* output.report({
      document: done,
      lines: [...done.books.flatMap(bookLines(year, output.terminal.stdout)), ...dumpLines(done)],
      code: refused ? exitCodes.attention : exitCodes.done,
    })
  }, Effect.provide(ownersBooks)),
)
