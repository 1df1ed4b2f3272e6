import { available, type Pair } from "../SandboxAccount.ts"
import type { World } from "../World.ts"
import type { ConversionStatus } from "../WorldTables.ts"
import { drawAmount } from "./MadeAmounts.ts"

interface Quote {
  readonly pair: Pair
  readonly sell: bigint
  readonly buy: bigint
  /** In minor units of the pair's fiat currency. */
  readonly fee: bigint
  readonly rate: number
  readonly rateScale: number
}

/** Divides positive integers and rounds to the nearest multiple of `quantum`, half up. */
const divide = (dividend: bigint, divisor: bigint, quantum: bigint): bigint => {
  const unit = divisor * quantum
  return ((dividend + unit / 2n) / unit) * quantum
}

/** A rate in units of the buy currency per unit of the sell currency, with as many digits as such rates are quoted with. */
const drawRate = (world: World, { sell, buy }: Pair): { rate: number; rateScale: number } => {
  const { random } = world
  // Up to two percent around the middle, in hundred-thousandths.
  const spread = 98_000 + random.below(4_001)
  const fiat = sell.currency.digital ? buy.currency : sell.currency
  const price = Math.floor((fiat.price * spread) / 100_000)
  const yen = fiat.code === "JPY"
  if (sell.currency.digital) {
    const rateScale = random.pick(yen ? [2, 3] : [4, 5, 6])
    return { rate: Math.floor((price * 10 ** rateScale) / 1_000_000), rateScale }
  }
  const rateScale = random.pick(yen ? [7, 8] : [4, 5, 6])
  return { rate: Math.floor((1_000_000 * 10 ** rateScale) / price), rateScale }
}

/**
 * Draws a conversion by the documented rule: the fee is in the pair's fiat currency, taken from the sell amount when
 * buying digital currency and from the proceeds when selling it. The buy amount is rounded to the buy account's quantum.
 */
const draw = (world: World, pair: Pair): Quote | undefined => {
  const { random } = world
  const funds = available(pair.sell)
  const wish = drawAmount(random, pair.sell) * 10n
  const most = (funds * 3n) / 4n
  const capped = wish < most ? wish : most
  const sell = capped - (capped % pair.sell.quantum)
  if (sell < pair.minimum) return undefined
  const { rate, rateScale } = drawRate(world, pair)
  const share = BigInt(random.pick([0, 10, 15, 20, 35, 50]))
  // sell * rate has the scale of the sell currency plus the rate's.
  const dividend = BigInt(rate) * 10n ** BigInt(pair.buy.currency.scale)
  const divisor = 10n ** BigInt(pair.sell.currency.scale + rateScale)
  if (pair.buy.currency.digital) {
    const fee = divide(sell * share, 10_000n, 1n)
    return {
      pair,
      sell,
      fee,
      buy: divide((sell - fee) * dividend, divisor, pair.buy.quantum),
      rate,
      rateScale,
    }
  }
  const proceeds = divide(sell * dividend, divisor, pair.buy.quantum)
  const fee = divide(proceeds * share, 10_000n, 1n)
  return { pair, sell, fee, buy: proceeds - fee, rate, rateScale }
}

const record = (world: World, quote: Quote, status: ConversionStatus): number => {
  const { conversions } = world
  conversions.pair.push(quote.pair.index)
  conversions.sell.push(quote.sell)
  conversions.buy.push(quote.buy)
  conversions.fee.push(quote.fee)
  conversions.rate.push(quote.rate)
  conversions.rateScale.push(quote.rateScale)
  conversions.status.push(status)
  conversions.createdAt.push(world.clock.now)
  conversions.completedAt.push(0)
  return conversions.pair.size - 1
}

const sellLeg = (world: World, { pair, sell }: Quote, conversion: number): void => {
  world.clock.pause(world.random)
  world.post(pair.sell, false, sell, "CONVERSION", conversion)
}

const buyLeg = (world: World, { pair, buy }: Quote, conversion: number): void => {
  world.clock.pause(world.random)
  world.post(pair.buy, true, buy, "CONVERSION", conversion)
  world.conversions.status.set(conversion, "COMPLETED")
  world.conversions.completedAt.set(conversion, world.clock.now)
}

/** A conversion whose legs come together, or apart, or whose sell leg is given back; false if nothing can be converted. */
export const convert = (world: World): boolean => {
  const { random } = world
  const pair = world.pickPair()
  const quote = pair === undefined ? undefined : draw(world, pair)
  if (quote === undefined || world.room < 2) return false
  const conversion = record(world, quote, "ACTIVE")
  sellLeg(world, quote, conversion)
  const fate = random.below(100)
  if (fate < 75) buyLeg(world, quote, conversion)
  else {
    const accounts = [quote.pair.sell, quote.pair.buy]
    world.defer(accounts, random.between(1, 250), 1, () => {
      if (fate < 94) buyLeg(world, quote, conversion)
      else {
        world.post(quote.pair.sell, true, quote.sell, "CONVERSION", conversion)
        world.conversions.status.set(conversion, "CANCELED")
      }
      return true
    })
  }
  return true
}

/** A conversion without an entry: canceled, or executing until it is completed or canceled later. */
export const unconverted = (world: World, status: "ACTIVE" | "CANCELED"): boolean => {
  const { random, conversions } = world
  const pair = world.pickPair()
  const quote = pair === undefined ? undefined : draw(world, pair)
  if (quote === undefined) return false
  const conversion = record(world, quote, status)
  if (status === "CANCELED") return true
  world.defer([quote.pair.sell, quote.pair.buy], random.between(60, 600), 2, () => {
    if (available(quote.pair.sell) >= quote.sell && random.chance(80)) {
      sellLeg(world, quote, conversion)
      buyLeg(world, quote, conversion)
    } else conversions.status.set(conversion, "CANCELED")
    return true
  })
  return true
}
