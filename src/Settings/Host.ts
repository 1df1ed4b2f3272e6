/** A name or an address, as it stands in a Host header without its port. */
import { isIP } from "node:net"

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** An IP address, one of version 6 in brackets or without, or a host name. Digits and dots alone are no name. */
export const isHost = (text: string): boolean => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (isIP(bare) !== 0) return bare === text || isIP(bare) === 6
  return text.length <= 253 && !/^[\d.]+$/.test(text) && text.split(".").every((part) => label.test(part))
}
