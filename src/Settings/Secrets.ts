import { Either, Option } from "effect"
import { isRecord } from "../Common/Record.ts"
import { credentials } from "./Credentials.ts"
import { type Variables, variable } from "./Environment.ts"
import type { Mistake } from "./Mistake.ts"
import { tokenMistakes } from "./StatusToken.ts"

/** The secrets that a command needs: missing ones are reported together with mistakes in the settings. */
export interface Needs {
  /** The connection whose credentials are needed; none: all connections. */
  readonly connection: Option.Option<string>
  readonly statusToken: boolean
}

export const everything: Needs = { connection: Option.none(), statusToken: true }

/** The missing or wrong secrets. `content` may hold mistakes elsewhere. */
export const secretMistakes = (
  content: unknown,
  variables: Variables,
  needs: Needs,
): ReadonlyArray<Mistake> => {
  const { connections, status }: Record<string, unknown> = isRecord(content) ? content : {}
  const names = isRecord(connections) ? Object.keys(connections) : ["default"]
  const { host, open }: Record<string, unknown> = isRecord(status) ? status : {}
  const reach = { host: typeof host === "string" ? host : "127.0.0.1", open: open === true }
  const token = variable(variables, "TIEOUT_STATUS_TOKEN")
  return [
    ...names
      .filter((name) => !Option.exists(needs.connection, (only) => only !== name))
      .flatMap((name) =>
        Either.match(credentials(name, variables), { onLeft: (all) => all, onRight: () => [] }),
      ),
    ...(needs.statusToken ? tokenMistakes(token, reach) : []),
  ]
}

/** What is wrong with the database's address, or that it is missing although expected (`database.required`). */
export const databaseMistakes = (isRequired: boolean, url: Option.Option<string>): ReadonlyArray<Mistake> => {
  const path = ["DATABASE_URL"]
  if (Option.isNone(url)) {
    return isRequired
      ? [{ path, text: "is not set, and database.required says that a server is expected" }]
      : []
  }
  return /^postgres(?:ql)?:\/\/./.test(url.value)
    ? []
    : [{ path, text: "expected an address that begins with postgres://" }]
}
