/**
 * Reads the credit surface: payment rails, receivables and credit accounts. Receivables are only stored here; `Loans.ts` books
 * them, once the statements with their cash have been read.
 */
import { Array as Arr, Effect, Option } from "effect"
import { allBooks, type Book, clientBook } from "../../Book.ts"
import { isoOf } from "../../Common/Time.ts"
import { bool, int4, nullable, text, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { type PlacedReceivable, Receivables } from "../../Mirror/ReceivableVersions.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { malformedRows, type Page, type Pages, Shown, understoodRows } from "../../Partner/Lists/Page.ts"
import { readWhole } from "../../Partner/Lists/WholeList.ts"
import { type CreditAccount, PartnerConnection, type Receivable, type ReferenceItem } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { Clients } from "../Runs/Clients.ts"
import { noPath, noteReads, noteTrouble, noting } from "../Runs/Evidence.ts"
import { aloneOfStream, failureOf, isAbsent, type ReadError } from "../Runs/Failures.ts"
import { FloodGate } from "../Runs/FloodGate.ts"
import type { Failure } from "../Runs/RunReport.ts"
import { toldAt } from "./ToldAt.ts"

/** The lists that a close asks evidence of, by what their items are. */
const streams: ReadonlyMap<string, string> = new Map([
  ["receivable", "receivables"],
  ["credit_account", "credit_accounts"],
])

/** Reading them again may show that receivables and credit accounts had only been read at two different moments. */
const rounds = 3

const made = Effect.gen(function* () {
  const database = yield* Database
  const settings = yield* Settings
  const partner = yield* PartnerConnection
  const receivables = yield* Receivables
  const reference = yield* ReferenceItems
  const quarantine = yield* Quarantine
  const flood = yield* FloodGate
  const clients = yield* Clients
  const lender = settings.accounting.receivables.view === "lender"

  const readList = <A extends { readonly id: string }, E, R>(
    organization: Book,
    kind: string,
    list: Pages<A> | null,
    keep: (items: ReadonlyArray<A>, page: Page<A>) => Effect.Effect<void, E, R>,
    listed: (ids: ReadonlySet<string>) => Effect.Effect<void, E, R> = () => Effect.void,
    prepared: (items: ReadonlyArray<A>) => Effect.Effect<void, ReadError, Database | Run> = () => Effect.void,
  ) =>
    Effect.gen(function* () {
      const run = yield* Run
      const stream = streams.get(kind)
      if (list === null) {
        if (stream !== undefined) yield* run.commit(noteTrouble(organization, stream, noPath))
        return
      }
      let beganAt: Option.Option<Instant> | undefined
      const shown = new Shown<A>(({ id }) => id)
      const reading = readWhole(
        list,
        ({ id }) => id,
        (page, isWhole) =>
          Effect.gen(function* () {
            beganAt ??= page.askedAt
            const malformed = malformedRows(page)
            yield* flood.pass(kind, page.rows.length, malformed)
            const items = understoodRows(page)
            yield* prepared(items)
            shown.take(page)
            const more = yield* quarantine.more(organization, kind, malformed)
            yield* run.commit(
              Effect.gen(function* () {
                yield* keep(items, page)
                yield* quarantine.put(organization, run.runId, kind, malformed)
                yield* quarantine.resolveItems(
                  organization,
                  kind,
                  items.map(({ id }) => id),
                )
                if (!isWhole) return
                yield* quarantine.resolveStream(organization, kind, run.runId)
                if (stream === undefined) return
                yield* Effect.transposeMapOption(shown.all, listed)
                yield* noteReads(organization, [{ stream, beganAt: beganAt ?? Option.none() }])
              }),
            )
            run.counters.quarantined += more
          }),
      )
      yield* stream === undefined ? reading : reading.pipe(noting(organization, stream))
    })

  const readReference = (organization: Book, kind: string, list: Pages<ReferenceItem> | null) =>
    readList(organization, kind, list, (items, page) =>
      Effect.flatMap(Run, ({ runId }) =>
        Effect.asVoid(reference.put(organization, runId, kind, isoOf(page.requestedAt), items)),
      ),
    )

  /** The lender's receivables are the organization's; the borrower's stand in the client's own book. */
  const placed = Effect.fn("Sync.Credit.placed")(
    function* (organization: Book, items: ReadonlyArray<Receivable>) {
      if (lender)
        return items.map((receivable): PlacedReceivable => ({ receivable, bookId: organization.bookId }))
      const named = [...new Set(items.map(({ clientId }) => clientId))].sort()
      const rows = yield* database.rows(
        "Sync.Credit.clientBooks",
        { client_id: uuid, book_id: nullable(int4), code: nullable(text), name: nullable(text) },
        (sql) => sql`
            select c.id as client_id, b.book_id, l.raw ->> 'code' as code, l.label as name
            from unnest(${textArray(sql, named)}::uuid[]) as c (id)
            left join mirror.books b on b.connection = ${organization.connection} and b.client_id = c.id
            left join mirror.reference_items l on l.book_id = ${organization.bookId} and l.kind = 'client'
              and l.item_id = c.id::text and l.current
            order by c.id`,
      )
      const books = new Map<string, number>()
      for (const { book_id: known, client_id: clientId, code, name } of rows) {
        // A client that is not to be read, or that the list does not show.
        const made = { clientId, code: code ?? "", name: name ?? clientId }
        books.set(clientId, known ?? (yield* clientBook(organization.connection, made)).bookId)
      }
      return items.flatMap((receivable): ReadonlyArray<PlacedReceivable> => {
        const bookId = books.get(receivable.clientId)
        return bookId === undefined ? [] : [{ receivable, bookId }]
      })
    },
    Effect.provideService(Database, database),
  )

  const keepReceivables =
    (organization: Book) => (items: ReadonlyArray<Receivable>, page: Page<Receivable>) =>
      Effect.gen(function* () {
        const { runId, counters } = yield* Run
        const readAt = isoOf(page.requestedAt)
        const all = yield* placed(organization, items)
        const byTime = Arr.groupBy(all, ({ receivable }) => toldAt(receivable, page))
        for (const [servedAt, some] of Object.entries(byTime))
          counters.receivableVersions += yield* receivables.put(
            organization,
            runId,
            { servedAt, readAt },
            some,
          )
      })

  /** Whether the receivables add up to what the credit accounts say. */
  const agree = Effect.fn("Sync.Credit.agree")(function* (organization: Book) {
    const found = yield* database.row(
      "Sync.Credit.agree",
      { agree: bool },
      (sql) => sql`
          select not exists (
            select 1 from (
              select r.raw ->> 'currency' as currency, r.raw ->> 'paymentRails' as rail,
                sum((r.raw ->> 'principalOutstanding')::numeric) as principal
              from mirror.reference_items r
              where r.book_id = ${organization.bookId} and r.kind = 'credit_account' and r.current
              group by 1, 2) c
            where c.principal <> (
              select coalesce(sum(v.current_principal), 0) from mirror.receivables v
              where v.book_id = ${organization.bookId} and v.current and v.status = 'ACTIVE'
                and v.currency = c.currency and v.payment_rails = c.rail)) as agree`,
    )
    return found.agree
  })

  const read = Effect.fn("Sync.Credit.read")(function* (organization: Book) {
    const failures: Array<Failure> = []
    const notices: Array<string> = []
    const attempt = <R>(list: string, documented: boolean, effect: Effect.Effect<void, ReadError, R>) =>
      effect.pipe(
        aloneOfStream((error): void => {
          if (!documented && isAbsent(error)) notices.push(`${list}: ${error.message}`)
          else failures.push(failureOf({ kind: "list", name: list }, error))
        }),
      )
    yield* attempt("payment rails", true, readReference(organization, "payment_rail", partner.paymentRails))
    const known = clients.knowing(organization)
    const readBoth = Effect.gen(function* () {
      yield* attempt(
        "receivables",
        false,
        readList(
          organization,
          "receivable",
          partner.receivables,
          keepReceivables(organization),
          (ids) => receivables.listed(organization, ids),
          lender ? () => Effect.void : (items) => known(items.map(({ clientId }) => clientId)),
        ),
      )
      const accounts: Pages<CreditAccount> | null = partner.creditAccounts
      yield* attempt("credit accounts", false, readReference(organization, "credit_account", accounts))
    })
    for (let round = 1; round <= rounds; round++) {
      yield* readBoth
      if (failures.length + notices.length > 0 || (yield* agree(organization))) break
    }
    return { failures, notices }
  })

  /** The client books that have, are to get or are to give up receivables of the borrower's view. */
  const borrowers = Effect.fn("Sync.Credit.borrowers")(
    function* (organization: Book) {
      const rows = yield* database.rows(
        "Sync.Credit.borrowers",
        { book_id: int4 },
        (sql) => sql`
            select b.book_id from mirror.books b
            where b.connection = ${organization.connection} and b.client_id is not null
              and (exists (select 1 from mirror.receivable_transactions t where t.book_id = b.book_id)
                or b.client_id in (select v.client_id from mirror.receivables v
                                   where v.book_id = ${organization.bookId} and not v.posted)
                or b.book_id in (select d.book_id from mirror.receivables v
                                 join ledger.receivable_dues d on d.receivable_id = v.receivable_id
                                 where v.book_id = ${organization.bookId} and not v.posted))`,
      )
      const wanted = new Set(rows.map(({ book_id: id }) => id))
      return (yield* allBooks(Option.some(organization.connection))).filter(({ bookId }) =>
        wanted.has(bookId),
      )
    },
    Effect.provideService(Database, database),
  )

  return { read, borrowers }
})

export class Credit extends Effect.Service<Credit>()("tieout/Sync/Credit", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Credit(parts))
}
