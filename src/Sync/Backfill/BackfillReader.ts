/** Reads everything of one book that touches a window again: statements, and the resources behind them. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { oneOf, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { MirrorAccounts, type MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { Partner, resourceTypes } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { ResourceKey } from "../Resources/Hydration.ts"
import { Lists } from "../Resources/Lists.ts"
import { OpenResources } from "../Resources/OpenResources.ts"
import type { BookOutcome } from "../Runs/BookReader.ts"
import { noteStatements, noting } from "../Runs/Evidence.ts"
import { aloneOfEach, aloneOfStream, failureOf, ofStatement } from "../Runs/Failures.ts"
import type { Failure } from "../Runs/RunReport.ts"
import { agrees, Balances, nothingToSettle } from "../Statements/AccountBalances.ts"
import { beginning, checkpointOf, statementStream } from "../Statements/Checkpoint.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { Statements } from "../Statements/Statement.ts"
import { wholeStatement } from "../Statements/StatementOutcome.ts"
import { BackfillStatements, StatementMoved } from "./BackfilledStatements.ts"
import { BackfillWindow } from "./BackfillWindow.ts"

/** How often a statement is compared again because a sync has read on in it meanwhile, before others wait for the comparison. */
const comparisons = 5

const made = Effect.gen(function* () {
  const database = yield* Database
  const settings = yield* Settings
  const partner = yield* Partner
  const accounts = yield* MirrorAccounts
  const lists = yield* Lists
  const quarantine = yield* Quarantine
  const open = yield* OpenResources
  const facts = yield* PostingFacts
  const statements = yield* Statements
  const balances = yield* Balances
  const again = yield* BackfillStatements
  const { exclusively, results, window } = yield* BackfillWindow

  /** Accounts whose statement has not been read past the window's end. */
  const unread = Effect.fn("Backfill.Reader.unread")(function* (book: Book) {
    const rows = yield* database.rows(
      "Backfill.Reader.unread",
      { account_id: uuid },
      (sql) => sql`
          select account_id from mirror.accounts
          where book_id = ${book.bookId} and (tail_read_at is null or tail_read_at < ${window.end})`,
    )
    return new Set(rows.map(({ account_id: id }) => id))
  })

  /** Reads on as a sync does, for the part of the window after the last sync. Nothing else may read on meanwhile. */
  const readOn = (book: Book, account: MirroredAccount) =>
    exclusively(
      Effect.gen(function* () {
        const run = yield* Run
        const known = yield* checkpointOf(book, statementStream(account.accountId))
        const fresh = yield* accounts.one(book, account.accountId)
        const outcome = yield* statements.read(
          book,
          Option.getOrElse(fresh, () => account),
          Option.getOrElse(known, () => beginning),
        )
        const whole = wholeStatement(outcome)
        if (whole.length > 0) yield* run.commit(noteStatements(book, whole))
        return outcome
      }),
    )

  /** The list of accounts brought current balances: each is proved against the current end of its statement, as in a sync. */
  const settle = (book: Book, among: ReadonlySet<string>) =>
    among.size === 0 ? Effect.succeed(nothingToSettle) : exclusively(balances.settle(book, among))

  /** Movements that were created in the window or have entries in it. */
  const touching = Effect.fn("Backfill.Reader.touching")(function* (book: Book) {
    const rows = yield* database.rows(
      "Backfill.Reader.touching",
      { type: oneOf(...resourceTypes), id: uuid },
      (sql) => sql`
          select r.resource_type as type, r.resource_id as id from mirror.resources r
          where r.book_id = ${book.bookId} and r.created_at >= ${window.start} and r.created_at < ${window.end}
          union
          select e.related_type, e.related_id from mirror.statement_entries e
          where e.book_id = ${book.bookId} and e.occurred_at >= ${window.start} and e.occurred_at < ${window.end}
            and e.related_id is not null and e.related_type in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION') and not e.held
          order by 1, 2`,
    )
    return rows.map((row) => new ResourceKey(row))
  })

  const read = Effect.fn("Backfill.Reader.read")(function* (book: Book) {
    const run = yield* Run
    const failures: Array<Failure> = []
    const newEntries = new Map<string, number>()
    yield* lists.readAccounts(book, yield* quarantine.waiting(book)).pipe(noting(book, "accounts"))
    if (partner.addressBook !== null) {
      yield* lists
        .readReference(book, "destination", partner.addressBook)
        .pipe(aloneOfStream(() => undefined))
    }
    yield* facts.refresh(book)
    const all = yield* accounts.all(book)
    const behind = yield* unread(book)
    const whole = new Set<string>()
    run.progress.statements.all += all.length

    const alone = aloneOfEach()
    const readOne = (account: MirroredAccount) =>
      Effect.gen(function* () {
        if (behind.has(account.accountId) || !agrees(account)) {
          const outcome = yield* readOn(book, account)
          newEntries.set(account.accountId, outcome.newEntries)
          if (!outcome.broken) whole.add(account.accountId)
        }
        const comparing = Effect.gen(function* () {
          const now = yield* accounts.one(book, account.accountId)
          return yield* again.readAgain(
            book,
            Option.getOrElse(now, () => account),
            window,
          )
        })
        results.push(
          yield* comparing.pipe(
            Effect.retry({ times: comparisons, while: (error) => error instanceof StatementMoved }),
            Effect.catchTag("StatementMoved", () => exclusively(comparing)),
            Effect.catchTag("StatementMoved", () => Effect.dieMessage("nobody else reads on meanwhile")),
          ),
        )
      }).pipe(
        noting(book, statementStream(account.accountId)),
        alone((error): void => {
          failures.push(...ofStatement(account, error))
        }),
        Effect.tap(() => {
          run.progress.statements.done += 1
        }),
      )
    yield* Effect.forEach(all, readOne, { concurrency: settings.limits.accountsInParallel, discard: true })
    const settled = yield* settle(book, whole)
    failures.push(...settled.failures)
    for (const [accountId, found] of settled.brought)
      newEntries.set(accountId, (newEntries.get(accountId) ?? 0) + found)
    const keys = yield* touching(book)
    for (const error of yield* open.readEach(book, keys, false))
      failures.push(failureOf({ kind: "movements", which: "window" }, error))
    return { newEntries, openResources: keys.length, failures, notices: [] } satisfies BookOutcome
  })

  return { read }
})

export class BackfillReader extends Effect.Service<BackfillReader>()("tieout/Backfill/Reader", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new BackfillReader(parts))
}
