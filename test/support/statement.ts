/** One statement of a test on its database, as plain SQL. */
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"

/** Answers the rows of a statement. */
export const statement = (text: string) =>
  Effect.flatMap(Database, (database) =>
    database.query("Test.statement", (sql) => sql.unsafe<Array<Record<string, unknown>>>(text)),
  )

/** Answers the SQLSTATE with which the database refuses a statement; `accepted` where it does not. */
export const refusal = (text: string) =>
  statement(text).pipe(
    Effect.match({ onFailure: ({ sqlstate }) => sqlstate ?? "no SQLSTATE", onSuccess: () => "accepted" }),
  )
