/** Posting rules: movements that go to another account than their clearing account. The first rule that matches wins. */
import { Schema } from "effect"
import { CurrencyCode, Pattern, Text } from "../Common/Field.ts"
import { AccountCode, AccountName } from "./Chart.ts"

const exactly = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** All criteria that are given must hold. Patterns match anywhere in the text unless they are anchored. */
export const Match = Schema.Struct({
  /** `ADJUSTMENT`: an entry without a resource. No rule applies to conversions, which always go through transit. */
  type: exactly(Schema.Literal("DEPOSIT", "WITHDRAWAL", "PAYOUT", "ADJUSTMENT")),
  direction: exactly(Schema.Literal("CREDIT", "DEBIT")),
  destinationId: exactly(Text),
  remitter: exactly(Pattern),
  /** The remitter of a deposit; bank and account, or network and wallet, of a withdrawal's destination. */
  counterparty: exactly(Pattern),
  purpose: exactly(Pattern),
  reference: exactly(Pattern),
  client: exactly(Text),
  currency: exactly(CurrencyCode),
  accountId: exactly(Text),
  externalReference: exactly(Pattern),
})
  .pipe(Schema.filter((match) => Object.keys(match).length > 0))
  .annotations({ description: "at least one criterion, since a rule without any would match everything" })
export type Match = typeof Match.Type

export const Rule = Schema.Struct({
  match: Match,
  account: Schema.Struct({ code: AccountCode, name: AccountName }),
})
export type Rule = typeof Rule.Type

export const Rules = Schema.Array(Rule).annotations({ description: "a list of rules" })
