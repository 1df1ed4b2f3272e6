import { Clock } from "./Clock.ts"
import { Identifiers } from "./Identifier.ts"
import { Later } from "./Later.ts"
import { Random } from "./Random.ts"
import { type Account, available, makeAccounts, makePairs, type Pair } from "./SandboxAccount.ts"
import { Conversions, Deposits, Entries, type Relation, Withdrawals } from "./WorldTables.ts"

/** How many address book entries every account's currency gets. */
export const destinationsPerAccount = 4

/** What decides the data of a world. Times in milliseconds since 1970, UTC. */
export interface WorldData {
  readonly seed: number
  readonly accounts: number
  readonly entries: number
  readonly start: number
  readonly end: number
}

/** Where worlds differ in kind. */
export interface WorldKind {
  /** Whether payouts occur: only the organization has them. */
  readonly payouts: boolean
  /** How many payment rails of each currency its accounts leave out. */
  readonly skippedRails: number
}

const organization: WorldKind = { payouts: true, skippedRails: 0 }

/** All that the fake service knows: accounts, resources and statement entries, and what is still to happen. */
export class World {
  readonly random: Random
  readonly ids: Identifiers
  readonly clock: Clock
  readonly accounts: ReadonlyArray<Account>
  readonly pairs: ReadonlyArray<Pair>
  readonly later = new Later()
  readonly entries = new Entries()
  readonly deposits = new Deposits()
  readonly withdrawals = new Withdrawals()
  readonly conversions = new Conversions()
  /** What address book entries have become since the start, by their number. */
  readonly reviewed = new Map<number, string>()
  payouts = 0
  movements = 0
  /** The number of entries that must not be exceeded. */
  limit: number
  readonly paysOut: boolean
  /** Milliseconds: entries are posted now and say that they happened so long ago. */
  lateBy = 0
  /** Called with every entry. */
  posted: ((entry: number) => void) | undefined
  readonly #open: Array<Account>

  constructor(data: WorldData, kind: WorldKind = organization) {
    this.random = new Random(data.seed)
    this.ids = new Identifiers(data.seed)
    this.clock = new Clock(data.start, data.end, data.entries)
    this.accounts = makeAccounts(this.ids, data.accounts, kind.skippedRails)
    this.pairs = makePairs(this.accounts)
    this.limit = data.entries
    this.paysOut = kind.payouts
    this.#open = this.accounts.filter((account) => !account.dormant)
  }

  /** How many entries may still be posted. */
  get room(): number {
    return this.limit - this.entries.account.size
  }

  /** An account that takes movements. The first one always does. */
  pickAccount(): Account {
    const busy = this.random.chance(25) ? Math.min(6, this.#open.length) : this.#open.length
    const account = this.#open[this.random.below(busy)]
    if (account === undefined) throw new Error("no account takes movements")
    return account
  }

  /** A pair whose accounts both take movements and whose sell side can pay, if one is found in a few tries. */
  pickPair(): Pair | undefined {
    for (let tries = 0; tries < 6; tries++) {
      const pair = this.pairs[this.random.below(this.pairs.length)]
      if (pair === undefined) return undefined
      const closed = [pair.sell, pair.buy].some((account) => account.retiring || account.dormant)
      if (!closed && available(pair.sell) >= pair.minimum) return pair
    }
    return undefined
  }

  /** Lets an account take no new movements. */
  retire(account: Account): void {
    account.retiring = true
    const place = this.#open.indexOf(account)
    if (place >= 0) this.#open.splice(place, 1)
  }

  /** Posts a statement entry now; `amount` in minor units, positive. */
  post(account: Account, credit: boolean, amount: bigint, relation: Relation, resource: number): void {
    const before = available(account)
    const after = credit ? before + amount : before - amount
    if (amount <= 0n || after < 0n) throw new Error(`entry of ${amount} on a balance of ${before}`)
    account.balance = after
    account.entries.push(this.entries.account.size)
    this.entries.account.push(account.index)
    this.entries.credit.push(credit ? 1 : 0)
    this.entries.amount.push(amount)
    this.entries.balanceAfter.push(after)
    this.entries.relation.push(relation)
    this.entries.resource.push(resource)
    this.entries.occurredAt.push(this.clock.now - this.lateBy)
    this.posted?.(this.entries.account.size - 1)
  }

  /**
   * Leaves something to happen some movements from now. It needs room for `entries` entries, and is tried again later
   * when `run` says false.
   */
  defer(accounts: ReadonlyArray<Account>, delay: number, entries: number, run: () => boolean): void {
    for (const account of accounts) account.outstanding++
    this.later.add({ due: this.movements + delay, entries, accounts, run })
  }

  /** Does the first of the tasks left to happen, or puts it off. */
  catchUp(): void {
    const task = this.later.take()
    if (task === undefined) return
    if (task.run()) for (const account of task.accounts) account.outstanding--
    else this.later.add(task, this.movements + 20)
  }
}
