import { Effect } from "effect"
import { type CheckedBackup, readBack } from "../../../Backup/ReadBack.ts"
import { onceLoaded, restoreChecked } from "../../../Backup/Restore.ts"
import { counted, harmless } from "../../../Common/Text.ts"
import { prove } from "../../../Proof.ts"
import { ownersDatabase } from "../../BookEnvironment.ts"
import { partitions, partitionsOf } from "../../CommandOptions.ts"
import { argument, command } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { Output } from "../../Output.ts"
import { proofLines } from "../../Tables/ProofLines.ts"

const loading = Effect.fn("Cli.restore.loading")(function* (
  file: string,
  checked: CheckedBackup,
  partitions: number | undefined,
) {
  const output = yield* Output
  const restored = yield* restoreChecked(file, checked, { partitions })
  const proof = yield* onceLoaded(prove())
  yield* output.report({
    document: { ...restored, proof },
    lines: [
      `${counted(restored.rows, "row")} of ${counted(restored.tables, "table")} are restored, as of ${restored.createdAt}.`,
      ...proofLines(proof).map(harmless),
      ...(proof.ok ? ["Now run: tieout sync. It reads again what came after the backup."] : []),
    ],
    code: proof.ok ? exitCodes.done : exitCodes.failed,
  })
})

export const restore = command(
  {
    name: "restore",
    summary: "Load a backup into an empty database, and prove it.",
    about: [
      "FILE: what `tieout backup` wrote, by this version or an earlier one. The whole file is checked before anything is written; then all of",
      "it is loaded, or nothing. The database must hold no books and no rates. Needs the rights of its owner. At the end every row",
      "is proved again, as by `tieout verify --database`.",
    ],
    takes: { file: argument.text("FILE"), partitions },
    examples: [
      ["TIEOUT_DATA_DIR=restored tieout restore /backup/tieout-2026-11-01.gz", "into an embedded database"],
      ["DATABASE_URL=postgres://… tieout restore tieout.gz", "into a server of your own"],
      [
        "DATABASE_URL=postgres://… tieout restore --partitions 16 tieout.gz",
        "in other partitions than before",
      ],
    ],
    exits: { failed: "failed, or what was restored does not hold" },
  },
  // These two first: a number that cannot be, or a file that is damaged, leaves no new, empty database behind.
  Effect.fn("Cli.restore")(function* ({ file, partitions: asked }) {
    const count = yield* partitionsOf(asked)
    const checked = yield* readBack(file)
    yield* Effect.provide(loading(file, checked, count), ownersDatabase)
  }),
)
