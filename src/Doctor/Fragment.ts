/** A proposed profile as a fragment of the settings file. Pure. */
import { stringify } from "yaml"
import { isRecord } from "../Common/Record.ts"
import { harmless } from "../Common/Text.ts"
import { defaultInterface, type Interface } from "../Settings/Interface.ts"
import type { Surface } from "./Endpoints.ts"
import type { Undetermined } from "./Survey.ts"

/** The discovery's result for one connection. */
export interface Discovered {
  readonly connection: string
  readonly surfaces: ReadonlyArray<Surface>
  readonly configured: Interface
  readonly profile: Interface
  readonly undetermined: ReadonlyArray<Undetermined>
}

/**
 * The keys that the settings need: those that differ from the defaults, and those that return to a default that the settings
 * now override.
 */
const differing = (proposed: unknown, configured: unknown, usual: unknown): unknown => {
  if (!isRecord(proposed)) {
    const text = JSON.stringify(proposed)
    return text === JSON.stringify(usual) && text === JSON.stringify(configured) ? undefined : proposed
  }
  const inside = (value: unknown, key: string) => (isRecord(value) ? value[key] : undefined)
  const entries = Object.entries(proposed)
    .map(([key, value]) => [key, differing(value, inside(configured, key), inside(usual, key))] as const)
    .filter(([, value]) => value !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The `interface` section that a connection needs; undefined where every default holds. */
const section = ({ configured, profile }: Discovered): unknown =>
  differing(profile, configured, defaultInterface)

const comment = (text: string): string => `# ${harmless(text)}`

const openPoints = ({ connection, undetermined }: Discovered, several: boolean): ReadonlyArray<string> =>
  undetermined.map(({ reason, setting }) =>
    comment(`${several ? `${connection}: ` : ""}${setting} could not be found out: ${reason}`),
  )

const yamlLines = (value: unknown): ReadonlyArray<string> =>
  stringify(value, { lineWidth: 0 }).trimEnd().split("\n")

/**
 * The fragment, line by line, ready to paste. `byConnection`: each connection gets a section of its own.
 */
export const lines = (found: ReadonlyArray<Discovered>, byConnection: boolean): ReadonlyArray<string> => {
  const sections = found.map((discovered) => ({ discovered, needed: section(discovered) }))
  const needing = sections.filter(({ needed }) => needed !== undefined)
  const notes = found.flatMap((discovered) => openPoints(discovered, byConnection))
  const [only] = needing
  if (only === undefined)
    return [comment("Every name is as the defaults have it; there is nothing to set."), ...notes]
  const value = byConnection
    ? {
        connections: Object.fromEntries(
          needing.map(({ discovered: { connection, surfaces }, needed }) => [
            connection,
            { surfaces, interface: needed },
          ]),
        ),
      }
    : { interface: only.needed }
  return [...yamlLines(value), ...notes]
}
