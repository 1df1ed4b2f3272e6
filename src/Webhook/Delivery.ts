/** A delivery whose signature is good, as it is stored. */

export interface Delivery {
  readonly connection: string
  /** The event's identifier; `poison:…` where it could not be read. */
  readonly eventId: string
  /** SHA-256 of the body, as 64 hexadecimal digits. */
  readonly digest: string
  /** Verbatim; null where it could not be read. */
  readonly type: string | null
  /** As it was signed, byte for byte. */
  readonly body: Uint8Array
  readonly keyId: string
  readonly algorithm: string
  /** Why it cannot be understood; null where it can. */
  readonly poison: string | null
}

/**
 * What became of it: `stored`, `known` (the same delivery is there already), `conflict` (stored, but the event was there
 * with another body).
 */
export type Receipt = "stored" | "known" | "conflict"

export const keyOf = (delivery: Pick<Delivery, "connection" | "eventId" | "digest">): string =>
  `${delivery.connection}\n${delivery.digest}\n${delivery.eventId}`
