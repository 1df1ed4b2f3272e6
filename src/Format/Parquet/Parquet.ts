/**
 * The canonical journal as columns, for DuckDB, Spark, pandas and the like: `journal.csv` with types. Amounts are decimal(38,18), exact in
 * every currency; texts are as they are, without what guards a spreadsheet. A row group holds some thousands of entries.
 */
import type { SchemaElement } from "hyparquet"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import type { Entry, Line } from "../Entry.ts"
import { definePlain } from "../Format.ts"
import { Unholdable } from "../Table/Journals.ts"
import { parquetReading } from "./ParquetReader.ts"

/** Of the amounts. */
const scale = 18
const precision = 38
const tooLarge = 10n ** BigInt(precision)

/** The least number of rows in a row group, which is kept in memory. */
const groupRows = 20_000

type Value = string | number | bigint | null

interface Column {
  readonly element: SchemaElement
  readonly value: (entry: Entry, line: Line, book: string) => Value
}

const required = { repetition_type: "REQUIRED" } as const
const optional = { repetition_type: "OPTIONAL" } as const

const text = (name: string, value: Column["value"], how: typeof required | typeof optional = required) =>
  ({
    element: { name, type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" }, ...how },
    value,
  }) satisfies Column

/** Microseconds since 1970 of an instant in UTC with as many decimals. */
const microseconds = (instant: string): bigint => {
  const [seconds = "", fraction = ""] = instant.replace("Z", "").split(".")
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000n + BigInt(fraction.padEnd(6, "0").slice(0, 6))
}

const instant = (name: string, value: (entry: Entry) => string) =>
  ({
    element: {
      ...{ name, type: "INT64", converted_type: "TIMESTAMP_MICROS", ...required },
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
    },
    value: (entry) => microseconds(value(entry)),
  }) satisfies Column

const decimal = (name: string, sign: 1n | -1n) =>
  ({
    element: {
      ...{ name, type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, converted_type: "DECIMAL", scale, precision },
      ...{ logical_type: { type: "DECIMAL", scale, precision }, ...optional },
    },
    value: ({ number }, { account, minor }) => {
      if (minor * sign <= 0n) return null
      const units = minor * sign * 10n ** BigInt(scale - account.scale)
      if (units >= tooLarge) {
        throw new Unholdable(
          `an amount of ${number} in ${account.currency} has more than ${precision - scale} digits before the point`,
        )
      }
      return units
    },
  }) satisfies Column

const days = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000

/** As in `journal.csv`, in its order. */
const columns: ReadonlyArray<Column> = [
  text("journal_number", ({ number }) => number),
  { element: { name: "line_number", type: "INT32", ...required }, value: (_, { number }) => number },
  text("book", (_, __, book) => book),
  text("period", ({ period }) => period),
  {
    element: {
      ...{ name: "effective_date", type: "INT32", converted_type: "DATE", ...required },
      logical_type: { type: "DATE" },
    },
    value: ({ effectiveDate }) => days(effectiveDate),
  },
  instant("occurred_at", ({ occurredAt }) => occurredAt),
  instant("recorded_at", ({ recordedAt }) => recordedAt),
  text("account_code", (_, { account }) => account.code),
  text("account_name", (_, { account }) => account.name),
  text("account_role", (_, { account }) => account.role),
  text("partner_account_id", (_, { account }) => account.partnerAccountId, optional),
  text("currency", (_, { account }) => account.currency),
  decimal("debit", 1n),
  decimal("credit", -1n),
  text("kind", ({ kind }) => kind),
  text("description", ({ description }) => description),
  text("source_type", ({ sourceType }) => sourceType),
  text("source_id", ({ sourceId }) => sourceId),
  text("resource_type", ({ resourceType }) => resourceType, optional),
  text("resource_id", ({ resourceId }) => resourceId, optional),
  text("external_reference", ({ externalReference }) => externalReference, optional),
  text("counterparty", ({ counterparty }) => counterparty, optional),
  text("reverses", ({ reverses }) => reverses, optional),
  text("late_for", ({ lateFor }) => lateFor, optional),
]

const schema: Array<SchemaElement> = [
  { name: "journal", num_children: columns.length },
  ...columns.map(({ element }) => element),
]

export const parquet = definePlain({
  name: "parquet",
  description: "the canonical journal as Parquet, for DuckDB, Spark or pandas; amounts as decimal(38,18)",
  file: "journal.parquet",
  reading: parquetReading,
  order: "number",
  open: ({ book }) => {
    const bytes = new ByteWriter()
    const writer = new ParquetWriter({ writer: bytes, schema, createdBy: "tieout" })
    let values: ReadonlyArray<Array<Value>> = columns.map(() => [])
    let rows = 0

    /** The bytes made so far. */
    const taken = (): Uint8Array => {
      const made = bytes.getBytes().slice()
      bytes.index = 0
      return made
    }
    const flush = (): void => {
      if ((values[0]?.length ?? 0) === 0) return
      // One row group for each call; nothing waits, since our bytes go to memory.
      void writer.write({
        columnData: columns.map(({ element: { name } }, at) => ({ name, data: values[at] ?? [] })),
        rowGroupSize: Number.MAX_SAFE_INTEGER,
      })
      values = columns.map(() => [])
    }

    return {
      begin: () => taken(),
      write: (entries) => {
        for (const entry of entries) {
          for (const line of entry.lines) {
            for (const [at, { value }] of columns.entries()) values[at]?.push(value(entry, line, book.code))
          }
          rows += entry.lines.length
        }
        if ((values[0]?.length ?? 0) >= groupRows) flush()
        return taken()
      },
      end: () => {
        flush()
        void writer.finish()
        return taken()
      },
      rows: () => rows,
    }
  },
})
