/**
 * The proxy of the environment, as curl reads it: HTTPS_PROXY for https addresses, unless NO_PROXY lists the host. Plain http is
 * for this machine alone and never goes through one.
 */
import type { Socket } from "node:net"
import { Either, Option } from "effect"
import type { Pool } from "undici"

type Variables = Readonly<Record<string, string | undefined>>

const set = (variables: Variables, name: string): string | undefined => {
  const value = (variables[name.toLowerCase()] ?? variables[name] ?? "").trim()
  return value === "" ? undefined : value
}

/** Whether an entry of NO_PROXY (`*`, `host`, `.domain`, `*.domain`, each with or without a port) names a host. */
const names = (entry: string, { hostname, port }: URL): boolean => {
  if (entry === "*") return true
  const [, listed = "", at] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*?\./, "")) ?? []
  const isHost = listed !== "" && (hostname === listed || hostname.endsWith(`.${listed}`))
  return isHost && (at === undefined || at === (port === "" ? "443" : port))
}

/** The address of the proxy for an origin; none: no proxy. Left: what is wrong with HTTPS_PROXY. */
export const proxyFor = (
  origin: string,
  variables: Variables,
): Either.Either<Option.Option<string>, string> => {
  const value = set(variables, "HTTPS_PROXY")
  const url = new URL(origin)
  if (value === undefined || url.protocol !== "https:") return Either.right(Option.none())
  const except = (set(variables, "NO_PROXY") ?? "").split(/[\s,]+/).filter((entry) => entry !== "")
  if (except.some((entry) => names(entry, url))) return Either.right(Option.none())
  const address = /^[a-z0-9]+:\/\//i.test(value) ? value : `http://${value}`
  const isProxy = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
  return isProxy
    ? Either.right(Option.some(address))
    : Either.left("is no proxy's address; expected http://host:port or https://host:port")
}

/** A proxy did not say whether it connects; the message is what it did instead. */
export class NoTunnel extends Error {}

const noTunnel: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "it closes the connection",
  UND_ERR_HEADERS_TIMEOUT: "it does not answer",
}

const orNoTunnel = (error: Error): Error => {
  const what = "code" in error ? noTunnel[String(error.code)] : undefined
  return what === undefined ? error : new NoTunnel(what)
}

/**
 * Ends the requests that wait for a tunnel if the proxy closes the connection without an answer, or gives none. To undici the
 * former is only a lost socket, which it replaces at once, thousands of times a second, until the attempt is over.
 */
export const endingTunnels = (options: Pool.Options): Pool.Options => {
  const { connect } = options
  if (typeof connect !== "function") return options
  return {
    ...options,
    connect: (wanted, done) =>
      connect(wanted, (...[error, socket]: [Error, null] | [null, Socket]) => {
        if (error === null) done(null, socket)
        else done(orNoTunnel(error), null)
      }),
  }
}
