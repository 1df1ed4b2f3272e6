/** DATEV EXTF Buchungsstapel, format 700, version 13: 31 header fields, 125 columns, Windows-1252. */

import { defineTable, type Shape } from "../Table/Define.ts"
import type { Column, RateStyle } from "../Table/Profile.ts"
import {
  baseAmount,
  currency,
  date,
  description,
  inForeign,
  name,
  number,
  plain,
  rate,
  templated,
  unsigned,
} from "../Table/SharedCells.ts"
import { DatevSettings, datevHeader, numberAlone } from "./DatevHeader.ts"
import { datevRatedReader, datevReader } from "./DatevReader.ts"

const empty = (headers: ReadonlyArray<string>): ReadonlyArray<Column> => headers.map((header) => ({ header }))

const texts = (headers: ReadonlyArray<string>): ReadonlyArray<Column> =>
  headers.map((header) => ({ header, emptyQuoted: true }))

const pairs = (count: number, kind: string, content: string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => [`${kind} ${at + 1}`, `${content} ${at + 1}`]).flat()

/** By DATEV's page, at most 36 characters, which the mapping's own rule sees to. */
const costCentre = /^[\w ]*$/

/** What a document field cannot hold. */
const notInDocument = /[^a-zA-Z0-9$%&*+\-/]/g

const columnsOf = (
  { belegfeld1, belegfeld2, locked }: DatevSettings,
  rated: boolean,
): ReadonlyArray<Column> => [
  { header: "Umsatz (ohne Soll/Haben-Kz)", cell: unsigned },
  { header: "Soll/Haben-Kennzeichen", cell: name(({ minor }) => (minor > 0n ? "S" : "H")) },
  { header: "WKZ Umsatz", cell: currency },
  ...(rated
    ? [
        { header: "Kurs", cell: inForeign(rate) },
        { header: "Basis-Umsatz", cell: inForeign(baseAmount) },
        {
          header: "WKZ Basis-Umsatz",
          cell: inForeign(name((_, { baseCurrency }) => baseCurrency)),
          emptyQuoted: true as const,
        },
      ]
    : [...empty(["Kurs", "Basis-Umsatz"]), ...texts(["WKZ Basis-Umsatz"])]),
  { header: "Konto", cell: plain(({ mapped }) => mapped.account) },
  { header: "Gegenkonto (ohne BU-Schlüssel)", cell: plain(({ contra }) => contra?.account ?? "") },
  ...texts(["BU-Schlüssel"]),
  { header: "Belegdatum", cell: date },
  belegfeld1 === numberAlone
    ? { header: "Belegfeld 1", cell: number }
    : {
        header: "Belegfeld 1",
        cell: templated(belegfeld1),
        most: 36,
        drop: notInDocument,
        emptyQuoted: true,
      },
  { header: "Belegfeld 2", cell: templated(belegfeld2), most: 12, drop: notInDocument, emptyQuoted: true },
  ...empty(["Skonto"]),
  { header: "Buchungstext", cell: description, most: 60 },
  ...empty(["Postensperre"]),
  ...texts(["Diverse Adressnummer"]),
  ...empty(["Geschäftspartnerbank", "Sachverhalt", "Zinssperre"]),
  ...texts(["Beleglink"]),
  // The journal number has a place of its own if the document field holds something else.
  ...(belegfeld1 === numberAlone
    ? texts(pairs(1, "Beleginfo - Art", "Beleginfo - Inhalt"))
    : [
        { header: "Beleginfo - Art 1", cell: name(() => "Journal") },
        { header: "Beleginfo - Inhalt 1", cell: number },
      ]),
  ...texts(pairs(8, "Beleginfo - Art", "Beleginfo - Inhalt").slice(2)),
  {
    header: "KOST1 - Kostenstelle",
    // One for both accounts of the row: that of the Gegenkonto, too, as where a fee comes back.
    cell: name(({ contra, mapped }) => mapped.dimension || (contra?.dimension ?? "")),
    emptyQuoted: true,
  },
  ...texts(["KOST2 - Kostenstelle"]),
  ...empty(["Kost-Menge"]),
  ...texts(["EU-Land u. UStID (Bestimmung)"]),
  ...empty(["EU-Steuersatz (Bestimmung)"]),
  ...texts(["Abw. Versteuerungsart"]),
  ...empty([
    "Sachverhalt L+L",
    "Funktionsergänzung L+L",
    "BU 49 Hauptfunktionstyp",
    "BU 49 Hauptfunktionsnummer",
    "BU 49 Funktionsergänzung",
  ]),
  ...texts(pairs(20, "Zusatzinformation - Art", "Zusatzinformation- Inhalt")),
  ...empty(["Stück", "Gewicht", "Zahlweise"]),
  ...texts(["Forderungsart"]),
  ...empty(["Veranlagungsjahr", "Zugeordnete Fälligkeit", "Skontotyp"]),
  ...texts(["Auftragsnummer", "Buchungstyp"]),
  ...empty(["USt-Schlüssel (Anzahlungen)"]),
  ...texts(["EU-Land (Anzahlungen)"]),
  ...empty(["Sachverhalt L+L (Anzahlungen)", "EU-Steuersatz (Anzahlungen)", "Erlöskonto (Anzahlungen)"]),
  ...texts(["Herkunft-Kz", "Buchungs GUID"]),
  ...empty(["KOST-Datum"]),
  ...texts(["SEPA-Mandatsreferenz"]),
  ...empty(["Skontosperre"]),
  ...texts(["Gesellschaftername"]),
  ...empty(["Beteiligtennummer"]),
  ...texts(["Identifikationsnummer", "Zeichnernummer"]),
  ...empty(["Postensperre bis"]),
  ...texts(["Bezeichnung SoBil-Sachverhalt"]),
  ...empty(["Kennzeichen SoBil-Buchung"]),
  { header: "Festschreibung", cell: plain(() => (locked ? "1" : "0")) },
  ...empty(["Leistungsdatum", "Datum Zuord. Steuerperiode", "Fälligkeit"]),
  ...texts(["Generalumkehr (GU)"]),
  ...empty(["Steuersatz"]),
  ...texts(["Land", "Abrechnungsreferenz"]),
  ...empty(["BVV-Position"]),
  ...texts(["EU-Land u. UStID (Ursprung)"]),
  ...empty(["EU-Steuersatz (Ursprung)", "Abw. Skontokonto"]),
]

