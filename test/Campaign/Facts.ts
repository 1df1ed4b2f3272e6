/**
 * What a history of the service comes to, as the oracle needs it: what every statement showed, what the resources ended as,
 * what was served of the receivables and when. Plain data. Nothing of `src` is imported here or by the oracle, or a
 * misreading would confirm itself.
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
  /** As the service says it in the end: an entry may be enriched from null later. */
  readonly related: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Time
}

/** What else a deposit or a withdrawal says: what posting rules go by. Null: it says nothing of it. */
export interface SaidFact {
  readonly remitter: string | null
  /** A client's purpose, the organization's reference. */
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

/** One content of a receivable as it was served to a read that Tieout committed, in order; equal contents stand once. */
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

/** A posting rule of the settings; all that it names must hold. Patterns are regular expressions. */
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

/** The entries that were booked at a time, with what each was known to be (`subjectOf` in `Oracle/Subject.ts`). */
export type BookedFact = ReadonlyMap<string, string>

/** The rules up to a change of them, or up to when they were applied to what was booked. */
export interface RuledFact {
  readonly rules: ReadonlyArray<RuleFact>
  readonly booked: BookedFact
  /** The entries of open months that the rules were applied to; null: they were not. */
  readonly applied: ReadonlySet<string> | null
}

/** What a person moved by `reclassify`: from where the line stood to an account of a rule. */
export interface ReclassifiedFact {
  readonly entryId: string
  readonly code: string
  readonly fromSuspense?: boolean
  /** The entries that were booked then; nothing said: all. */
  readonly booked?: BookedFact
  /** How many of the book's `ruled` came before; nothing said: all. */
  readonly after?: number
}

/** One book: all that the service said of it in the end. */
export interface BookFacts {
  readonly settings: BookSettings
  readonly accounts: ReadonlyArray<AccountFact>
  /** Those that can be read in the end. An entry whose resource is not among them stands in suspense. */
  readonly resources: ReadonlyArray<ResourceFact>
  /** Those whose cash or whose books are this book's. */
  readonly receivables: ReadonlyArray<ReceivableFact>
  readonly reclassified: ReadonlyArray<ReclassifiedFact>
  /** Null: the organization's book. */
  readonly clientId?: string | null
  /** What held one after the other, and what does in the end. */
  readonly ruled?: ReadonlyArray<RuledFact>
  readonly rules?: ReadonlyArray<RuleFact>
}

/** A balance that must come out: debit positive, in the major unit, without trailing zeros beyond the point. */
export interface ExpectedBalance {
  readonly role: string
  readonly currency: string
  /** Only of cash. */
  readonly accountId: string | null
  /** Of `other` and of roles that a rule sends elsewhere; null: the chart's account. */
  readonly code: string | null
  readonly balance: Decimal
}

/** The lines of one journal entry of the native books, in the order of the journal: what the base currency's oracle values. */
export interface NativeEntryFact {
  readonly number: number
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly kind: string
  readonly conversionId: string | null
  /** Of the deposit, withdrawal or payout that it belongs to. */
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
  /** The native account that it belongs to, or one of `fx_realized`, `fx_unrealized`, `rounding`. */
  readonly role: string
  readonly currency: string
  readonly accountId: string | null
  readonly code: string | null
  /** In the base currency, two decimals, debit positive. */
  readonly balance: Decimal
}
