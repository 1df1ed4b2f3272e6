/**
 * On which accounts the amounts against cash stand. An account that a rule or a person named has the role `other` and stands
 * for another role. As far as it holds what that role should hold, nothing needs correcting, and later moves take the amount
 * from there.
 */
import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"
import type { Line } from "./JournalEntry.ts"
import type { Role } from "./Role.ts"

/** The role whose amount a line holds: its account's own role, or the role that a rule's account stands for. */
export const roleMeant = (line: Line): Role => line.replaces ?? line.role

export const placeOf = (line: Line): string => `${roleMeant(line)}|${line.rule?.code ?? ""}`

const accountOf = (line: Line): string => `${line.role}|${line.rule?.code ?? ""}`

const sumOf = (lines: ReadonlyArray<Line>): Amount =>
  lines.reduce((sum, { amount }) => Money.add(sum, amount), Money.zero)

/** One line for each account that is left with anything, in the order in which they came. */
export const merged = (
  lines: ReadonlyArray<Line>,
  keyOf: (line: Line) => string = accountOf,
): ReadonlyArray<Line> => {
  const standing = new Map<string, Line>()
  for (const line of lines) {
    const before = standing.get(keyOf(line))
    standing.set(
      keyOf(line),
      before === undefined ? line : { ...before, amount: Money.add(before.amount, line.amount) },
    )
  }
  return [...standing.values()].filter(({ amount }) => !Money.isZero(amount))
}

const smaller = (left: Amount, right: Amount): Amount =>
  Money.isPositive(Money.subtract(left, right)) ? right : left

/** Takes `amount` from lines of the other sign, each up to what it holds; the remainder goes to `rest`. */
const spread = (amount: Amount, over: ReadonlyArray<Line>, rest: Line): ReadonlyArray<Line> => {
  const moves: Array<Line> = []
  let left = amount
  for (const line of over) {
    if (Money.isZero(left) || Money.isPositive(line.amount) === Money.isPositive(left)) continue
    const most = Money.isPositive(left)
      ? smaller(left, Money.negate(line.amount))
      : Money.negate(smaller(Money.negate(left), line.amount))
    moves.push({ ...line, amount: most })
    left = Money.subtract(left, most)
  }
  return merged([...moves, { ...rest, amount: left }])
}

/**
 * An amount that a person has moved is returned from where it stands, whatever the chart and the rules say about the return. Of
 * a loan's cash that is the excess, which is returned before the amount that was due.
 */
export const returnedFromWhereHeld = (
  target: ReadonlyArray<Line>,
  standing: ReadonlyArray<Line>,
): ReadonlyArray<Line> =>
  target.flatMap((line) => {
    const held = standing.filter((one) => roleMeant(one) === roleMeant(line))
    const isMoved = ({ role }: Line): boolean => line.role === "loan_clearing" && role === "other"
    return spread(line.amount, [...held.filter(isMoved), ...held.filter((one) => !isMoved(one))], line)
  })

/**
 * The lines after which every role holds its amount, itself or in an account that stands for it. Amounts that are posted keep
 * their account: the controller applies changed rules, and this does not do it in passing.
 */
export const shifts = (posted: ReadonlyArray<Line>, target: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const roles = new Set([...posted, ...target].map(roleMeant))
  const moves = [...roles].flatMap((role): ReadonlyArray<Line> => {
    const before = posted.filter((line) => roleMeant(line) === role)
    const after = target.filter((line) => roleMeant(line) === role)
    const amount = Money.subtract(sumOf(after), sumOf(before))
    const [rest] = before
    if (rest === undefined) return after
    return spread(amount, before, rest)
  })
  return merged(moves)
}
