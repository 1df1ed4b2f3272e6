import { Effect } from "effect"
import { Database } from "../../Database.ts"
import { text } from "../Columns.ts"
import { databaseError } from "../DatabaseError.ts"

/** Another encoding lacks letters that the service sends, or (SQL_ASCII) cuts and compares bytes for letters. */
export const refuseEncoding = Effect.fn("Migrate.refuseEncoding")(function* (operation: string) {
  const database = yield* Database
  const { encoding } = yield* database.row(
    operation,
    { encoding: text },
    (sql) => sql`select current_setting('server_encoding') as encoding`,
  )
  if (encoding === "UTF8") return
  return yield* databaseError(
    "Settings",
    operation,
    `the database has the encoding ${encoding}, and Tieout needs UTF8: create another one, by create database NAME encoding 'UTF8' template template0`,
  )
})
