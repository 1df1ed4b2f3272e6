/**
 * SIE 4I, the import of vouchers that Swedish accounting software agrees on (SIE-Gruppen, "SIE filformat", edition 4B): a line for each
 * fact, vouchers as blocks, code page 437.
 */
import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText } from "../OwnSettings.ts"
import { dated } from "../Table/Amount.ts"
import { fitted, isHoldable } from "../Table/CellText.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import type { PreambleOf } from "../Table/Profile.ts"
import { date, description, narration, plain, signed } from "../Table/SharedCells.ts"
import { sieReader } from "./SieReader.ts"

const encoding = "cp437"
const lineEnd = "\r\n"
/** What would end a text or a voucher too early. */
const without = /["{}\\#]/g
const most = 200

const isHeld = (value: string): boolean => isHoldable(value, { encoding })

const Settings = Schema.Struct({
  /** Organisationsnummer; no line for it where it is null. */
  organizationNumber: withDefault(
    Schema.NullOr(
      Schema.String.pipe(Schema.pattern(/^\d{6}-\d{4}$/)).annotations({
        description: 'six digits, a hyphen and four digits, such as "556036-0793"',
      }),
    ),
    null,
  ),
  /** The company's name; the book's where it is null. */
  company: withDefault(
    Schema.NullOr(
      ShortText.pipe(
        Schema.filter((value) => isHeld(value) && value.search(without) < 0),
        Schema.annotations({
          description: String.raw`at most 100 letters of code page 437, the first a letter or digit, without " { } \ and #`,
        }),
      ),
    ),
    null,
  ),
  /** Verifikationsserie. Empty: the receiving program's own. */
  series: withDefault(
    Schema.String.pipe(Schema.pattern(/^[A-Z0-9]{0,5}$/)).annotations({
      description: "at most five capital letters and digits",
    }),
    "",
  ),
})
type Settings = typeof Settings.Type

const quotedText = (value: string, instead: string): string =>
  `"${fitted(value, { encoding, most, without }, instead)}"`

/** Everything before the vouchers, in the order of the standard. */
const head =
  ({ company, organizationNumber }: Settings) =>
  ({ accounts, book, createdOn, currency, version }: PreambleOf): string =>
    [
      "#FLAGGA 0",
      `#PROGRAM "Tieout" "${version}"`,
      "#FORMAT PC8",
      `#GEN ${dated(createdOn, "YYYYMMDD")}`,
      "#SIETYP 4",
      ...(organizationNumber === null ? [] : [`#ORGNR ${organizationNumber}`]),
      `#FNAMN ${quotedText(company ?? book.name, book.code)}`,
      `#VALUTA ${currency}`,
      ...accounts.map(({ account, name }) => `#KONTO ${account} ${quotedText(name, account)}`),
    ]
      .map((line) => `${line}${lineEnd}`)
      .join("")

export const sie = defineTable({
  name: "sie",
  description: "vouchers for Swedish accounting software (SIE 4I)",
  target: {
    column: "sie_konto",
    pattern: /^\d{3,8}$/,
    expects: "an account number of 3 to 8 digits",
    fallback: "code",
  },
  filePattern: /^sie-[A-Za-z0-9_.-]*\.si$/,
  overridable: "limits",
  settings: Settings,
  profile: (own) =>
    lineProfile(
      [
        { header: "#TRANS", constant: "#TRANS" },
        { header: "kontonr", cell: plain(({ mapped }) => mapped.account) },
        { header: "objektlista", constant: "{}" },
        { header: "belopp", cell: signed },
        { header: "transdat", cell: date },
        { header: "transtext", cell: description },
      ],
      {
        file: "sie-{currency}{part}.si",
        header: false,
        encoding,
        delimiter: " ",
        lineEnd,
        quoteTexts: true,
        date: "YYYYMMDD",
        decimals: { least: 2, most: 2, mark: "." },
        digits: 15,
        text: { most, without },
        limits: { rowsPerJournal: 1_000_000, rowsPerFile: 1_000_000 },
        currencies: "base",
        baseCurrency: "SEK",
        preamble: head(own),
        frame: {
          columns: [
            { header: "#VER", constant: "#VER" },
            { header: "serie", constant: own.series === "" ? '""' : own.series },
            { header: "vernr", constant: '""' },
            { header: "verdatum", cell: date },
            { header: "vertext", cell: narration },
          ],
          open: "{",
          close: "}",
        },
      },
    ),
  entity: ({ organizationNumber }) =>
    organizationNumber === null ? null : `the organization number ${organizationNumber}`,
  reader: sieReader,
})
