/** The first line of a DATEV file: 31 fields. */

import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { lastDayOf } from "../../Common/Time.ts"
import { wholeNumber } from "../OwnSettings.ts"
import { Template } from "../Table/Description.ts"
import type { PreambleOf } from "../Table/Profile.ts"

const isDayOfYear = (text: string): boolean =>
  /^\d{2}-\d{2}$/.test(text) &&
  text.endsWith("-01") &&
  Number(text.slice(0, 2)) >= 1 &&
  Number(text.slice(0, 2)) <= 12

/** The default content of Belegfeld 1. */
export const numberAlone = "{number}"

export const DatevSettings = Schema.Struct({
  /** Beraternummer and Mandantennummer: required for a DATEV export. */
  consultant: withDefault(Schema.NullOr(wholeNumber(1001, 9_999_999)), null),
  client: withDefault(Schema.NullOr(wholeNumber(1, 99_999)), null),
  /** Wirtschaftsjahresbeginn. */
  fiscalYearStart: withDefault(
    Schema.String.pipe(Schema.filter(isDayOfYear)).annotations({
      description: 'the first day of a month as "MM-01", in quotes, such as "01-01"',
    }),
    "01-01",
  ),
  /** Sachkontenlänge. */
  accountLength: withDefault(wholeNumber(4, 8), 4),
  /** Sachkontenrahmen. */
  chart: withDefault(
    Schema.String.pipe(Schema.pattern(/^\d{2}$/)).annotations({ description: 'two digits in quotes, "03"' }),
    "03",
  ),
  /** Diktatkürzel. */
  initials: withDefault(
    Schema.String.pipe(Schema.pattern(/^[A-Z]{2}$/)).annotations({ description: "two capital letters" }),
    "TO",
  ),
  /** Templates, as `description`, which is the Buchungstext. */
  belegfeld1: withDefault(Template, numberAlone),
  belegfeld2: withDefault(Template, ""),
  /** Festschreibung: whether DATEV locks the entries as they come in. */
  locked: withDefault(Schema.Boolean, false),
})
export type DatevSettings = typeof DatevSettings.Type

const compact = (date: string): string => date.replaceAll("-", "")

/** The first day of the fiscal year of a month. */
const fiscalYear = (period: string, start: string): string => {
  const year = Number(period.slice(0, 4))
  const inYear = `${year}-${start}`
  return inYear <= `${period}-01` ? inYear : `${year - 1}-${start}`
}

/** The header line, in the currency of the file, or the Mandant's own where its rows have rates; without consultant and client the export was refused before. */
export const datevHeader =
  (
    { accountLength, chart, client, consultant, fiscalYearStart, initials, locked }: DatevSettings,
    rated: boolean,
  ) =>
  ({ baseCurrency, createdAt, currency, period }: PreambleOf): string => {
    const stamp = createdAt.replaceAll(/\D/g, "").slice(0, 17).padEnd(17, "0")
    const fields = [
      '"EXTF";700;21;"Buchungsstapel";13',
      `${stamp};;"RE";"";""`,
      `${consultant ?? ""};${client ?? ""};${compact(fiscalYear(period, fiscalYearStart))};${accountLength}`,
      `${compact(`${period}-01`)};${compact(lastDayOf(period))};"Tieout ${period}";"${initials}"`,
      `1;0;${locked ? 1 : 0};"${rated ? baseCurrency : currency}";;"";;;"${chart}";;;"";""`,
    ]
    return `${fields.join(";")}\r\n`
  }
