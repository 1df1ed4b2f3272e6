import type { Identifiers } from "./Identifier.ts"
import type { Clients } from "./RepresentedClients.ts"
import type { Currency } from "./SandboxCurrency.ts"

export type ReceivableStatus = "PENDING" | "ACTIVE" | "PAID" | "CANCELED"

export interface TransactionRef {
  readonly txId: string
  readonly at: number
}

/** A funding request. Amounts in minor units: what is still to be paid of the principal and of the interest. */
export interface Receivable {
  readonly index: number
  readonly client: string
  readonly currency: Currency
  readonly rail: string
  readonly issuedAt: number
  readonly initial: bigint
  readonly principal: bigint
  readonly interest: bigint
  readonly status: ReceivableStatus
  readonly payment: TransactionRef
  readonly disbursed: TransactionRef | undefined
  readonly repayments: ReadonlyArray<TransactionRef>
}

/** The number of made-up borrowers while the sandbox has no clients. */
const strangers = 5

const hour = 3_600_000

/** In turn, so that a few receivables already show every status; `part` of ten is still to be paid. */
const fates = [
  { status: "ACTIVE", part: 10 },
  { status: "PAID", part: 0 },
  { status: "PENDING", part: 10 },
  { status: "ACTIVE", part: 4 },
  { status: "ACTIVE", part: 10 },
  { status: "CANCELED", part: 0 },
  { status: "ACTIVE", part: 7 },
  { status: "PAID", part: 0 },
] as const

/** What decides when initial receivables are issued. */
interface Span {
  readonly start: number
  readonly end: number
  readonly count: number
}

/** Draws receivables, each from its index alone. */
export class ReceivableSource {
  readonly #ids: Identifiers
  readonly #clients: Clients
  readonly #span: Span

  constructor(ids: Identifiers, clients: Clients, span: Span) {
    this.#ids = ids
    this.#clients = clients
    this.#span = span
  }

  /** The identifier of a transaction of a receivable: `step` 0 pays the supplier, 1 disburses, others repay. */
  transaction(index: number, step: number): string {
    return `TX-${this.#ids.hex("receivable", index, 40 + step, 16).toUpperCase()}`
  }

  #client(index: number): number {
    const count = this.#clients.size === 0 ? strangers : this.#clients.size
    const client = this.#ids.bits("receivable", index, 1) % count
    // Nobody is funded before the onboarding is done.
    return this.#clients.status(client) === "ONBOARDING" ? client - 1 : client
  }

  /** A request that is just accepted. */
  pending(index: number, issuedAt: number): Receivable {
    const client = this.#client(index)
    const { currency, rail } = this.#clients.funding(client)
    const bits = this.#ids.bits("receivable", index, 2)
    const cents = currency.scale === 0 ? 0n : BigInt(this.#ids.bits("receivable", index, 3) % 100)
    const initial = BigInt(1000 + (bits % 250_000)) * 10n ** BigInt(currency.smallest) + cents
    const basisPoints = BigInt(50 + (this.#ids.bits("receivable", index, 4) % 750))
    return {
      index,
      client: this.#clients.idOf(client),
      currency,
      rail,
      issuedAt,
      initial,
      principal: initial,
      interest: (initial * basisPoints) / 10_000n,
      status: "PENDING",
      payment: { txId: this.transaction(index, 0), at: issuedAt },
      disbursed: undefined,
      repayments: [],
    }
  }

  /** One of those that are there from the beginning, in any status. */
  initial(index: number): Receivable {
    const { start, end, count } = this.#span
    const step = (end - start) / count
    const issuedAt = Math.floor(start + step * (index + (this.#ids.bits("receivable", index, 5) % 100) / 100))
    const pending = this.pending(index, issuedAt)
    const { status, part } = fates[index % fates.length] ?? fates[0]
    if (status === "PENDING") return pending
    if (status === "CANCELED") return { ...pending, status, principal: 0n, interest: 0n }
    const at = (hours: number) => Math.min(issuedAt + hours * hour, end)
    const repaid = part === 10 ? 0 : 1 + (this.#ids.bits("receivable", index, 6) % 2)
    return {
      ...pending,
      status,
      principal: (pending.principal * BigInt(part)) / 10n,
      interest: (pending.interest * BigInt(part)) / 10n,
      disbursed: { txId: this.transaction(index, 1), at: at(2) },
      repayments: Array.from({ length: repaid }, (_, place) => ({
        txId: this.transaction(index, 2 + place),
        at: at(48 + 24 * place),
      })),
    }
  }
}
