/** Posting rules of the settings: which movements go to another account than the chart's. The first match wins. */
import { Option } from "effect"
import type { Resource, StatementEntry } from "../Partner.ts"
import type { Match, Rule } from "../Settings/Rules.ts"
import type { RuleAccount } from "./JournalEntry.ts"

/** What criteria are compared with: everything that is known of an entry and its resource. */
type Facts = { readonly [Criterion in keyof Match]-?: Option.Option<string> }

const factsOf = (
  entry: StatementEntry,
  resource: Option.Option<Resource>,
  client: Option.Option<string>,
  counterparty: Option.Option<string>,
): Facts => {
  const withdrawal = Option.filter(resource, (found) => found.resourceType === "WITHDRAWAL")
  const reference = Option.flatMap(withdrawal, (found) => found.reference)
  return {
    type: Option.orElseSome(entry.relatedResourceType, () => "ADJUSTMENT"),
    direction: Option.some(entry.type),
    currency: Option.some(entry.currency),
    accountId: Option.some(entry.accountId),
    client,
    destinationId: Option.flatMap(withdrawal, (found) => found.destinationId),
    remitter: Option.flatMap(resource, (found) =>
      found.resourceType === "DEPOSIT" ? found.counterparty : Option.none(),
    ),
    purpose: reference,
    reference,
    externalReference: Option.flatMap(resource, (found) => found.externalReference),
    counterparty,
  }
}

const valueHolds = (expected: string | undefined, text: Option.Option<string>): boolean =>
  expected === undefined || Option.contains(text, expected)

const idHolds = (expected: string | undefined, text: Option.Option<string>): boolean =>
  expected === undefined || Option.contains(text, expected.toLowerCase())

type PatternHolds = (pattern: string | undefined, text: Option.Option<string>) => boolean

/** Compiles each pattern once: to do so for each entry takes longer than all that is compared. */
const compilingOnce = (): PatternHolds => {
  const compiled = new Map<string, RegExp>()
  return (pattern, text) => {
    if (pattern === undefined) return true
    if (Option.isNone(text)) return false
    const known = compiled.get(pattern)
    if (known !== undefined) return known.test(text.value)
    const made = new RegExp(pattern, "u")
    compiled.set(pattern, made)
    return made.test(text.value)
  }
}

const holds = (match: Match, facts: Facts, patternHolds: PatternHolds): boolean =>
  valueHolds(match.type, facts.type) &&
  valueHolds(match.direction, facts.direction) &&
  valueHolds(match.currency, facts.currency) &&
  idHolds(match.accountId, facts.accountId) &&
  idHolds(match.client, facts.client) &&
  idHolds(match.destinationId, facts.destinationId) &&
  patternHolds(match.remitter, facts.remitter) &&
  patternHolds(match.purpose, facts.purpose) &&
  patternHolds(match.reference, facts.reference) &&
  patternHolds(match.externalReference, facts.externalReference) &&
  patternHolds(match.counterparty, facts.counterparty)

/** The one text that a pattern matches as a whole, such as those that Tieout proposes: `^Staff Ltd\.$`. */
const onlyText = (pattern: string | undefined): string | undefined => {
  const whole = /^\^((?:[^\\^$.*+?()[\]{}|/]|\\[\\^$.*+?()[\]{}|/])*)\$$/u.exec(pattern ?? "")?.[1]
  return whole?.replace(/\\(.)/gu, "$1")
}

const identifiers = ["destinationId", "accountId", "client"] as const
const patterns = ["counterparty", "remitter", "purpose", "reference", "externalReference"] as const

/** One criterion of a rule that wants one value, the rarest; empty where patterns may match many texts. */
const keyOf = (match: Match): string => {
  const wanted = [
    ...patterns.map((criterion) => [criterion, onlyText(match[criterion])] as const),
    ...identifiers.map((criterion) => [criterion, match[criterion]?.toLowerCase()] as const),
  ]
  const [criterion, value] = wanted.find(([, value]) => value !== undefined) ?? []
  return value === undefined ? "" : `${criterion} ${value}`
}

interface Placed {
  readonly at: number
  readonly rule: Rule
}

/** The rules by their keys, in order: of thousands, an entry is compared with those that want what it has. */
const byKey = (rules: ReadonlyArray<Rule>): ReadonlyMap<string, ReadonlyArray<Placed>> => {
  const groups = new Map<string, Array<Placed>>()
  for (const [at, rule] of rules.entries()) {
    const key = keyOf(rule.match)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ at, rule }])
    else group.push({ at, rule })
  }
  return groups
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
export const ruleFor = (rules: ReadonlyArray<Rule>) => {
  const groups = byKey(rules)
  const patternHolds = compilingOnce()
  const firstOf = (facts: Facts): Rule | undefined => {
    const keys = [...patterns, ...identifiers].flatMap((criterion) =>
      Option.match(facts[criterion], { onNone: () => [], onSome: (value) => [`${criterion} ${value}`] }),
    )
    const firsts = ["", ...keys].flatMap(
      (key) => groups.get(key)?.find(({ rule }) => holds(rule.match, facts, patternHolds)) ?? [],
    )
    return firsts.reduce<Placed | undefined>(
      (first, one) => (first === undefined || one.at < first.at ? one : first),
      undefined,
    )?.rule
  }
  return (
    client: Option.Option<string>,
    counterparty: (resource: Option.Option<Resource>) => Option.Option<string>,
  ) =>
    (entry: StatementEntry, resource: Option.Option<Resource>): RuleMatch | null => {
      if (rules.length === 0 || Option.exists(resource, (found) => found.resourceType === "CONVERSION"))
        return null
      const named =
        Option.isSome(entry.relatedResourceType) && !Option.contains(entry.relatedResourceType, "PAYOUT")
      if (named && Option.isNone(resource)) return null
      const found = firstOf(factsOf(entry, resource, client, counterparty(resource)))
      return found === undefined
        ? null
        : { account: found.account, isDirected: found.match.direction !== undefined }
    }
}
