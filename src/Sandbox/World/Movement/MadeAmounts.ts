import type { NonEmpty, Random } from "../Random.ts"
import { type Account, available } from "../SandboxAccount.ts"

/** Powers of ten above the currency's smallest ordinary amount, and how often they come. */
const magnitudes: NonEmpty<readonly [number, number]> = [
  [15, 0],
  [25, 1],
  [35, 2],
  [20, 3],
  [5, 4],
]

/** An amount of ordinary business in minor units, a multiple of the account's quantum. */
export const drawAmount = (random: Random, account: Account): bigint => {
  const unit = 10 ** (account.currency.smallest + random.weighted(magnitudes))
  const round = random.chance(30)
  const raw = round ? unit * random.between(1, 9) : unit + random.below(9 * unit)
  const minor = BigInt(raw)
  // Eight decimals now and then: most transfers carry six.
  const quantum = account.currency.digital && random.chance(70) ? 100n : account.quantum
  return minor - (minor % quantum)
}

/** An amount that the account can spend, or undefined when it has too little. */
export const drawSpending = (random: Random, account: Account): bigint | undefined => {
  const least = 10n ** BigInt(account.currency.smallest)
  const funds = available(account)
  if (funds < 2n * least) return undefined
  const most = (funds * 9n) / 10n
  // Rich accounts spend more, so that balances stay within bounds however long time goes on.
  const rich = funds > least * 1_000_000n && random.chance(40)
  const wish = rich ? funds / 4n : drawAmount(random, account)
  const amount = wish < most ? wish : most
  return amount - (amount % account.quantum)
}

/** A fee on an amount, both in minor units: flat or in proportion, above zero and below half the amount, or zero if there is none. */
export const drawFee = (random: Random, account: Account, amount: bigint): bigint => {
  const unit = 10n ** BigInt(account.currency.smallest)
  const flat = (unit * BigInt(random.pick([50, 75, 100, 250, 500, 1500]))) / 100n
  const share = (amount * BigInt(random.pick([10, 15, 25, 50]))) / 10_000n
  const fee = random.chance(50) ? flat : share
  const whole = fee - (fee % account.quantum)
  return whole * 2n < amount ? whole : 0n
}
