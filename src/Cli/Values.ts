/** What can stand in some places of the command line is known beforehand: for the completions, compared with the parsers by a test. */
import { formatNames } from "../Format/Formats.ts"
import type { FaultName } from "../Sandbox/Http/FaultPlan.ts"
import type { SigningAlgorithm } from "../Sandbox/Webhook/Keys.ts"
import { states } from "../Webhook/InboxList.ts"

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

/** What stands right after a command: its subcommands, or the one argument that it takes. */
export const firstArguments: Readonly<Record<string, ReadonlyArray<string>>> = {
  accounts: ["export", "import"],
  batches: ["list", "show", "commit", "acknowledge", "supersede", "download"],
  completions: shells,
  quarantine: ["list", "show", "replay"],
  rates: ["import", "export", "list"],
  webhook: ["events", "replay", "diagnose"],
}

// The sandbox is not loaded for its names: only its own command does that.
const faults = [
  "limit",
  "unavailable",
  "reset",
  "truncate",
  "slow",
  "expire-token",
  "expire-cursor",
  "repeat",
  "change",
  "redirect",
] as const satisfies ReadonlyArray<FaultName>

const signing = [
  "ES256",
  "ES384",
  "EdDSA",
  "RS256",
  "RS512",
  "PS256",
  "PS512",
] as const satisfies ReadonlyArray<SigningAlgorithm>

/** The values of an option, whichever command takes it. */
export const optionValues: Readonly<Record<string, ReadonlyArray<string>>> = {
  "--faults": ["none", "wild", ...faults],
  "--format": formatNames,
  "--log-level": ["trace", "debug", "info", "warning", "error", "none"],
  "--mode": ["detail", "summary"],
  "--names": ["plain", "odd"],
  "--state": states,
  "--surface": ["organization", "client", "credit"],
  "--webhook-algorithm": signing,
}
