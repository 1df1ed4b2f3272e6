/** Who may look: by which name the server was called, and with which token. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import { isLoopback } from "../Settings/Loopback.ts"

/** The name in a Host header: without its port, in lower case. None where it is no name at all. */
const hostNameOf = (header: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/\s@]+))(?::\d{1,5})?$/i.exec(header) ?? []
  return (bracketed ?? plain)?.toLowerCase()
}

/** IPv4 addresses of a socket that listens for both kinds begin so. */
const mapped = /^::ffff:/

/**
 * Whether a request was meant for this server. A page elsewhere can have its own name lead to this machine (DNS
 * rebinding), and would then be let in by the browser; its name is not one of ours. An address that the request came in on
 * cannot be such a name.
 */
export const isOwnHost = (
  header: string | undefined,
  names: ReadonlyArray<string>,
  localAddress: string | undefined,
): boolean => {
  const name = header === undefined ? undefined : hostNameOf(header)
  if (name === undefined) return false
  if (isLoopback(name) || names.some((known) => known.toLowerCase().replace(/^\[|\]$/g, "") === name))
    return true
  return isIP(name) !== 0 && localAddress?.replace(mapped, "") === name
}

/** Compares in constant time, whatever the lengths are. */
const same = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest())

export const isToken = (found: string, token: string): boolean => same(found, token)

/** `Authorization: Bearer …` */
export const isBearer = (header: string | undefined, token: string): boolean => {
  const [, found] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? []
  return found !== undefined && same(found, token)
}

export const cookieName = "tieout_status"

/** What the cookie holds: it proves that the token was known, and does not say what it is. A new token ends all sessions. */
export const sessionOf = (token: string): string =>
  createHmac("sha256", token).update("tieout status page").digest("base64url")

export const isSession = (cookie: string | undefined, token: string): boolean =>
  cookie !== undefined && same(cookie, sessionOf(token))
