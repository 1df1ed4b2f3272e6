/** Posting rules: movements that go to another account than their clearing account. The first rule that matches wins. */
import { Schema } from "effect"
import { CurrencyCode, Identifier, optionalKey, Pattern } from "../Common/Field.ts"
import { AccountCode, AccountName } from "./Chart.ts"

/** All criteria that are given must hold. Patterns match anywhere in the text unless they are anchored. */
export const Match = Schema.Struct({
  /** `ADJUSTMENT`: an entry without a resource. No rule applies to conversions, which always go through transit. */
  type: optionalKey(Schema.Literal("DEPOSIT", "WITHDRAWAL", "PAYOUT", "ADJUSTMENT")),
  direction: optionalKey(Schema.Literal("CREDIT", "DEBIT")),
  destinationId: optionalKey(Identifier),
  remitter: optionalKey(Pattern),
  /** The remitter of a deposit; bank and account, or network and wallet, of a withdrawal's destination. */
  counterparty: optionalKey(Pattern),
  purpose: optionalKey(Pattern),
  reference: optionalKey(Pattern),
  client: optionalKey(Identifier),
  currency: optionalKey(CurrencyCode),
  accountId: optionalKey(Identifier),
  externalReference: optionalKey(Pattern),
})
  .pipe(Schema.filter((match) => Object.keys(match).length > 0))
  .annotations({ description: "at least one criterion, since a rule without any would match everything" })
export type Match = typeof Match.Type

export const Rule = Schema.Struct({
  match: Match,
  account: Schema.Struct({ code: AccountCode, name: AccountName }),
})
export type Rule = typeof Rule.Type

/** An account is found by its code, so that of two names in the settings one would never be seen. */
export const Rules = Schema.Array(Rule)
  .annotations({ description: "a list of rules" })
  .pipe(
    Schema.filter((rules) =>
      rules.flatMap(({ account: { code, name } }, at) => {
        const first = rules.findIndex(({ account }) => account.code === code)
        return rules[first]?.account.name === name
          ? []
          : [
              {
                path: [at, "account", "name"],
                message: `the name that rules[${first}] gives the account ${code}, or another code`,
              },
            ]
      }),
    ),
  )
