import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Progress, type Stage } from "../../src/Common/Progress.ts"
import { Database } from "../../src/Database.ts"
import { rules } from "../../src/Proof/RulesProof.ts"
import { accountId } from "../Sync/Partnership.ts"
import { testPartitions } from "../support/DatabaseAddress.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { tried } from "./Falsehood.ts"
import { filled, found, proof } from "./Filled.ts"

const entry = "(select entry_id from ledger.journal_numbers where period = '2026-08-01' and number = 1)"

/** The statement, the proof that finds it, and its message. */
const mischief: ReadonlyArray<readonly [string, string, string]> = [
  [
    `delete from ledger.postings where entry_id = ${entry} and line_number = 2`,
    "entry-lines",
    "ORG-2026-08-000001 has 1 lines",
  ],
  [
    `update ledger.postings set amount = amount + 1 where entry_id = ${entry} and line_number = 1`,
    "entry-balance",
    "ORG-2026-08-000001 does not balance: 1 USD over",
  ],
  [
    `update ledger.postings set amount = amount * 2 where entry_id = ${entry}`,
    "cash-lines",
    "moves 100.00; the books say 200",
  ],
  [
    `update ledger.postings set currency = 'EUR' where entry_id = ${entry}`,
    "line-account",
    "ORG-2026-08-000001, line 1 is of EUR",
  ],
  [
    `update ledger.journal_entries set effective_date = '2026-08-11' where entry_id = ${entry}`,
    "entry-date",
    "ORG-2026-08-000001 is dated 2026-08-11; it occurred on 2026-08-10",
  ],
  [
    `update ledger.journal_entries set source_id = gen_random_uuid() where kind = 'deposit' and period = '2026-09-01'`,
    "entry-source",
    "ORG-2026-09-000001 is of statement_entry",
  ],
  [
    `update ledger.balances set debit = debit + 0.01 where debit > 0 and period = '2026-09-01'`,
    "balances",
    "in 2026-09 says debit 50.01",
  ],
  [
    `insert into ledger.transit (book_id, conversion_id, currency, amount) select book_id, '00000000-0000-4000-8000-000000000001', 'USD', 5 from mirror.books`,
    "transit",
    "in transit, USD says 5; its postings add up to 0",
  ],
  [
    `delete from ledger.journal_numbers where period = '2026-09-01'`,
    "journal-numbers",
    "journal numbers of 2026-09 0 given",
  ],
  [
    `insert into ledger.unnumbered (book_id, entry_id) select book_id, entry_id from ledger.journal_numbers where period = '2026-09-01'`,
    "journal-numbers",
    "has a number and waits for one as well",
  ],
  [
    `update ledger.journal_entries set description = 'Something else' where entry_id = ${entry}`,
    "closes",
    "close of 2026-08 The journal's hash is",
  ],
  [`update ledger.close_balances set balance = balance + 1`, "closes", "close of 2026-08 Account"],
  [
    `update mirror.statement_entries set balance_after = balance_after + 1 where position = 2`,
    "statement-chain",
    "leaves 151.00; the one before it left 100.00",
  ],
  [
    `delete from mirror.statement_entries where position = 3`,
    "statement-chain",
    `account ${accountId} its last booked entry leaves 150.00`,
  ],
  [
    `update export.batches set manifest = replace(manifest::text, 'USD', 'EUR')::json where batch = 1`,
    "batches",
    "batch 1 its manifest is not the one that was committed",
  ],
  [
    `update export.batch_files set content = (select content from export.batch_files where batch = 2 and name = 'journal.csv') where batch = 1 and name = 'journal.csv'`,
    "batches",
    "batch 1 journal.csv has SHA-256",
  ],
  [
    "update export.batch_files set content = 'nonsense' where batch = 1 and name = 'journal.csv'",
    "batches",
    "batch 1 the kept bytes of journal.csv cannot be expanded",
  ],
  [
    "delete from export.batch_files where batch = 1 and name = 'journal.csv'",
    "batches",
    "batch 1 the database keeps other files of it, and not journal.csv",
  ],
  [
    "update export.batch_files set chunk = 2 where batch = 1 and name = 'journal.csv'",
    "batches",
    "batch 1 a block of the kept bytes of journal.csv is missing",
  ],
  [
    `delete from valuation.entries where series = 'journal' and number = 1`,
    "base-lines",
    "base entry ORG-2026-08-000001 is not there, but has 2 lines",
  ],
  [
    `update valuation.postings set amount = amount + 0.01 where line_number = 1`,
    "base-lines",
    "base entry ORG-2026-08-000001 has 2 lines of 2, which leave 0.01",
  ],
  [
    `update valuation.postings set native = native + 1 where line_number = 1 and native is not null`,
    "base-natives",
    "journal entry ORG-2026-08-000001 account",
  ],
  [`update valuation.postings set amount = amount * 2`, "base-balances", "at the end of 2026-08 says"],
]

