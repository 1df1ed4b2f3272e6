/** Reads the beancount journal as we write it. */
import type { PlainReading } from "../Reading/Plain.ts"
import { beancountNames } from "./BeancountNames.ts"

export const beancountReading: PlainReading = {
  kind: "transactions",
  syntax: {
    transaction: /^\d{4}-\d{2}-\d{2} \* "/,
    posting: /^ {2}([^\s:]+:\S+) {2}(-?\d+(?:\.\d+)?) (\S+)$/,
    assertion: /^\d{4}-\d{2}-\d{2} balance (\S+) {2}(-?[\d.]+) ~ 0 (\S+)$/,
    names: beancountNames,
  },
}
