/** `tieout webhook …`: lists received events, processes them again, and diagnoses their signatures. */
import { group } from "../../../Declaration.ts"
import { diagnose } from "./DiagnoseCommand.ts"
import { events } from "./EventsCommand.ts"
import { replay } from "./ReplayCommand.ts"

export const webhook = group(
  {
    name: "webhook",
    summary:
      "Look at the events that were received, have them processed again, find out how they are signed.",
    about: [
      "events lists what was received, the latest first; one that came with several bodies is also a finding, which a full",
      "sync settles. One that names nothing that is known (an unknown type, say) has everything new looked at, and its note",
      "says so. replay sets events back to waiting; the listener's process takes them up. diagnose takes a captured delivery",
      "(the request's headers, an empty line and its body, or JSON with headers and body) and the public key, and prints the",
      "settings by which its signature is good; it asks nobody, and ends with 1 where there are none. What a connection's own",
      "interface section says is tried first where --connection names it, or where there is no other.",
    ],
    examples: [
      ["tieout webhook events --state dead", "what needs a look"],
      ["tieout webhook replay --dead", "once the cause is gone"],
      ["tieout webhook diagnose delivery.http --key key.pem", "where every delivery is refused with 401"],
    ],
    exits: { failed: "failed, an event that is not there, or no settings by which the signature is good" },
  },
  [events, replay, diagnose],
)
