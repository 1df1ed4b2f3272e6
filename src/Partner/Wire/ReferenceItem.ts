import { Option } from "effect"
import type { ReferenceItem } from "../../Partner.ts"
import { code, Fault, type Fields, isFields, optionalText, uuid } from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

/** Only the identifier and the name of a pair are decoded. */
export const conversionPair: Decoder<ReferenceItem> = {
  idField: "pairId",
  decode: (row, source) => ({
    id: uuid(row, "pairId"),
    label: optionalText(row, "pair"),
    raw: storable(source()),
  }),
}

export const paymentRail: Decoder<ReferenceItem> = {
  idField: "code",
  decode: (row, source) => ({
    id: code(row, "code"),
    label: optionalText(row, "description"),
    raw: storable(source()),
  }),
}

const present = (parts: ReadonlyArray<Option.Option<string>>): string =>
  parts
    .flatMap((part) => Option.toArray(part))
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join(", ")

/** Bank details stand beside the account number (flat form) or in a `bank` block. */
const bankName = (row: Fields, at = "$"): Option.Option<string> =>
  isFields(row.bank) ? optionalText(row.bank, "bankName", `${at}.bank`) : optionalText(row, "bankName", at)

/** Whom an address book entry, or its snapshot on a withdrawal, names: bank and account, or network and wallet. */
export const counterparty = (row: Fields, at = "$"): Option.Option<string> => {
  const wallet = optionalText(row, "walletAddress", at)
  const named = Option.isSome(wallet)
    ? present([optionalText(row, "network", at), wallet])
    : present([bankName(row, at), optionalText(row, "accountNumber", at)])
  return named === "" ? Option.none() : Option.some(named)
}

/** Bank and wallet entries, in the flat form and in the block form. */
export const destination: Decoder<ReferenceItem> = {
  idField: "destinationId",
  decode: (row, source) => ({
    id: uuid(row, "destinationId"),
    label: counterparty(row),
    raw: storable(source()),
  }),
}

/** Deposit instructions have no identifier of their own: they are their account's. */
export const depositInstruction = (accountId: string): Decoder<ReferenceItem> => ({
  idField: "accountId",
  decode: (row, source) => {
    if (typeof row.walletAddress !== "string" && typeof row.accountNumber !== "string") {
      throw new Fault("$", "has neither an accountNumber nor a walletAddress")
    }
    return { id: accountId.toLowerCase(), label: Option.none(), raw: storable(source()) }
  },
})
