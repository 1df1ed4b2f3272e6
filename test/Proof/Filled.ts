/** A database with a row of everything: synced, closed, exported in both ways, with an open month, and with rows of other origins. */
import { Effect, Layer, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { approve } from "../../src/Close/Approval.ts"
import * as Export from "../../src/Export.ts"
import { prove } from "../../src/Proof.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { closing, threeMonths } from "../Close/Months.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { unruled } from "../support/unruled.ts"

const { accounting, chart, formats } = decodeSync(Content)({})

const exported = (base: boolean) =>
  Export.run({
    formats: ["journal"],
    scope: { kind: "period", period: "2026-08" },
    connection: Option.none(),
    book: Option.none(),
    out: temporaryFolder(),
    ...(base
      ? {
          tables: { settings: formats, baseCurrency: "EUR" },
          base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
        }
      : {}),
  })

export const filled = Effect.gen(function* () {
  const { service } = yield* threeMonths
  yield* sync(service.url)
  yield* addRates(
    ["2026-08-10", "2026-08-31"].map((date) => ({
      date,
      from: "USD",
      to: "EUR",
      rate: "0.9",
      source: "test",
    })),
  )
  yield* closing("2026-08")
  yield* approve({ period: "2026-08", book: Option.none(), name: "Ada", twoPersons: false })
  yield* exported(false)
  yield* exported(true)
})

export const proof = Effect.map(
  Effect.provide(prove(), Settings.from({ variables: {} })),
  ({ batches, closes, ok, proofs }) => ({
    ok,
    batches,
    closes,
    wrong: proofs.flatMap(({ name, wrong }) =>
      wrong.map(({ book, message, row }) => `${name}: ${book}: ${row} ${message}`),
    ),
  }),
)

export const found = Effect.map(proof, ({ wrong }) => wrong)

const of = "(select book_id from mirror.books limit 1)"
const run = "(select max(run_id) from sync.runs)"
const thing = "'77777777-0000-4000-8000-000000000001'::uuid"
const receivable = `'{"receivableId":"77777777-0000-4000-8000-000000000001","clientId":"77777777-0000-4000-8000-000000000001","status":"ACTIVE","currency":"USD","paymentRails":"SWIFT","initialPrincipal":"10","currentPrincipal":"10","repaymentAmount":"11","repaymentTransactions":[{"txId":"TX","txTimestamp":"2026-08-01T00:00:00Z"}]}'`

/** Rows that a quiet month does not have: one of each, as the program writes it. */
const others = [
  `insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency, payment_rails, issue_date,
     initial_principal, current_principal, repayment_amount, raw, served_at, read_at, run_id)
   select ${of}, ${thing}, v, v = 2, ${thing}, 'ACTIVE', 'USD', 'SWIFT', now(), 10, 10, 11, ${receivable}, now(), now(), ${run}
   from generate_series(1, 2) v`,
  `insert into mirror.receivable_transactions (book_id, receivable_id, tx_id, version, purpose, tx_timestamp)
   values (${of}, ${thing}, 'tx', 1, 'repayment', '2026-08-01T00:00:00Z')`,
  `insert into ledger.receivable_dues (book_id, receivable_id, currency, side, lent, lent_waiting, repaid, repaid_waiting, taken, taken_back, open, owed, policy)
   values (${of}, ${thing}, 'USD', -1, 0, 0, 0, 0, 0, 0, false, false, 'p')`,
  `insert into ledger.receivable_shares (book_id, receivable_id, unit, currency, purpose, amount, rest, entries)
   values (${of}, ${thing}, 'u', 'USD', 'repayment', 0, false, '{}')`,
  `insert into ledger.receivable_waits (book_id, receivable_id, purpose, version, sequence, currency, amount, side, occurred_at, tx_ids, whole)
   values (${of}, ${thing}, 'repayment', 1, 1, 'USD', 1, 1, now(), '{}', false)`,
  `insert into ledger.touched_conversions (book_id, conversion_id) values (${of}, ${thing})`,
  `insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, run_id)
   select book_id, entry_id, account_id, '{"absent":true}', 'absent', ${run} from mirror.statement_entries limit 1`,
  `insert into mirror.missing_resources (book_id, resource_type, resource_id) values (${of}, 'DEPOSIT', ${thing})`,
  `insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
   values (${of}, 'deposits', 'i', '{}', 'because', '$', encode(sha256('{}'), 'hex'), ${run})`,
  `insert into mirror.reference_items (book_id, kind, item_id, version, current, label, raw, read_at, run_id)
   select ${of}, 'pair', 'p', v, v = 2, 'P', '{}', now(), ${run} from generate_series(1, 2) v`,
  `with before as (update mirror.resources set version = 2 where resource_id = (select min(resource_id::text)::uuid from mirror.resources)
     returning *)
   insert into mirror.resource_versions (book_id, resource_type, resource_id, version, status, final, raw, changed_at, superseded_at, run_id)
   select book_id, resource_type, resource_id, 1, 'PENDING', false, '{}', changed_at, now(), run_id from before`,
  `update mirror.statement_entries set related_type = null, related_id = null where position = 3;
   insert into mirror.statement_entry_versions (book_id, entry_id, version, run_id)
   select book_id, entry_id, 1, run_id from mirror.statement_entries where position = 3`,
  `insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency, balance_after, related_type,
     related_id, occurred_at, held, run_id)
   select book_id, account_id, 1000000000001, ${thing}, type, 0, currency, balance_after, 'DEPOSIT', ${thing}, occurred_at, true, run_id
   from mirror.statement_entries where position = 2`,
  `insert into ledger.archives (book_id, year, through, file, digest, taken_at, rows_digest, rows, through_numbering, known_from, who, os_user)
   values (${of}, 2020, '2020-12-01', 'f.gz', repeat('0', 64), now(), repeat('0', 64), '{"ledger.journal_entries": 1}', 1, now(), 'me', 'me')`,
  `insert into ledger.archived_months (book_id, year, period, entries) values (${of}, 2020, '2020-03-01', 1)`,
  `insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
   select ${of}, 2020, '2020-03-01', 'native', min(account_id)::text, 0, 0 from ledger.accounts`,
  `insert into ledger.archived_sources (book_id, year, source_id) values (${of}, 2020, ${thing})`,
  `insert into mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)
   values (${of}, 2020, 1, ${thing}, 'DEPOSIT', 'd')`,
  `insert into export.archived_totals (book_id, year, batch, currency, debit, credit, entries, postings)
   values (${of}, 2020, 1, 'USD', 0, 0, 0, 0)`,
  `insert into reconcile.deferred (book_id, resource_id, resource_type) values (${of}, ${thing}, 'DEPOSIT')`,
  `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
   values (${of}, 'adjustment', 'warning', 'statement_entry', ${thing}::text, 'm', '{}', ${run})`,
  `insert into ledger.transit (book_id, conversion_id, currency, amount) values (${of}, ${thing}, 'USD', 0)`,
  `insert into ledger.currencies (code, scale) values ('QQQ', 2)`,
  `insert into export.account_mappings (book_id, version, accounts) values (${of}, 1, '[]')`,
  `insert into export.batch_states (book_id, batch, sequence, state, who) values (${of}, 1, 1, 'acknowledged', 'me')`,
  `insert into sync.book_jobs (run_id, book_id, task) values (${run}, ${of}, '{}')`,
  `insert into sync.dead_letters (book_id, kind, run_id, tries, why) values (${of}, 'sync', ${run}, 6, 'x')`,
  `insert into sync.tokens (connection, sealed, refresh_at) values ('default', '\\x01', now())`,
  `insert into sync.book_events (connection, event_id, digest, book_id) values ('default', 'e', '\\x01', ${of})`,
  `insert into sync.nights (connection, due_at) values ('default', now())`,
  `insert into sync.paces (connection, state) values ('default', '{}')`,
  `insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state)
   values ('default', 'e', sha256('b'), 'b', 'k', 'a', 'waiting')`,
]

/** Writes past all rules of the database, then reconciles everything, so that blocking findings appear. */
export const planted = Effect.gen(function* () {
  yield* unruled(others.join(";\n"))
  yield* (yield* Reconcile).run({ connection: Option.none(), full: true, period: Option.none() })
}).pipe(Effect.provide(Layer.provideMerge(Reconcile.Default, Settings.from({ variables: {} }))))
