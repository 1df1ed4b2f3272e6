/** Reads the journals of hledger and ledger as we write them. */
import type { PlainReading } from "../Reading/Plain.ts"
import { indentedNames } from "./IndentedNames.ts"

export const indentedReading: PlainReading = {
  kind: "transactions",
  syntax: {
    transaction: /^\d{4}-\d{2}-\d{2} \* /,
    posting: /^ {4}([^\s;].*?) {2}(-?\d+(?:\.\d+)?) (\S+)(?: = (-?[\d.]+) \S+)?$/,
    assertion: undefined,
    names: indentedNames,
  },
}
