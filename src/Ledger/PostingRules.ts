/** Posting rules of the settings: which movements go to another account than the chart's. The first match wins. */
import { Option } from "effect"
import type { Resource, StatementEntry } from "../Partner.ts"
import type { Match, Rule } from "../Settings/Rules.ts"
import type { RuleAccount } from "./JournalEntry.ts"

const typeOf = (entry: StatementEntry): string =>
  Option.getOrElse(entry.relatedResourceType, () => "ADJUSTMENT")

const patternHolds = (pattern: string | undefined, text: Option.Option<string>): boolean =>
  pattern === undefined || Option.exists(text, (value) => new RegExp(pattern, "u").test(value))

const valueHolds = (expected: string | undefined, text: Option.Option<string>): boolean =>
  expected === undefined || Option.contains(text, expected)

const withdrawalField = (
  resource: Option.Option<Resource>,
  field: "reference" | "destinationId",
): Option.Option<string> =>
  Option.flatMap(resource, (found) => (found.resourceType === "WITHDRAWAL" ? found[field] : Option.none()))

const remitter = (resource: Option.Option<Resource>): Option.Option<string> =>
  Option.flatMap(resource, (found) => (found.resourceType === "DEPOSIT" ? found.counterparty : Option.none()))

const holds = (
  match: Match,
  entry: StatementEntry,
  resource: Option.Option<Resource>,
  client: Option.Option<string>,
  counterparty: Option.Option<string>,
): boolean => {
  const reference = withdrawalField(resource, "reference")
  const external = Option.flatMap(resource, (found) => found.externalReference)
  return (
    valueHolds(match.type, Option.some(typeOf(entry))) &&
    valueHolds(match.direction, Option.some(entry.type)) &&
    valueHolds(match.currency, Option.some(entry.currency)) &&
    valueHolds(match.accountId?.toLowerCase(), Option.some(entry.accountId)) &&
    valueHolds(match.client?.toLowerCase(), client) &&
    valueHolds(match.destinationId?.toLowerCase(), withdrawalField(resource, "destinationId")) &&
    patternHolds(match.remitter, remitter(resource)) &&
    patternHolds(match.purpose, reference) &&
    patternHolds(match.reference, reference) &&
    patternHolds(match.externalReference, external) &&
    patternHolds(match.counterparty, counterparty)
  )
}

export interface RuleMatch {
  readonly account: RuleAccount
  /** The rule names a direction for entries, so that it is meant for returns, or not for returns. */
  readonly isDirected: boolean
}

/**
 * The first rule that matches. No rule moves a conversion's other side, which is always in transit, nor an entry whose resource
 * is named but not known, which is always in suspense.
 */
export const ruleFor =
  (
    rules: ReadonlyArray<Rule>,
    client: Option.Option<string>,
    counterparty: (resource: Option.Option<Resource>) => Option.Option<string>,
  ) =>
  (entry: StatementEntry, resource: Option.Option<Resource>): RuleMatch | null => {
    if (rules.length === 0 || Option.exists(resource, (found) => found.resourceType === "CONVERSION"))
      return null
    const named =
      Option.isSome(entry.relatedResourceType) && !Option.contains(entry.relatedResourceType, "PAYOUT")
    if (named && Option.isNone(resource)) return null
    const found = rules.find((rule) => holds(rule.match, entry, resource, client, counterparty(resource)))
    return found === undefined
      ? null
      : { account: found.account, isDirected: found.match.direction !== undefined }
  }
