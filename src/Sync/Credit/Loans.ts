/**
 * Books receivables: links the cash that their transactions moved, then posts what follows from every version. Runs after the
 * statements are read, so that a repayment and its cash are seen together. Interrupted work is done again: posted versions are
 * marked, and no entry is booked twice.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { nullable, text, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { resourceKey } from "../../Ledger/Movements.ts"
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
import { subjectsOf } from "../../Ledger/Subjects.ts"
import { Ledger } from "../../Ledger.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { loansStream } from "../../Run/Lease.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { beginning, checkpoints, saveCheckpoint } from "../Statements/Checkpoint.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { Pages } from "../Statements/StatementPage.ts"

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
  const resources = yield* Resources
  const pages = yield* Pages
  const facts = yield* PostingFacts

  /**
   * Transactions not searched for yet, and those of a movement whose entry or resource a later run has read: a fee that has
   * become known changes the amount paid.
   */
  const due = Effect.fn("Sync.Loans.due")(function* (book: Book, since: number) {
    return yield* database.rows(
      "Sync.Loans.due",
      { receivable_id: uuid, tx_id: text },
      (sql) => sql`
          with fresh as (
            select entry_id, related_id from mirror.statement_entries
            where book_id = ${book.bookId} and run_id > ${since}),
          movements as (
            select related_id as id from fresh where related_id is not null
            union
            select resource_id from mirror.resources where book_id = ${book.bookId} and run_id > ${since}),
          names as (
            select entry_id::text as tx_id from fresh
            union
            select id::text from movements
            union
            select e.entry_id::text from movements m
            join mirror.statement_entries e on e.book_id = ${book.bookId} and e.related_id = m.id
            union
            select lower(r.transaction_hash) from movements m
            join mirror.resources r on r.book_id = ${book.bookId} and r.resource_id = m.id
              and r.transaction_hash is not null)
          select receivable_id, tx_id from mirror.receivable_transactions
          where book_id = ${book.bookId} and not sought
          union
          select t.receivable_id, t.tx_id from names n
          join mirror.receivable_transactions t on t.book_id = ${book.bookId} and t.tx_id = n.tx_id
          where exists (select from mirror.receivable_transactions x where x.book_id = ${book.bookId})
          order by 1, 2`,
    )
  })

  /** Moves the cash legs of the transactions to loan clearing, where they stand elsewhere. */
  const link = Effect.fn("Sync.Loans.link")(function* (book: Book, txIds: ReadonlyArray<string>) {
    const run = yield* Run
    const named = yield* database.rows(
      "Sync.Loans.named",
      { entry_id: uuid, related_id: nullable(uuid) },
      (sql) => sql`
          with wanted as (select unnest(${textArray(sql, txIds)}) as tx_id),
          ids as (select mirror.uuid_or_null(tx_id) as id from wanted)
          select e.entry_id, e.related_id from mirror.statement_entries e
          where e.book_id = ${book.bookId} and not e.held
            and (e.entry_id in (select id from ids) or e.related_id in (select id from ids)
              or e.related_id in (select r.resource_id from mirror.resources r join wanted w
                                  on lower(r.transaction_hash) = w.tx_id where r.book_id = ${book.bookId}))`,
    )
    const related = [...new Set(named.flatMap(({ related_id: id }) => (id === null ? [] : [id])))]
    const entries = named.filter(({ related_id: id }) => id === null).map(({ entry_id: id }) => id)
    const booked = yield* subjectsOf(book, related, entries)
    const found = yield* resources.find(book, related, run.startedAt)
    const markSought = database.execute(
      "Sync.Loans.sought",
      (sql) => sql`
          update mirror.receivable_transactions set sought = true
          where book_id = ${book.bookId} and tx_id = any (${textArray(sql, txIds)}) and not sought`,
    )
    yield* pages.absorb(
      book,
      {
        fresh: [],
        booked,
        opens: false,
        hydrated: {
          read: [],
          missing: [],
          resources: new Map(
            found.map(({ resource }) => [resourceKey(resource.resourceType, resource.id), resource]),
          ),
        },
      },
      Effect.asVoid(markSought),
    )
  })

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

  /**
   * Brings a book's receivables up to date with everything mirrored, and with the settings, so that a book never mixes two
   * policies. Returns how many had been booked by other settings.
   */
  const bringUpToDate = Effect.fn("Sync.Loans.settle")(
    function* (organization: Book, book: Book) {
      const run = yield* Run
      yield* facts.refresh(book)
      const checkpoint = (yield* checkpoints(book)).get(loansStream) ?? beginning
      const since = Number(Option.getOrElse(checkpoint.cursor, () => "0"))
      const transactions = yield* due(book, since)
      for (const batch of batches([...new Set(transactions.map(({ tx_id: id }) => id))]))
        yield* link(book, batch)
      const otherwise = new Set(yield* bookedOtherwise(book, settings.accounting.receivables))
      const ids = new Set([
        ...otherwise,
        ...(yield* waiting(organization, book)),
        ...transactions.map(({ receivable_id: id }) => id),
      ])
      yield* postAll(organization, book, ids, otherwise)
      if (transactions.length === 0 && ids.size === 0 && Option.isSome(checkpoint.cursor)) return 0
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
      const checkpoint = (yield* checkpoints(book)).get(loansStream)
      if (checkpoint === undefined) return
      const since = Number(Option.getOrElse(checkpoint.cursor, () => "0"))
      const transactions = yield* due(book, since)
      if (transactions.length === 0) return
      yield* facts.refresh(book)
      for (const batch of batches([...new Set(transactions.map(({ tx_id: id }) => id))]))
        yield* link(book, batch)
      yield* postAll(organization, book, new Set(transactions.map(({ receivable_id: id }) => id)), new Set())
    },
    Effect.provideService(Database, database),
  )

  return { settle: bringUpToDate, takeCash }
})

export class Loans extends Effect.Service<Loans>()("tieout/Sync/Loans", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Loans(parts))
}
