/** Decoders of rows that a sync does not decode, or that it reads as single documents. */
import { Fault, type Fields, isAbsent, text, uuid } from "../Partner/Wire/Fields.ts"
import type { Decoder } from "../Partner/Wire/RowDecoder.ts"

export const publicKey: Decoder<unknown> = {
  idField: "publicKeyId",
  decode: (row) => uuid(row, "publicKeyId"),
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
