/** Access control: by the host name of the request, and by the token; sessions stand in `Sessions.ts`. */
import { createHash, timingSafeEqual } from "node:crypto"
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

/**
 * Whether a form may come from a page of this server. A browser sends the cookie from any port of the same host (a site has no
 * port), and a login needs no cookie. Browsers state where a form comes from, at least over https and on loopback; `Origin` is
 * null for our own pages, which send no referrer.
 */
export const isOwnForm = (headers: Readonly<Record<string, string | undefined>>): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (site !== undefined) return site === "same-origin" || site === "none"
  return (
    origin === undefined || origin === "null" || origin.replace(/^https?:\/\//i, "") === host?.toLowerCase()
  )
}

/** Compares in constant time, for any lengths. */
export const isToken = (found: string, token: string): boolean =>
  timingSafeEqual(createHash("sha256").update(found).digest(), createHash("sha256").update(token).digest())

/** `Authorization: Bearer …` */
export const bearerOf = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1]
