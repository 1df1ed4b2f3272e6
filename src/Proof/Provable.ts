/** A part of the proof that meets a row which it cannot read: that is said, and the others go on. */
import { Effect } from "effect"
import { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"

/**
 * SQLSTATE classes of what rows and tables are, not of the server: more rows than one (21), values that cannot be read (22), a column or
 * table that is gone (42, but for rights), what a function refuses (P0).
 */
const ofRows = /^(?:21|22|42(?!501)|P0)/

const isOfRows = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.sqlstate !== undefined && ofRows.test(error.sqlstate)

/** Without the advice behind it. */
const said = (message: string): string => message.replace(/\. Nothing of this transaction was kept\.$/, "")

/**
 * Part of the proof's transaction: the work in a savepoint, which an error rolls back alone. No row that Tieout wrote fails it, so whatever
 * does is wrong, whether the database says so or what decodes its answer. `otherwise` makes an answer of that.
 */
export const provable = <A, E, R>(work: Effect.Effect<A, E, R>, otherwise: (why: string) => A) =>
  Effect.gen(function* () {
    const database = yield* Database
    return yield* database.transaction(work).pipe(
      Effect.catchIf(isOfRows, ({ message }) => Effect.succeed(otherwise(said(message)))),
      Effect.catchAllDefect((defect) =>
        Effect.succeed(otherwise(defect instanceof Error ? defect.message : String(defect))),
      ),
    )
  })
