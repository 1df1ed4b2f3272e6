/** What a connection needs to reach the service. It comes from the environment alone. */
import { Either, Option, Redacted } from "effect"
import { proxyFor } from "../Common/Proxy.ts"
import { type Variables, variable } from "./Environment.ts"
import { isLoopback } from "./Loopback.ts"
import type { Mistake } from "./Mistake.ts"
import { connectionPrefix } from "./SettingsKeys.ts"

export interface Credentials {
  /** Absolute, without a slash at the end; ends in `/api/v1` at the real service. */
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Sent verbatim. */
  readonly scope: string
  /** The proxy for this address by HTTPS_PROXY and NO_PROXY; it may hold a password. */
  readonly proxy: Option.Option<Redacted.Redacted>
}

/** The normalized address, or what is wrong with it. Never repeats a user name or password. */
const baseUrl = (text: string): Either.Either<string, string> => {
  if (!URL.canParse(text)) return Either.left("is no address; expected https://host/api/v1")
  const url = new URL(text)
  if (url.username !== "" || url.password !== "") {
    return Either.left("holds a user name or password; expected https://host/api/v1 without")
  }
  if (url.search !== "" || url.hash !== "") {
    return Either.left("has a query or fragment; expected https://host/api/v1 and nothing after it")
  }
  const secure = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
  if (!secure) {
    return Either.left(
      `begins with ${url.protocol}//; expected https:// (http:// only for this machine itself)`,
    )
  }
  return Either.right(url.href.replace(/\/+$/, ""))
}

/** The credentials of a connection, or every variable that is missing or wrong. */
export const credentials = (
  name: string,
  variables: Variables,
): Either.Either<Credentials, ReadonlyArray<Mistake>> => {
  const prefix = connectionPrefix(name)
  const mistakes: Array<Mistake> = []
  const read = (suffix: string, what: string): string => {
    const value = variable(variables, prefix + suffix)
    if (Option.isSome(value)) return value.value
    mistakes.push({ path: [prefix + suffix], text: `is not set, expected ${what}` })
    return ""
  }
  const address = read("BASE_URL", "the service's base address, https://host/api/v1")
  const clientId = read("CLIENT_ID", "the issued OAuth client identifier")
  const clientSecret = read("CLIENT_SECRET", "the issued OAuth client secret")
  const scope = read("SCOPE", "the scopes issued to you, separated by spaces")
  const url = baseUrl(address.trim())
  if (address !== "" && Either.isLeft(url)) mistakes.push({ path: [`${prefix}BASE_URL`], text: url.left })
  const proxy = Either.flatMap(url, (origin) => proxyFor(origin, variables))
  if (Either.isRight(url) && Either.isLeft(proxy)) mistakes.push({ path: ["HTTPS_PROXY"], text: proxy.left })
  if (mistakes.length > 0 || Either.isLeft(url) || Either.isLeft(proxy)) return Either.left(mistakes)
  return Either.right({
    baseUrl: url.right,
    clientId,
    clientSecret: Redacted.make(clientSecret),
    scope,
    proxy: Option.map(proxy.right, (text) => Redacted.make(text)),
  })
}
