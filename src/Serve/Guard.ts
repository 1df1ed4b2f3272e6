/** Access control: by the host name of the request, and by the token. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import { isLoopback } from "../Settings/Loopback.ts"

/** The name in a Host header, without port, in lower case; undefined where it is not a name. */
const hostNameOf = (header: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/\s@]+))(?::\d{1,5})?$/i.exec(header) ?? []
  return (bracketed ?? plain)?.toLowerCase()
}

/** The prefix of IPv4 addresses on a dual-stack socket. */
const mapped = /^::ffff:/

/**
 * Whether a request was meant for this server. A foreign page can make its own name resolve to this machine (DNS rebinding),
 * and the browser would let it in; but its name is not one of ours. The address that the request arrived on cannot be such a
 * name.
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

/** Compares in constant time, for any lengths. */
const same = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest())

export const isToken = (found: string, token: string): boolean => same(found, token)

/** `Authorization: Bearer …` */
export const isBearer = (header: string | undefined, token: string): boolean => {
  const [, found] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? []
  return found !== undefined && same(found, token)
}

export const cookieName = "tieout_status"

/** The cookie's value: it proves knowledge of the token without revealing it. A new token ends all sessions. */
export const sessionOf = (token: string): string =>
  createHmac("sha256", token).update("tieout status page").digest("base64url")

export const isSession = (cookie: string | undefined, token: string): boolean =>
  cookie !== undefined && same(cookie, sessionOf(token))
