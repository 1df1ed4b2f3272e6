import { drawFee, drawSpending } from "./Movement/MadeAmounts.ts"
import { convert, unconverted } from "./Movement/MadeConversion.ts"
import { deposit, uncredited } from "./Movement/MadeDeposit.ts"
import { undebited, withdraw, withdrawAll } from "./Movement/MadeWithdrawal.ts"
import { type Account, available, retirements } from "./SandboxAccount.ts"
import type { World } from "./World.ts"

/** A payout has no resource of its own on the service: its entry is all there is. Some come back. */
const payOut = (world: World, account: Account): boolean => {
  const { random } = world
  const amount = drawSpending(random, account)
  if (amount === undefined) return false
  const anonymous = random.chance(10)
  const payout = anonymous ? 0 : world.payouts++
  world.post(account, false, amount, anonymous ? "ANONYMOUS_PAYOUT" : "PAYOUT", payout)
  if (anonymous || random.chance(90)) return true
  world.defer([account], random.between(5, 200), 1, () => {
    world.post(account, true, amount, "PAYOUT", payout)
    return true
  })
  return true
}

/** A ledger adjustment: an entry without a related resource, in either direction. */
const adjust = (world: World, account: Account): boolean => {
  const { random } = world
  const amount = drawFee(random, account, 10n ** BigInt(account.currency.smallest + 4))
  const credit = random.chance(50)
  if (!credit && available(account) < amount) return false
  world.post(account, credit, amount, "NONE", 0)
  return true
}

/** Every state in which a resource has no entry, in turn, so that all of them occur; false if none could be made. */
const silent: ReadonlyArray<(world: World) => boolean> = [
  (world) => uncredited(world, "PENDING"),
  (world) => undebited(world, "PENDING_CONFIRMATION"),
  (world) => uncredited(world, "HELD"),
  (world) => undebited(world, "PENDING"),
  (world) => unconverted(world, "ACTIVE"),
  (world) => uncredited(world, "CANCELED"),
  (world) => undebited(world, "HELD"),
  (world) => uncredited(world, "REJECTED"),
  (world) => undebited(world, "CANCELED"),
  (world) => unconverted(world, "CANCELED"),
  (world) => undebited(world, "REJECTED"),
]

/** Makes movements happen in a world, one by one. */
export class Movements {
  #world: World
  #entries: number
  #silent = 0
  #retirements: Array<ReturnType<typeof retirements>[number]>

  constructor(world: World) {
    this.#world = world
    this.#entries = world.limit
    this.#retirements = [...retirements(world.accounts)]
  }

  /** Lets the initial entries happen, exactly as many as asked for. */
  generate(): void {
    while (this.#world.room > 0) {
      this.#begin()
      if (this.#world.room > 0) this.#happen()
    }
    // Whatever the seed, the end of the period shows every state.
    if (this.#entries > 0) {
      for (const make of silent) for (let tries = 0; tries < 20 && !make(this.#world); tries++);
    }
    this.#world.clock.release()
    this.#world.limit = Number.POSITIVE_INFINITY
  }

  /** Lets `count` more movements happen, and with each of them one of the things that earlier ones left open. */
  advance(count: number): void {
    for (let done = 0; done < count; done++) {
      this.#begin()
      this.#world.catchUp()
      this.#happen()
    }
  }

  /** Time passes: what is due happens, as far as there is room for its entries. */
  #begin(): void {
    const world = this.#world
    world.movements++
    world.clock.advance(world.random, world.entries.account.size)
    this.#retire()
    while ((world.later.firstDue ?? Number.POSITIVE_INFINITY) <= world.movements) {
      if ((world.later.first?.entries ?? 0) > world.room) break
      world.catchUp()
    }
  }

  #happen(): void {
    const world = this.#world
    const account = world.pickAccount()
    const kind = world.random.below(100)
    if (kind >= 97) silent[this.#silent++ % silent.length]?.(world)
    // If there is too little money or room for the intended movement, a deposit happens instead.
    else if (kind < 45 || !this.#attempt(kind, account)) deposit(world, account)
  }

  #attempt(kind: number, account: Account): boolean {
    const world = this.#world
    if (kind < 75) return withdraw(world, account)
    if (kind < 90) return convert(world)
    if (kind < 95) return world.paysOut ? payOut(world, account) : withdraw(world, account)
    return adjust(world, account)
  }

  #retire(): void {
    const world = this.#world
    for (;;) {
      const next = this.#retirements[0]
      if (next === undefined || world.entries.account.size * 100 < next.at * this.#entries) return
      this.#retirements.shift()
      const { account, to } = next
      world.retire(account)
      if (to === "SUSPENDED") account.status = to
      else this.#close(account)
    }
  }

  /** Closes an account once nothing is left open on it and all of its money has been paid out. */
  #close(account: Account): void {
    const world = this.#world
    world.defer([], 1, 1, () => {
      if (account.outstanding > 0) return false
      if (account.balance > 0n) withdrawAll(world, account)
      account.status = "CLOSED"
      return true
    })
  }
}
