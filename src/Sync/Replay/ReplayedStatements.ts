/**
 * Quarantined statement entries. An entry has its place in its statement and cannot be put there from outside: its statement is
 * read on from the last good entry, which heals the running balance, also where only the service has mended it.
 */
import { Array as Arr, Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import type { KeptRows } from "../../Partner/KeptRows.ts"
import type { Row } from "../../Partner/Lists/Page.ts"
import { PartnerError } from "../../Partner/PartnerError.ts"
import type { StatementEntry } from "../../Partner.ts"
import { BookReader } from "../Runs/BookReader.ts"
import { allAbsorbed, allWait, type Tried, type Tries, waitsFor } from "../Runs/ReplayResult.ts"
import { inCurrency } from "../Statements/AccountCurrency.ts"

const prefix = "statement:"

/** The account whose statement a stream is. */
export const statementOf = (stream: string): string | undefined =>
  stream.startsWith(prefix) ? stream.slice(prefix.length) : undefined

interface Looked {
  readonly tries: Tries
  readonly read: Row<StatementEntry>
}

export class ReplayedStatements extends Effect.Service<ReplayedStatements>()(
  "tieout/Sync/ReplayedStatements",
  {
    effect: Effect.gen(function* () {
      const accounts = yield* MirrorAccounts
      const quarantine = yield* Quarantine
      const reader = yield* BookReader

      const afterReading = Effect.fn("Sync.ReplayedStatements.afterReading")(function* (
        looked: ReadonlyArray<Looked>,
        failure: string | undefined,
      ) {
        const ids = looked.flatMap(({ tries }) => tries.all.map(({ quarantineId }) => quarantineId))
        const still = new Map((yield* quarantine.list({ ids })).map((row) => [row.quarantineId, row]))
        return looked.flatMap(({ read, tries }): ReadonlyArray<Tried> => {
          const now = still.get(tries.newest.quarantineId)
          if (now === undefined) return allAbsorbed(tries)
          if (Either.isLeft(read)) {
            return waitsFor(tries, read.left, failure === undefined ? undefined : { message: failure })
          }
          if (failure === undefined) {
            return allWait(tries, "can be understood now, but a row before it in its statement cannot", "$")
          }
          return allWait(
            tries,
            `can be understood now, but its statement could not be read again: ${failure}`,
            "$",
          )
        })
      })

      const replayOne = Effect.fn("Sync.ReplayedStatements.one")(function* (
        book: Book,
        accountId: string,
        items: ReadonlyArray<Tries>,
        kept: KeptRows,
      ) {
        const account = Option.getOrUndefined(yield* accounts.one(book, accountId))
        const looked: Array<Looked> = []
        for (const tries of items) {
          const read = kept.statementEntry(accountId, yield* quarantine.raw(tries.newest.quarantineId))
          looked.push({ tries, read: account === undefined ? read : inCurrency(account.currency)(read) })
        }
        if (account === undefined) {
          return looked.flatMap(({ tries }) =>
            allWait(tries, "belongs to an account that is not known here", "$"),
          )
        }
        const failure = yield* reader.readSome(book, [account]).pipe(
          Effect.map(({ failures }) => failures[0]?.why),
          // The credentials are refused: rows that need no request are absorbed all the same.
          Effect.catchIf(
            (error) => error instanceof PartnerError,
            ({ message }) => Effect.succeed(message),
          ),
        )
        return yield* afterReading(looked, failure)
      })

      const replay = Effect.fn("Sync.ReplayedStatements.replay")(function* (
        book: Book,
        items: ReadonlyArray<Tries>,
        kept: KeptRows,
      ) {
        const byAccount = Arr.groupBy(items, ({ newest }) => statementOf(newest.stream) ?? "")
        const tried = yield* Effect.forEach(Object.entries(byAccount), ([accountId, some]) =>
          replayOne(book, accountId, some, kept),
        )
        return tried.flat()
      })

      return { replay }
    }),
  },
) {}
