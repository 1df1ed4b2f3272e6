/**
 * Proves the head of every statement against the balance that the service reports. If they differ, something may have moved
 * between the two reads: the balance and then the end of the statement are read again, up to three times, before the difference
 * is left for the reconciliation to report.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { nowByUs } from "../../Common/Time.ts"
import { MirrorAccounts, type MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Partner } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { noteStatements } from "../Runs/Evidence.ts"
import { aloneOfStream, failureOf, isAskedToWait, type StreamError } from "../Runs/Failures.ts"
import type { Failure } from "../Runs/RunReport.ts"
import { beginning, checkpointOf, statementStream } from "./Checkpoint.ts"
import { Statements } from "./Statement.ts"
import { wholeStatement } from "./StatementOutcome.ts"

const rounds = 3

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

export const nothingToSettle: Settled = { brought: new Map(), failures: [] }

const made = Effect.gen(function* () {
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
    const outcome = yield* statements.read(book, account, checkpoint)
    yield* run.commit(
      Effect.gen(function* () {
        yield* noteStatements(book, wholeStatement(outcome))
        if (Option.isSome(answer) && Either.isRight(answer.value)) {
          yield* accounts.put(book, run.runId, askedAt, [answer.value.right])
        }
      }),
    )
    return outcome.newEntries
  })

  /** Proves the accounts that are `among`. One that cannot be read again keeps no other from it, unless the service asks to wait. */
  const settle = Effect.fn("Sync.Balances.settle")(function* (book: Book, among: ReadonlySet<string>) {
    const brought = new Map<string, number>()
    const failed = new Map<string, StreamError>()
    const isOver = () => [...failed.values()].some(isAskedToWait)
    const settleOne = (account: MirroredAccount) =>
      Effect.suspend(() => (isOver() ? Effect.succeed(0) : readAgain(book, account))).pipe(
        aloneOfStream((error) => {
          failed.set(account.accountId, error)
          return 0
        }),
        Effect.tap((entries) => {
          brought.set(account.accountId, (brought.get(account.accountId) ?? 0) + entries)
        }),
      )
    for (let round = 1; round <= rounds && !isOver(); round++) {
      const open = (yield* accounts.some(book, among)).filter(
        (account) => !agrees(account) && !failed.has(account.accountId),
      )
      if (open.length === 0) break
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
