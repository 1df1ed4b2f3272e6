/** What a command cannot do without, known before the settings are read: so that all that is wrong is told at once. */
import { Option } from "effect"
import type { Needs } from "../Settings/Secrets.ts"

/** They ask the service of every connection, unless one is named. */
const asking: ReadonlyArray<string> = ["sync", "backfill", "doctor"]

const named = (own: ReadonlyArray<string>): Option.Option<string> => {
  const at = own.findIndex((arg) => arg === "--connection" || arg.startsWith("--connection="))
  if (at < 0) return Option.none()
  const [, ...inline] = (own[at] ?? "").split("=")
  return Option.fromNullable(inline.length > 0 ? inline.join("=") : own[at + 1])
}

/** `rest`: the command and what is its own. */
export const needsOf = ([command = "", ...own]: ReadonlyArray<string>): Option.Option<Needs> => {
  if (command === "serve") return Option.some({ connection: Option.none(), statusToken: true })
  return asking.includes(command) || (command === "quarantine" && own.includes("replay"))
    ? Option.some({ connection: named(own), statusToken: false })
    : Option.none()
}
