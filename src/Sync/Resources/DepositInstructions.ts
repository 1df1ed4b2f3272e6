/**
 * How accounts are paid into: asked for once per account, before its statement is first read. The answers are personal data,
 * which are stored and never logged.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Traced.ts"
import { uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { PartnerError } from "../../Partner/PartnerError.ts"
import { type Malformed, Partner } from "../../Partner.ts"
import { nowIso, Run } from "../../Run.ts"

const kind = "deposit_instruction"

const made = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* Partner
  const reference = yield* ReferenceItems
  const quarantine = yield* Quarantine

  const unread = Effect.fn("Sync.DepositInstructions.unread")(function* (book: Book) {
    const rows = yield* database.rows(
      "Sync.DepositInstructions.unread",
      { account_id: uuid },
      (sql) => sql`
            select account_id from mirror.accounts
            where book_id = ${book.bookId} and tail_read_at is null and entries = 0 order by account_id`,
    )
    return rows.map(({ account_id: accountId }) => accountId)
  })

  /** Reads those of new accounts, or of all. Skips an account that has none, or that may not be asked for. */
  const read = traced("Sync.DepositInstructions.read")(function* (
    book: Book,
    accounts: ReadonlyArray<MirroredAccount>,
    all: boolean,
  ) {
    const ask = partner.depositInstructions
    if (ask === null) return
    const run = yield* Run
    const isNew = accounts.some(({ entries }) => entries === 0n)
    const wanted = all ? accounts.map(({ accountId }) => accountId) : isNew ? yield* unread(book) : []
    const askedAt = nowIso(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
    const answers = yield* Effect.forEach(
      wanted,
      (accountId) =>
        ask(accountId).pipe(
          // They have no identifier of their own, so a row that cannot be understood still belongs to this account.
          Effect.map(
            Option.map(Either.mapLeft((row): Malformed => ({ ...row, id: Option.some(accountId) }))),
          ),
          Effect.catchIf(
            (error) =>
              error instanceof PartnerError && (error.reason === "Forbidden" || error.reason === "Rejected"),
            () => Effect.succeedNone,
          ),
        ),
      { concurrency: 4 },
    )
    const rows = answers.flatMap((answer) => Option.toArray(answer))
    if (rows.length === 0) return
    const malformed = rows.flatMap((row) => (Either.isLeft(row) ? [row.left] : []))
    const items = rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))
    yield* run.commit(
      Effect.gen(function* () {
        yield* reference.put(book, run.runId, kind, askedAt, items)
        yield* quarantine.put(book, run.runId, kind, malformed)
        yield* quarantine.resolveItems(
          book,
          kind,
          items.map(({ id }) => id),
        )
      }),
    )
    run.counters.quarantined += malformed.length
  })

  return { read }
})

export class DepositInstructions extends Effect.Service<DepositInstructions>()(
  "tieout/Sync/DepositInstructions",
  { effect: made },
) {
  static readonly made = Effect.map(made, (parts) => new DepositInstructions(parts))
}
