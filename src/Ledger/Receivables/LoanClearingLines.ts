/** Stores how the cash of loans is attributed: the shares and the amounts due, which `reconcile.loan_clearing_items` reads. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Sql } from "../../Database/Client.ts"
import { text } from "../../Database/Columns.ts"
import { columnsOf, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { sequenceOf } from "./Receivable.ts"
import { type Settled, takenOf } from "./ReceivableCash.ts"
import type { ReceivableView } from "./ReceivableVersion.ts"

const plainText = (amount: Amount): string => Money.toText(Money.plain(amount))

/** The settings that decide how a receivable is booked, on either side. */
const policyOf = ({ interest, interestBetweenReads, repaymentAmount }: ReceivableView): string =>
  `${repaymentAmount} ${interest} ${interestBetweenReads}`

/** Receivables that are booked by other settings than those of now. */
export const bookedOtherwise = Effect.fn("Ledger.bookedOtherwise")(function* (
  book: Book,
  view: ReceivableView,
) {
  const database = yield* Database
  const policy = policyOf(view)
  // Reads two ranges of an index, so nothing if nothing has changed.
  const rows = yield* database.rows(
    "Ledger.bookedOtherwise",
    { receivable_id: text },
    (sql) => sql`
      select receivable_id::text as receivable_id from ledger.receivable_dues
      where book_id = ${book.bookId} and policy < ${policy}
      union all
      select receivable_id::text from ledger.receivable_dues where book_id = ${book.bookId} and policy > ${policy}`,
  )
  return rows.map(({ receivable_id: id }) => id)
})

/**
 * Where the rows of these receivables are. Each receivable is looked up by its key (`offset 0`): by a plan that was made while the table
 * was empty, as a first sync finds it, the server would compare each row of the book with all of them.
 */
const rowsOf = (sql: Sql, table: string, book: Book, ids: ReadonlyArray<string>) => sql`
  select k.ctid from unnest(${textArray(sql, ids)}::uuid[]) as g (receivable_id)
  cross join lateral (
    select r.ctid from ${sql(table)} r
    where r.book_id = ${book.bookId} and r.receivable_id = g.receivable_id offset 0) k`

/** Replaces the rows of the cash that is still waited for, leg by leg. */
const keepWaits = Effect.fn("Ledger.keepWaits")(function* (
  book: Book,
  settled: ReadonlyArray<Settled>,
  side: number,
) {
  const database = yield* Database
  const ids = settled.map(({ receivableId }) => receivableId)
  yield* database.execute(
    "Ledger.dropWaits",
    (sql) => sql`
      delete from ledger.receivable_waits
      where ctid = any (array(${rowsOf(sql, "ledger.receivable_waits", book, ids)}))`,
  )
  const waits = settled.flatMap(({ currency, legs, receivableId }) =>
    legs.map((leg) => ({ ...leg, currency, receivableId })),
  )
  if (waits.length === 0) return
  yield* database.execute("Ledger.keepWaits", (sql) => {
    const { plain, text } = columnsOf(sql, waits)
    return sql`
      insert into ledger.receivable_waits (book_id, receivable_id, purpose, version, sequence, currency, amount, side,
        occurred_at, tx_ids, whole)
      select ${book.bookId}, w.receivable_id::uuid, w.purpose, w.version::integer, w.sequence::integer, w.currency,
        w.amount::numeric, case w.purpose when 'repayment' then ${-side}::integer else ${side}::integer end,
        w.occurred_at::timestamptz, array(select json_array_elements_text(w.tx_ids::json)), w.whole::boolean
      from unnest(${plain((wait) => wait.receivableId)}, ${plain((wait) => wait.purpose)},
        ${plain((wait) => String(wait.version))}, ${plain((wait) => String(sequenceOf(wait.version, wait.purpose)))},
        ${plain((wait) => wait.currency)}, ${plain((wait) => plainText(wait.amount))}, ${plain((wait) => wait.occurredAt)},
        ${text((wait) => JSON.stringify(wait.txIds))}, ${plain((wait) => String(wait.whole))})
        as w (receivable_id, purpose, version, sequence, currency, amount, occurred_at, tx_ids, whole)`
  })
})

