import { Command } from "@effect/cli"
import { Effect } from "effect"
import { counted } from "../../Common/Text.ts"
import { describeServer } from "../../Database/ConnectionSettings.ts"
import { migrate as applyPending } from "../../Database/Migrate.ts"
import { Database } from "../../Database.ts"
import { database } from "../Books.ts"
import { Output } from "../Output.ts"

export const migrate = Command.make(
  "migrate",
  {},
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
