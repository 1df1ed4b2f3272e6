/** A balanced entry before it is written. */
import type { Option } from "effect"
import type { Amount } from "../Common/Money.ts"
import type { Instant } from "../Partner/Instant.ts"
import type { Role } from "./Role.ts"

/** The account that a posting rule or a person names instead of the chart's account of the role. */
export interface RuleAccount {
  readonly code: string
  readonly name: string
}

export interface Line {
  readonly role: Role
  readonly currency: string
  /** Debit positive, credit negative, major unit of `currency`; never zero. */
  readonly amount: Amount
  /** Only cash lines: the service's account. */
  readonly partnerAccountId: string | null
  /** Only lines of the role `other`, and older ones of the role that the account took the place of. */
  readonly rule: RuleAccount | null
  /** Of the role `other`: the role that the account stands for here. The same account may stand for several. */
  readonly replaces?: Role
}

export type SourceType = "statement_entry" | "opening" | "resource_version" | "receivable_version" | "manual"

export interface JournalEntry {
  readonly sourceType: SourceType
  readonly sourceId: string
  readonly kind: string
  readonly sequence: number
  /** Only for receivables: counts the corrections of a part; 0, or absent, for the entry that books it. */
  readonly correction?: number
  /** The service's time; the accounting time zone turns it into the effective date. */
  readonly occurredAt: Instant
  /** The statement that the entry comes from, and the place in it; null for what no statement shows. */
  readonly partnerAccountId: string | null
  readonly position: bigint | null
  readonly resourceType: string | null
  readonly resourceId: string | null
  readonly description: string
  readonly externalReference: Option.Option<string>
  readonly counterparty: Option.Option<string>
  /** The entry of the same book that this one reverses. */
  readonly reverses?: bigint
  readonly lines: ReadonlyArray<Line>
}
