/** A journal entry on its way from the native books to the base-currency journal. */
import type { Rate } from "./Rates/Rate.ts"

/** The roles of the accounts that only the base-currency journal has. */
export const baseRoles = ["fx_realized", "fx_unrealized", "rounding"] as const
export type BaseRole = (typeof baseRoles)[number]

/** An account of the native books, as far as a valuation needs it. */
export interface NativeAccount {
  readonly accountId: number
  readonly role: string
  readonly currency: string
  readonly scale: number
  /** Whether it is an asset or a liability, so that a reduction of the balance reduces the carrying amount in proportion. */
  readonly held: boolean
  /** Whether it is held and monetary, so that it is revalued at the rate of a month's end. */
  readonly monetary: boolean
  /** The first month with postings, `YYYY-MM`; null: none. */
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
  /** The service's account whose statement it comes from, which identifies the side of a conversion; null: none. */
  readonly partnerAccountId: string | null
  /** The identifier of its resource, a conversion's included; null: none. */
  readonly resourceId: string | null
  readonly lines: ReadonlyArray<NativeLine>
}

/**
 * How a line's value was found. `face`: it is in the base currency. `rate`: at the day's rate. `price`: at what was paid for
 * it in the base currency. `cost`: at its cost (cash). `carrying`: at the carrying amount of the account or the conversion.
 * `proportion`: at the exact unit value of the line that decided.
 */
export type Basis = "face" | "rate" | "price" | "cost" | "carrying" | "proportion"

/** `minor` counts cents of the base currency, debit positive; zero only where a native line is worth less than half a cent. */
export interface BaseLine {
  readonly account: number | BaseRole
  readonly minor: bigint
  readonly native: NativeLine | null
  readonly basis: Basis | null
  readonly rate: Rate | null
}

export interface BaseEntry {
  /**
   * `journal`: a native entry under its own number. `fx`: an entry of this journal alone, numbered gaplessly per book and
   * month.
   */
  readonly series: "journal" | "fx"
  readonly number: number
  readonly date: string
  readonly entryId: string | null
  readonly kind: string | null
  readonly description: string | null
  readonly resourceId: string | null
  /** The number of the previous month's entry that this one reverses. */
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
