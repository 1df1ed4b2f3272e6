/**
 * A history of the service and of what a person does with Tieout meanwhile, as plain data. The generator makes it, the world plays
 * it, shrinking shortens it and a failure prints it. Everything has a short name (`a1`, `d3`), from which its identifier follows.
 * A step that names something absent is passed over, so that any step can be left out.
 */
import type { PartnerReason } from "../../src/Partner/PartnerError.ts"
import type { Decimal, Time } from "./Facts.ts"

export type Name = string

/** The organization's book, or that of a client by its name. */
export type BookName = "org" | Name

export interface MoneyText {
  readonly amount: Decimal
  readonly currency: string
}

export type ResourceContent =
  | {
      readonly type: "DEPOSIT"
      readonly account: Name
      readonly amount: Decimal
      readonly fee: Decimal | null
    }
  | {
      readonly type: "WITHDRAWAL"
      readonly account: Name
      /** For the organization the amount that is debited, for a client the amount that is sent. */
      readonly amount: Decimal
      readonly fee: Decimal | null
    }
  | {
      readonly type: "CONVERSION"
      readonly sell: Name
      readonly sold: Decimal
      readonly buy: Name
      readonly bought: Decimal
      readonly fee: MoneyText
    }

/** The fields of a movement besides money, by which posting rules match. */
export interface Said {
  /** Only for a deposit. */
  readonly remitter?: string
  /** Only for a withdrawal: the name of one of the destinations. */
  readonly destination?: Name
  /** Only for a withdrawal: the purpose of a client's, the reference of the organization's. */
  readonly text?: string
  readonly externalReference?: string
}

/** A posting rule that refers to things by their names; its patterns are written as in the settings. */
export interface RuleText {
  readonly match: {
    readonly type?: "DEPOSIT" | "WITHDRAWAL" | "PAYOUT" | "ADJUSTMENT"
    readonly direction?: "CREDIT" | "DEBIT"
    readonly destination?: Name
    readonly client?: Name
    readonly account?: Name
    readonly currency?: string
    readonly remitter?: string
    readonly counterparty?: string
    readonly purpose?: string
    readonly reference?: string
    readonly externalReference?: string
  }
  readonly code: string
  /** Whether the settings write identifiers in capitals. */
  readonly capitals?: boolean
}

export interface TransactionText {
  /** The name of an entry or a resource, or any other text. */
  readonly of: Name
  readonly at: Time
  /** The receivable names the movement by its identifier although it has a transaction hash. */
  readonly byId?: boolean
}

/** How the service answers for an account or client: listed, no longer listed, with 404, with 403. */
export type Access = "served" | "unlisted" | "gone" | "forbidden"

export type Spoiled = "amount" | "missing" | "status"

/** An event at the service. */
export type Event =
  | {
      readonly what: "account"
      readonly account: Name
      readonly book: BookName
      readonly currency: string
      /** The balance before the first entry that the service still shows. */
      readonly opening: Decimal
    }
  | {
      readonly what: "entry"
      readonly entry: Name
      readonly account: Name
      readonly type: "CREDIT" | "DEBIT"
      readonly amount: Decimal
      readonly related: { readonly type: string; readonly of: Name } | null
      /** The entry's own time, where it appears later than that. */
      readonly occurredAt?: Time
    }
  /** An entry older than the first that was shown. */
  | {
      readonly what: "older"
      readonly entry: Name
      readonly account: Name
      readonly type: "CREDIT" | "DEBIT"
      readonly amount: Decimal
      readonly occurredAt: Time
    }
  | { readonly what: "zero"; readonly entry: Name; readonly account: Name }
  | {
      readonly what: "resource"
      readonly resource: Name
      readonly content: ResourceContent
      readonly status: string
      readonly transactionHash?: string
      readonly said?: Said
      /** A resource that is answered with 404 until it is shown. */
      readonly hidden?: boolean
    }
  | { readonly what: "status"; readonly resource: Name; readonly status: string }
  /** A fee that is stated later, or stated differently. */
  | { readonly what: "fee"; readonly resource: Name; readonly fee: Decimal }
  | { readonly what: "shown"; readonly resource: Name }
  | {
      readonly what: "enriched"
      readonly entry: Name
      readonly related: { readonly type: string; readonly of: Name }
    }
  | { readonly what: "malformed" | "mended"; readonly entry: Name }
  /** A resource that is sent malformed or with an unknown status. */
  | { readonly what: "spoiled"; readonly resource: Name; readonly how: Spoiled }
  | { readonly what: "restored"; readonly resource: Name }
  /** The entry is sent under the identifier of another account's entry, which was read before, until it is mended. */
  | { readonly what: "misnamed"; readonly entry: Name; readonly as: Name }
  | {
      readonly what: "receivable"
      readonly receivable: Name
      readonly client: Name
      readonly currency: string
      readonly issued: Time
      readonly initial: Decimal
      readonly current: Decimal
      readonly due: Decimal
      readonly status: "PENDING" | "ACTIVE" | "PAID" | "CANCELED"
      readonly disbursed: TransactionText | null
      readonly repayments: ReadonlyArray<TransactionText>
    }
  | { readonly what: "client"; readonly client: Name; readonly status: string }
  | { readonly what: "access"; readonly of: Name; readonly access: Access }
  /** All cursors that were given so far become invalid. */
  | { readonly what: "expired" }
  /** A page has so many rows from now on. */
  | { readonly what: "pages"; readonly rows: number }
  /** The request after so many more fails in this way. */
  | { readonly what: "fault"; readonly reason: PartnerReason; readonly after: number }
  /** Only time passes. */
  | { readonly what: "nothing" }

