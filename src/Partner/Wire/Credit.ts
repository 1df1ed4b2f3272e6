/** The rows of the credit surface; clients are those of the client surface too. */
import { Option } from "effect"
import type { Client, CreditAccount, Receivable, TransactionRef } from "../../Partner.ts"
import type { Instant } from "../Instant.ts"
import {
  amount,
  bookedInstant,
  currency,
  Fault,
  type Fields,
  instant,
  isAbsent,
  isFields,
  object,
  code as railsCode,
  text,
  uuid,
} from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

export const client: Decoder<Client> = {
  idField: "clientId",
  decode: (row, source) => {
    const legalEntityName = text(row, "legalEntityName")
    return {
      id: uuid(row, "clientId"),
      label: Option.some(legalEntityName),
      code: text(row, "code"),
      legalEntityName,
      status: text(row, "status"),
      raw: storable(source()),
    }
  },
}

/** The interface does not document this field: a value of any other type is ignored here, and kept in `raw`. */
const isText = (value: unknown): value is string => typeof value === "string"

const longestTxId = 255

type ReadInstant = (fields: Fields, key: string, at: string) => Instant

const transaction = (fields: Fields, at: string, read: ReadInstant): TransactionRef => {
  const txId = text(fields, "txId", at)
  if (txId === "" || txId.length > longestTxId) throw new Fault(`${at}.txId`, "is empty or too long")
  return { txId, txTimestamp: read(fields, "txTimestamp", at) }
}

const optionalTransaction = (row: Fields, key: string, read: ReadInstant): Option.Option<TransactionRef> =>
  isAbsent(row[key]) ? Option.none() : Option.some(transaction(object(row, key), `$.${key}`, read))

const transactions = (row: Fields, key: string, read: ReadInstant): ReadonlyArray<TransactionRef> => {
  const list: unknown = row[key]
  if (isAbsent(list)) return []
  if (!Array.isArray(list)) throw new Fault(`$.${key}`, "expected an array")
  return list.map((item: unknown, index) => {
    const at = `$.${key}[${index}]`
    if (!isFields(item)) throw new Fault(at, "expected an object")
    return transaction(item, at, read)
  })
}

/** Disbursement and repayments are dated by their transactions. `timeZone`: the books'. */
export const receivableIn = (timeZone: string): Decoder<Receivable> => ({
  idField: "receivableId",
  decode: (row, source) => {
    const code = currency(row, "currency")
    const booked: ReadInstant = (fields, key, at) => bookedInstant(fields, key, at, timeZone)
    return {
      id: uuid(row, "receivableId"),
      clientId: uuid(row, "clientId"),
      issueDate: instant(row, "issueDate"),
      initialPrincipal: amount(row, "initialPrincipal", "$", code, "notNegative"),
      currentPrincipal: amount(row, "currentPrincipal", "$", code, "notNegative"),
      repaymentAmount: amount(row, "repaymentAmount", "$", code, "notNegative"),
      currency: code,
      status: text(row, "status"),
      paymentRails: railsCode(row, "paymentRails"),
      paymentTransaction: optionalTransaction(row, "paymentTransaction", instant),
      disbursedTransaction: optionalTransaction(row, "disbursedTransaction", booked),
      repaymentTransactions: transactions(row, "repaymentTransactions", booked),
      raw: storable(source()),
    }
  },
})

export const receivable = receivableIn("UTC")

export const creditAccount: Decoder<CreditAccount> = {
  idField: "creditAccountId",
  decode: (row, source) => {
    const code = currency(row, "currency")
    amount(row, "creditLimit", "$", code, "any")
    amount(row, "availableBalance", "$", code, "any")
    return {
      id: uuid(row, "creditAccountId"),
      label: Option.none(),
      currency: code,
      paymentRails: railsCode(row, "paymentRails"),
      principalOutstanding: amount(row, "principalOutstanding", "$", code, "any"),
      totalRepaymentAmount: amount(row, "totalRepaymentAmount", "$", code, "any"),
      clientId: isText(row.clientId) ? Option.some(row.clientId.toLowerCase()) : Option.none(),
      raw: storable(source()),
    }
  },
}
