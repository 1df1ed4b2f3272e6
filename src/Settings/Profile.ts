import { Schema } from "effect"
import { isRecord } from "../Common/Record.ts"
import { Interface } from "./Interface.ts"

const merged = (base: unknown, over: unknown): unknown => {
  if (!isRecord(base) || !isRecord(over)) return over === undefined ? base : over
  const keys = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries([...keys].map((key) => [key, merged(base[key], over[key])]))
}

/** The profile of one connection. Both parts have been validated, so merging them cannot fail. */
export const profileOf = (raw: unknown, name: string): Interface => {
  const sections = isRecord(raw) ? raw : {}
  const connections = isRecord(sections.connections) ? sections.connections : {}
  const own = connections[name]
  return Schema.decodeUnknownSync(Interface)(
    merged(sections.interface ?? {}, isRecord(own) ? own.interface : undefined),
  )
}