export type ExportKind = "native" | "since-last" | "as-of" | "base" | "again"

/** The account from which a person moves; suspense where this is absent. A fee cannot be moved. */
export type MovedFrom = "suspense" | "clearing" | "transit" | "fee"

/** An operation that a person or the schedule starts. */
export type Operation =
  /** `workers`: how many workers read the clients' books. */
  | { readonly do: "sync"; readonly full?: boolean; readonly quick?: boolean; readonly workers?: number }
  | { readonly do: "events" }
  | { readonly do: "backfill"; readonly from: string; readonly to: string }
  | { readonly do: "reclassify"; readonly nth: number; readonly code: string; readonly from?: MovedFrom }
  /** The rules that the settings have by then are applied to what is booked in open months. */
  | { readonly do: "rerule"; readonly nth: number }
  | { readonly do: "rates"; readonly date: string; readonly currency: string; readonly rate: Decimal }
  | { readonly do: "close"; readonly accept: boolean }
  | { readonly do: "reopen" }
  /** What waits in quarantine is tried again. */
  | { readonly do: "replay" }
  /** An accountant names the accounts in a file, and hands it in. `gap`: one account is left without a name. */
  | { readonly do: "accounts"; readonly nth: number; readonly gap: boolean }
  | {
      readonly do: "export"
      readonly kind: ExportKind
      readonly format: string
      /** Both included; everything where they are absent. */
      readonly days?: { readonly from: string; readonly to: string }
    }
  /** Somebody changes the settings. */
  | { readonly do: "rules"; readonly rules: ReadonlyArray<RuleText> }
  /** The database is written to a file: between other operations, or at that request of a sync. */
  | { readonly do: "backup"; readonly during?: number }
  /** The database is lost, and the last backup takes its place. */
  | { readonly do: "restore" }
  /** Our machine's clock is so far ahead of the service's from now on, or from that request on. */
  | { readonly do: "clock"; readonly minutes: number; readonly after?: number }
  /** Two operations at once. */
  | { readonly do: "both"; readonly one: Simple; readonly other: Simple }
  /** The operation is interrupted at a request, as by a signal. */
  | { readonly do: "stopped"; readonly of: Simple; readonly after: number }
  /** Every connection to the database is cut at a request. */
  | { readonly do: "cut"; readonly of: Simple; readonly after: number }

export type Simple = Exclude<
  Operation,
  { readonly do: "rules" | "backup" | "restore" | "clock" | "both" | "stopped" | "cut" }
>

/**
 * Another process starts the operation first and does not finish it. It stops at the `nth` statement, writing statement, commit or
 * request (before that is sent or right after), or after so many milliseconds.
 */
export interface Kill {
  readonly of: "statement" | "write" | "commit" | "request" | "millisecond"
  readonly nth: number
  readonly side: "before" | "after"
  /** How it is stopped: killed with -9, or suspended until another process has done the same, while the sessions that hold its locks, or all of them, are cut. */
  readonly by: "kill" | "stop" | "stop, locks cut" | "stop, all cut" | "stop, lease taken"
}

export type Step =
  | { readonly at: Time; readonly event: Event }
  | { readonly at: Time; readonly operation: Operation; readonly kills?: ReadonlyArray<Kill> }

export interface HistorySettings {
  readonly timeZone: string
  readonly surfaces: ReadonlyArray<"organization" | "client" | "credit">
  readonly view: "lender" | "borrower"
  readonly repaymentAmount: "outstanding" | "original"
  readonly interest: "as_stated" | "when_paid"
  /** % of the principal a day. */
  readonly interestBetweenReads: Decimal
  readonly flatWithdrawalFee: "inside" | "none"
  readonly method: "average" | "fifo"
  /** Rows of a page at the beginning. */
  readonly pageSize: number
  readonly newestFirst: boolean
  readonly endCursorOnLastPage: boolean
  /** A cursor is the number of a page, not the item before it. */
  readonly numberedPages: boolean
  /** The posting rules at the beginning. */
  readonly rules?: ReadonlyArray<RuleText>
}

export interface History {
  readonly seed: string
  readonly settings: HistorySettings
  readonly steps: ReadonlyArray<Step>
  /** The end of the history: the time of the last full sync and of the proof. */
  readonly end: Time
}

const words = (content: object): string =>
  Object.entries(content)
    .filter(([key]) => key !== "what" && key !== "do")
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value)
      return `${key} ${text.replaceAll('"', "")}`
    })
    .join(", ")

export const placeOf = ({ by, nth, of, side }: Kill): string =>
  of === "millisecond" ? `${by} after ${nth} ms` : `${by} ${side} ${of} ${nth}`

/** Describes a step in a line for a person. */
export const lineOf = (step: Step): string => {
  if ("event" in step) return `${step.at}  ${step.event.what}: ${words(step.event)}`
  const kills = (step.kills ?? []).map((kill) => `, ${placeOf(kill)}`).join("")
  return `${step.at}  > ${step.operation.do} ${words(step.operation)}${kills}`
}
