import type { NonEmpty } from "../Random.ts"
import { type Account, available } from "../SandboxAccount.ts"
import { destinationsPerAccount, type World } from "../World.ts"
import type { WithdrawalStatus } from "../WorldTables.ts"
import { drawFee, drawSpending } from "./MadeAmounts.ts"

/**
 * How a fee shows: `none` there is none, `inside` one entry of the source amount, `onTop` one of source amount and fee,
 * `gross` one of the source amount and one of the fee, `net` one of the source amount less fee and one of the fee.
 */
type Shape = "none" | "inside" | "onTop" | "gross" | "net"

/** `paid` at once or `slow`ly; `refused` after the debit; `bounced` back after it was completed. */
type Fate = "paid" | "slow" | "refused" | "bounced"

const shapes: NonEmpty<readonly [number, Shape]> = [
  [25, "none"],
  [30, "inside"],
  [15, "onTop"],
  [15, "gross"],
  [15, "net"],
]

const fates: NonEmpty<readonly [number, Fate]> = [
  [65, "paid"],
  [23, "slow"],
  [7, "refused"],
  [5, "bounced"],
]

interface Plan {
  readonly account: Account
  readonly amount: bigint
  readonly fee: bigint
  readonly shape: Shape
  readonly fate: Fate
  /** Whether a separate fee comes some time after the payment. */
  readonly late: boolean
  /** Whether a return gives the fee back. */
  readonly feeBack: boolean
}

const draw = (world: World, account: Account): Plan | undefined => {
  const { random } = world
  const amount = drawSpending(random, account)
  if (amount === undefined) return undefined
  const shape = random.weighted(shapes)
  const fee = shape === "none" ? 0n : drawFee(random, account, amount)
  return {
    account,
    amount,
    fee,
    shape: fee === 0n ? "none" : shape,
    fate: random.weighted(fates),
    late: random.chance(40),
    feeBack: random.chance(50),
  }
}

/** The amounts of its entries: the payment, and the fee where it has an entry of its own. */
const partsOf = ({ amount, fee, shape }: Plan): readonly [payment: bigint, fee: bigint | undefined] => {
  switch (shape) {
    case "none":
    case "inside":
      return [amount, undefined]
    case "onTop":
      return [amount + fee, undefined]
    case "gross":
      return [amount, fee]
    case "net":
      return [amount - fee, fee]
  }
}

const record = (world: World, plan: Plan, status: WithdrawalStatus): number => {
  const { withdrawals, random } = world
  withdrawals.account.push(plan.account.index)
  withdrawals.amount.push(plan.amount)
  withdrawals.fee.push(plan.fee)
  // The last entry of each account's address book is still under review and receives nothing.
  const place = random.below(destinationsPerAccount - 1)
  withdrawals.destination.push(plan.account.index * destinationsPerAccount + place)
  withdrawals.status.push(status)
  withdrawals.createdAt.push(world.clock.now)
  return withdrawals.account.size - 1
}

/** Credits the account with what comes back; the fee comes with it, in an entry of its own, or not at all. */
const giveBack = (world: World, plan: Plan, withdrawal: number): void => {
  const { account, fee, shape, feeBack } = plan
  const [payment, separate] = partsOf(plan)
  const kept = separate === undefined && shape !== "none" && !feeBack ? fee : 0n
  world.post(account, true, payment - kept, "WITHDRAWAL", withdrawal)
  if (separate === undefined || !feeBack) return
  world.clock.pause(world.random)
  world.post(account, true, separate, "WITHDRAWAL", withdrawal)
}

/** What becomes of it once all its debits are posted. */
const conclude = (world: World, plan: Plan, withdrawal: number): void => {
  const { random } = world
  const { status } = world.withdrawals
  const { account, fate } = plan
  const waiting = random.pick<WithdrawalStatus>(["PENDING", "PENDING", "HELD"])
  status.set(withdrawal, fate === "paid" || fate === "bounced" ? "COMPLETED" : waiting)
  if (fate === "paid") return
  world.defer([account], random.between(2, 300), fate === "slow" ? 0 : 2, () => {
    if (fate === "slow") status.set(withdrawal, "COMPLETED")
    else giveBack(world, plan, withdrawal)
    if (fate === "refused") status.set(withdrawal, random.chance(60) ? "REJECTED" : "CANCELED")
    return true
  })
}

/** Debits the account; the status stays open until a late fee has come too. */
const execute = (world: World, plan: Plan, withdrawal: number): void => {
  const { account, late } = plan
  const [payment, fee] = partsOf(plan)
  world.clock.pause(world.random)
  world.post(account, false, payment, "WITHDRAWAL", withdrawal)
  if (fee === undefined) {
    conclude(world, plan, withdrawal)
    return
  }
  const charge = (): boolean => {
    if (account.balance < fee) return false
    world.clock.pause(world.random)
    world.post(account, false, fee, "WITHDRAWAL", withdrawal)
    conclude(world, plan, withdrawal)
    return true
  }
  // What is charged at once can be paid: the cost was checked as a whole.
  if (late) world.defer([account], world.random.between(1, 250), 1, charge)
  else charge()
}

const costOf = ({ amount, fee, shape }: Plan): bigint =>
  shape === "onTop" || shape === "gross" ? amount + fee : amount

/** An outgoing payment; false if the account has too little for it or its entries have no room. */
export const withdraw = (world: World, account: Account): boolean => {
  const plan = draw(world, account)
  if (plan === undefined || costOf(plan) > available(account) || world.room < 2) return false
  execute(world, plan, record(world, plan, "PENDING"))
  return true
}

/** Pays out all of an account, without a fee. */
export const withdrawAll = (world: World, account: Account): void => {
  const amount = available(account)
  const plan: Plan = { account, amount, fee: 0n, shape: "none", fate: "paid", late: false, feeBack: false }
  execute(world, plan, record(world, plan, "PENDING"))
}

/** A withdrawal without an entry: refused, never confirmed, or executed or refused later. False if no account can pay. */
export const undebited = (world: World, status: Exclude<WithdrawalStatus, "COMPLETED">): boolean => {
  const { random, withdrawals } = world
  const plan = draw(world, world.pickAccount())
  if (plan === undefined) return false
  const withdrawal = record(world, plan, status)
  if (status === "CANCELED" || status === "REJECTED") return true
  // Some are never confirmed.
  if (status === "PENDING_CONFIRMATION" && random.chance(50)) return true
  world.defer([plan.account], random.between(60, 600), 2, () => {
    const payable = costOf(plan) <= available(plan.account)
    if (payable && random.chance(80)) {
      withdrawals.status.set(withdrawal, "PENDING")
      execute(world, plan, withdrawal)
    } else withdrawals.status.set(withdrawal, random.chance(50) ? "REJECTED" : "CANCELED")
    return true
  })
  return true
}
