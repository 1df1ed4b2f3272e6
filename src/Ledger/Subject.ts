/** What is to be booked, what of it is booked already, and what decides where it goes. */
import type { Option } from "effect"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Instant } from "../Partner/Instant.ts"
import type { Resource, StatementEntry } from "../Partner.ts"
import type { FlatWithdrawalFee } from "./Conversions/Leg.ts"
import type { Line } from "./JournalEntry.ts"
import type { RuleMatch } from "./PostingRules.ts"

/** A statement entry's non-cash lines in the books, all reclassifications included. */
export interface Posted {
  readonly lines: ReadonlyArray<Line>
  /** The highest sequence used for this entry. */
  readonly sequence: number
  /** The roles that accounts of the role `other` stand for; where none is given, the role of the resource's type. */
  readonly roleOfOthers?: "suspense" | "loan_clearing"
  /** For a late entry, the time that dates it. Its corrections are dated like it, even if its own month was reopened since. */
  readonly datedAt?: Instant
}

export interface Subject extends PlacedEntry {
  /** None: not posted yet. */
  readonly posted: Option.Option<Posted>
  /** A person has moved something of it. */
  readonly byHand?: boolean
}

export interface PostingContext {
  readonly flatWithdrawalFee: FlatWithdrawalFee
  /** The first posting rule that matches, for the line against cash. */
  readonly rule: (entry: StatementEntry, resource: Option.Option<Resource>) => RuleMatch | null
  /** Whether a receivable names this movement as its disbursement or a repayment: the cash leg of a loan. */
  readonly isLoan: (entry: StatementEntry, resource: Option.Option<Resource>) => boolean
  /** The counterparty's name. */
  readonly counterparty: (resource: Option.Option<Resource>) => Option.Option<string>
}
