import { Effect } from "effect"
import { counted } from "../../Common/Text.ts"
import { describeServer } from "../../Database/ConnectionSettings.ts"
import { migrate as applyPending } from "../../Database/Migrate.ts"
import { Database } from "../../Database.ts"
import { database } from "../Books.ts"
import { command } from "../Declaration.ts"
import { Output } from "../Output.ts"

export const migrate = command(
  {
    name: "migrate",
    summary: "Bring the database's tables up to date.",
    about: [
      "Every command that writes does this by itself. Run it alone before an upgrade, or to check the database.",
    ],
    takes: {},
    examples: [["DATABASE_URL=postgres://… tieout migrate", "prepare a server of your own"]],
  },
  Effect.fn("Cli.migrate")(function* () {
    const output = yield* Output
    const { settings } = yield* Database
    const applied = yield* applyPending()
    const server = describeServer(settings)
    yield* output.report({
      document: { server, applied },
      lines: [
        ...applied.map((name) => `Applied ${name}`),
        applied.length === 0
          ? `${server} is up to date.`
          : `${server} is up to date now, after ${counted(applied.length, "migration")}.`,
      ],
    })
  }, Effect.provide(database)),
)
