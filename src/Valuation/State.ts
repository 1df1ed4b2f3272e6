/** What a month's valuation leaves for the next: enough to go on without any history. */
import { Effect, Schema } from "effect"
import type { Holding } from "./Holding.ts"
import { lotsFrom, remaining } from "./Lots.ts"

/** What stands in `trading` of a conversion whose other leg has not come yet. */
export interface OpenTrade {
  readonly legs: Map<number, { readonly currency: string; native: bigint; carrying: bigint }>
}

export interface Revaluation {
  /** Its number in the series `fx`. */
  readonly number: number
  readonly accountId: number
  /** Cents, debit positive, as booked on the account. */
  readonly minor: bigint
}

export interface State {
  /** By ledger account. */
  readonly holdings: Map<number, Holding>
  /** By the conversion's identifier. */
  readonly trades: Map<string, OpenTrade>
  /** The base-currency journal's balance of every account, in cents: by ledger account, or by role. */
  readonly balances: Map<string, bigint>
  readonly revaluations: Array<Revaluation>
}

export const emptyState = (): State => ({
  holdings: new Map(),
  trades: new Map(),
  balances: new Map(),
  revaluations: [],
})

const Whole = Schema.BigInt

const Stored = Schema.parseJson(
  Schema.Struct({
    holdings: Schema.Array(
      Schema.Struct({
        accountId: Schema.Int,
        native: Whole,
        carrying: Whole,
        lots: Schema.Array(Schema.Tuple(Whole, Whole)),
      }),
    ),
    trades: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        legs: Schema.Array(
          Schema.Struct({ accountId: Schema.Int, currency: Schema.String, native: Whole, carrying: Whole }),
        ),
      }),
    ),
    balances: Schema.Record({ key: Schema.String, value: Whole }),
    revaluations: Schema.Array(Schema.Struct({ number: Schema.Int, accountId: Schema.Int, minor: Whole })),
  }),
)

const decodeStored = Schema.decodeUnknown(Stored)
const encodeStored = Schema.encodeSync(Stored)

/** The text that is stored: the same state gives the same text. */
export const printState = ({ balances, holdings, revaluations, trades }: State): string =>
  encodeStored({
    holdings: [...holdings]
      .filter(([, { carrying, native }]) => native !== 0n || carrying !== 0n)
      .sort(([a], [b]) => a - b)
      .map(([accountId, { carrying, lots, native }]) => ({
        accountId,
        native,
        carrying,
        lots: remaining(lots).map(({ cost, quantity }): readonly [bigint, bigint] => [quantity, cost]),
      })),
    trades: [...trades]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { legs }]) => ({
        id,
        legs: [...legs].map(([accountId, leg]) => ({ accountId, ...leg })),
      })),
    balances: Object.fromEntries([...balances].filter(([, minor]) => minor !== 0n)),
    revaluations,
  })

/** Text that `printState` made; anything else is a defect. */
export const readState = (text: string) =>
  Effect.map(
    Effect.orDie(decodeStored(text)),
    ({ balances, holdings, revaluations, trades }): State => ({
      holdings: new Map(
        holdings.map(({ accountId, carrying, lots, native }) => [
          accountId,
          { native, carrying, lots: lotsFrom(lots.map(([quantity, cost]) => ({ quantity, cost }))) },
        ]),
      ),
      trades: new Map(
        trades.map(({ id, legs }) => [
          id,
          { legs: new Map(legs.map(({ accountId, ...leg }) => [accountId, { ...leg }])) },
        ]),
      ),
      balances: new Map(Object.entries(balances)),
      revaluations: [...revaluations],
    }),
  )
