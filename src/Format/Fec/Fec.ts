/**
 * The layout of France's fichier des écritures comptables (article A47 A-1 of the LPF): 18 columns in order, tabs, decimal comma. An
 * import in that layout, for the accounting software that makes the statutory file of the whole company.
 */
import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText } from "../OwnSettings.ts"
import { dated } from "../Table/Amount.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import type { Row, Setup } from "../Table/Profile.ts"
import {
  account,
  credit,
  date,
  debit,
  description,
  name,
  number,
  otherSide,
  plain,
  text,
  wholeReference,
} from "../Table/SharedCells.ts"
import { fecReader } from "./FecReader.ts"

const Settings = Schema.Struct({
  /** Nine digits: required. */
  siren: withDefault(
    Schema.NullOr(
      Schema.String.pipe(Schema.pattern(/^\d{9}$/)).annotations({
        description: 'nine digits in quotes, such as "732829320"',
      }),
    ),
    null,
  ),
  /** The journal that the entries come into; what only the base-currency journal has comes into one with an X behind. */
  journal: withDefault(
    Schema.String.pipe(Schema.pattern(/^[A-Z0-9]{1,6}$/)).annotations({
      description: "at most six capital letters and digits",
    }),
    "TO",
  ),
  journalName: withDefault(ShortText, "Tieout"),
})

/** Characters of PieceRef. */
const mostReference = 50

/** The movement's own reference, or else the journal number: every entry has a document. */
const documentReference = text(
  ({ journal: { entry, number: own } }, { profile }) =>
    wholeReference(entry?.externalReference, mostReference, profile) || own,
)

/** Numbers have no gaps within a journal: what only the base-currency journal has is numbered by itself. */
const isOfBaseAlone = ({ journal: { number: own } }: Row, { book }: Setup): boolean =>
  own.startsWith(`${book}-FX-`)

export const fec = defineTable({
  name: "fec",
  description: "import in the layout of France's FEC, not the statutory file",
  target: {
    column: "fec_compte",
    pattern: /^\d{3}[0-9A-Z]{0,17}$/,
    expects: "an account number that begins with three digits, at most 20 digits and capital letters",
    fallback: "code",
  },
  filePattern: /^\d{9}FEC\d{8}(?:\.\d+|-\d+)?\.txt$/,
  overridable: "limits",
  settings: Settings,
  profile: ({ journal, journalName, siren }) =>
    lineProfile(
      [
        {
          header: "JournalCode",
          cell: name((row, setup) => (isOfBaseAlone(row, setup) ? `${journal}X` : journal)),
        },
        {
          header: "JournalLib",
          cell: name((row, setup) => (isOfBaseAlone(row, setup) ? `${journalName} X` : journalName)),
        },
        { header: "EcritureNum", cell: number },
        { header: "EcritureDate", cell: date },
        { header: "CompteNum", cell: account },
        {
          header: "CompteLib",
          cell: text(({ mapped }, { names }) => names.get(mapped.account) ?? ""),
          most: 100,
        },
        { header: "CompAuxNum" },
        { header: "CompAuxLib" },
        { header: "PieceRef", cell: documentReference, most: mostReference },
        { header: "PieceDate", cell: date },
        { header: "EcritureLib", cell: description },
        { header: "Debit", cell: otherSide(debit) },
        { header: "Credit", cell: otherSide(credit) },
        { header: "EcritureLet" },
        { header: "DateLet" },
        {
          header: "ValidDate",
          // The day in the book's own time zone, as EcritureDate is: an entry is never validated before its date.
          cell: plain(({ journal: { date: dayOfEntry, entry } }, { profile }) =>
            dated(entry?.recordedOn ?? dayOfEntry, profile.date),
          ),
        },
        { header: "Montantdevise" },
        { header: "Idevise" },
      ],
      {
        file: `${siren ?? "000000000"}FEC{to}{part}.txt`,
        delimiter: "\t",
        lineEnd: "\r\n",
        date: "YYYYMMDD",
        decimals: { least: 2, most: 2, mark: "," },
        digits: 15,
        text: { most: 200, without: /[\t|"]/g },
        limits: { rowsPerJournal: 1_000_000, rowsPerFile: 1_000_000 },
        mode: "detail",
        currencies: "base",
        baseCurrency: "EUR",
        lacks: siren === null ? ["siren"] : [],
      },
    ),
  entity: ({ siren }) => (siren === null ? null : `the SIREN ${siren}`),
  reader: fecReader,
})
