/** `tieout webhook …`: what was received, once more, and how it is signed. */
import { Command } from "@effect/cli"
import { diagnose } from "./Webhook/DiagnoseCommand.ts"
import { events } from "./Webhook/EventsCommand.ts"
import { replay } from "./Webhook/ReplayCommand.ts"

export const webhook = Command.make("webhook").pipe(Command.withSubcommands([events, replay, diagnose]))
