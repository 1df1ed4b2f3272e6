/** A journal entry on its way from the native books to the base-currency journal. */
import type { Rate } from "./Rates/Rate.ts"

/** The roles of the accounts that only the base-currency journal has. */
export const baseRoles = ["fx_realized", "fx_unrealized", "rounding"] as const
export type BaseRole = (typeof baseRoles)[number]

/** An account of the native books, by what a valuation must know of it. */
export interface NativeAccount {
  readonly accountId: number
  readonly role: string
  readonly currency: string
  readonly scale: number
  /** An asset or a liability: what reduces its balance takes its carrying amount along. */
  readonly held: boolean
  /** Held, and worth what the rate says: revalued at a month's end. */
  readonly monetary: boolean
  /** The first month that it has postings in, `YYYY-MM`; null where there is none. */
  readonly since: string | null
}

/** `minor` counts the currency's smallest units, debit positive. */
export interface NativeLine {
  readonly account: NativeAccount
  readonly minor: bigint
}

/** A numbered entry of the native books. */
export interface NativeEntry {
  readonly entryId: string
  readonly number: number
  /** `YYYY-MM-DD` in the accounting time zone. */
  readonly date: string
  readonly kind: string
  /** The service's account whose statement it comes from, which tells the sides of a conversion; null where there is none. */
  readonly partnerAccountId: string | null
  /** What tells its conversion; null where it has none. */
  readonly resourceId: string | null
  readonly lines: ReadonlyArray<NativeLine>
}

/**
 * `face`: base currency already. `rate`: at the day's rate. `price`: at what was given for it in the base currency. `cost`:
 * what it cost (cash). `carrying`: at what the account, or the conversion, carries it at. `proportion`: at the exact unit
 * value of the line that decided.
 */
export type Basis = "face" | "rate" | "price" | "cost" | "carrying" | "proportion"

/** `minor` counts cents of the base currency, debit positive; zero only where a native line is worth that little. */
export interface BaseLine {
  readonly account: number | BaseRole
  readonly minor: bigint
  readonly native: NativeLine | null
  readonly basis: Basis | null
  readonly rate: Rate | null
}

export interface BaseEntry {
  /** `journal`: a native entry under its own number. `fx`: only here, numbered gaplessly per book and month. */
  readonly series: "journal" | "fx"
  readonly number: number
  readonly date: string
  readonly entryId: string | null
  readonly kind: string | null
  readonly description: string | null
  readonly resourceId: string | null
  /** The number of the month before that this one reverses. */
  readonly reverses: number | null
  readonly lines: ReadonlyArray<BaseLine>
}

export const plainLine = (account: number | BaseRole, minor: bigint): BaseLine => ({
  account,
  minor,
  native: null,
  basis: null,
  rate: null,
})
