/**
 * A history of the service and of what a person does with Tieout meanwhile, as plain data: what the generator makes, the
 * world plays, shrinking shortens and a failure prints. Everything has a short name (`a1`, `d3`); identifiers follow from it.
 * Every step stands by itself: one that names what is not there is passed over, so that any step can be left out.
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
      /** Of the organization what is debited, of a client what is sent. */
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

/** What a movement says of itself besides money: what posting rules go by. */
export interface Said {
  /** Of a deposit. */
  readonly remitter?: string
  /** Of a withdrawal: the name of one of the destinations. */
  readonly destination?: Name
  /** Of a withdrawal: a client's purpose, the organization's reference. */
  readonly text?: string
  readonly externalReference?: string
}

/** Things by their names; patterns as the settings take them. */
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
  /** The settings write identifiers in capitals. */
  readonly capitals?: boolean
}

export interface TransactionText {
  /** The name of an entry or a resource, or any other text. */
  readonly of: Name
  readonly at: Time
  /** By its identifier, though it has a transaction hash. */
  readonly byId?: boolean
}

/** Whether something is served as it is: listed, not listed any more, answered with 404, with 403. */
export type Access = "served" | "unlisted" | "gone" | "forbidden"

export type Spoiled = "amount" | "missing" | "status"

/** What happens at the service. */
export type Event =
  | {
      readonly what: "account"
      readonly account: Name
      readonly book: BookName
      readonly currency: string
      /** What stood on it before the first entry that the service still shows. */
      readonly opening: Decimal
    }
  | {
      readonly what: "entry"
      readonly entry: Name
      readonly account: Name
      readonly type: "CREDIT" | "DEBIT"
      readonly amount: Decimal
      readonly related: { readonly type: string; readonly of: Name } | null
      /** Where it is not the time of the step: it came late. */
      readonly occurredAt?: Time
    }
  /** An entry from before the first that was shown. */
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
      /** Answered with 404 until it is shown. */
      readonly hidden?: boolean
    }
  | { readonly what: "status"; readonly resource: Name; readonly status: string }
  /** A fee that is stated later, or otherwise. */
  | { readonly what: "fee"; readonly resource: Name; readonly fee: Decimal }
  | { readonly what: "shown"; readonly resource: Name }
  | {
      readonly what: "enriched"
      readonly entry: Name
      readonly related: { readonly type: string; readonly of: Name }
    }
  | { readonly what: "malformed" | "mended"; readonly entry: Name }
  /** A resource that is sent with something in it that cannot be understood, or that nobody has heard of. */
  | { readonly what: "spoiled"; readonly resource: Name; readonly how: Spoiled }
  | { readonly what: "restored"; readonly resource: Name }
  /** The entry goes by the identifier of another account's, which was read before; until it is mended. */
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
  /** No cursor that was given before is accepted any more. */
  | { readonly what: "expired" }
  /** The request that comes after so many more fails so. */
  | { readonly what: "fault"; readonly reason: PartnerReason; readonly after: number }
  /** Only time passes. */
  | { readonly what: "nothing" }

export type ExportKind = "native" | "since-last" | "as-of" | "base" | "again"

/** What a person moves: nothing said, what stands in suspense. A fee is none that may be moved. */
export type MovedFrom = "suspense" | "clearing" | "transit" | "fee"

/** What a person, or the schedule, does with Tieout. */
export type Operation =
  /** `workers`: so many read the clients' books. */
  | { readonly do: "sync"; readonly full?: boolean; readonly quick?: boolean; readonly workers?: number }
  | { readonly do: "events" }
  | { readonly do: "backfill"; readonly from: string; readonly to: string }
  | { readonly do: "reclassify"; readonly nth: number; readonly code: string; readonly from?: MovedFrom }
  /** What is booked in open months is moved by the rules that the settings have by then. */
  | { readonly do: "rerule"; readonly nth: number }
  | { readonly do: "rates"; readonly date: string; readonly currency: string; readonly rate: Decimal }
  | { readonly do: "close"; readonly accept: boolean }
  | { readonly do: "reopen" }
  | { readonly do: "export"; readonly kind: ExportKind; readonly format: string }
  /** Somebody changes the settings. */
  | { readonly do: "rules"; readonly rules: ReadonlyArray<RuleText> }
  /** Two at once. */
  | { readonly do: "both"; readonly one: Simple; readonly other: Simple }
  /** Interrupted at a request, as a signal does it. */
  | { readonly do: "stopped"; readonly of: Simple; readonly after: number }
  /** Every connection to the database is cut at a request. */
  | { readonly do: "cut"; readonly of: Simple; readonly after: number }

export type Simple = Exclude<Operation, { readonly do: "rules" | "both" | "stopped" | "cut" }>

/**
 * Somebody does the operation before, in a process of their own, and does not come to its end: at the `nth` statement,
 * one that writes, commit or request, before it is sent or right after, or after so many milliseconds.
 */
export interface Kill {
  readonly of: "statement" | "write" | "commit" | "request" | "millisecond"
  readonly nth: number
  readonly side: "before" | "after"
  /** With -9, or stopped until somebody else has done the same; the sessions that hold its locks, or all, are cut meanwhile. */
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
  /** Rows of a page. */
  readonly pageSize: number
  readonly newestFirst: boolean
  readonly endCursorOnLastPage: boolean
  /** At the beginning. */
  readonly rules?: ReadonlyArray<RuleText>
}

export interface History {
  readonly seed: string
  readonly settings: HistorySettings
  readonly steps: ReadonlyArray<Step>
  /** When it ends: the last full sync, and what is proved then. */
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

/** A line that a person reads. */
export const lineOf = (step: Step): string => {
  if ("event" in step) return `${step.at}  ${step.event.what}: ${words(step.event)}`
  const kills = (step.kills ?? []).map((kill) => `, ${placeOf(kill)}`).join("")
  return `${step.at}  > ${step.operation.do} ${words(step.operation)}${kills}`
}
