/**
 * Proves the head of every statement against the balance that the service reports. If they differ, something may have moved
 * between the two reads: the balance and then the end of the statement are read again, up to three times, before the difference
 * is left for the reconciliation to report. A service may count a movement in its balances some seconds after it lists it, so
 * that the readings are spaced where the statement's end is as new as that.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { mostLag } from "../../Common/ServiceLag.ts"
import { nowByUs } from "../../Common/Time.ts"
import { bool } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { MirrorAccounts, type MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Partner } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { noteStatements } from "../Runs/Evidence.ts"
import { aloneOfStream, failureOf, isAskedToWait, isMissing, type StreamError } from "../Runs/Failures.ts"
import type { Failure } from "../Runs/RunReport.ts"
import { beginning, checkpointOf, statementStream } from "./Checkpoint.ts"
import { Statements } from "./Statement.ts"
import { wholeStatement } from "./StatementOutcome.ts"

const rounds = 3

/** Before the second and before the third round, where a balance may lag. */
const pauses = ["1 second", "2 seconds"] as const

/** Whether the books have the balance that the service reports. */
export const agrees = (account: Pick<MirroredAccount, "balance" | "lastBalance">): boolean =>
  Money.equals(
    account.balance,
    Option.getOrElse(account.lastBalance, () => Money.zero),
  )

interface Settled {
  /** The new entries that the extra reads brought, by account. */
  readonly brought: ReadonlyMap<string, number>
  readonly failures: ReadonlyArray<Failure>
}

/** Accounts whose statements lack something. */
export type Behind = Effect.Effect<ReadonlySet<string>, DatabaseError>

export const noneBehind: Behind = Effect.succeed(new Set())

export const nothingToSettle: Settled = { brought: new Map(), failures: [] }

const made = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* Partner
  const accounts = yield* MirrorAccounts
  const statements = yield* Statements

  const readAgain = Effect.fn("Sync.Balances.readAgain")(function* (book: Book, account: MirroredAccount) {
    const run = yield* Run
    const known = yield* checkpointOf(book, statementStream(account.accountId))
    const checkpoint = Option.getOrElse(known, () => beginning)
    // Reads the balance first, so that only one answer lies between it and the statement's end, and not the booking of new
    // entries.
    const askedAt = yield* nowByUs
    const answer = yield* partner.account(account.accountId)
    // This run has read the statement to its end. Where none of it is shown now, the answer is from before there was the account.
    const outcome = yield* statements.read(book, account, checkpoint).pipe(
      Effect.asSome,
      Effect.catchIf(isMissing, () => Effect.succeedNone),
    )
    yield* run.commit(
      Effect.gen(function* () {
        if (Option.isSome(outcome)) yield* noteStatements(book, wholeStatement(outcome.value))
        if (Option.isSome(answer) && Either.isRight(answer.value)) {
          yield* accounts.put(book, run.runId, askedAt, [answer.value.right])
        }
      }),
    )
    return outcome
  })

  /** Whether a balance may lag. An account that was off before is off for another reason: nobody waits for it in every run. */
  const mayLag = (book: Book, open: ReadonlyArray<MirroredAccount>, asked: string) => {
    const ids = open.map(({ accountId }) => accountId)
    return database.row(
      "Sync.Balances.mayLag",
      { lag: bool },
      (sql) => sql`
        select exists (
          select from mirror.accounts a
          join mirror.statement_entries e
            on e.book_id = a.book_id and e.account_id = a.account_id and e.position = a.entries and not e.held
          where a.book_id = ${book.bookId} and a.account_id = any (${plainArray(sql, ids, "uuid")})
            and abs(extract(epoch from e.occurred_at - ${asked}::timestamptz)) <= ${mostLag}
            and not exists (
              select from reconcile.open_findings f
              where f.book_id = a.book_id and f.check_name = 'cash-balance' and f.subject_type = 'account'
                and f.subject_id = a.account_id::text)) as lag`,
    )
  }

  /**
   * Proves the accounts that are `among`. One that cannot be read again keeps no other from it, unless the service asks to wait.
   * `behind`: those whose statements do not show yet what is known to be there; they are waited for as well.
   */
  const settle = Effect.fn("Sync.Balances.settle")(function* (
    book: Book,
    among: ReadonlySet<string>,
    behind: Behind = noneBehind,
  ) {
    const brought = new Map<string, number>()
    const failed = new Map<string, StreamError>()
    /** By the service's clock, where it tells it. */
    let asked = yield* nowByUs
    const isOver = () => [...failed.values()].some(isAskedToWait)
    const settleOne = (account: MirroredAccount) =>
      Effect.suspend(() => (isOver() ? Effect.void : settled(account))).pipe(
        aloneOfStream((error): void => {
          failed.set(account.accountId, error)
        }),
      )
    const settled = (account: MirroredAccount) =>
      Effect.map(readAgain(book, account), (outcome) => {
        if (Option.isNone(outcome)) return
        const { accountId, beganAt, newEntries } = outcome.value
        asked = Option.getOrElse(beganAt, () => asked)
        brought.set(accountId, (brought.get(accountId) ?? 0) + newEntries)
      })
    for (let round = 1; round <= rounds && !isOver(); round++) {
      const late = yield* behind
      const open = (yield* accounts.some(book, among)).filter(
        (account) => (!agrees(account) || late.has(account.accountId)) && !failed.has(account.accountId),
      )
      if (open.length === 0) break
      const pause = pauses[round - 2]
      const isLate = open.some(({ accountId }) => late.has(accountId))
      if (pause !== undefined && (isLate || (yield* mayLag(book, open, asked)).lag))
        yield* Effect.sleep(pause)
      yield* Effect.forEach(open, settleOne, { concurrency: 4, discard: true })
    }
    const failures = [...failed.values()].map((error) => failureOf({ kind: "balances" }, error))
    return { brought, failures } satisfies Settled
  })

  return { settle }
})

export class Balances extends Effect.Service<Balances>()("tieout/Sync/Balances", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Balances(parts))
}
