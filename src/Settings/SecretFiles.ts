/**
 * Secrets from files: `DATABASE_URL_FILE=/run/secrets/url` stands for `DATABASE_URL` with the file's content, as container
 * runtimes and systemd's `LoadCredential=` hand them over. If a named file cannot be read, no command runs, least of all on an
 * empty database instead of the intended one.
 */
import { Either, Option } from "effect"
import { largestSecret } from "../Common/Files/RegularFile/ImportBounds.ts"
import { readNamed, whyUnread } from "../Common/Files/RegularFile.ts"
import { type Variables, variable } from "./Environment.ts"
import type { Mistake } from "./Mistake.ts"

const suffix = "_FILE"

const secretNames =
  /^(?:DATABASE_URL|HTTPS_PROXY|https_proxy|OTEL_EXPORTER_OTLP_HEADERS|TIEOUT_(?:STATUS_TOKEN|TOKEN_KEY|ALERTS_WEBHOOK|(?:[A-Z0-9_]+_)?(?:BASE_URL|CLIENT_ID|CLIENT_SECRET|SCOPE)))$/

const contentOf = (path: string): Either.Either<string, string> => {
  try {
    const text = readNamed(path, largestSecret)
      .toString("utf8")
      .replace(/\r?\n$/, "")
    return text.trim() === "" ? Either.left(`${path}: is empty`) : Either.right(text)
  } catch (cause) {
    return Either.left(`${path}: ${whyUnread(cause)}`)
  }
}

/** The variables with the content of the files in place of their names, or what is wrong with them. */
export const withSecretFiles = (variables: Variables): Either.Either<Variables, ReadonlyArray<Mistake>> => {
  const resolved: Record<string, string | undefined> = { ...variables }
  const mistakes: Array<Mistake> = []
  for (const name of Object.keys(variables)) {
    const secret = name.slice(0, -suffix.length)
    if (!name.endsWith(suffix) || !secretNames.test(secret)) continue
    delete resolved[name]
    const path = variable(variables, name)
    if (Option.isNone(path)) continue
    if (Option.isSome(variable(variables, secret))) {
      mistakes.push({ path: [name], text: `is set as well as ${secret}; set one of them` })
      continue
    }
    const content = contentOf(path.value)
    if (Either.isRight(content)) resolved[secret] = content.right
    else mistakes.push({ path: [name], text: content.left })
  }
  return mistakes.length === 0 ? Either.right(resolved) : Either.left(mistakes)
}
