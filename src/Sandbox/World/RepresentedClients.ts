import { type Surface, surface } from "../Http/Surface.ts"
import type { Wire } from "../Http/Wire.ts"
import type { SandboxData } from "../SandboxOptions.ts"
import { Identifiers } from "./Identifier.ts"
import { Movements } from "./Movement.ts"
import { legalAddresses, legalForms, legalNames, remitters } from "./Names.ts"
import { mix32, type NonEmpty } from "./Random.ts"
import { type Currency, currencies, railOf } from "./SandboxCurrency.ts"
import { World } from "./World.ts"

/** What a client's operations work on. */
export interface ClientWorld {
  readonly world: World
  readonly movements: Movements
  readonly answer: Surface
}

type ClientStatus = "ONBOARDING" | "ACTIVE" | "DISABLED"

const day = 86_400_000
const rails = 4
const fiat = currencies.filter(({ digital }) => !digital)

const pick = <A>(list: NonEmpty<A>, bits: number): A => list[bits % list.length] ?? list[0]
const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/**
 * The represented clients. A client's world is made on first use, from the seed and its index alone: which clients are
 * looked at, and in which order, changes nothing.
 */
export class Clients {
  readonly size: number
  readonly #data: SandboxData
  readonly #wire: Wire
  readonly #ids: Identifiers
  /** Before each client, how many of the earlier ones are active. */
  readonly #rank: ReadonlyArray<number>
  readonly #active: number
  readonly #worlds = new Map<number, ClientWorld>()

  constructor(data: SandboxData, wire: Wire) {
    this.size = data.clients
    this.#data = data
    this.#wire = wire
    this.#ids = new Identifiers(data.seed)
    let active = 0
    this.#rank = Array.from({ length: this.size }, (_, index) =>
      this.status(index) === "ACTIVE" ? active++ : active,
    )
    this.#active = active
  }

  idOf(index: number): string {
    return this.#ids.of("client", index)
  }

  indexOf(id: string): number | undefined {
    return this.#ids.indexOf("client", id, this.size)
  }

  /** Of ten or more clients, one in ten is not active. */
  status(index: number): ClientStatus {
    if (this.size < 10 || index % 10 !== 6) return "ACTIVE"
    return index % 20 === 6 ? "ONBOARDING" : "DISABLED"
  }

  #skippedRails(index: number): number {
    return this.#ids.bits("client", index, 1) % rails
  }

  /** The currency and the rail that a client is funded in. */
  funding(index: number): { readonly currency: Currency; readonly rail: string } {
    // Mostly the first currency, of which every client has an account.
    const bits = this.#ids.bits("client", index, 2)
    const currency = (bits % 3 === 0 ? fiat[Math.floor(bits / 3) % fiat.length] : undefined) ?? currencies[0]
    return { currency, rail: railOf(currency, this.#skippedRails(index)) }
  }

  name(index: number): string {
    const bits = this.#ids.bits("client", index, 3)
    if (bits % 8 === 0) return pick(remitters, Math.floor(bits / 8))
    return `${pick(legalNames, Math.floor(bits / 8))} ${index + 1} ${pick(legalForms, Math.floor(bits / 4096))}`
  }

  /** A client as the list of clients shows it. */
  render(index: number): string {
    const { start } = this.#data
    const { currency, rail } = this.funding(index)
    const bits = (purpose: number) => this.#ids.bits("client", index, purpose)
    const number = String(index + 1).padStart(5, "0")
    return JSON.stringify({
      clientId: this.idOf(index),
      code: `CL-${number}`,
      legalEntityName: this.name(index),
      legalAddress: pick(legalAddresses, bits(4)),
      incorporationDate: dateOf(start - (400 + (bits(5) % 9000)) * day),
      registrationDate: dateOf(start - (1 + (bits(6) % 390)) * day),
      status: this.status(index),
      partnerClientId: `partner/${number}`,
      currency: currency.code,
      paymentRails: rail,
      ...(bits(7) % 5 === 0
        ? {}
        : {
            disbursementAccount:
              bits(7) % 7 === 0 ? {} : { accountNumber: `DISB-${bits(8) % 1_000_000_000}` },
          }),
    })
  }

  /** What an active client has; an inactive one has nothing that can be seen. */
  world(index: number): ClientWorld | undefined {
    if (index >= this.size || this.status(index) !== "ACTIVE") return undefined
    const known = this.#worlds.get(index)
    if (known !== undefined) return known
    const { seed, start, end, accountsPerClient, clientEntries } = this.#data
    const asked = clientEntries ?? 20 * accountsPerClient * this.#active
    const rank = this.#rank[index] ?? 0
    const share = Math.floor(asked / this.#active) + (rank < asked % this.#active ? 1 : 0)
    const world = new World(
      // Another seed for each client, so that none of their identifiers meet.
      { seed: mix32(mix32(seed ^ 0x2c1e) + index), accounts: accountsPerClient, entries: share, start, end },
      { payouts: false, skippedRails: this.#skippedRails(index) },
    )
    const movements = new Movements(world)
    movements.generate()
    const owner = { name: this.name(index), flat: true }
    const made = { world, movements, answer: surface(world, this.#wire, start, owner, `client.${index}.`) }
    this.#worlds.set(index, made)
    return made
  }
}
