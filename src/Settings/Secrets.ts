import { Either, Option } from "effect"
import { isRecord } from "../Common/Record.ts"
import { credentials } from "./Credentials.ts"
import { type Variables, variable } from "./Environment.ts"
import type { Mistake } from "./Mistake.ts"
import { tokenMistakes } from "./StatusToken.ts"

/** What is needed besides the settings themselves: where those are wrong, what lacks of it is told with them. */
export interface Needs {
  /** Whose credentials; none: every connection's. */
  readonly connection: Option.Option<string>
  readonly statusToken: boolean
}

export const everything: Needs = { connection: Option.none(), statusToken: true }

/** What lacks of the secrets that are needed, as far as settings that are wrong elsewhere let it be known. */
export const secretMistakes = (
  content: unknown,
  variables: Variables,
  needs: Needs,
): ReadonlyArray<Mistake> => {
  const { connections, status }: Record<string, unknown> = isRecord(content) ? content : {}
  const names = isRecord(connections) ? Object.keys(connections) : ["default"]
  const host = isRecord(status) && typeof status.host === "string" ? status.host : "127.0.0.1"
  const token = variable(variables, "TIEOUT_STATUS_TOKEN")
  return [
    ...names
      .filter((name) => !Option.exists(needs.connection, (only) => only !== name))
      .flatMap((name) =>
        Either.match(credentials(name, variables), { onLeft: (all) => all, onRight: () => [] }),
      ),
    ...(needs.statusToken ? tokenMistakes(token, host) : []),
  ]
}
