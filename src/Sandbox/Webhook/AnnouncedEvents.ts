import type { Identifiers } from "../World/Identifier.ts"
import { printAmount } from "../World/SandboxCurrency.ts"
import type { World } from "../World/World.ts"

/** An event before it is sent. */
export interface Event {
  readonly id: string
  readonly body: string
}

const resourceOf = {
  DEPOSIT: "deposit",
  WITHDRAWAL: "withdrawal",
  CONVERSION: "conversion",
  PAYOUT: "payout",
} as const

const isResource = (relation: string): relation is keyof typeof resourceOf =>
  Object.hasOwn(resourceOf, relation)

/** What the movement's states are called in events; a state that is not here is not announced. */
const ofDeposit = {
  COMPLETED: "completed",
  HELD: "held",
  CANCELED: "canceled",
  REJECTED: "rejected",
} as const
const ofWithdrawal = { PENDING: "created", ...ofDeposit } as const
const ofConversion = { ACTIVE: "created", COMPLETED: "completed", CANCELED: "canceled" } as const

const ofDestination = {
  PENDING_REVIEW: "created",
  ACTIVE: "activated",
  SUSPENDED: "suspended",
  CLOSED: "closed",
} as const

const wordFor = (words: Readonly<Record<string, string>>, status: string): string | undefined => words[status]

/** Turns what happens in worlds into the events that the interface describes, in the order in which it happens. */
export class Events {
  readonly #ids: Identifiers
  readonly #emit: (event: Event) => void
  readonly #watched = new Map<World, ReadonlyArray<string>>()
  #made = 0

  constructor(ids: Identifiers, emit: (event: Event) => void) {
    this.#ids = ids
    this.#emit = emit
  }

  get made(): number {
    return this.#made
  }

  #event(world: World, client: string | undefined, type: string, data: object): void {
    const id = this.#ids.of("event", this.#made++)
    const timestamp = new Date(world.clock.now).toISOString()
    const whole = client === undefined ? data : { ...data, clientId: client }
    this.#emit({ id, body: JSON.stringify({ id, timestamp, type, data: whole }) })
  }

  /** Announces from now on what happens in a world: the organization's, or a client's. */
  watch(world: World, client: string | undefined): void {
    if (this.#watched.has(world)) return
    const send = (type: string, data: object) => this.#event(world, client, type, data)
    world.posted = (entry) => this.#posted(world, entry, send)
    world.deposits.status.watch = (index, status, isNew) => {
      const data = { depositId: world.ids.of("deposit", index), status }
      if (isNew) send("deposit.created", data)
      const word = wordFor(ofDeposit, status)
      if (word !== undefined) send(`deposit.${word}`, data)
    }
    world.withdrawals.status.watch = (index, status) => {
      const word = wordFor(ofWithdrawal, status)
      if (word !== undefined) {
        send(`withdrawal.${word}`, { withdrawalId: world.ids.of("withdrawal", index), status })
      }
    }
    world.conversions.status.watch = (index, status) => {
      const word = wordFor(ofConversion, status)
      const pairId = world.ids.of("pair", world.conversions.pair.at(index))
      const data = { conversionId: world.ids.of("conversion", index), pairId, status }
      if (word !== undefined) send(`conversion.${word}`, data)
    }
    this.#watched.set(
      world,
      world.accounts.map(({ status }) => status),
    )
  }

  #posted(world: World, entry: number, send: (type: string, data: object) => void): void {
    const { entries, ids } = world
    const account = world.accounts[entries.account.at(entry)]
    if (account === undefined) return
    const relation = entries.relation.at(entry)
    send(entries.credit.at(entry) === 1 ? "account.credited" : "account.debited", {
      accountId: account.id,
      amount: printAmount(entries.amount.at(entry), account.currency),
      currency: account.currency.code,
      ...(relation === "ANONYMOUS_PAYOUT" ? { relatedResourceType: "PAYOUT" } : {}),
      ...(isResource(relation)
        ? {
            relatedResourceType: relation,
            relatedResourceId: ids.of(resourceOf[relation], entries.resource.at(entry)),
          }
        : {}),
      occurredAt: new Date(entries.occurredAt.at(entry)).toISOString(),
    })
  }

  /** Announces what an address book entry has become. */
  reviewed(world: World, client: string | undefined, index: number, status: string): void {
    const word = wordFor(ofDestination, status)
    const data = { destinationId: world.ids.of("destination", index), status }
    if (word !== undefined) this.#event(world, client, `destination.${word}`, data)
  }

  /** Accounts do not say when their status changes: looked at after something has happened. */
  settle(world: World, client: string | undefined): void {
    const before = this.#watched.get(world)
    if (before === undefined) return
    for (const { id, index, status } of world.accounts) {
      if (before[index] === status) continue
      const word = status === "ACTIVE" ? "activated" : status.toLowerCase()
      this.#event(world, client, `account.${word}`, { accountId: id, status })
    }
    this.#watched.set(
      world,
      world.accounts.map(({ status }) => status),
    )
  }
}
