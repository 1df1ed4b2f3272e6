/** Reads a journal in Parquet a row group at a time, with amounts as exact digits. The library's own decimals are floating point. */
import { type AsyncBuffer, parquetMetadataAsync, parquetRead, type SchemaElement } from "hyparquet"
import { Unreadable } from "../Reading/LineCells.ts"
import type { PlainReading } from "../Reading/Plain.ts"

const isDecimal = ({ converted_type, precision, scale, type_length }: SchemaElement): boolean =>
  converted_type === "DECIMAL" && precision === 38 && scale === 18 && type_length === 16

/** Without what the library would turn into dates and floating-point numbers. */
const raw = (element: SchemaElement): SchemaElement => {
  if (element.converted_type === "UTF8" || element.num_children !== undefined) return element
  const { converted_type: _, logical_type: __, ...plain } = element
  return plain
}

const big = (bytes: Uint8Array): bigint => {
  const unsigned = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return BigInt.asIntN(bytes.length * 8, unsigned)
}

const decimalText = (units: bigint): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(19, "0")
  return `${units < 0n ? "-" : ""}${digits.slice(0, -18)}.${digits.slice(-18)}`
}

const instantText = (micros: bigint): string => {
  const millis = micros / 1_000n
  return new Date(Number(millis)).toISOString().replace("Z", `${String(micros % 1_000n).padStart(3, "0")}Z`)
}

const cellText = (element: SchemaElement, value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "string") return value
  if (value instanceof Uint8Array && isDecimal(element)) return decimalText(big(value))
  if (typeof value === "bigint" && element.converted_type === "TIMESTAMP_MICROS") return instantText(value)
  if (typeof value === "number" && element.converted_type === "DATE") {
    return new Date(value * 86_400_000).toISOString().slice(0, 10)
  }
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  throw new Unreadable(`${element.name} holds something else than its type says`)
}

/** The library's own leaves out a byte order mark at a text's beginning, and replaces what is no UTF-8. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const stringFromBytes = (bytes: Uint8Array | undefined): string | undefined => {
  try {
    return bytes === undefined ? undefined : utf8.decode(bytes)
  } catch {
    throw new Unreadable("a text is not in UTF-8")
  }
}

const rowsOf = async function* (file: AsyncBuffer): AsyncGenerator<{
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}> {
  const metadata = await parquetMetadataAsync(file)
  const elements = metadata.schema.filter(({ num_children }) => num_children === undefined)
  const columns = elements.map(({ name }) => name)
  const plain = { ...metadata, schema: metadata.schema.map(raw) }
  let from = 0
  yield { columns, rows: [] }
  for (const group of metadata.row_groups) {
    const to = from + Number(group.num_rows)
    let rows: ReadonlyArray<ReadonlyArray<string>> = []
    await parquetRead({
      ...{ file, metadata: plain, rowStart: from, rowEnd: to, rowFormat: "array" as const },
      parsers: { stringFromBytes },
      onComplete: (found: ReadonlyArray<ReadonlyArray<unknown>>) => {
        rows = found.map((row) => elements.map((element, at) => cellText(element, row[at])))
      },
    })
    yield { columns, rows }
    from = to
  }
}

export const parquetReading: PlainReading = { kind: "columns", rowsOf }
