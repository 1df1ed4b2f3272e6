/**
 * What of a deposit, a withdrawal or a payout stands in clearing, and what that is worth. What comes back of a movement comes
 * back at that: cash too, so that a return realizes nothing. Each is known for as long as its month is valued; what earlier
 * months brought is read from the journal where something comes back of it (`Movements.ts`).
 */
import type { NativeEntry, NativeLine } from "./Base.ts"
import type { State } from "./State.ts"

/** Smallest units and cents, debit positive. */
export interface Movement {
  readonly accountId: number
  native: bigint
  carrying: bigint
}

export const movementRoles = ["deposits_clearing", "withdrawals_clearing", "payouts_clearing"] as const
const roles: ReadonlySet<string> = new Set(movementRoles)

/** Where the chart books them as income or expense they are done with at once. */
const isOf = ({ account }: NativeLine): boolean => account.held && roles.has(account.role)

const keyOf = (id: string, accountId: number): string => `${id} ${accountId}`

const movementAt = ({ movements }: State, id: string, accountId: number): Movement => {
  const known = movements.get(keyOf(id, accountId))
  if (known !== undefined) return known
  const movement = { accountId, native: 0n, carrying: 0n }
  movements.set(keyOf(id, accountId), movement)
  return movement
}

/** What the line is a part of; undefined for a line of another kind, and for an entry that names no movement. */
export const movementOf = (
  state: State,
  { resourceId }: NativeEntry,
  line: NativeLine,
): Movement | undefined =>
  resourceId !== null && isOf(line) ? movementAt(state, resourceId, line.account.accountId) : undefined

export const addTo = (movement: Movement | undefined, minor: bigint, value: bigint): void => {
  if (movement === undefined) return
  movement.native += minor
  movement.carrying += value
}

/** A line of an earlier month. */
export interface EarlierLine {
  readonly id: string
  readonly accountId: number
  readonly period: string
  readonly native: bigint
  readonly carrying: bigint
}

/** The lines of a movement come by month. What its month's end settled is gone. */
export const recallMovements = (state: State, lines: ReadonlyArray<EarlierLine>): void => {
  state.movements.clear()
  const months = new Map<Movement, string>()
  for (const { accountId, carrying, id, native, period } of lines) {
    const movement = movementAt(state, id, accountId)
    if (months.get(movement) !== period && movement.native === 0n) movement.carrying = 0n
    months.set(movement, period)
    addTo(movement, native, carrying)
  }
  for (const movement of state.movements.values()) if (movement.native === 0n) movement.carrying = 0n
}

/**
 * Takes off what movements carry of which nothing stands any more; gives it by account. It is there where the cash of a return
 * could not leave at what the movement was worth, since there was not so much left.
 */
export const settleMovements = ({ holdings, movements }: State): ReadonlyMap<number, bigint> => {
  const left = new Map<number, bigint>()
  for (const movement of movements.values()) {
    const { accountId, carrying, native } = movement
    if (native !== 0n || carrying === 0n) continue
    movement.carrying = 0n
    const holding = holdings.get(accountId)
    if (holding !== undefined) holding.carrying -= carrying
    left.set(accountId, (left.get(accountId) ?? 0n) + carrying)
  }
  return left
}
