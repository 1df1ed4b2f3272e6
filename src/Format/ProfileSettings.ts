/** What an accounting system's import files are like where a tenant or a region wants them otherwise. */
import { Schema } from "effect"
import { profileOf, type TableName } from "./Formats.ts"
import { mistakesOf } from "./Table/Override.ts"

const given = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const whole = (from: number, to: number) =>
  Schema.Int.pipe(Schema.between(from, to)).annotations({
    description: `a whole number from ${from} to ${to}`,
  })

const Header = Schema.String.pipe(
  Schema.filter((text) => /^[^\p{Cc}"'=+@\s-](?:[^\p{Cc}"]{0,98}[^\p{Cc}"\s])?$/u.test(text)),
).annotations({ description: "a header of at most 100 characters without quotes" })

const limits = {
  rowsPerFile: given(whole(1, 1_000_000)),
  rowsPerJournal: given(whole(2, 1_000_000)),
  file: given(Schema.String),
}

const common = {
  ...limits,
  date: given(Schema.Literal("iso", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "long")),
  decimalMark: given(Schema.Literal(".", ",")),
  delimiter: given(
    Schema.Literal(",", ";", "|", "\t").annotations({ description: '"," or ";" or "|" or "\\t"' }),
  ),
  encoding: given(Schema.Literal("utf-8", "windows-1252", "ascii")),
  lineEnd: given(Schema.Literal("LF", "CRLF")),
  numberLength: given(whole(20, 100)),
}

const headers = given(Schema.Record({ key: Schema.String, value: Header }))

const lines = (name: TableName) =>
  given(
    Schema.Struct({ headers, ...common }).pipe(Schema.filter((own) => [...mistakesOf(profileOf(name), own)])),
  )

/** By format. Sage 50 has no headers; what a DATEV file is like is DATEV's own rule. */
export const Profiles = Schema.Struct({
  xero: lines("xero"),
  "xero-statement": lines("xero-statement"),
  qbo: lines("qbo"),
  netsuite: lines("netsuite"),
  intacct: lines("intacct"),
  sage50: given(
    Schema.Struct(common).pipe(Schema.filter((own) => [...mistakesOf(profileOf("sage50"), own)])),
  ),
  "business-central": lines("business-central"),
  datev: given(Schema.Struct(limits).pipe(Schema.filter((own) => [...mistakesOf(profileOf("datev"), own)]))),
  "gl-detail": lines("gl-detail"),
})
