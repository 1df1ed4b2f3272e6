import { Effect } from "effect"
import { backup as backupTo } from "../../../Backup.ts"
import { counted } from "../../../Common/Text.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { argument, command } from "../../Declaration.ts"
import { Output } from "../../Output.ts"

export const backup = command(
  {
    name: "backup",
    summary: "Write the whole database to a file, while everything goes on.",
    about: [
      "FILE: one snapshot of all books, what was read, closes and kept files, compressed, with a checksum; for its owner alone.",
      "It holds personal data, and no secret. Reads only: a standby and a role that may only read are enough.",
    ],
    takes: { file: argument.text("FILE") },
    examples: [
      ["tieout backup /backup/tieout-2026-11-01.gz", "nightly, from a scheduler"],
      ["tieout restore /backup/tieout-2026-11-01.gz", "into an empty database"],
    ],
    exits: { busy: "another backup is writing FILE" },
  },
  Effect.fn("Cli.backup")(function* ({ file }) {
    const output = yield* Output
    const made = yield* backupTo(file)
    yield* output.report({
      document: made,
      lines: [
        `${file} holds ${counted(made.rows, "row")} of ${counted(made.tables, "table")} as of ${made.createdAt}: ${counted(made.bytes, "byte")}.`,
      ],
    })
  }, Effect.provide(booksToRead)),
)
