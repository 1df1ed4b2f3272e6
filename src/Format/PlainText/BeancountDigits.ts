/**
 * What beancount can compute with: 28 significant digits, Python's default decimal context. It reads a longer number and
 * rounds it without a word as soon as it adds or negates it, so bean-check finds a transaction or an assertion wrong, and a
 * balance that nothing asserts is shown rounded. Zeros at the end are no digits that could be lost.
 */
import { print } from "../../Common/MinorUnits.ts"
import type { Account } from "../Entry.ts"
import { Unholdable } from "../Table/Journals.ts"

const digits = 28
const longer = 10n ** BigInt(digits)

const magnitude = (minor: bigint): bigint => (minor < 0n ? -minor : minor)

/** Fails if an amount has more digits; `what` says whose it is, after the amount. */
export const checkDigits = (minor: bigint, { currency, scale }: Account, what: () => string): void => {
  const size = magnitude(minor)
  if (size < longer || size.toString().replace(/0+$/, "").length <= digits) return
  throw new Unholdable(
    `${print(minor, scale)} ${currency}${what()} has more than the ${digits} digits with which beancount computes`,
  )
}

/** Checks the lines of a transaction, and their sums in the order in which beancount adds them up. */
export const checkLines = (
  lines: ReadonlyArray<{ readonly account: Account; readonly minor: bigint }>,
  whose: string,
): void => {
  // No amount and no sum on the way is larger than this.
  if (lines.reduce((sum, { minor }) => sum + magnitude(minor), 0n) < longer) return
  const sums = new Map<string, bigint>()
  for (const [at, { account, minor }] of lines.entries()) {
    checkDigits(minor, account, () => ` of ${whose}`)
    const sum = (sums.get(account.currency) ?? 0n) + minor
    sums.set(account.currency, sum)
    checkDigits(sum, account, () => `, what lines 1 to ${at + 1} of ${whose} add up to,`)
  }
}