const shapeOf = (own: DatevSettings, ownRates?: RateStyle): Shape => ({
  file: "EXTF_{period}_{currency}{part}.csv",
  encoding: "windows-1252",
  delimiter: ";",
  lineEnd: "\r\n",
  quoteTexts: true,
  header: true,
  columns: columnsOf(own, ownRates !== undefined),
  date: "DDMM",
  decimals: { least: 2, most: 2, mark: "," },
  digits: 10,
  text: { most: 60 },
  number: 36,
  limits: { rowsPerJournal: 99_999, rowsPerFile: 99_999 },
  filePerPeriod: true,
  row: "pair",
  mode: "any",
  currencies: "official",
  preamble: datevHeader(own, ownRates !== undefined),
  wrongAccount: ({ account, dimension }) => {
    if (account.length > own.accountLength + 1)
      return `is called ${account}, longer than ${own.accountLength + 1} digits (formats.datev.accountLength and one)`
    return costCentre.test(dimension)
      ? undefined
      : `has the dimension ${JSON.stringify(dimension)}; DATEV's KOST1 takes letters, digits, spaces and underscores`
  },
  lacks: [...(own.consultant === null ? ["consultant"] : []), ...(own.client === null ? ["client"] : [])],
  ...(ownRates === undefined ? {} : { rates: ownRates }),
})

/** Units of the foreign currency for one of the base currency, from 1 to 9999.999999 by DATEV's own page. The base amount is stated. */
const rates: RateStyle = { decimals: 6, digits: 4, least: 1_000_000n, quantity: true, states: true }

export const datev = defineTable({
  name: "datev",
  description: "EXTF Buchungsstapel for DATEV",
  target: {
    column: "datev_konto",
    pattern: /^(?=.*[1-9])\d{3,9}$/,
    expects: "an account number of 3 to 9 digits",
    fallback: "code",
    // A number: 0600 and 600 are one account.
    read: (account) => account.replace(/^0+/, ""),
  },
  // DATEV's own rules fix everything else about the file.
  overridable: "limits",
  settings: DatevSettings,
  profile: (own) => shapeOf(own),
  entity: ({ client, consultant }) =>
    client === null || consultant === null ? null : `the Mandant ${consultant}/${client}`,
  rated: { profile: (own) => shapeOf(own, rates), reader: datevRatedReader },
  reader: datevReader,
})
