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

/** A proxy closed the connection instead of saying whether it connects. */
export class TunnelClosed extends Error {}

const isLostSocket = (error: Error): boolean => "code" in error && error.code === "UND_ERR_SOCKET"

/**
 * Ends the requests that wait for a tunnel if the proxy closes the connection without an answer. To undici that is only a lost
 * socket, which it replaces at once, thousands of times a second, until the attempt is over.
 */
export const endingTunnels = (options: Pool.Options): Pool.Options => {
  const { connect } = options
  if (typeof connect !== "function") return options
  return {
    ...options,
    connect: (wanted, done) =>
      connect(wanted, (...[error, socket]: [Error, null] | [null, Socket]) => {
        if (error === null) done(null, socket)
        else done(isLostSocket(error) ? new TunnelClosed() : error, null)
      }),
  }
}
