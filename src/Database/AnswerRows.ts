/**
 * Compares the answer of a statement with the columns that the program expects. A difference is a mistake in the program (a
 * column that a migration renamed, an overlooked outer join) and not a state of the books, so it is a defect.
 */
import { Data } from "effect"
import { type Column, type Columns, type RowOf, typeName } from "./Columns.ts"

/** The driver's result: rows, and the columns that the server described. */
export interface Answer extends ReadonlyArray<Readonly<Record<string, unknown>>> {
  readonly columns?: ReadonlyArray<FoundColumn> | null
}

interface FoundColumn {
  readonly name: string
  /** The OID. */
  readonly type: number
}

/** A statement's answer is not what the program expects. Holds no values of rows. */
class UnexpectedAnswer extends Data.TaggedError("UnexpectedAnswer")<{
  readonly operation: string
  readonly column: string
  readonly expected: string
  readonly found: string
}> {
  override get message(): string {
    const { column, expected, found, operation } = this
    return `${operation}: the column "${column}" should be ${expected}, and the database answered ${found}. This is a mistake of Tieout, or its tables were changed by somebody else.`
  }
}

/** A column whose values are checked row by row. */
interface CheckedColumn {
  readonly name: string
  readonly column: Column<unknown>
}

/** Caches the checked columns of a statement; columns that are no constant are computed again. */
const checkedColumns = new WeakMap<Columns, ReadonlyArray<CheckedColumn>>()

const checkedColumnsOf = (columns: Columns): ReadonlyArray<CheckedColumn> => {
  const cached = checkedColumns.get(columns)
  if (cached !== undefined) return cached
  const checked = Object.entries(columns)
    .map(([name, column]) => ({ name, column }))
    .filter(({ column }) => !column.nullable || column.accepts !== undefined)
  checkedColumns.set(columns, checked)
  return checked
}

/** A prepared statement describes its columns once per session: every answer of it carries the same array. */
const compared = new WeakMap<ReadonlyArray<FoundColumn>, Columns>()

/** Throws `UnexpectedAnswer` where the server described other columns; an answer without a description was compared before. */
const assertColumns = (operation: string, columns: Columns, found: Answer["columns"]): void => {
  if (!found || compared.get(found) === columns) return
  const seen = new Set<string>()
  for (const { name, type } of found) {
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined
    if (column === undefined || seen.has(name)) {
      const expected = seen.has(name) ? "there once" : "absent"
      throw new UnexpectedAnswer({ operation, column: name, expected, found: typeName(type) })
    }
    if (!column.types.includes(type)) {
      throw new UnexpectedAnswer({ operation, column: name, expected: column.name, found: typeName(type) })
    }
    seen.add(name)
  }
  for (const [name, column] of Object.entries(columns)) {
    if (!seen.has(name)) {
      throw new UnexpectedAnswer({ operation, column: name, expected: column.name, found: "no such column" })
    }
  }
  compared.set(found, columns)
}

/** Throws `UnexpectedAnswer` where rows do not have these columns. */
export function assertRows<C extends Columns>(
  operation: string,
  columns: C,
  answer: Answer,
): asserts answer is Answer & ReadonlyArray<RowOf<C>> {
  assertColumns(operation, columns, answer.columns)
  const checks = checkedColumnsOf(columns)
  for (const row of answer) {
    for (const { name, column } of checks) {
      const value = row[name]
      if (value === null) {
        if (!column.nullable) {
          throw new UnexpectedAnswer({ operation, column: name, expected: column.name, found: "null" })
        }
      } else if (column.accepts !== undefined && !column.accepts(value)) {
        throw new UnexpectedAnswer({ operation, column: name, expected: column.name, found: "another value" })
      }
    }
  }
}

/** The row of a statement that always has exactly one. Throws `UnexpectedAnswer` for any other number. */
export const onlyRow = <C extends Columns>(operation: string, columns: C, answer: Answer): RowOf<C> => {
  assertRows(operation, columns, answer)
  const [row] = answer
  if (row !== undefined && answer.length === 1) return row
  throw new Error(`${operation}: ${answer.length} rows where there is always one`)
}
