/** How rows are read of which a sync keeps only the identifier, or which are not rows of a list at all. */
import {
  currency,
  decimal,
  Fault,
  type Fields,
  instant,
  isAbsent,
  text,
  uuid,
} from "../Partner/Wire/Fields.ts"
import type { Decoder } from "../Partner/Wire/Row.ts"

export const client: Decoder<unknown> = {
  idField: "clientId",
  decode: (row) => [uuid(row, "clientId"), text(row, "status"), text(row, "legalEntityName")],
}

export const paymentRails: Decoder<unknown> = {
  idField: "code",
  decode: (row) => text(row, "code"),
}

export const receivable: Decoder<unknown> = {
  idField: "receivableId",
  decode: (row) => [
    uuid(row, "receivableId"),
    uuid(row, "clientId"),
    instant(row, "issueDate"),
    decimal(row, "initialPrincipal", "$", "any"),
    decimal(row, "currentPrincipal", "$", "any"),
    decimal(row, "repaymentAmount", "$", "any"),
    currency(row, "currency"),
    text(row, "status"),
  ],
}

export const creditAccount: Decoder<unknown> = {
  idField: "creditAccountId",
  decode: (row) => [
    uuid(row, "creditAccountId"),
    currency(row, "currency"),
    decimal(row, "creditLimit", "$", "any"),
    decimal(row, "principalOutstanding", "$", "any"),
    decimal(row, "totalRepaymentAmount", "$", "any"),
    text(row, "status"),
  ],
}

/** "Shape follows the account type": a bank account's details, or a wallet's. */
export const depositInstructions: Decoder<unknown> = {
  idField: "",
  decode: (row: Fields) => {
    if (!isAbsent(row.walletAddress)) return [text(row, "walletAddress"), text(row, "network")]
    if (isAbsent(row.accountNumber)) throw new Fault("$", "holds neither accountNumber nor walletAddress")
    return [text(row, "accountNumber"), text(row, "beneficiaryName"), text(row, "bankName")]
  },
}
