/** What the database says of a conversion, and what is planned and booked from it. */
import { Option } from "effect"
import * as Money from "../../Common/Money.ts"
import { int4, jsonRows, nullable, oneOf, type RowOf, text, uuid } from "../../Database/Columns.ts"
import type { JournalEntry } from "../JournalEntry.ts"
import type { LegEntry, Step, Terms, Written } from "./ConversionSides.ts"

export const touchedColumns = {
  book_id: int4,
  conversion_id: uuid,
}

export type Touched = RowOf<typeof touchedColumns>

export const conversionColumns = {
  ...touchedColumns,
  account_id: uuid,
  currency: text,
  amount: text,
  fee: text,
  fee_currency: nullable(text),
  buy_account_id: uuid,
  buy_currency: text,
  buy_amount: text,
  external_reference: nullable(text),
  counterparty: nullable(text),
  legs: jsonRows({
    accountId: text,
    position: text,
    occurredAt: text,
    currency: text,
    type: oneOf("CREDIT", "DEBIT"),
    amount: text,
    transit: text,
  }),
  written: jsonRows({
    entryId: text,
    sequence: int4,
    kind: text,
    datedAt: text,
    traded: jsonRows({ currency: text, amount: text }),
  }),
}

export type ConversionRow = RowOf<typeof conversionColumns>

/** A fee counts on the side whose currency it is in; where both sides have one currency it is the sell side's. */
export const termsOf = (row: ConversionRow): Terms => {
  const feeIn = (currency: string) =>
    row.fee_currency === currency ? Money.fromTrusted(row.fee) : Money.zero
  return {
    sell: {
      accountId: row.account_id,
      currency: row.currency,
      amount: Money.fromTrusted(row.amount),
      fee: feeIn(row.currency),
    },
    buy: {
      accountId: row.buy_account_id,
      currency: row.buy_currency,
      amount: Money.fromTrusted(row.buy_amount),
      fee: row.currency === row.buy_currency ? Money.zero : feeIn(row.buy_currency),
    },
  }
}

export const legsOf = ({ legs }: ConversionRow): ReadonlyArray<LegEntry> =>
  legs.map((leg) => ({
    ...leg,
    position: BigInt(leg.position),
    amount: Money.fromTrusted(leg.amount),
    transit: Money.fromTrusted(leg.transit),
  }))

export const writtenOf = ({ written }: ConversionRow): ReadonlyArray<Written> =>
  written.map((entry) => ({
    ...entry,
    entryId: BigInt(entry.entryId),
    traded: new Map(entry.traded.map(({ amount, currency }) => [currency, Money.fromTrusted(amount)])),
  }))

const description = ({ kind }: Step, row: ConversionRow): string => {
  if (kind === "reclassification") return "Reclassification: fee of conversion"
  const what = `Conversion ${row.currency} to ${row.buy_currency}`
  return kind === "conversion_whole" ? `${what}, whole` : `${what}, reversed`
}

export const entryOf = (row: ConversionRow, step: Step, reverses: bigint | undefined): JournalEntry => ({
  sourceType: "resource_version",
  sourceId: row.conversion_id,
  kind: step.kind,
  sequence: step.sequence,
  occurredAt: step.occurredAt,
  partnerAccountId: null,
  position: null,
  resourceType: "CONVERSION",
  resourceId: row.conversion_id,
  description: description(step, row),
  externalReference: Option.fromNullable(row.external_reference),
  counterparty: Option.fromNullable(row.counterparty),
  lines: step.lines,
  ...(reverses === undefined ? {} : { reverses }),
})
