/** Journal entries for an export: numbered, in order, with all fields as text. */

/** A ledger account of the book. Accounts with the same code, name, role, currency and partner account count as one. */
export interface Account {
  readonly code: string
  readonly name: string
  readonly role: string
  readonly currency: string
  /** Decimals of the currency. */
  readonly scale: number
  /** The service's account that a cash account stands for. */
  readonly partnerAccountId: string | null
}

/** `minor` counts the currency's smallest units: debit positive, credit negative, never zero. */
export interface Line {
  /** From 1. */
  readonly number: number
  readonly account: Account
  readonly minor: bigint
}

/** A line of the books and its value in the base currency. */
export interface NativeMovement {
  /** From 1. */
  readonly line: number
  /** The account in the base-currency journal. */
  readonly account: Account
  /** In the books: major unit, debit positive. */
  readonly amount: string
  readonly currency: string
  readonly basis: string
  readonly rate: string | null
  readonly rateDate: string | null
  readonly rateSource: string | null
  /** In the base currency, smallest units. */
  readonly minor: bigint
}

/** Facts about a payment beyond those that the entry holds. */
export interface Payment {
  readonly reference: string | null
  readonly purpose: string | null
  readonly transactionHash: string | null
}

/** Dates are calendar dates in the accounting time zone (`YYYY-MM-DD`), times are ISO 8601 in UTC with microseconds. */
export interface Entry {
  /** `ORG-2026-10-000007` */
  readonly number: string
  /** `YYYY-MM` */
  readonly period: string
  readonly effectiveDate: string
  readonly occurredAt: string
  readonly recordedAt: string
  /** The calendar date of `recordedAt`. */
  readonly recordedOn: string
  readonly kind: string
  readonly description: string
  readonly sourceType: string
  readonly sourceId: string
  readonly resourceType: string | null
  readonly resourceId: string | null
  readonly externalReference: string | null
  readonly counterparty: string | null
  /** The journal number of the entry that this one reverses. */
  readonly reverses: string | null
  /** `YYYY-MM`: the closed period that a late entry belongs to by its time. */
  readonly lateFor: string | null
  readonly lines: ReadonlyArray<Line>
  /** What the service says about the payment now; only if import files are written. */
  readonly payment?: Payment
  /** Only in the base-currency journal. */
  readonly natives?: ReadonlyArray<NativeMovement>
}

/** An account with its balance before the first entry of the export, in smallest units, debit positive. */
export interface OpenedAccount {
  readonly account: Account
  readonly opening: bigint
}

/** `ORG-2026-10-000007`: at least six digits. */
export const journalNumber = (book: string, period: string, number: number): string =>
  `${book}-${period}-${String(number).padStart(6, "0")}`

/** A journal number without its counter: `ORG-2026-10`, `ORG-FX-2026-10`. */
export const seriesOf = (number: string): string => number.slice(0, number.lastIndexOf("-"))

/** The basis in which every line is in the currency that moved; any other basis is a journal of its own. */
export const nativeBasis = "native"
