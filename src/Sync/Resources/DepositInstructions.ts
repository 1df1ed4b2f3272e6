/**
 * How accounts are paid into: asked for once per account, before its statement is first read. The answers are personal data,
 * which are stored and never logged.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { nowByUs } from "../../Common/Time.ts"
import { uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import type { Malformed, Row } from "../../Partner/Lists/Page.ts"
import { PartnerError } from "../../Partner/PartnerError.ts"
import { Partner, type ReferenceItem } from "../../Partner.ts"
import { Run } from "../../Run.ts"

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

  const keep = Effect.fn("Sync.DepositInstructions.keep")(function* (
    book: Book,
    askedAt: string,
    rows: ReadonlyArray<Row<ReferenceItem>>,
  ) {
    const run = yield* Run
    const malformed = rows.flatMap((row) => (Either.isLeft(row) ? [row.left] : []))
    const items = rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))
    const more = yield* quarantine.more(book, kind, malformed)
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
    run.counters.quarantined += more
  })

  /**
   * Reads those of new accounts, or of all. Skips an account that has none, or that may not be asked for. Where those of others cannot be
   * read, fails once it has kept the rest.
   */
  const read = traced("Sync.DepositInstructions.read")(function* (
    book: Book,
    accounts: ReadonlyArray<MirroredAccount>,
    all: boolean,
  ) {
    const ask = partner.depositInstructions
    if (ask === null) return
    const isNew = accounts.some(({ entries }) => entries === 0n)
    const wanted = all ? accounts.map(({ accountId }) => accountId) : isNew ? yield* unread(book) : []
    const askedAt = yield* nowByUs
    const failed: Array<PartnerError> = []
    const askFor = (accountId: string) =>
      ask(accountId).pipe(
        // They have no identifier of their own, so a row that cannot be understood still belongs to this account.
        Effect.map(Option.map(Either.mapLeft((row): Malformed => ({ ...row, id: Option.some(accountId) })))),
        Effect.catchIf(
          ({ reason }) => reason !== "Unauthorized",
          (error) => {
            if (error.reason !== "Forbidden" && error.reason !== "Rejected") failed.push(error)
            return Effect.succeedNone
          },
        ),
      )
    const answers = yield* Effect.forEach(
      wanted,
      // Not once the service asks everybody to wait, or has failed every time.
      (accountId) =>
        Effect.suspend(() =>
          failed.some(({ retryAt }) => retryAt !== undefined) ? Effect.succeedNone : askFor(accountId),
        ),
      { concurrency: 4 },
    )
    const rows = answers.flatMap((answer) => Option.toArray(answer))
    if (rows.length > 0) yield* keep(book, askedAt, rows)
    const [first] = failed
    if (first === undefined) return
    const { detail, operation, reason, status } = first
    const advice =
      "A run asks only for those of new accounts; to ask for all of them again: tieout sync --full"
    return yield* new PartnerError({
      ...{ reason, operation, detail, advice },
      ...(status === undefined ? {} : { status }),
    })
  })

  return { read }
})

export class DepositInstructions extends Effect.Service<DepositInstructions>()(
  "tieout/Sync/DepositInstructions",
  { effect: made },
) {
  static readonly made = Effect.map(made, (parts) => new DepositInstructions(parts))
}
