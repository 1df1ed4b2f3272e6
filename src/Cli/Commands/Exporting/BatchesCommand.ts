import { Effect, Option } from "effect"
import { who } from "../../../Close/Person.ts"
import { counted, inShell } from "../../../Common/Text.ts"
import { type KnownBatch, listBatches, nameOf } from "../../../Export/Batch/Kept/KnownBatch.ts"
import type { BatchState } from "../../../Export/Batch/Kept/States.ts"
import * as Batches from "../../../Export/Batches.ts"
import { Settings } from "../../../Settings.ts"
import { books, booksToRead } from "../../BookEnvironment.ts"
import { book } from "../../CommandOptions.ts"
import { argument, group, optional, subcommand, text, withDefault } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { batchLines, batchListLines, batchNumbers } from "../../Tables/BatchTable.ts"

const batchArgument = argument.text("BOOK/N")
const exports = withDefault(text("exports", "DIR", "Where the folders of the exports are"), "exports")

const checkedText = (what: string, most: number, given: string) => {
  const found = given.trim()
  return found === "" || found.length > most
    ? new UsageError({
        detail: `${what}: expected 1 to ${most} characters.`,
        advice: "Give the reason as a sentence.",
      })
    : Effect.succeed(found)
}

const list = subcommand(
  { name: "list", takes: { book } },
  Effect.fn("Cli.batches.list")(function* ({ book }) {
    const output = yield* Output
    const rows = yield* listBatches(book)
    yield* output.report({
      document: { batches: rows },
      lines: () => batchListLines(rows, output.terminal.stdout),
    })
  }, Effect.provide(booksToRead)),
)

const show = subcommand(
  { name: "show", takes: { reference: batchArgument, exports } },
  Effect.fn("Cli.batches.show")(function* ({ exports: root, reference }) {
    const output = yield* Output
    const found = yield* Batches.show(reference, root)
    const { accounts: _, read: __, ...manifest } = found.batch.manifest
    yield* output.report({
      document: {
        batch: nameOf(found.batch),
        state: found.batch.state,
        asOf: found.batch.manifest.scope.asOf ?? null,
        manifestSha256: found.batch.sha256,
        who: found.batch.who,
        changes: found.changes,
        folder: found.folder,
        asWritten: found.problems.length === 0,
        problems: found.problems,
        kept: found.kept,
        outdated: found.outdated,
        manifest,
      },
      lines: batchLines(found, output.terminal.stdout),
    })
  }, Effect.provide(booksToRead)),
)

const changed = (batch: KnownBatch, state: BatchState, more: object = {}) => ({
  document: { batch: nameOf(batch), state, ...more },
  lines: [`${nameOf(batch)}: ${state}.`],
})

const commit = subcommand(
  { name: "commit", takes: { reference: batchArgument, exports } },
  Effect.fn("Cli.batches.commit")(function* ({ exports: root, reference }) {
    const output = yield* Output
    const { accounting, chart, export: settings } = yield* Settings
    const { baseCurrency, valuation } = accounting
    const valuing = { baseCurrency, settings: valuation, chart }
    const by = yield* who
    const { batch, superseded } = yield* Batches.commit(reference, root, by, settings.keepFiles, valuing)
    const report = changed(batch, "committed", { superseded })
    yield* output.report({
      ...report,
      lines: [
        ...report.lines,
        ...(superseded.length === 0 ? [] : [`It supersedes ${batchNumbers(superseded)}.`]),
      ],
    })
  }, Effect.provide(books)),
)

const acknowledge = subcommand(
  {
    name: "acknowledge",
    takes: {
      reference: batchArgument,
      note: optional(text("note", "TEXT", "Anything worth keeping, such as the number that the import got")),
    },
  },
  Effect.fn("Cli.batches.acknowledge")(function* ({ note, reference }) {
    const output = yield* Output
    const given = Option.isNone(note) ? null : yield* checkedText("--note", 500, note.value)
    const batch = yield* Batches.acknowledge(reference, yield* who, given)
    yield* output.report(changed(batch, "acknowledged"))
  }, Effect.provide(books)),
)

const supersede = subcommand(
  { name: "supersede", takes: { reference: batchArgument, reason: text("reason", "TEXT", "Why") } },
  Effect.fn("Cli.batches.supersede")(function* ({ reason, reference }) {
    const output = yield* Output
    const given = yield* checkedText("--reason", 500, reason)
    const batch = yield* Batches.supersede(reference, yield* who, given)
    yield* output.report(changed(batch, "superseded"))
  }, Effect.provide(books)),
)

const download = subcommand(
  {
    name: "download",
    takes: { reference: batchArgument, out: text("out", "DIR", "A new or an empty folder"), exports },
  },
  Effect.fn("Cli.batches.download")(function* ({ exports: root, out, reference }) {
    const output = yield* Output
    const { batch, folder } = yield* Batches.download(reference, out, root)
    const { files } = batch.manifest
    yield* output.report({
      document: { batch: nameOf(batch), folder, files },
      lines: [
        `${nameOf(batch)}: ${counted(files.length, "file")} and the manifest, byte for byte, in ${folder}`,
        `Check it: tieout verify ${inShell(out)}`,
      ],
      code: exitCodes.done,
    })
  }, Effect.provide(booksToRead)),
)

export const batches = group(
  {
    name: "batches",
    summary: "List exported batches, record what became of them, download their files again.",
    about: [
      "BOOK/N: a batch by its book's code and its number, such as ORG/3.",
      "A batch is a preview, committed, acknowledged (the accounting system has it) or superseded; who changed that, when and why",
      "is kept for good. A preview is committed only while its files and the books are as they were; one in the base currency",
      "is valued first. list and show say which of these are out of date: export them again, with --again. What is superseded counts",
      "as not exported: the next export has its entries again. download writes the files byte for byte, from the database",
      "(export.keepFiles) or else from their folder.",
    ],
    examples: [
      ["tieout batches list", "every batch and its state"],
      ['tieout batches acknowledge ORG/3 --note "Xero, 2 November"', "once it is imported"],
      ["tieout batches download ORG/3 --out /tmp/october", "the same files again"],
    ],
  },
  [list, show, commit, acknowledge, supersede, download],
)
