/**
 * Finds what an event names. Events are hints: the service is asked how the things stand that they name. Source of the shapes:
 * `docs/interface.md`, Events.
 */
import { Option } from "effect"
import { isRecord } from "../../Common/Record.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import { isFinalState } from "../../Mirror/ResourceRow.ts"
import type { ResourceType } from "../../Partner.ts"
import { ResourceKey } from "../Resources/Hydration.ts"
import { type Announced, announcedBy, keyOfAnnounced } from "./Announced.ts"

export interface Hint {
  /** Whose book; none: the organization's. */
  readonly clientId: Option.Option<string>
  readonly account: Option.Option<string>
  readonly resource: Option.Option<ResourceKey>
  /** By the event it has ended: from such a state it goes on no more. */
  readonly ended: boolean
  /** The posting that it announces. */
  readonly announced: Option.Option<Announced>
  readonly addressBook: boolean
  /** If it names nothing known: why not. Then everything new is read. */
  readonly unknown: Option.Option<string>
}

const identifier = (fields: Readonly<Record<string, unknown>>, name: string): Option.Option<string> => {
  const value = fields[name]
  return typeof value === "string" && isUuidInAnyCase(value)
    ? Option.some(value.toLowerCase())
    : Option.none()
}

/** Passes over a byte order mark, as the decoder of the envelope does. */
const decoder = new TextDecoder()

const dataOf = (body: Uint8Array): Readonly<Record<string, unknown>> => {
  try {
    const envelope: unknown = JSON.parse(decoder.decode(body))
    const data: unknown = isRecord(envelope) ? envelope.data : undefined
    return isRecord(data) ? data : {}
  } catch {
    return {}
  }
}

const resourceNames: ReadonlyArray<readonly [prefix: string, field: string, type: ResourceType]> = [
  ["withdrawal.", "withdrawalId", "WITHDRAWAL"],
  ["deposit.", "depositId", "DEPOSIT"],
  ["conversion.", "conversionId", "CONVERSION"],
]

export const hintOf = (type: string, body: Uint8Array): Hint => {
  const data = dataOf(body)
  const nothing = {
    clientId: identifier(data, "clientId"),
    account: Option.none<string>(),
    resource: Option.none<ResourceKey>(),
    ended: false,
    announced: Option.none<Announced>(),
    addressBook: false,
    unknown: Option.none<string>(),
  }
  const without = (field: string) => Option.some(`no ${field} that can be read`)
  if (type.startsWith("destination.")) return { ...nothing, addressBook: true }
  if (type.startsWith("account.")) {
    const account = identifier(data, "accountId")
    const announced = Option.flatMap(account, (id) => announcedBy(type, id, data))
    const unknown = Option.isNone(account) ? without("accountId") : nothing.unknown
    return { ...nothing, account, announced, unknown }
  }
  const named = resourceNames.find(([prefix]) => type.startsWith(prefix))
  if (named === undefined) return { ...nothing, unknown: Option.some("unknown type") }
  const [, field, resourceType] = named
  const resource = Option.map(identifier(data, field), (id) => new ResourceKey({ type: resourceType, id }))
  const ended = typeof data.status === "string" && isFinalState(data.status)
  return { ...nothing, resource, ended, unknown: Option.isNone(resource) ? without(field) : nothing.unknown }
}

/** What the events of one book name together. */
export interface Touched {
  readonly accounts: ReadonlySet<string>
  readonly resources: ReadonlyArray<ResourceKey>
  /** Those that have ended, by their events. */
  readonly ended: ReadonlyArray<ResourceKey>
  readonly announced: ReadonlyArray<Announced>
  readonly addressBook: boolean
  readonly everything: boolean
}

export const keyOfResource = ({ id, type }: ResourceKey): string => `${type}|${id}`

const distinct = <A>(
  hints: ReadonlyArray<Hint>,
  of: (hint: Hint) => Option.Option<A>,
  keyOf: (named: A) => string,
): ReadonlyArray<A> => [
  ...new Map(
    hints.flatMap((hint) => Option.toArray(of(hint)).map((named) => [keyOf(named), named] as const)),
  ).values(),
]

export const touchedBy = (hints: ReadonlyArray<Hint>): Touched => ({
  accounts: new Set(hints.flatMap(({ account }) => Option.toArray(account))),
  resources: distinct(hints, ({ resource }) => resource, keyOfResource),
  ended: distinct(hints, ({ ended, resource }) => (ended ? resource : Option.none()), keyOfResource),
  announced: distinct(hints, ({ announced }) => announced, keyOfAnnounced),
  addressBook: hints.some(({ addressBook }) => addressBook),
  everything: hints.some(({ unknown }) => Option.isSome(unknown)),
})
