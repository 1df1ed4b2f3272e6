/**
 * The clearing balance of a deposit, a withdrawal or a payout, and its value. A return is valued at the movement's value,
 * cash included, so that it realizes nothing. A movement is known while its month is valued; where a later month returns some
 * of it, its lines come from the journal (`History.ts`). Only a return that came before its movement (a late entry is dated
 * so) is kept in the state from month to month: there the movement itself reduces the balance.
 */
import type { NativeEntry, NativeLine } from "../Base.ts"
import { type Movement, movementKey, type State } from "../ValuationState.ts"

export const movementRoles = ["deposits_clearing", "withdrawals_clearing", "payouts_clearing"] as const
const roles: ReadonlySet<string> = new Set(movementRoles)

/** If the chart books them as income or expense, nothing is carried. */
const isOf = ({ account }: NativeLine): boolean => account.held && roles.has(account.role)

type Place = Pick<Movement, "id" | "accountId" | "role">

const movementAt = ({ movements }: State, { accountId, id, role }: Place): Movement => {
  const known = movements.get(movementKey(id, accountId))
  if (known !== undefined) return known
  const movement = { id, accountId, role, native: 0n, carrying: 0n }
  movements.set(movementKey(id, accountId), movement)
  return movement
}

/** Whether more was returned than had come. */
const isBefore = ({ native, role }: Movement): boolean =>
  native !== 0n && native < 0n !== (role === "deposits_clearing")

export const forgetMovements = ({ movements }: State): void => {
  for (const [key, movement] of movements) if (!isBefore(movement)) movements.delete(key)
}

/** The movement of a line; undefined for a line of another kind, and for an entry that names no movement. */
export const movementOf = (
  state: State,
  { resourceId }: NativeEntry,
  line: NativeLine,
): Movement | undefined =>
  resourceId !== null && isOf(line) ? movementAt(state, { ...line.account, id: resourceId }) : undefined

export const addTo = (movement: Movement | undefined, minor: bigint, value: bigint): void => {
  if (movement === undefined) return
  movement.native += minor
  movement.carrying += value
}

/** A line of an earlier month. */
export interface EarlierLine {
  readonly id: string
  readonly accountId: number
  readonly role: string
  readonly period: string
  readonly native: bigint
  readonly carrying: bigint
}

/** Restores movements from their lines, in order of months. An amount that a month's end settled is not restored. */
export const recallMovements = (state: State, lines: ReadonlyArray<EarlierLine>): void => {
  for (const { accountId, id } of lines) state.movements.delete(movementKey(id, accountId))
  const months = new Map<Movement, string>()
  for (const line of lines) {
    const { carrying, native, period } = line
    const movement = movementAt(state, line)
    if (months.get(movement) !== period && movement.native === 0n) movement.carrying = 0n
    months.set(movement, period)
    addTo(movement, native, carrying)
  }
  for (const movement of months.keys()) if (movement.native === 0n) movement.carrying = 0n
}

/**
 * Removes the carrying amount of movements without a balance; returns it by account. It is left over where the cash of a return
 * could not leave at the movement's value, because the account held too little.
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
