import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { defineTable } from "../Table/Define.ts"
import { Unholdable } from "../Table/Journals.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import type { Cell } from "../Table/Profile.ts"
import {
  account,
  date,
  description,
  name,
  number,
  plain,
  signed,
  text,
  wholeReference,
} from "../Table/SharedCells.ts"
import { businessCentralReader } from "./BusinessCentralReader.ts"

/** A code of the general journal: letters are capitals there. */
const Code = Schema.String.pipe(
  Schema.filter((text) => /^[A-Z0-9][A-Z0-9 ._-]{0,8}[A-Z0-9]$|^[A-Z0-9]$/.test(text)),
).annotations({ description: "at most 10 capital letters, digits, spaces, dots and dashes" })

const Settings = Schema.Struct({
  /** Names of the general journal's template and batch, which the lines are imported into. */
  template: withDefault(Code, "GENERAL"),
  batch: withDefault(Code, "DEFAULT"),
})

const foreignCurrency = name(({ journal }, { baseCurrency }) =>
  journal.currency === baseCurrency ? "" : journal.currency,
)

/** Room for a person to put lines in between. */
const lineStep = 1000
/** Of a 32-bit integer, which a line number is. */
const lastLine = 2_147_483_647

/** The row that a line number is of, counted from 1 over all files of a batch; undefined where none has it. */
export const rowOfLine = (line: number): number | undefined =>
  line > 0 && line <= lastLine && line % lineStep === 0 ? line / lineStep : undefined

/** One number for each line of all files: template, batch and line are the key. */
const lineNumber = plain(({ fileRow }, { profile }) => {
  const line = fileRow * lineStep
  if (line > lastLine)
    throw new Unholdable(`${profile.name} has no line numbers for more than ${fileRow - 1} rows`)
  return String(line)
})

/** Characters of External Document No. */
const mostReference = 35

/** The movement's own reference, which its sender knows. */
const externalReference: Cell = {
  ...text(({ journal }, { profile }) =>
    wholeReference(journal.entry?.externalReference, mostReference, profile),
  ),
  optional: true,
}

/** General journal lines (table 81): ISO dates, signed amounts, codes of 20 and descriptions of 100; a blank currency is the local one. */
export const businessCentral = defineTable({
  name: "business-central",
  description: "general journal lines for Business Central",
  target: {
    column: "bc_account",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/,
    expects: "a number of at most 20 letters, digits and dashes",
    fallback: "code",
  },
  settings: Settings,
  profile: ({ batch, template }) =>
    lineProfile(
      [
        { header: "Journal Template Name", cell: name(() => template) },
        { header: "Journal Batch Name", cell: name(() => batch) },
        { header: "Line No.", cell: lineNumber },
        { header: "Posting Date", cell: date },
        { header: "Document No.", cell: number },
        { header: "Account Type", constant: "G/L Account" },
        { header: "Account No.", cell: account },
        { header: "Description", cell: description },
        { header: "Currency Code", cell: foreignCurrency },
        { header: "Amount", cell: signed },
        { header: "External Document No.", cell: externalReference, most: mostReference },
      ],
      {
        date: "iso",
        text: { most: 100 },
        number: 20,
      },
    ),
  reader: businessCentralReader,
})
