import { Events } from "./Webhook/AnnouncedEvents.ts"
import { readTroubles, Sender } from "./Webhook/Sender.ts"
import { type SigningAlgorithm, SigningKeys } from "./Webhook/SigningKeys.ts"
import type { Identifiers } from "./World/Identifier.ts"
import { Random } from "./World/Random.ts"
import type { World } from "./World/World.ts"

/** Where events go, and how they are signed. */
export interface WebhookTarget {
  readonly url: string | undefined
  readonly algorithm: SigningAlgorithm
}

/** The service's webhooks: its public keys, and signed events for what happens from now on, if anybody listens. */
export class Webhooks {
  readonly #algorithm: SigningAlgorithm
  readonly #keys: SigningKeys
  readonly #sender: Sender | undefined
  readonly #events: Events

  constructor(seed: number, ids: Identifiers, { algorithm, url }: WebhookTarget) {
    this.#algorithm = algorithm
    this.#keys = new SigningKeys(seed, ids)
    const sign = (body: Uint8Array) => this.#keys.sign(algorithm, body)
    this.#sender = url === undefined ? undefined : new Sender(url, sign, new Random(seed ^ 0x3eb))
    this.#events = new Events(ids, (event) => this.#sender?.add(event))
  }

  /** Runs something that happens in a world, and announces it. */
  during(world: World, client: string | undefined, happen: () => void): void {
    if (this.#sender === undefined) {
      happen()
      return
    }
    this.#events.watch(world, client)
    happen()
    this.#events.settle(world, client)
  }

  /** Lets an address book entry become something else, and announces it. */
  review(world: World, client: string | undefined, index: number, status: string): void {
    world.reviewed.set(index, status)
    if (this.#sender !== undefined) this.#events.reviewed(world, client, index, status)
  }

  renderKeys(createdAt: string): ReadonlyArray<string> {
    return this.#keys.render(createdAt)
  }

  /** Gives the identifier of the new key. */
  rotate(): string {
    return this.#keys.rotate(this.#algorithm)
  }

  /** What is wrong with the text, or undefined. */
  set(troubles: string): string | undefined {
    const plan = readTroubles(troubles)
    if (typeof plan === "string") return plan
    if (this.#sender !== undefined) this.#sender.plan = plan
    return undefined
  }

  get state(): object {
    if (this.#sender === undefined) return { events: 0, pending: 0 }
    return { events: this.#events.made, pending: this.#sender.pending, ...this.#sender.counts }
  }

  close(): void {
    this.#sender?.close()
  }
}
