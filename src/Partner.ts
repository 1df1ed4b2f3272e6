/**
 * The port to the Partner Trading, Account and Credit Service: what the rest of Tieout may know of it. Wire shapes,
 * parameter names and HTTP stay behind the adapter (`Partner/`). Source of every field: `docs/interface.md`.
 */
import { Context, type Effect, type Option } from "effect"
import type { Amount, Money } from "./Common/Money.ts"
import type { Instant } from "./Partner/Instant.ts"
import type { Pages, Row } from "./Partner/Lists/Page.ts"
import type { PartnerError } from "./Partner/PartnerError.ts"

export interface AccountRef {
  readonly accountId: string
  readonly currency: string
  readonly paymentRails: string
}

export interface Account extends AccountRef {
  /** The service's current balance, in the major unit of `currency`. */
  readonly balance: Amount
  /** `ACTIVE`, `SUSPENDED`, `CLOSED`; other values are kept verbatim. */
  readonly status: string
  readonly raw: string
}

/** A posted movement with the running balance after it: the source of truth for cash. */
export interface StatementEntry {
  readonly entryId: string
  readonly accountId: string
  readonly type: "CREDIT" | "DEBIT"
  /** Not negative; the direction is in `type`. An entry of zero changes no balance, or else it is malformed. */
  readonly amount: Amount
  readonly currency: string
  readonly balanceBefore: Option.Option<Amount>
  readonly balanceAfter: Amount
  /** Verbatim, known or not; none for ledger adjustments. */
  readonly relatedResourceType: Option.Option<string>
  readonly relatedResourceId: Option.Option<string>
  readonly occurredAt: Instant
  /** JSON of every field that the others do not reproduce exactly; null where they all do. */
  readonly extra: string | null
  /** The row's JSON, only for an entry of zero without `balanceBefore`: its neighbours may show that it is malformed. */
  readonly source?: string
}

/** Why an entry of zero is malformed. */
export const zeroThatMoves = "is zero, but the balance changes"

interface ResourceFields {
  readonly id: string
  /** Verbatim. */
  readonly status: string
  readonly reasonCode: Option.Option<string>
  readonly externalReference: Option.Option<string>
  /** The other side's name or reference as the service reported it. Personal data: never logged. */
  readonly counterparty: Option.Option<string>
  readonly code: Option.Option<string>
  readonly transactionHash: Option.Option<string>
  readonly createdAt: Instant
  /** The whole object as the service sent it, as JSON text: kept losslessly. */
  readonly raw: string
}

export interface Deposit extends ResourceFields {
  readonly resourceType: "DEPOSIT"
  readonly account: AccountRef
  /** The credited amount, before the fee. */
  readonly amount: Money
  readonly fee: Option.Option<Money>
}

export interface Withdrawal extends ResourceFields {
  readonly resourceType: "WITHDRAWAL"
  readonly sourceAccount: AccountRef
  /** `money`: `amount` is the amount debited, fee included by definition. `flat`: the amount sent, before the fee. */
  readonly form: "money" | "flat"
  readonly amount: Money
  /** Only in the Money form: what the recipient gets. */
  readonly delivered: Option.Option<Money>
  readonly fee: Option.Option<Money>
  /** `purpose` of the flat form, `reference` of the Money form. */
  readonly reference: Option.Option<string>
  readonly destinationId: Option.Option<string>
}

export interface Conversion extends ResourceFields {
  readonly resourceType: "CONVERSION"
  readonly pairId: string
  readonly sellAccount: AccountRef
  readonly sellAmount: Money
  readonly buyAccount: AccountRef
  readonly buyAmount: Money
  /** Units of the buy currency per one unit of the sell currency: metadata that is checked, never used for amounts. */
  readonly rate: Amount
  readonly fee: Money
  readonly completedAt: Option.Option<Instant>
}

export type Resource = Deposit | Withdrawal | Conversion
export type ResourceType = Resource["resourceType"]
export const resourceTypes: ReadonlyArray<ResourceType> = ["DEPOSIT", "WITHDRAWAL", "CONVERSION"]

/** A conversion pair, an address book entry or a payment rail: kept whole, of which only identifier and name are decoded. */
export interface ReferenceItem {
  readonly id: string
  /** Its name for a person; an address book entry's is personal data and never logged. */
  readonly label: Option.Option<string>
  readonly raw: string
}

/** A represented client of the partnership, as both the client and the credit surface list it. */
export interface Client extends ReferenceItem {
  /** Human-readable. */
  readonly code: string
  readonly legalEntityName: string
  /** Verbatim; only `ACTIVE` (on the credit surface also `APPROVED`) clients can be read. */
  readonly status: string
}

