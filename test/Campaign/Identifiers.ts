/** Identifiers by name: a name and the key of the history always give the same UUID. */
import { createHash } from "node:crypto"
import type { Name } from "./History.ts"

export type IdOf = (name: Name) => string

export const identifiers = (key: string): IdOf => {
  const known = new Map<Name, string>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const hex = createHash("sha1").update(`${key} ${name}`).digest("hex")
    const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    known.set(name, id)
    return id
  }
}
