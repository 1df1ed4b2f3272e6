/**
 * Compares the answer of a statement with the columns that the program expects. An answer that differs is no state of the
 * books but a mistake of the program (a column that a migration renamed, an outer join that nobody thought of): a defect.
 */
import { Data } from "effect"
import { type Column, type Columns, type RowOf, typeName } from "./Columns.ts"

/** What the driver hands over: rows, and beside them the columns that the server described. Only a cursor's first part has these. */
export interface Answer extends ReadonlyArray<Readonly<Record<string, unknown>>> {
  readonly columns?: ReadonlyArray<FoundColumn> | null
}

interface FoundColumn {
  readonly name: string
  /** The OID. */
  readonly type: number
}

/** A statement whose answer is not what the program expects of it. The values of rows are not in it. */
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

/** The columns whose values have to be looked at, row by row. */
interface Looked {
  readonly name: string
  readonly column: Column<unknown>
}

/** What is computed once for the columns of a statement, or again for those that are no constant. */
const looked = new WeakMap<Columns, ReadonlyArray<Looked>>()

const lookedOf = (columns: Columns): ReadonlyArray<Looked> => {
  const known = looked.get(columns)
  if (known !== undefined) return known
  const made = Object.entries(columns)
    .map(([name, column]) => ({ name, column }))
    .filter(({ column }) => !column.nullable || column.accepts !== undefined)
  looked.set(columns, made)
  return made
}

/** A prepared statement describes its columns once per session, so that the same array comes back with every answer. */
const compared = new WeakMap<ReadonlyArray<FoundColumn>, Columns>()

/** Throws `UnexpectedAnswer` where the server described other columns; what it did not describe was compared before. */
export const assertColumns = (operation: string, columns: Columns, found: Answer["columns"]): void => {
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

/** Throws `UnexpectedAnswer` where rows are not of these columns. */
export function assertRows<C extends Columns>(
  operation: string,
  columns: C,
  answer: Answer,
): asserts answer is Answer & ReadonlyArray<RowOf<C>> {
  assertColumns(operation, columns, answer.columns)
  const checks = lookedOf(columns)
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

/** The row of a statement that always has exactly one. Throws where there are none or several, as where it is another row. */
export const onlyRow = <C extends Columns>(operation: string, columns: C, answer: Answer): RowOf<C> => {
  assertRows(operation, columns, answer)
  const [row] = answer
  if (row !== undefined && answer.length === 1) return row
  throw new Error(`${operation}: ${answer.length} rows where there is always one`)
}
