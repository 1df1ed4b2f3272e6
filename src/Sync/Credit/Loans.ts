/**
 * Books receivables: links the cash that their transactions moved, then posts what follows from every version. Runs after the
 * statements are read, so that a repayment and its cash are seen together. Interrupted work is done again: posted versions are
 * marked, and no entry is booked twice.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { bookedOtherwise, keepShares } from "../../Ledger/Receivables/LoanClearingLines.ts"
import {
  bookedReceivables,
  connectedReceivables,
  movedCash,
  namedTransactions,
} from "../../Ledger/Receivables/PlannedReceivables.ts"
import { receivableEntries } from "../../Ledger/Receivables/Receivable.ts"
import { settle } from "../../Ledger/Receivables/ReceivableCash.ts"
import { reportedReceivables } from "../../Ledger/Receivables/ReportedReceivables.ts"
import { Ledger } from "../../Ledger.ts"
import { loansStream } from "../../Run/Lease.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { beginning, type Checkpoint, checkpointOf, saveCheckpoint } from "../Statements/Checkpoint.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { loanCash } from "./LoanCash.ts"

/** Receivables, and transactions, that are taken together. */
const batchSize = 200

const batches = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batchSize) }, (_, at) =>
    all.slice(at * batchSize, (at + 1) * batchSize),
  )

const made = Effect.gen(function* () {
  const database = yield* Database
  const settings = yield* Settings
  const ledger = yield* Ledger
  const facts = yield* PostingFacts
  const cash = yield* loanCash

  const waiting = Effect.fn("Sync.Loans.waiting")(function* (organization: Book, book: Book) {
    const lender = settings.accounting.receivables.view === "lender"
    const rows = yield* database.rows(
      "Sync.Loans.waiting",
      { receivable_id: uuid },
      (sql) => sql`
          select distinct v.receivable_id from mirror.receivables v
          where v.book_id = ${organization.bookId} and not v.posted
            and (${lender} or v.client_id = ${Option.getOrNull(book.clientId)}::uuid
              or exists (select from ledger.receivable_dues d
                         where d.book_id = ${book.bookId} and d.receivable_id = v.receivable_id))`,
    )
    return rows.map(({ receivable_id: id }) => id)
  })

  /** Receivables that are connected through transactions are booked together: they share cash. */
  const post = Effect.fn("Sync.Loans.post")(function* (
    organization: Book,
    book: Book,
    ids: ReadonlyArray<string>,
    otherwise: ReadonlySet<string>,
  ) {
    const run = yield* Run
    const view = settings.accounting.receivables
    const lender = view.view === "lender"
    const client = lender ? Option.none() : book.clientId
    const receivables = yield* reportedReceivables(organization, ids, client)
    const named = yield* namedTransactions(book, ids)
    const txIds = [...new Set(named.map(({ txId }) => txId))]
    const settled = settle(receivables, named, yield* movedCash(book, txIds, view.view), view)
    const posted = yield* bookedReceivables(book, ids)
    const entries = settled.flatMap((one) =>
      receivableEntries(
        {
          ...one,
          posted: posted.get(one.receivableId) ?? new Map(),
          resettled: otherwise.has(one.receivableId),
        },
        view,
      ),
    )
    const prepared = yield* ledger.prepare(book, entries, run.commit)
    yield* run.commit(
      Effect.gen(function* () {
        yield* ledger.post(book, run.runId, prepared)
        yield* keepShares(book, settled, view)
        // A borrower's version is booked when its client's book has it and no other book has any of the receivable.
        yield* database.execute(
          "Sync.Loans.posted",
          (sql) => sql`
              update mirror.receivables r set posted = true
              where r.book_id = ${organization.bookId} and r.receivable_id = any (${textArray(sql, ids)}::uuid[])
                and not r.posted and (${lender} or exists (
                  select from mirror.receivables v
                  where v.book_id = r.book_id and v.receivable_id = r.receivable_id and v.current
                    and v.client_id = ${Option.getOrNull(client)}::uuid
                    and not exists (
                      select from ledger.receivable_dues d
                      join mirror.books b on b.book_id = d.book_id and b.connection = ${book.connection}
                      where d.receivable_id = v.receivable_id and d.book_id <> ${book.bookId}
                        and (d.lent <> 0 or d.repaid <> 0 or d.taken <> 0))))`,
        )
      }),
    )
    run.counters.journalEntries += entries.length
    run.counters.reclassifications += entries.filter(({ kind }) => kind === "reclassification").length
  })

  const postAll = Effect.fn("Sync.Loans.postAll")(function* (
    organization: Book,
    book: Book,
    ids: ReadonlySet<string>,
    otherwise: ReadonlySet<string>,
  ) {
    const done = new Set<string>()
    for (const batch of batches([...ids].sort())) {
      const left = batch.filter((id) => !done.has(id))
      if (left.length === 0) continue
      const connected = yield* connectedReceivables(book, left)
      yield* post(organization, book, connected, otherwise)
      for (const id of connected) done.add(id)
    }
  })

  /** Links the cash that was booked since the receivables were last settled. */
  const linkNews = Effect.fn("Sync.Loans.linkNews")(function* (book: Book, { cursor }: Checkpoint) {
    const since = Number(Option.getOrElse(cursor, () => "0"))
    const transactions = yield* cash.due(book, since)
    for (const batch of batches([...new Set(transactions.map(({ tx_id: id }) => id))]))
      yield* cash.link(book, batch)
    return transactions.map(({ receivable_id: id }) => id)
  })

  /**
   * Brings a book's receivables up to date with everything mirrored, and with the settings, so that a book never mixes two
   * policies. Returns how many had been booked by other settings.
   */
  const bringUpToDate = Effect.fn("Sync.Loans.settle")(
    function* (organization: Book, book: Book) {
      const run = yield* Run
      yield* facts.refresh(book)
      const checkpoint = Option.getOrElse(yield* checkpointOf(book, loansStream), () => beginning)
      const linked = yield* linkNews(book, checkpoint)
      const otherwise = new Set(yield* bookedOtherwise(book, settings.accounting.receivables))
      const ids = new Set([...otherwise, ...(yield* waiting(organization, book)), ...linked])
      yield* postAll(organization, book, ids, otherwise)
      if (ids.size === 0 && Option.isSome(checkpoint.cursor)) return 0
      yield* run.commit(
        saveCheckpoint(book, loansStream, {
          ...beginning,
          cursor: Option.some(String(run.runId)),
          complete: true,
        }),
      )
      return otherwise.size
    },
    Effect.provideService(Database, database),
  )

  /**
   * Takes the cash into account that was booked since then, and nothing else: versions and settings wait for the next sync, which
   * looks at all of this again.
   */
  const takeCash = Effect.fn("Sync.Loans.takeCash")(
    function* (organization: Book, book: Book) {
      const checkpoint = yield* checkpointOf(book, loansStream)
      if (Option.isNone(checkpoint)) return
      yield* facts.refresh(book)
      yield* postAll(organization, book, new Set(yield* linkNews(book, checkpoint.value)), new Set())
    },
    Effect.provideService(Database, database),
  )

  return { settle: bringUpToDate, takeCash }
})

export class Loans extends Effect.Service<Loans>()("tieout/Sync/Loans", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Loans(parts))
}
