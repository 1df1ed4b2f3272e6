/** What Postgres needs to write the rows of the canonical journal as CSV by itself: the floor of the export. */
import { createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { connect } from "./Connection.ts"

const { BENCH_DATABASE: database = "", BENCH_FILE: file = "" } = process.env
const sql = connect(database, 1)
// Autovacuum comes when it comes: without statistics the plan is a matter of luck, and took three times as long now and then.
await sql.unsafe("analyze ledger.journal_numbers, ledger.journal_entries, ledger.postings, ledger.accounts")
const processor = process.cpuUsage()
const started = performance.now()
const rows = await sql
  .unsafe(
    `copy (
       select b.code || to_char(n.period, '-YYYY-MM-') || lpad(n.number::text, 6, '0'), p.line_number, b.code,
         to_char(n.period, 'YYYY-MM'), e.effective_date, e.occurred_at, e.recorded_at, a.code, a.name, a.role,
         a.partner_account_id, p.currency, case when p.amount > 0 then p.amount end,
         case when p.amount < 0 then -p.amount end, e.kind, e.description, e.source_type, e.source_id, e.resource_type,
         e.resource_id, e.external_reference, e.counterparty, e.reverses, e.late_for
       from ledger.journal_numbers n
       join mirror.books b on b.book_id = n.book_id
       join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
       join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
       join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
       order by n.book_id, n.period, n.number, p.line_number
     ) to stdout (format csv, header)`,
  )
  .readable()
await pipeline(rows, createWriteStream(file))
const { system, user } = process.cpuUsage(processor)
process.stdout.write(
  JSON.stringify({
    seconds: (performance.now() - started) / 1_000,
    processorSeconds: (user + system) / 1e6,
  }),
)
await sql.end()
