/** When an open item blocks the close of a month. */
import { Schema } from "effect"
import { CurrencyCode, currencyCodeExpected, withDefault } from "../Common/Field.ts"

/** An amount is never a number: YAML needs quotes. */
const AmountText = Schema.String.pipe(Schema.pattern(/^\d{1,30}(\.\d{1,18})?$/)).annotations({
  description: 'an amount in quotes, such as "10.00"',
})

/** A key that is no currency would set nothing, and nobody would see that. */
const ByCurrency = Schema.Record({ key: Schema.String, value: AmountText }).pipe(
  Schema.filter((amounts) =>
    Object.keys(amounts)
      .filter((currency) => !Schema.is(CurrencyCode)(currency))
      .map((currency) => ({ path: [currency], message: currencyCodeExpected })),
  ),
)

export const Reconcile = Schema.Struct({
  /**
   * Days for which a conversion may stand in transit, and a loan wait for its cash, before it blocks the close of its month.
   */
  transitDays: withDefault(
    Schema.Int.pipe(Schema.between(0, 366)).annotations({ description: "a whole number from 0 to 366" }),
    3,
  ),
  /** By currency, the amount up to which what is on its way blocks no close; 0 where none is named. */
  materiality: withDefault(ByCurrency, {}),
})
export type Reconcile = typeof Reconcile.Type
