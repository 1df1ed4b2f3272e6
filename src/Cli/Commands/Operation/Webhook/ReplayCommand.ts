import { Effect, Layer } from "effect"
import { counted, harmless } from "../../../../Common/Text.ts"
import { Inbox } from "../../../../Webhook/Inbox.ts"
import { books, knownConnection } from "../../../BookEnvironment.ts"
import { connection } from "../../../CommandOptions.ts"
import { argument, flag, subcommand } from "../../../Declaration.ts"
import { exitCodes } from "../../../ExitCode.ts"
import { UsageError } from "../../../Failure.ts"
import { Output } from "../../../Output.ts"

export const replay = subcommand(
  {
    name: "replay",
    usage: "(ID… | --dead) [--connection NAME]",
    takes: {
      ids: argument.repeated("ID"),
      dead: flag("dead", "All events that were given up"),
      connection,
    },
  },
  Effect.fn("Cli.webhook.replay")(
    function* ({ connection: only, dead, ids }) {
      const output = yield* Output
      if (dead === ids.length > 0) {
        return yield* new UsageError({
          detail: dead ? "Both --dead and events are named." : "No event is named.",
          advice: "Name the events' identifiers, or --dead for all that were given up.",
        })
      }
      yield* knownConnection(only)
      const replayed = yield* (yield* Inbox).replay(dead ? "dead" : ids, only)
      const found = new Set(replayed.map(({ eventId }) => eventId))
      const missing = ids.filter((id) => !found.has(id))
      yield* output.report({
        document: { replayed, missing },
        lines: [
          ...missing.map((id) => `${harmless(id)}: no such event, or one that cannot be read.`),
          `${counted(replayed.length, "event")} set back to waiting.`,
        ],
        code: missing.length > 0 ? exitCodes.failed : exitCodes.done,
      })
    },
    Effect.provide(Layer.provideMerge(Inbox.Default, books)),
  ),
)
