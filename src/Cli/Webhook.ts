/** `tieout webhook …`: what was received, once more, and how it is signed. */
import { Command } from "@effect/cli"
import { diagnose } from "./Webhook/Diagnose.ts"
import { events } from "./Webhook/Events.ts"
import { replay } from "./Webhook/Replay.ts"

export const webhook = Command.make("webhook").pipe(Command.withSubcommands([events, replay, diagnose]))
