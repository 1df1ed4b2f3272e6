/**
 * Signs that there is something to check in the books: each is a cheap look at an index, and a check can find nothing without
 * its signs. Most of a check's cost is planning its query, and a night without news gives most checks no reason to run; so
 * after a run only those are run that have their signs or open findings. `tieout reconcile`, a sync with `--full` and a close
 * run all checks.
 */
import { Effect } from "effect"
import { arrayOf, bool, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { entriesInScope, type Fragment, inBooks, type Scope } from "./ReconcileScope.ts"

const signColumns = {
  /** Statement entries that changed, held ones included. */
  entries: bool,
  /** Deposits, withdrawals and conversions that changed. */
  resources: bool,
  /** Resources that wait for the next reconciliation. */
  deferred: bool,
  /** Resources that the service did not have. */
  missing: bool,
  /** Journal entries of runs since that move what stands. */
  moves: bool,
  /** Conversions in transit. */
  transit: bool,
  /** Receivables of the connection. */
  receivables: bool,
  /** Receivables that are booked in the books, or an account for their cash. */
  loans: bool,
  /** Loan legs that wait for their cash. */
  waits: bool,
  creditAccounts: bool,
  batches: bool,
  /** A book that was valued. */
  valued: bool,
  quarantined: bool,
  contradictions: bool,
  /** Webhook events that came with several bodies. */
  conflicts: bool,
  deadLetters: bool,
  /** Other books of the connection. */
  siblings: bool,
}

export type Signs = RowOf<typeof signColumns>

/** The signs of the books, and the names of the checks that have open findings. */
export const signsOf = Effect.fn("Reconcile.signs")(function* (scope: Scope) {
  const database = yield* Database
  const { open, ...signs } = yield* database.row(
    "Reconcile.signs",
    { ...signColumns, open: arrayOf(text) },
    (sql) => {
      const books = inBooks(sql, scope)
      const { sinceRun } = scope
      const isNew = (run: Fragment): Fragment => (sinceRun === null ? sql`true` : sql`${run} > ${sinceRun}`)
      // Changes are few, so they are counted: asked for the first row alone, the planner would walk through the whole book.
      const any = (from: Fragment): Fragment =>
        sinceRun === null ? sql`exists (select from ${from})` : sql`(select count(*) > 0 from ${from})`
      return sql`
        select
          ${any(sql`mirror.statement_entries e where ${entriesInScope(sql, scope)}`)} as entries,
          ${any(sql`mirror.resources r where r.book_id = ${books} and ${isNew(sql`r.run_id`)}`)} as resources,
          exists (select from reconcile.deferred d where d.book_id = ${books}) as deferred,
          exists (select from mirror.missing_resources m where m.book_id = ${books}) as missing,
          ${any(sql`ledger.journal_entries j
            where j.book_id = ${books} and ${isNew(sql`j.run_id`)} and j.sequence > 0`)} as moves,
          exists (select from ledger.transit t where t.book_id = ${books}) as transit,
          exists (select from mirror.books b
            join mirror.books o on o.connection = b.connection and o.client_id is null
            join mirror.receivables v on v.book_id = o.book_id where b.book_id = ${books}) as receivables,
          exists (select from ledger.receivable_dues d where d.book_id = ${books})
            or exists (select from ledger.accounts a where a.book_id = ${books} and a.role = 'loan_clearing') as loans,
          exists (select from ledger.receivable_waits w where w.book_id = ${books}) as waits,
          exists (select from mirror.reference_items i
            where i.book_id = ${books} and i.kind = 'credit_account') as "creditAccounts",
          exists (select from export.batches x where x.book_id = ${books}) as batches,
          exists (select from valuation.settings v where v.book_id = ${books}) as valued,
          exists (select from mirror.open_quarantine q where q.book_id = ${books}) as quarantined,
          exists (select from mirror.contradictions c where c.book_id = ${books}) as contradictions,
          exists (select from mirror.books b join webhook.inbox i on i.connection = b.connection and i.conflict
            where b.book_id = ${books}) as conflicts,
          exists (select from sync.dead_letters l where l.book_id = ${books}) as "deadLetters",
          exists (select from mirror.books b join mirror.books s on s.connection = b.connection and s.book_id <> b.book_id
            where b.book_id = ${books}) as siblings,
          array(select distinct f.check_name from reconcile.open_findings f where f.book_id = ${books}) as open`
    },
  )
  return { signs: signs satisfies Signs, open: new Set(open) }
})
