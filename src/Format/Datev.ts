/** DATEV EXTF Buchungsstapel, format 700, version 13: 31 header fields, 125 columns, Windows-1252. */
import type { Formats } from "./FormatSettings.ts"
import type { Column, Profile } from "./Table/Profile.ts"

const empty = (headers: ReadonlyArray<string>): ReadonlyArray<Column> => headers.map((header) => ({ header }))

const texts = (headers: ReadonlyArray<string>): ReadonlyArray<Column> =>
  headers.map((header) => ({ header, emptyQuoted: true }))

const pairs = (count: number, kind: string, content: string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => [`${kind} ${at + 1}`, `${content} ${at + 1}`]).flat()

const columns: ReadonlyArray<Column> = [
  { header: "Umsatz (ohne Soll/Haben-Kz)", cell: "unsigned" },
  { header: "Soll/Haben-Kennzeichen", cell: "side" },
  { header: "WKZ Umsatz", cell: "currency" },
  ...empty(["Kurs", "Basis-Umsatz"]),
  ...texts(["WKZ Basis-Umsatz"]),
  { header: "Konto", cell: "accountDigits" },
  { header: "Gegenkonto (ohne BU-Schlüssel)", cell: "contraDigits" },
  ...texts(["BU-Schlüssel"]),
  { header: "Belegdatum", cell: "date" },
  { header: "Belegfeld 1", cell: "number" },
  ...texts(["Belegfeld 2"]),
  ...empty(["Skonto"]),
  { header: "Buchungstext", cell: "description", most: 60 },
  ...empty(["Postensperre"]),
  ...texts(["Diverse Adressnummer"]),
  ...empty(["Geschäftspartnerbank", "Sachverhalt", "Zinssperre"]),
  ...texts(["Beleglink", ...pairs(8, "Beleginfo - Art", "Beleginfo - Inhalt")]),
  { header: "KOST1 - Kostenstelle", cell: "dimension", emptyQuoted: true },
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
  { header: "Festschreibung", cell: "locked" },
  ...empty(["Leistungsdatum", "Datum Zuord. Steuerperiode", "Fälligkeit"]),
  ...texts(["Generalumkehr (GU)"]),
  ...empty(["Steuersatz"]),
  ...texts(["Land", "Abrechnungsreferenz"]),
  ...empty(["BVV-Position"]),
  ...texts(["EU-Land u. UStID (Ursprung)"]),
  ...empty(["EU-Steuersatz (Ursprung)", "Abw. Skontokonto"]),
]

export const datev: Profile = {
  name: "datev",
  file: "EXTF_{period}_{currency}{part}.csv",
  encoding: "windows-1252",
  delimiter: ";",
  lineEnd: "\r\n",
  quoteTexts: true,
  header: true,
  columns,
  date: "DDMM",
  decimals: { least: 2, most: 2, mark: "," },
  digits: 10,
  text: { most: 60 },
  number: 36,
  limits: { rowsPerJournal: 99_999, rowsPerFile: 99_999 },
  filePerPeriod: true,
  target: "datev_konto",
  row: "pair",
  mode: "any",
  currency: /^[A-Z]{3}$/,
}

const compact = (date: string): string => date.replaceAll("-", "")

const lastDay = (period: string): string => {
  const [year = 0, month = 0] = period.split("-").map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

/** The fiscal year that a month lies in begins on its last such day. */
const fiscalYear = (period: string, start: string): string => {
  const year = Number(period.slice(0, 4))
  const inYear = `${year}-${start}`
  return inYear <= `${period}-01` ? inYear : `${year - 1}-${start}`
}

export interface DatevFile {
  readonly period: string
  readonly currency: string
  /** ISO 8601 in UTC. */
  readonly createdAt: string
}

/** The first line. Without consultant and client there is none: the export is refused before. */
export const datevHeader = (
  { accountLength, chart, client, consultant, fiscalYearStart, initials, locked }: Formats["datev"],
  { createdAt, currency, period }: DatevFile,
): string => {
  const stamp = createdAt.replaceAll(/\D/g, "").slice(0, 17).padEnd(17, "0")
  const fields = [
    '"EXTF";700;21;"Buchungsstapel";13',
    `${stamp};;"RE";"";""`,
    `${consultant ?? ""};${client ?? ""};${compact(fiscalYear(period, fiscalYearStart))};${accountLength}`,
    `${compact(`${period}-01`)};${compact(lastDay(period))};"Tieout ${period}";"${initials}"`,
    `1;0;${locked ? 1 : 0};"${currency}";;"";;;"${chart}";;;"";""`,
  ]
  return `${fields.join(";")}\r\n`
}
