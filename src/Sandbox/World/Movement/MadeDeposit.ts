import type { NonEmpty } from "../Random.ts"
import type { Account } from "../SandboxAccount.ts"
import type { World } from "../World.ts"
import type { DepositStatus } from "../WorldTables.ts"
import { drawAmount, drawFee } from "./MadeAmounts.ts"

/**
 * How a fee shows: `absent` none stated, `zero` a stated zero, `netted` one entry of amount less fee, `separate` an
 * entry of the amount and at once one of the fee, `late` the fee, and its statement on the deposit, some time later.
 */
type Shape = "absent" | "zero" | "netted" | "separate" | "late"

const shapes: NonEmpty<readonly [number, Shape]> = [
  [35, "absent"],
  [10, "zero"],
  [25, "netted"],
  [20, "separate"],
  [10, "late"],
]

interface Plan {
  readonly account: Account
  readonly amount: bigint
  readonly fee: bigint
  readonly shape: Shape
}

const draw = (world: World, account: Account): Plan => {
  const amount = drawAmount(world.random, account)
  const fee = drawFee(world.random, account, amount)
  const drawn = world.random.weighted(shapes)
  const shape = fee === 0n && drawn !== "absent" ? "zero" : drawn
  return { account, amount, fee, shape }
}

const record = (world: World, { account, amount, fee, shape }: Plan, status: DepositStatus): number => {
  const { deposits } = world
  const stated = shape === "absent" || shape === "late" ? -1n : shape === "zero" ? 0n : fee
  deposits.account.push(account.index)
  deposits.amount.push(amount)
  deposits.fee.push(stated)
  deposits.status.push(status)
  deposits.createdAt.push(world.clock.now)
  return deposits.account.size - 1
}

const entriesOf = (plan: Plan): number => (plan.shape === "separate" ? 2 : 1)

const chargeLater = (world: World, { account, fee }: Plan, deposit: number): void =>
  world.defer([account], world.random.between(1, 250), 1, () => {
    if (account.balance < fee) return false
    world.post(account, false, fee, "DEPOSIT", deposit)
    world.deposits.fee.set(deposit, fee)
    return true
  })

/** Credits the account and completes the deposit. */
const credit = (world: World, plan: Plan, deposit: number): void => {
  const { account, amount, fee, shape } = plan
  world.clock.pause(world.random)
  world.post(account, true, shape === "netted" ? amount - fee : amount, "DEPOSIT", deposit)
  if (shape === "separate") {
    world.clock.pause(world.random)
    world.post(account, false, fee, "DEPOSIT", deposit)
  }
  if (shape === "late") chargeLater(world, plan, deposit)
  world.deposits.status.set(deposit, "COMPLETED")
}

/** An incoming payment that is credited at once. */
export const deposit = (world: World, account: Account): void => {
  const drawn = draw(world, account)
  const plan: Plan = entriesOf(drawn) <= world.room ? drawn : { ...drawn, shape: "absent" }
  credit(world, plan, record(world, plan, "COMPLETED"))
}

/** An incoming payment without an entry: refused, or pending or held until it is credited or refused later. */
export const uncredited = (world: World, status: "PENDING" | "HELD" | "CANCELED" | "REJECTED"): boolean => {
  const { random, deposits } = world
  const plan = draw(world, world.pickAccount())
  const deposit = record(world, plan, status)
  if (status === "CANCELED" || status === "REJECTED") return true
  const settle = () => {
    const next = random.weighted<DepositStatus>([
      [70, "COMPLETED"],
      [15, "REJECTED"],
      [15, "CANCELED"],
    ])
    if (next === "COMPLETED") credit(world, plan, deposit)
    else deposits.status.set(deposit, next)
    return true
  }
  world.defer([plan.account], random.between(60, 600), entriesOf(plan), () => {
    if (status === "HELD" || random.chance(70)) return settle()
    deposits.status.set(deposit, "HELD")
    world.defer([plan.account], random.between(20, 300), entriesOf(plan), settle)
    return true
  })
  return true
}
