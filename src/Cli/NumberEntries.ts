import { Effect, Option } from "effect"
import { unlessBusy } from "../Book/Moment.ts"
import { allBooks } from "../Book.ts"
import { mayWrite } from "../Database/MayWrite.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"

/**
 * Numbers entries that no sync has numbered yet; a sync under way numbers its own entries when it ends. `onlyReads`: the rest
 * of the command changes nothing, so it does without numbers if the database may only be read.
 */
export const numberEntries = Effect.fn("Cli.numberEntries")(function* (onlyReads: boolean) {
  const database = yield* Database
  if (onlyReads && !(yield* mayWrite())) return
  const ledger = yield* Ledger
  const all = yield* allBooks(Option.none())
  for (const connection of new Set(all.map((book) => book.connection))) {
    const own = all.filter((book) => book.connection === connection)
    yield* unlessBusy(database, connection, ledger.assignNumbers(own)).pipe(
      Effect.catchTag("LockBusy", () =>
        Effect.logWarning(
          `A sync of connection ${connection}, or a command that changes its books, is running: what it has not numbered yet has no journal number.`,
        ),
      ),
    )
  }
})
