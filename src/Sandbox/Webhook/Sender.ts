import { Agent as HttpAgent, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { Random } from "../World/Random.ts"
import type { Event } from "./AnnouncedEvents.ts"
import type { Signed } from "./SigningKeys.ts"

/** What can go wrong between the service and whoever listens, each in percent of events. */
export const troubles = ["duplicates", "reorder", "drop", "tamper"] as const
export type Trouble = (typeof troubles)[number]
export type TroublePlan = ReadonlyMap<Trouble, number>

const isTrouble = (name: string): name is Trouble => troubles.some((known) => known === name)

/** `none`, or `name[:percent]` separated by commas; a text says what is wrong. */
export const readTroubles = (text: string): TroublePlan | string => {
  const plan = new Map<Trouble, number>()
  if (text === "none" || text === "") return plan
  for (const part of text.split(",")) {
    const [name = "", percent = "10", ...more] = part.split(":")
    if (!isTrouble(name) || more.length > 0 || !/^(?:100|\d{1,2})$/.test(percent)) {
      return `found ${JSON.stringify(part)}, expected none or ${troubles.join(", ")}, each with :PERCENT if need be`
    }
    plan.set(name, Number(percent))
  }
  return plan
}

/** Requests under way at once. */
const lanes = 8
/** Attempts at one event, the first included; the waits between them double. Milliseconds. */
const attempts = 6
const firstWait = 250
const patience = 10_000

interface Queued {
  readonly body: string
  /** Changed after it was signed. */
  readonly tampered: boolean
  readonly tries: number
}

const noted = () => ({
  accepted: 0,
  refused: 0,
  unreachable: 0,
  retried: 0,
  givenUp: 0,
  duplicates: 0,
  reordered: 0,
  dropped: 0,
  tampered: 0,
  tamperedAccepted: 0,
})

/** Sends signed events in the background, with the planned troubles. */
export class Sender {
  plan: TroublePlan = new Map()
  readonly counts = noted()
  readonly #url: URL
  readonly #sign: (body: Uint8Array) => Signed
  readonly #random: Random
  readonly #queue: Array<Queued> = []
  readonly #agent: HttpAgent
  readonly #timers = new Set<NodeJS.Timeout>()
  #busy = 0
  #closed = false

  constructor(url: string, sign: (body: Uint8Array) => Signed, random: Random) {
    this.#url = new URL(url)
    this.#sign = sign
    this.#random = random
    const options = { keepAlive: true, maxSockets: lanes }
    this.#agent = this.#url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** Events that are neither accepted nor given up yet. */
  get pending(): number {
    return this.#queue.length + this.#busy + this.#timers.size
  }

  #happens(trouble: Trouble): boolean {
    const percent = this.plan.get(trouble)
    return percent !== undefined && this.#random.chance(percent)
  }

  add({ body }: Event): void {
    if (this.#happens("drop")) {
      this.counts.dropped++
      return
    }
    if (this.#happens("tamper")) {
      this.counts.tampered++
      this.#queue.push({ body, tampered: true, tries: attempts })
    }
    const item = { body, tampered: false, tries: 1 }
    const place = this.#queue.length - this.#random.below(Math.min(this.#queue.length, 50) + 1)
    if (this.#happens("reorder")) {
      this.counts.reordered++
      this.#queue.splice(place, 0, item)
    } else this.#queue.push(item)
    if (this.#happens("duplicates")) {
      this.counts.duplicates++
      this.#queue.push(item)
    }
    this.#pump()
  }

  #pump(): void {
    while (!this.#closed && this.#busy < lanes) {
      const item = this.#queue.shift()
      if (item === undefined) return
      this.#busy++
      void this.#post(item).then((status) => {
        this.#busy--
        this.#judge(item, status)
        this.#pump()
      })
    }
  }

  #judge(item: Queued, status: number | undefined): void {
    if (status === 200) {
      this.counts.accepted++
      if (item.tampered) this.counts.tamperedAccepted++
      return
    }
    if (status === undefined) this.counts.unreachable++
    else this.counts.refused++
    if (item.tampered || this.#closed) return
    if (item.tries >= attempts) {
      this.counts.givenUp++
      return
    }
    this.counts.retried++
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        this.#queue.push({ ...item, tries: item.tries + 1 })
        this.#pump()
      },
      firstWait * 2 ** (item.tries - 1),
    )
    this.#timers.add(timer)
  }

  /** The status that came back; undefined where none did. */
  #post({ body, tampered }: Queued): Promise<number | undefined> {
    const bytes = Buffer.from(body)
    const { algorithm, keyId, signature } = this.#sign(bytes)
    // After the signature: one digit of the identifier becomes another one.
    if (tampered) bytes[10] = bytes[10] === 0x31 ? 0x32 : 0x31
    const headers = {
      "content-type": "application/json",
      "content-length": bytes.length,
      "x-signature": signature,
      "x-key-id": keyId,
      "x-algorithm": algorithm,
    }
    const ask = this.#url.protocol === "https:" ? httpsRequest : httpRequest
    return new Promise((resolve) => {
      const options = { method: "POST", headers, agent: this.#agent, timeout: patience }
      const sent = ask(this.#url, options, (response) => {
        response.resume()
        response.once("close", () => resolve(response.statusCode))
      })
      sent.once("timeout", () => sent.destroy())
      sent.once("error", () => resolve(undefined))
      sent.end(bytes)
    })
  }

  close(): void {
    this.#closed = true
    this.#queue.length = 0
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#agent.destroy()
  }
}
