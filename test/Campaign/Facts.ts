/**
 * The result of a history in the form that the oracle needs: what every statement showed, the last content of every resource, and
 * which versions of the receivables were served when. Plain data. Neither this file nor the oracle imports anything of `src`, or
 * a misreading would confirm itself.
 *
 * Amounts are decimal text in the major unit of their currency, as the service writes them; times are ISO 8601 in UTC with
 * the service's clock.
 */

export type Decimal = string
export type Time = string

export interface AccountFact {
  readonly accountId: string
  readonly currency: string
  readonly rail: string
  /** In posting order. The first may show a balance before it: the opening balance. */
  readonly entries: ReadonlyArray<EntryFact>
}

export interface EntryFact {
  readonly entryId: string
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: Decimal
  readonly balanceAfter: Decimal
  /** The last content that the service sent: an entry that names no resource may name one later. */
  readonly related: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Time
}

/** The other fields of a deposit or a withdrawal, by which posting rules match. Null where it has none. */
export interface SaidFact {
  readonly remitter: string | null
  /** The purpose of a client's withdrawal, the reference of the organization's. */
  readonly text: string | null
  readonly destinationId: string | null
  /** Bank and account number, or network and wallet. */
  readonly destination: ReadonlyArray<string>
  readonly externalReference: string | null
}

export interface MoneyFact {
  readonly amount: Decimal
  readonly currency: string
}

export type ResourceFact =
  | {
      readonly type: "DEPOSIT"
      readonly id: string
      readonly status: string
      readonly accountId: string
      readonly amount: MoneyFact
      readonly fee: MoneyFact | null
      readonly transactionHash: string | null
      readonly said?: SaidFact
    }
  | {
      readonly type: "WITHDRAWAL"
      readonly id: string
      readonly status: string
      readonly accountId: string
      readonly form: "money" | "flat"
      readonly amount: MoneyFact
      readonly fee: MoneyFact | null
      readonly transactionHash: string | null
      readonly said?: SaidFact
    }
  | {
      readonly type: "CONVERSION"
      readonly id: string
      readonly status: string
      readonly sellAccountId: string
      readonly sell: MoneyFact
      readonly buyAccountId: string
      /** Net of the fee where the fee is in the buy currency. */
      readonly buy: MoneyFact
      readonly fee: MoneyFact
    }

export interface TransactionFact {
  readonly txId: string
  readonly txTimestamp: Time
}

/** A version of a receivable that was served to a read that Tieout committed. Versions are in order; equal ones in a row count once. */
export interface ReceivableVersionFact {
  readonly servedAt: Time
  readonly status: "PENDING" | "ACTIVE" | "PAID" | "CANCELED"
  readonly currentPrincipal: Decimal
  readonly repaymentAmount: Decimal
  readonly disbursed: TransactionFact | null
  readonly repayments: ReadonlyArray<TransactionFact>
}

export interface ReceivableFact {
  readonly receivableId: string
  readonly clientId: string
  readonly currency: string
  readonly rail: string
  readonly issueDate: Time
  readonly initialPrincipal: Decimal
  readonly versions: ReadonlyArray<ReceivableVersionFact>
}

export interface BookSettings {
  readonly timeZone: string
  readonly flatWithdrawalFee: "inside" | "none"
  readonly view: "lender" | "borrower"
  readonly repaymentAmount: "outstanding" | "original"
  readonly interest: "as_stated" | "when_paid"
  /** % of principal a day; "0" by default. */
  readonly interestBetweenReads: Decimal
}

/** A posting rule of the settings: it matches where all its criteria hold. Patterns are regular expressions. */
export interface RuleFact {
  readonly match: {
    readonly type?: string
    readonly direction?: string
    readonly destinationId?: string
    readonly client?: string
    readonly currency?: string
    readonly accountId?: string
    readonly remitter?: string
    readonly counterparty?: string
    readonly purpose?: string
    readonly reference?: string
    readonly externalReference?: string
  }
  readonly code: string
}

/** The entries that were booked at some time, with what each was then known to belong to (`subjectOf` in `Oracle/Subject.ts`). */
export type BookedFact = ReadonlyMap<string, string>

/** The rules that held until the settings changed, or until they were applied to what was booked. */
export interface RuledFact {
  readonly rules: ReadonlyArray<RuleFact>
  readonly booked: BookedFact
  /** The entries of open months to which the rules were applied; null where they were not applied. */
  readonly applied: ReadonlySet<string> | null
}

/** A line that a person moved by `reclassify` from its account to one that a rule names, too. */
export interface ReclassifiedFact {
  readonly entryId: string
  readonly code: string
  readonly fromSuspense?: boolean
  /** The entries that were booked by then; all where this is absent. */
  readonly booked?: BookedFact
  /** How many of the book's `ruled` came before; all where this is absent. */
  readonly after?: number
}

/** One book: everything that the service had shown of it by the end. */
export interface BookFacts {
  readonly settings: BookSettings
  readonly accounts: ReadonlyArray<AccountFact>
  /** The resources that can be read at the end. An entry whose resource is not among them stands in suspense. */
  readonly resources: ReadonlyArray<ResourceFact>
  /** The receivables whose cash is in this book or which are booked in it. */
  readonly receivables: ReadonlyArray<ReceivableFact>
  readonly reclassified: ReadonlyArray<ReclassifiedFact>
  /** Null: the organization's book. */
  readonly clientId?: string | null
  /** The rules that held earlier, in their order; `rules` are those that hold at the end. */
  readonly ruled?: ReadonlyArray<RuledFact>
  readonly rules?: ReadonlyArray<RuleFact>
}

/** A balance that must come out: debit positive, in the major unit, without trailing zeros beyond the point. */
export interface ExpectedBalance {
  readonly role: string
  readonly currency: string
  /** Only for cash. */
  readonly accountId: string | null
  /** For `other` and for a role that a rule sends to another account; null for the chart's own account. */
  readonly code: string | null
  readonly balance: Decimal
}

/** One journal entry of the native books with its lines in the journal's order: the oracle of the base currency values these. */
export interface NativeEntryFact {
  readonly number: number
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly kind: string
  readonly conversionId: string | null
  /** The identifier of the deposit, withdrawal or payout that it belongs to. */
  readonly movementId: string | null
  readonly lines: ReadonlyArray<{
    readonly role: string
    readonly currency: string
    readonly accountId: string | null
    readonly code: string | null
    /** Debit positive. */
    readonly amount: Decimal
  }>
}

export interface BaseSettings {
  readonly baseCurrency: string
  readonly method: "average" | "fifo"
  readonly monetaryRoles: ReadonlyArray<string>
  /** Units of the base currency per unit of the foreign currency, by `currency|YYYY-MM-DD`. */
  readonly rates: ReadonlyMap<string, Decimal>
  /** The last month that is over, `YYYY-MM`: every month through it is revalued at its end. */
  readonly through: string
}

export interface ExpectedBaseBalance {
  /** The role of the native account, or one of `fx_realized`, `fx_unrealized`, `rounding`. */
  readonly role: string
  readonly currency: string
  readonly accountId: string | null
  readonly code: string | null
  /** In the base currency, two decimals, debit positive. */
  readonly balance: Decimal
}
