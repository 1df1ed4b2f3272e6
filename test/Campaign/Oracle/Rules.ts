/**
 * Posting rules: where an entry goes instead of its clearing account, or of suspense where it names no resource. The first that
 * matches wins.
 *
 * Reading: `purpose` and `reference` are two names of one text of a withdrawal, whichever form it has. The counterparty is a
 * deposit's remitter, or bank and account (network and wallet) of a withdrawal's destination. A criterion that the movement has
 * nothing for does not hold. Identifiers are the same in capitals.
 */
import type { EntryFact, ResourceFact, RuleFact } from "../Facts.ts"

export interface Ruled {
  readonly entry: EntryFact
  readonly accountId: string
  readonly currency: string
  readonly resource: ResourceFact | undefined
  readonly clientId: string | null
}

export interface RuleFound {
  readonly code: string
  /** The rule names a direction: it is meant for returns, or excludes them. */
  readonly directed: boolean
}

const isSame = (expected: string | undefined, value: string | null): boolean =>
  expected === undefined || expected === value

const isSameId = (expected: string | undefined, value: string | null): boolean =>
  isSame(expected?.toLowerCase(), value?.toLowerCase() ?? null)

const fits = (pattern: string | undefined, value: string | null): boolean =>
  pattern === undefined || (value !== null && new RegExp(pattern, "u").test(value))

export const ruleFor = (
  rules: ReadonlyArray<RuleFact>,
  { accountId, clientId, currency, entry, resource }: Ruled,
): RuleFound | null => {
  const { related, type: direction } = entry
  const isKnown = related === null || related.type === "PAYOUT" || resource !== undefined
  if (!isKnown || resource?.type === "CONVERSION") return null
  const said = resource?.said
  const isDeposit = resource?.type === "DEPOSIT"
  const destination = said === undefined || said.destination.length === 0 ? null : said.destination.join(", ")
  const text = said?.text ?? null
  const found = rules.find(
    ({ match }) =>
      isSame(match.type, related?.type ?? "ADJUSTMENT") &&
      isSame(match.direction, direction) &&
      isSame(match.currency, currency) &&
      isSameId(match.accountId, accountId) &&
      isSameId(match.client, clientId) &&
      isSameId(match.destinationId, said?.destinationId ?? null) &&
      fits(match.remitter, said?.remitter ?? null) &&
      fits(match.counterparty, isDeposit ? (said?.remitter ?? null) : destination) &&
      fits(match.purpose, text) &&
      fits(match.reference, text) &&
      fits(match.externalReference, said?.externalReference ?? null),
  )
  return found === undefined ? null : { code: found.code, directed: found.match.direction !== undefined }
}
