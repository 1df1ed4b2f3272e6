/** Exchange rates as exact fractions, and amounts at them: two decimals of the base currency, half-even. */

/** The value of one major unit of a currency in the base currency. */
export interface Rate {
  readonly numerator: bigint
  /** Positive. */
  readonly denominator: bigint
  /** As in its source; `1/…` for an inverse pair. */
  readonly text: string
  /** The day that the rate is for, `YYYY-MM-DD`. */
  readonly date: string
  readonly source: string
}

/** Decimals of every amount of the base-currency journal. */
export const baseScale = 2

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** `numerator / denominator` as a whole number; a half goes to the even neighbour. `denominator` is not zero. */
export const halfEven = (numerator: bigint, denominator: bigint): bigint => {
  const negative = numerator < 0n !== denominator < 0n
  const [over, under] = [absolute(numerator), absolute(denominator)]
  const whole = over / under
  const twice = (over % under) * 2n
  const up = twice > under || (twice === under && whole % 2n === 1n)
  const size = up ? whole + 1n : whole
  return negative ? -size : size
}

/** An exact number of cents; the denominator is not zero, and may be negative. */
export interface Exact {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The value of one smallest unit of a currency, in cents of the base currency. Never rounded. */
export type Unit = Exact

export const exactly = (cents: bigint): Exact => ({ numerator: cents, denominator: 1n })

const divisor = (a: bigint, b: bigint): bigint => {
  let [left, right] = [absolute(a), absolute(b)]
  while (right !== 0n) [left, right] = [right, left % right]
  return left
}

/** Reduced to lowest terms with a positive denominator, so that repeated divisions do not grow. */
export const reduced = ({ denominator, numerator }: Exact): Exact => {
  const common = divisor(numerator, denominator) * (denominator < 0n ? -1n : 1n)
  return { numerator: numerator / common, denominator: denominator / common }
}

export const plus = (left: Exact, right: Exact): Exact => ({
  numerator: left.numerator * right.denominator + right.numerator * left.denominator,
  denominator: left.denominator * right.denominator,
})

export const times = ({ denominator, numerator }: Unit, minor: bigint): Exact => ({
  numerator: numerator * minor,
  denominator,
})

export const negated = ({ denominator, numerator }: Exact): Exact => ({ numerator: -numerator, denominator })

/** `minor` is not zero. */
export const unitOf = ({ denominator, numerator }: Exact, minor: bigint): Unit => ({
  numerator,
  denominator: denominator * minor,
})

export const rounded = ({ denominator, numerator }: Exact): bigint => halfEven(numerator, denominator)

export const unitAt = ({ denominator, numerator }: Rate, scale: number): Unit => ({
  numerator: numerator * 10n ** BigInt(baseScale),
  denominator: denominator * 10n ** BigInt(scale),
})

/** The value, in cents of the base currency, of an amount in smallest units of a currency with `scale` decimals. */
export const valueAt = (rate: Rate, minor: bigint, scale: number): bigint =>
  rounded(times(unitAt(rate, scale), minor))
