/** The state that a month's valuation leaves for the next: enough to continue without any history. */
import { Effect, Schema } from "effect"
import type { Holding } from "./Cost/Holding.ts"
import { lotsFrom, remaining } from "./Cost/Lots.ts"
import type { Unit } from "./Rates/Rate.ts"

export interface Revaluation {
  /** Its number in the series `fx`. */
  readonly number: number
  readonly accountId: number
  /** Cents, debit positive, as booked on the account. */
  readonly minor: bigint
}

/** A side of a conversion on an account. Smallest units and cents, debit positive. Remembers what was cleared, so that a later return has the same value. */
export interface Side {
  readonly accountId: number
  readonly partner: string
  /** The sum of its legs so far, cleared or not. */
  native: bigint
  carrying: bigint
  /** The part that entries of the whole conversion have cleared from transit. */
  clearedNative: bigint
  clearedCarrying: bigint
  /** Its unit value before it was returned completely, kept for the rest of the month. */
  last?: Unit
}

/** A movement in clearing on an account. Smallest units and cents, debit positive. */
export interface Movement {
  readonly id: string
  readonly accountId: number
  readonly role: string
  native: bigint
  carrying: bigint
}

export const movementKey = (id: string, accountId: number): string => `${id} ${accountId}`

export interface State {
  /** By ledger account. */
  readonly holdings: Map<number, Holding>
  /** Conversions in transit, by identifier. */
  readonly conversions: Map<string, Array<Side>>
  /** Movements in clearing, as far as the month needs them (`MovementCost.ts`). */
  readonly movements: Map<string, Movement>
  /** The base-currency journal's balance of every account, in cents: by ledger account, or by role. */
  readonly balances: Map<string, bigint>
  readonly revaluations: Array<Revaluation>
}

export const emptyState = (): State => ({
  holdings: new Map(),
  conversions: new Map(),
  movements: new Map(),
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
        /** Quantity, cost, and the cost's denominator where it is a fraction. */
        lots: Schema.Array(Schema.Tuple(Whole, Whole, Schema.optionalElement(Whole))),
      }),
    ),
    conversions: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        sides: Schema.Array(
          Schema.Struct({
            accountId: Schema.Int,
            partner: Schema.String,
            native: Whole,
            carrying: Whole,
            clearedNative: Whole,
            clearedCarrying: Whole,
          }),
        ),
      }),
    ),
    movements: Schema.optionalWith(
      Schema.Array(
        Schema.Struct({
          id: Schema.String,
          accountId: Schema.Int,
          role: Schema.String,
          native: Whole,
          carrying: Whole,
        }),
      ),
      { default: () => [] },
    ),
    balances: Schema.Record({ key: Schema.String, value: Whole }),
    revaluations: Schema.Array(Schema.Struct({ number: Schema.Int, accountId: Schema.Int, minor: Whole })),
  }),
)

type StoredLot = readonly [quantity: bigint, numerator: bigint, denominator?: bigint]

const decodeStored = Schema.decodeUnknown(Stored)
const encodeStored = Schema.encodeSync(Stored)

/** The stored text: equal states give equal texts. */
export const printState = ({ balances, conversions, holdings, movements, revaluations }: State): string =>
  encodeStored({
    holdings: [...holdings]
      .filter(([, { carrying, native }]) => native !== 0n || carrying !== 0n)
      .sort(([a], [b]) => a - b)
      .map(([accountId, { carrying, lots, native }]) => ({
        accountId,
        native,
        carrying,
        lots: remaining(lots).map(
          ({ cost: { denominator, numerator }, quantity }): StoredLot =>
            denominator === 1n ? [quantity, numerator] : [quantity, numerator, denominator],
        ),
      })),
    conversions: [...conversions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, sides]) => ({ id, sides })),
    movements: [...movements].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, movement]) => movement),
    balances: Object.fromEntries([...balances].filter(([, minor]) => minor !== 0n)),
    revaluations,
  })

/** Parses the text of `printState`; anything else is a defect. */
export const readState = (text: string) =>
  Effect.map(
    Effect.orDie(decodeStored(text)),
    ({ balances, conversions, holdings, movements, revaluations }): State => ({
      holdings: new Map(
        holdings.map(({ accountId, carrying, lots, native }) => [
          accountId,
          {
            native,
            carrying,
            lots: lotsFrom(
              lots.map(([quantity, numerator, denominator = 1n]) => ({
                quantity,
                cost: { numerator, denominator },
              })),
            ),
          },
        ]),
      ),
      conversions: new Map(conversions.map(({ id, sides }) => [id, sides.map((side) => ({ ...side }))])),
      movements: new Map(movements.map((one) => [movementKey(one.id, one.accountId), { ...one }])),
      balances: new Map(Object.entries(balances)),
      revaluations: [...revaluations],
    }),
  )