/** A transaction that a receivable names. */
export interface TransactionRef {
  readonly txId: string
  readonly txTimestamp: Instant
}

/** A funding request as it stands now: a snapshot, not a movement. Amounts in the major unit of `currency`. */
export interface Receivable {
  readonly id: string
  readonly clientId: string
  readonly issueDate: Instant
  readonly initialPrincipal: Amount
  /** What is not repaid yet. */
  readonly currentPrincipal: Amount
  /** Total due, interest and fees included. */
  readonly repaymentAmount: Amount
  readonly currency: string
  /** `PENDING`, `ACTIVE`, `PAID`, `CANCELED`; other values are kept verbatim. */
  readonly status: string
  readonly paymentRails: string
  readonly paymentTransaction: Option.Option<TransactionRef>
  readonly disbursedTransaction: Option.Option<TransactionRef>
  readonly repaymentTransactions: ReadonlyArray<TransactionRef>
  readonly raw: string
}

/** A credit line with its totals, in the major unit of its currency: what the receivables must add up to. */
export interface CreditAccount extends ReferenceItem {
  readonly currency: string
  readonly paymentRails: string
  readonly principalOutstanding: Amount
  readonly totalRepaymentAmount: Amount
  /** The client it belongs to, where the service says so; the interface does not document the field. */
  readonly clientId: Option.Option<string>
}

/** A key that webhook deliveries are signed with. */
export interface PublicKey {
  readonly publicKeyId: string
  /** Verbatim: what the deliveries' algorithm header says. */
  readonly algorithm: string
  readonly active: boolean
  /** As the service sends it: PEM, base64 or hexadecimal of the DER, or a JWK as JSON text. */
  readonly publicKey: string
}

/** The keys of a connection: the service lists them, or shows each by its identifier. */
export interface PublicKeys {
  readonly areListed: boolean
  /** All that are listed, whether the list is paged or not; else those of the identifiers that there are. */
  readonly read: (ids: ReadonlySet<string>) => Effect.Effect<ReadonlyArray<PublicKey>, PartnerError>
}

/** A stretch of time: from an instant up to, not including, another. */
export interface Stretch {
  readonly from: Instant
  readonly to: Instant
}

/** The reads of one book: the organization's own, or one client's. All operations are read-only. */
export interface BookReads {
  readonly accounts: Pages<Account>
  readonly statement: (accountId: string) => Pages<StatementEntry>
  /**
   * The statement limited to a stretch of time, as the service understands that: it may leave out what lies in it, or bring
   * what does not. Null where the profile names no filters.
   */
  readonly statementWithin: ((accountId: string, within: Stretch) => Pages<StatementEntry>) | null
  /** Null where the profile has no such list. */
  readonly deposits: Pages<Deposit> | null
  readonly withdrawals: Pages<Withdrawal> | null
  readonly conversions: Pages<Conversion> | null
  readonly conversionPairs: Pages<ReferenceItem> | null
  readonly addressBook: Pages<ReferenceItem> | null
  /** One account, with its current balance. */
  readonly account: (accountId: string) => Effect.Effect<Option.Option<Row<Account>>, PartnerError>
  /** How to pay into an account. Null where the profile has no such path. Personal data: never logged. */
  readonly depositInstructions:
    | ((accountId: string) => Effect.Effect<Option.Option<Row<ReferenceItem>>, PartnerError>)
    | null
  /** None where the service answers 404, 410 or 204. */
  readonly resource: (
    type: ResourceType,
    id: string,
  ) => Effect.Effect<Option.Option<Row<Resource>>, PartnerError>
}

/** What one connection offers on all its surfaces. All requests share one pace. */
export class PartnerConnection extends Context.Tag("tieout/PartnerConnection")<
  PartnerConnection,
  {
    readonly organization: BookReads
    readonly client: (clientId: string) => BookReads
    readonly clients: Pages<Client>
    readonly paymentRails: Pages<ReferenceItem> | null
    readonly receivables: Pages<Receivable> | null
    readonly creditAccounts: Pages<CreditAccount> | null
    readonly publicKeys: PublicKeys
    /** Requests sent so far, retries included, by kind of endpoint. */
    readonly requests: Effect.Effect<ReadonlyMap<string, number>>
  }
>() {}

/** The book that is being read. */
export class Partner extends Context.Tag("tieout/Partner")<
  Partner,
  BookReads & {
    /** Requests of the whole connection so far, retries included, by kind of endpoint. */
    readonly requests: Effect.Effect<ReadonlyMap<string, number>>
  }
>() {}