/** Part of the caller's transaction, the one that posts what follows from the versions. */
export const keepShares = Effect.fn("Ledger.keepShares")(function* (
  book: Book,
  settled: ReadonlyArray<Settled>,
  view: ReceivableView,
) {
  if (settled.length === 0) return
  const database = yield* Database
  const side = view.view === "lender" ? -1 : 1
  const inBooks = (amount: Amount): Amount => (side === 1 ? amount : Money.negate(amount))
  const ids = settled.map(({ receivableId }) => receivableId)
  const shares = settled.flatMap((one) => one.shares)
  yield* database.execute(
    "Ledger.dropShares",
    (sql) => sql`
      delete from ledger.receivable_shares
      where ctid = any (array(${rowsOf(sql, "ledger.receivable_shares", book, ids)}))`,
  )
  if (shares.length > 0) {
    yield* database.execute("Ledger.keepShares", (sql) => {
      const { plain, text } = columnsOf(sql, shares)
      return sql`
        insert into ledger.receivable_shares (book_id, receivable_id, unit, currency, purpose, amount, rest, entries)
        select ${book.bookId}, s.receivable_id::uuid, s.unit, s.currency, s.purpose, s.amount::numeric, s.rest::boolean,
          string_to_array(s.entries, ' ')::uuid[]
        from unnest(${plain((share) => share.receivableId)}, ${text((share) => share.unit)},
          ${plain((share) => share.currency)}, ${plain((share) => share.purpose)},
          ${plain((share) => plainText(inBooks(share.amount)))}, ${plain((share) => String(share.rest))},
          ${text((share) => share.entries.join(" "))})
          as s (receivable_id, unit, currency, purpose, amount, rest, entries)`
    })
  }
  yield* keepWaits(book, settled, side)
  yield* database.execute("Ledger.keepDues", (sql) => {
    const { plain, text } = columnsOf(sql, settled)
    return sql`
      insert into ledger.receivable_dues (book_id, receivable_id, currency, side, lent, lent_waiting, repaid,
        repaid_waiting, taken_back, taken, open, owed, since, policy)
      select ${book.bookId}, d.receivable_id::uuid, d.currency, ${side}, d.lent::numeric, d.lent_waiting::numeric,
        d.repaid::numeric, d.repaid_waiting::numeric, d.taken_back::numeric, d.taken::numeric, d.open::boolean,
        d.owed::boolean, nullif(d.since, '')::timestamptz, ${policyOf(view)}
      from unnest(${plain((one) => one.receivableId)}, ${plain((one) => one.currency)},
        ${plain((one) => plainText(one.lent.due))}, ${plain((one) => plainText(one.lent.waiting))},
        ${plain((one) => plainText(one.repaid.due))}, ${plain((one) => plainText(one.repaid.waiting))},
        ${plain((one) => plainText(one.takenBack))}, ${plain((one) => plainText(takenOf(one, view)))},
        ${plain((one) => String(Option.isSome(one.since)))}, ${plain((one) => String(one.owed))},
        ${text((one) => Option.getOrElse(one.since, () => ""))})
        as d (receivable_id, currency, lent, lent_waiting, repaid, repaid_waiting, taken_back, taken, open, owed, since)
      on conflict (book_id, receivable_id) do update set currency = excluded.currency, side = excluded.side,
        lent = excluded.lent, lent_waiting = excluded.lent_waiting, repaid = excluded.repaid,
        repaid_waiting = excluded.repaid_waiting, taken_back = excluded.taken_back, taken = excluded.taken, open = excluded.open, owed = excluded.owed,
        since = excluded.since, policy = excluded.policy`
  })
})
