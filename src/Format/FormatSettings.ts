/** What the formats of accounting systems need to know that the books do not say. */
import { Schema } from "effect"
import { CurrencyCode, section, withDefault } from "../Common/Field.ts"
import { Profiles } from "./ProfileSettings.ts"

const Short = Schema.String.pipe(
  Schema.filter((text) => /^[\p{L}\p{N}][^\p{Cc}"]{0,99}$/u.test(text)),
).annotations({
  description: "text of at most 100 characters that begins with a letter or digit and holds no quotes",
})

const whole = (from: number, to: number) =>
  Schema.Int.pipe(Schema.between(from, to)).annotations({
    description: `a whole number from ${from} to ${to}`,
  })

const Xero = Schema.Struct({
  /** The full name of the tenant's tax rate. */
  taxRate: withDefault(Short, "Tax Exempt"),
  /** The tracking category that the mapping's `dimension` is an option of; null: no tracking. */
  tracking: withDefault(Schema.NullOr(Short), null),
})

const NetSuite = Schema.Struct({ subsidiary: withDefault(Schema.NullOr(Short), null) })

const Intacct = Schema.Struct({
  journal: withDefault(Short, "GJ"),
  location: withDefault(Schema.NullOr(Short), null),
})

const isDayOfYear = (text: string): boolean =>
  /^\d{2}-\d{2}$/.test(text) &&
  text.endsWith("-01") &&
  Number(text.slice(0, 2)) >= 1 &&
  Number(text.slice(0, 2)) <= 12

const Datev = Schema.Struct({
  /** Beraternummer and Mandantennummer; without them there is no DATEV export. */
  consultant: withDefault(Schema.NullOr(whole(1001, 9_999_999)), null),
  client: withDefault(Schema.NullOr(whole(1, 99_999)), null),
  /** Wirtschaftsjahresbeginn. */
  fiscalYearStart: withDefault(
    Schema.String.pipe(Schema.filter(isDayOfYear)).annotations({
      description: 'the first day of a month as "MM-01", in quotes, such as "01-01"',
    }),
    "01-01",
  ),
  /** Sachkontenlänge. */
  accountLength: withDefault(whole(4, 8), 4),
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
  /** Festschreibung: whether DATEV locks the entries as they come in. */
  locked: withDefault(Schema.Boolean, false),
})

export const Formats = Schema.Struct({
  /** Currencies that accounting systems' formats leave out; one that a format cannot hold is otherwise refused. */
  leaveOut: withDefault(Schema.Array(CurrencyCode), []),
  xero: section(Xero),
  netsuite: section(NetSuite),
  intacct: section(Intacct),
  datev: section(Datev),
  /** What differs from the published templates, by format. */
  profiles: section(Profiles),
})
export type Formats = typeof Formats.Type
