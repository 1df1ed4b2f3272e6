/** The tools with which the movements of one book are made: chance, names, times and amounts. */
import { day, monthStart, timeOf } from "./Calendar.ts"
import { decimal, scaleOf } from "./Decimals.ts"
import type { Time } from "./Facts.ts"
import type { BookName, Event, Name } from "./History.ts"
import type { Random } from "./Random.ts"

export interface Timed {
  readonly at: Time
  readonly event: Event
}

export interface AccountOf {
  readonly name: Name
  readonly currency: string
}

/** The features of the design that the generator may use: those that are not implemented yet are left out. */
export interface Features {
  readonly conversions: boolean
  readonly loans: boolean
  readonly zeroRows: boolean
  readonly enriched: boolean
  readonly goneAccounts: boolean
  /** A movement with a fee may come in several entries. */
  readonly splitFees: boolean
}

export interface Span {
  readonly timeZone: string
  /** The first month and the last, as `Calendar` counts them. */
  readonly first: number
  readonly last: number
}

const minute = 60_000

export class Maker {
  readonly random: Random
  readonly book: BookName
  readonly span: Span
  readonly features: Features
  readonly steps: Array<Timed> = []
  private readonly prefix: string
  private names = 0

  constructor(random: Random, book: BookName, span: Span, features: Features) {
    this.random = random
    this.book = book
    this.span = span
    this.features = features
    this.prefix = book === "org" ? "" : `${book}.`
  }

  /** A name that is unique in the history. */
  name(kind: string): Name {
    this.names += 1
    return `${this.prefix}${kind}${this.names}`
  }

  /** A time within the history in epoch milliseconds, often within two hours of a month's end. */
  time(): number {
    const { first, last, timeZone } = this.span
    const { random } = this
    if (random.chance(0.4)) {
      const end = monthStart(timeZone, random.whole(first + 1, last))
      // Sometimes exactly at the month's end.
      return random.chance(0.2) ? end : end + random.whole(-120, 120) * minute
    }
    const from = monthStart(timeZone, first)
    const to = monthStart(timeZone, last + 1) - 3 * day
    return from + random.whole(0, Math.floor((to - from) / minute)) * minute
  }

  /** A time after another one: soon, days or a month later, but within the history. */
  later(after: number): number {
    const { random, span } = this
    const most = monthStart(span.timeZone, span.last + 1) - day
    const gap = random.weighted([
      [4, random.whole(0, 5)],
      [3, random.whole(5, 600)],
      [2, random.whole(600, 6 * 1440)],
      [1, random.whole(20 * 1440, 35 * 1440)],
    ])
    return Math.min(after + gap * minute, most)
  }

  put(at: number, event: Event): void {
    this.steps.push({ at: timeOf(at), event })
  }

  /** From one to a few thousand units, with every digit of the currency. */
  amount(currency: string): bigint {
    const { random } = this
    const scale = scaleOf(currency)
    const whole = BigInt(
      random.weighted([
        [3, random.whole(1, 50)],
        [3, random.whole(50, 5_000)],
        [1, random.whole(5_000, 900_000)],
      ]),
    )
    const fraction =
      scale === 0 || random.chance(0.3) ? 0n : BigInt(random.whole(0, 10 ** Math.min(scale, 8) - 1))
    return whole * 10n ** BigInt(scale) + fraction
  }

  /** A part of an amount, above zero and smaller than all of it; undefined where it has no such part. */
  part(amount: bigint): bigint {
    if (amount <= 1n) return amount
    const found = (amount * BigInt(this.random.whole(1, 999))) / 1_000n
    return found <= 0n ? 1n : found >= amount ? amount - 1n : found
  }

  /** A small fee of an amount. */
  fee(amount: bigint): bigint {
    const found = (amount * BigInt(this.random.whole(1, 60))) / 1_000n
    return found <= 0n ? 1n : found
  }

  text(amount: bigint, currency: string): string {
    return decimal(amount, currency)
  }

  /** Adds a posted movement, and answers its name. */
  entry(
    at: number,
    account: AccountOf,
    signed: bigint,
    related: { readonly type: string; readonly of: Name } | null,
  ): Name {
    const entry = this.name("e")
    const late = this.random.chance(0.06)
    this.put(at, {
      what: "entry",
      entry,
      account: account.name,
      type: signed > 0n ? "CREDIT" : "DEBIT",
      amount: decimal(signed < 0n ? -signed : signed, account.currency),
      related,
      ...(late ? { occurredAt: timeOf(at - this.random.whole(1, 40 * 24) * 60 * minute) } : {}),
    })
    if (this.random.chance(0.03)) {
      this.put(at, { what: "malformed", entry })
      this.put(this.later(at), { what: "mended", entry })
    }
    return entry
  }
}
