/** Formats of bank statements: a file for each account of the service, with a statement for each day. */
import type { StatementReader } from "./Reading/Statements.ts"
import type { Profile } from "./Table/Profile.ts"

export interface BankAccount {
  /** The service's identifier, a UUID. */
  readonly id: string
  readonly currency: string
  /** Decimals of the currency. */
  readonly scale: number
  /** Its name in the books. */
  readonly name: string
  /** The book's name. */
  readonly owner: string
}

/** A day of an account in the book's time zone. Amounts in smallest units, what the account holds positive. */
export interface BankDay {
  /** `YYYY-MM-DD` */
  readonly day: string
  /** Its first instant, and the next day's: ISO 8601 in UTC. */
  readonly from: string
  readonly to: string
  readonly opening: bigint
  readonly closing: bigint
  readonly credits: { readonly entries: number; readonly sum: bigint }
  readonly debits: { readonly entries: number; readonly sum: bigint }
}

/** An entry of the service's statement, with what is known of its payment. Never of amount zero. */
export interface BankEntry {
  /** A UUID, as the service has it. */
  readonly id: string
  /** Smallest units, money in positive. */
  readonly minor: bigint
  /** ISO 8601 in UTC. */
  readonly occurredAt: string
  /** The number of its journal entry; null where that has none yet. */
  readonly number: string | null
  readonly description: string | null
  /** `DEPOSIT`, `CONVERSION` …; null: the entry names none. */
  readonly resourceType: string | null
  readonly resourceId: string | null
  readonly externalReference: string | null
  readonly counterparty: string | null
  readonly reference: string | null
  readonly purpose: string | null
  readonly transactionHash: string | null
}

export interface BankFile {
  readonly account: BankAccount
  readonly batch: number
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  /** Whether names and free texts of payments may stand in it. */
  readonly personalData: boolean
}

/** Called in order: `begin`, then for each day `day`, its entries and `dayEnd`, then `end`. */
export interface BankWriter {
  readonly begin: string
  readonly day: (day: BankDay) => string
  readonly entry: (entry: BankEntry) => string
  readonly dayEnd: string
  readonly end: string
}

export interface BankStatementFormat<Name extends string = string> {
  readonly kind: "bank-statement"
  /** The name for `--format`. */
  readonly name: Name
  /** A line for `tieout export --help`. */
  readonly description: string
  /** With `{currency}` and `{account}`. */
  readonly file: string
  /** A statement that is issued again replaces the one before. */
  readonly accumulates: false
  /** It is the provider's statement itself. */
  readonly besideStatement: false
  /** The amounts and currencies that it can express. */
  readonly profile: Pick<Profile, "name" | "currencies" | "decimals" | "mode">
  readonly open: (file: BankFile) => BankWriter
  readonly reader: StatementReader
}

type Definition<Name extends string> = Omit<
  BankStatementFormat<Name>,
  "kind" | "accumulates" | "besideStatement" | "profile"
> & { readonly decimals: number }

export const defineBankStatement = <const Name extends string>({
  decimals,
  ...own
}: Definition<Name>): BankStatementFormat<Name> => ({
  kind: "bank-statement",
  accumulates: false,
  besideStatement: false,
  profile: {
    name: own.name,
    currencies: "official",
    decimals: { least: 0, most: decimals, mark: "." },
    mode: "statement",
  },
  ...own,
})