/** Changes to the rules that an owner can make, and the message of the proof. */
const lifted: ReadonlyArray<readonly [string, string]> = [
  [
    "alter table mirror.accounts disable trigger by_program",
    "switched-off trigger by_program on mirror.accounts was not made by tieout migrate",
  ],
  ["drop trigger findings_kept on reconcile.findings", "trigger findings_kept on reconcile.findings is gone"],
  [
    "create or replace function ledger.refuse_by_hand() returns trigger language plpgsql as 'begin return null; end'",
    "function ledger.refuse_by_hand() is another",
  ],
  [
    `create or replace view reconcile.gone_clients as select book_id, client_id, null::text as trouble, null::integer as status,
     null::text as detail, null::timestamptz as failing_since, null::timestamptz as began_at from mirror.books where false`,
    "view reconcile.gone_clients is another",
  ],
  [
    "alter table ledger.postings drop constraint postings_amount",
    "constraint postings_amount on ledger.postings is gone",
  ],
  [
    "alter table reconcile.findings enable row level security, force row level security",
    "row security that may hide rows of reconcile.findings was not made by tieout migrate",
  ],
  [
    "alter table reconcile.findings alter column severity set default 'warning'",
    "table reconcile.findings is another",
  ],
  [
    "create table public.more () inherits (mirror.contradictions)",
    "table more, read as rows of mirror.contradictions was not made by tieout migrate",
  ],
  ["alter table ledger.postings detach partition ledger.postings_0", "table ledger.postings_0 is another"],
  [
    `alter table ledger.postings detach partition ledger.postings_0;
    create table public.more partition of ledger.postings for values with (modulus ${testPartitions}, remainder 0)`,
    "table more, read as rows of ledger.postings was not made by tieout migrate",
  ],
  [
    "create rule never as on insert to reconcile.findings do instead nothing",
    "rule never on reconcile.findings was not made by tieout migrate",
  ],
  [
    "create function ledger.mine() returns integer language sql as 'select 1'",
    "function ledger.mine() was not made by tieout migrate",
  ],
  [
    `do $$ begin execute format('alter database %I set tieout.program = ''on''', current_database()); end $$`,
    "setting tieout.program=on was not made by tieout migrate",
  ],
]

layer(TestDatabase.layer, { excludeTestServices: true })("the proof of a database", (it) => {
  it.scoped("holds for what was synced, closed and exported, and names every row that somebody changed", () =>
    Effect.gen(function* () {
      yield* filled
      expect(yield* proof).toEqual({ ok: true, batches: 2, closes: 1, wrong: [] })
      for (const [statement, name, named] of mischief) {
        const { look: wrong = [], written } = yield* tried("unruled", statement, found)
        expect([statement, written > 0]).toEqual([statement, true])
        expect(wrong.filter((line) => line.startsWith(`${name}: ORG: `)).join("\n")).toContain(named)
      }
    }),
  )

  it.effect("reports which proof is running", () =>
    Effect.gen(function* () {
      const begun: Array<string> = []
      let open = 0
      const begin = ({ name, text }: Stage) => {
        open += 1
        begun.push(`${name}: ${text()}`)
        return () => {
          open -= 1
        }
      }
      yield* Effect.provideService(proof, Progress, { begin })
      expect([begun[0], begun.at(-1)]).toEqual([
        `verify: proof 1 of ${begun.length}, entry-lines`,
        `verify: proof ${begun.length} of ${begun.length}, batches`,
      ])
      expect(open).toBe(0)
    }),
  )

  it.effect("names every rule that was disabled or replaced", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const broken = database.query(
        "Test.rules",
        (sql) => sql<Array<{ row: string; message: string }>>`${rules.wrong(sql)}`,
      )
      expect(yield* broken).toEqual([])
      for (const [statement, named] of lifted) {
        const { look = [] } = yield* tried("program", statement, broken)
        expect(look.map(({ message, row }) => `${row} ${message}`)).toContain(named)
      }
    }),
  )
})
