import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { proofLines } from "../../src/Cli/Tables/ProofLines.ts"
import { Progress, type Stage } from "../../src/Common/Progress.ts"
import { Database } from "../../src/Database.ts"
import { archives } from "../../src/Proof/ArchivesProof.ts"
import * as Balances from "../../src/Proof/BalancesProof.ts"
import * as BaseJournal from "../../src/Proof/BaseJournalProof.ts"
import * as Cash from "../../src/Proof/CashProof.ts"
import * as Evidence from "../../src/Proof/EvidenceProof.ts"
import * as Journal from "../../src/Proof/JournalNumbersProof.ts"
import type { ProofQuery } from "../../src/Proof/ProofQuery.ts"
import { rules } from "../../src/Proof/RulesProof.ts"
import * as Sources from "../../src/Proof/SourcesProof.ts"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
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
  [`update ledger.close_balances set currency = 'EUR'`, "closes", "close of 2026-08 Account"],
  ["update ledger.closes set previous_hash = repeat('0', 64)", "closes", "does not follow the one before it"],
  [
    `update ledger.closes set accepted = '[{"id": "F1", "what": "a difference", "reason": "fine"}]'`,
    "closes",
    "close 1 is not what was written",
  ],
  ["update ledger.closes set who = 'Eve'", "closes", "close 1 is not what was written"],
  ["update ledger.closes set record_hash = repeat('0', 64)", "closes", "close 1 is not what was written"],
  ["update ledger.closes set sequence = 2", "closes", "close 2 stands where close 1 belongs"],
  ["update ledger.closes set hash = repeat('0', 64)", "closes", "approval of close 1 is not what was signed"],
  ["update ledger.close_approvals set name = 'Eve'", "closes", "approval of close 1 is not what was signed"],
  [
    "update export.batches set manifest_sha256 = repeat('0', 64) where batch = 1",
    "batches",
    "batch 2 does not follow batch 1: it names",
  ],
  [
    `update ledger.postings set amount = amount * 2 where entry_id = ${entry}`,
    "batches",
    "batch 1 debit of USD: 100.00 was exported, the books have 200",
  ],
  [
    "update mirror.accounts set balance = balance + 1",
    "found-again",
    `account ${accountId} has no open finding cash-balance`,
  ],
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
  [
    "update valuation.postings set rate = '1/99' where basis = 'rate'",
    "base-values",
    "by 1/99; the books have it in USD",
  ],
  [
    "update valuation.postings set rate = 'x' where basis = 'rate'",
    "base-values",
    "by x; the books have it in USD",
  ],
  [
    "update valuation.rates set rate = 0.91 where date = '2026-08-10'",
    "base-rates",
    "base entry ORG-2026-08-000001, line 1 is valued at the rate 0.9 of 2026-08-10 (test), which was not imported",
  ],
  [
    "update valuation.postings set rate_date = rate_date + 1",
    "base-rates",
    "is valued at the rate 0.9 of 2026-08-11 (test), which was not imported",
  ],
  [
    "update valuation.postings set rate_source = 'else'",
    "base-rates",
    "is valued at the rate 0.9 of 2026-08-10 (else), which was not imported",
  ],
  [
    "update valuation.months set base_currency = 'GBP'",
    "base-rates",
    "is valued at the rate 0.9 of 2026-08-10 (test), which was not imported",
  ],
  [
    "update valuation.postings set native_currency = 'GBP' where native is not null",
    "base-values",
    "GBP at ",
  ],
  [
    "update valuation.postings set basis = 'proportion' where basis = 'rate'",
    "base-values",
    "names the basis proportion, which has no rate of its own",
  ],
  [
    "update valuation.postings set basis = 'guess' where native is not null",
    "base-values",
    "names the basis guess, which is not one of",
  ],
  [
    "update valuation.postings set basis = null where native is not null",
    "base-values",
    "names the basis none, which is not one of",
  ],
  [
    "update valuation.postings set rate = null, rate_date = null, rate_source = null, basis = 'face' where basis = 'rate'",
    "base-values",
    "names the basis face, which a line of USD has not",
  ],
  [
    "update valuation.months set through_number = through_number + 1 where period = '2026-08-01'",
    "base-natives",
    "2026-08 in the base currency says that it has the entries up to 2; the month counts 1",
  ],
  [`update valuation.postings set amount = amount * 2`, "base-balances", "at the end of 2026-08 says"],
  [
    `update valuation.months set state = jsonb_set(state::jsonb, '{holdings,0,native}', '"1"')::json`,
    "base-states",
    "state of 2026-08 in EUR is wrong: 1010 (USD) holds, by its lines, 100.00, not 0.01",
  ],
  [
    `update valuation.months set state = jsonb_set(state::jsonb, '{holdings,0,carrying}', '"1"')::json`,
    "base-states",
    "state of 2026-08 in EUR is wrong: 1010 (USD) cost, by its balance, 90.00, not 0.01",
  ],
  [
    `update valuation.months set state = jsonb_set(state::jsonb, '{holdings,0,lots}', '[["9999", "9000"]]')::json`,
    "base-states",
    "state of 2026-08 in EUR is wrong: 1010 (USD) holds, by its lots, 99.99, not 100.00",
  ],
  [
    `update valuation.months set state = jsonb_set(state::jsonb, '{holdings,0,lots}', '[["10000", "90000"]]')::json`,
    "base-states",
    "state of 2026-08 in EUR is wrong: 1010 (USD) has lots that cost more or less than its lines",
  ],
  [
    `update valuation.months set state = jsonb_set(state::jsonb, '{revaluations}', '[{"number": 1, "accountId": 1, "minor": "5"}]')::json`,
    "base-states",
    "has other revaluations to reverse than the month's entries",
  ],
  ["update valuation.months set state = '[]'", "base-states", "state of 2026-08 in EUR cannot be read"],
]

const september = "(select entry_id from ledger.journal_numbers where period = '2026-09-01')"
const book = "(select book_id from mirror.books)"
const archive = `insert into ledger.archives (book_id, year, through, file, digest, taken_at, rows_digest, rows, through_numbering, known_from, who, os_user)
  values (${book}, 2020, '2020-12-01', 'f.gz', repeat('0', 64), now(), repeat('0', 64), '{"ledger.journal_entries": 1}', 1, now(), 'me', 'me');`

/** Whatever else a proof names, asked by itself: the proof, the statement, and what it names. */
const everyPart: ReadonlyArray<readonly [ProofQuery, string, string]> = [
  [
    Journal.lines,
    `update ledger.postings set line_number = line_number + 10 where entry_id = ${entry}`,
    "has 2 lines, numbered 11 to 12",
  ],
  [
    Journal.lines,
    `update ledger.postings set line_number = 3 where entry_id = ${entry} and line_number = 2`,
    "has 2 lines, numbered 1 to 3",
  ],
  [
    Journal.lines,
    `delete from ledger.journal_entries where entry_id = ${entry}`,
    "belongs to no journal entry",
  ],
  [
    Journal.accounts,
    `update ledger.postings set amount = amount + 0.001 where entry_id = ${entry}`,
    "line 1 is of 100.001, and USD has 2 decimals",
  ],
  [
    Journal.accounts,
    "update ledger.currencies set scale = 3 where code = 'USD'",
    "currency USD has 3 decimals here, and 2 in truth",
  ],
  [
    Journal.accounts,
    `update ledger.postings set account_id = 0 where entry_id = ${entry} and line_number = 2`,
    "line 2 is on account 0, which the book does not have",
  ],
  [
    Journal.dates,
    `update ledger.journal_entries set effective_date = '2026-08-09' where entry_id = ${entry}`,
    "is dated 2026-08-09; it occurred on 2026-08-10",
  ],
  [
    Journal.dates,
    `update ledger.journal_entries set effective_date = '2026-11-02', late_for = '2026-09-01' where entry_id = ${september}`,
    "is dated 2026-11-02, late for 2026-09; it occurred on 2026-09-10",
  ],
  [
    Journal.dates,
    `update ledger.journal_entries set effective_date = '2026-11-01', late_for = '2026-08-01' where entry_id = ${september}`,
    "is dated 2026-11-01, late for 2026-08; it occurred on 2026-09-10",
  ],
  [
    Journal.dates,
    `update ledger.journal_entries set effective_date = '2026-09-01', late_for = '2026-09-01' where entry_id = ${september}`,
    "is dated 2026-09-01, late for 2026-09; it occurred on 2026-09-10",
  ],
  [
    Cash.booked,
    `insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
     select p.book_id, entry_id, n, account_id, p.currency, case n when 3 then 1 else -1 end
     from ledger.postings p join ledger.accounts a using (account_id) cross join generate_series(3, 4) n
     where entry_id = ${entry} and a.role = 'cash'`,
    "moves 100.00; the books say 100 in 3 lines",
  ],
  [
    Cash.booked,
    "update ledger.accounts set partner_account_id = gen_random_uuid() where role = 'cash'",
    "moves 100.00; the books say 100 in 1 lines",
  ],
  [
    Cash.booked,
    "delete from mirror.statement_entries where position = 1",
    "ORG-2026-08-000001 moves cash, and no statement entry stands behind it",
  ],
  [Cash.booked, `delete from ledger.journal_entries where entry_id = ${entry}`, "is not booked"],
  [
    Cash.booked,
    `update ledger.journal_entries set sequence = 1, kind = 'reclassification' where entry_id = ${entry}`,
    "ORG-2026-08-000001 moves cash, and no statement entry stands behind it",
  ],
  [
    Cash.chain,
    "update mirror.statement_entries set position = 4 where position = 3",
    "is at position 4; the one before it is at 2",
  ],
  [
    Cash.chain,
    "delete from ledger.postings",
    "its last booked entry leaves 175.00; its cash in the books is 0",
  ],
  [
    Balances.balances,
    "update ledger.balances set debit = debit + 1, credit = credit + 1 where period = '2026-09-01' and debit > 0",
    "says debit 51, credit 1; its postings add up to 50 and 0",
  ],
  [
    Balances.balances,
    `insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     select ${book}, 2020, '2020-03-01', 'native', min(account_id)::text, 7, 7 from ledger.accounts`,
    "says debit 0, credit 0; its postings add up to 7 and 7",
  ],
  [
    Balances.numbers,
    "update ledger.periods set last_number = 2 where period = '2026-09-01'",
    "1 given, from 1 to 1, and 0 archived; the month counts 2",
  ],
  [
    Balances.numbers,
    "update ledger.journal_numbers set number = 2 where period = '2026-09-01'",
    "1 given, from 2 to 2, and 0 archived; the month counts 1",
  ],
  [
    Balances.numbers,
    "update ledger.journal_numbers set number = 0 where period = '2026-09-01'",
    "1 given, from 0 to 0, and 0 archived; the month counts 1",
  ],
  [
    Balances.numbers,
    `insert into ledger.archived_months (book_id, year, period, entries) select ${book}, 2020, '2026-09-01', 1;
     update ledger.periods set last_number = 2 where period = '2026-09-01';
     update ledger.journal_numbers set number = 3 where period = '2026-09-01'`,
    "1 given, from 3 to 3, and 1 archived; the month counts 2",
  ],
  [
    Balances.numbers,
    "update ledger.journal_entries set effective_date = '2026-10-10' where period = '2026-09-01'",
    "ORG-2026-09-000001 is of 2026-10",
  ],
  [
    Balances.numbers,
    `delete from ledger.journal_entries where entry_id = ${entry}`,
    "journal number 1 of 2026-08 belongs to no journal entry",
  ],
  [
    Balances.numbers,
    "delete from ledger.periods where period = '2026-09-01'",
    "or to a month that the book does not have",
  ],
  [
    Balances.numbers,
    "delete from ledger.journal_numbers where period = '2026-09-01'",
    "has no number and does not wait for one",
  ],
  [
    Balances.numbers,
    `update ledger.journal_numbers set period = '2026-08-01', number = 2, numbering = -1 where period = '2026-09-01'`,
    "journal number 2 of 2026-08 was given in numbering step -1",
  ],
  [
    Balances.balances,
    "update ledger.balances set credit = credit + 1 where period = '2026-09-01' and credit > 0",
    "says debit 0, credit 51; its postings add up to 0 and 50",
  ],
  [
    BaseJournal.values,
    "update valuation.postings set amount = amount + 0.01 where basis = 'rate'",
    "by 0.9; the books have it in USD",
  ],
  [
    BaseJournal.rates,
    `update valuation.months set base_currency = 'GBP';
     insert into valuation.rates (date, from_currency, to_currency, version, rate, source) values ('2026-08-10', 'EUR', 'GBP', 1, 0.8, 'test');
     update valuation.postings set rate = '0.8*0.9', rate_date = '2026-08-20' where rate is not null`,
    "is valued at the rate 0.8*0.9 of 2026-08-20 (test), which was not imported",
  ],
  [
    BaseJournal.natives,
    `delete from valuation.entries where series = 'journal'; delete from valuation.postings where series = 'journal'`,
    "the base-currency journal values 0, the books post 100",
  ],
  [
    BaseJournal.natives,
    `update valuation.entries set entry_id = ${september} where series = 'journal'`,
    "base entry ORG-2026-08-000001 values journal entry",
  ],
  [
    BaseJournal.natives,
    "update valuation.entries set effective_date = '2026-08-11' where series = 'journal'",
    "; the entry of that number is",
  ],
  [
    BaseJournal.natives,
    "update valuation.entries set resource_id = 'another' where series = 'journal'",
    "on 2026-08-10, of another; the entry of that number is",
  ],
  [
    Evidence.findings,
    `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
     values (${book}, 'cash-balance', 'warning', 'account', 'a', 'm', '{}')`,
    "is a warning finding; those of cash-balance are blocking",
  ],
  [
    Evidence.reads,
    "update sync.stream_reads set ended_at = ended_at + interval '1 day'",
    "was read to its end on",
  ],
  [Evidence.reads, "update sync.stream_reads set run_id = 4711", "by run 4711, which there is not"],
  [
    Sources.periods,
    "update ledger.locks set closed_through = '2026-09-01'",
    "the book is closed through 2026-09; its last closed month is 2026-08",
  ],
  [
    Sources.periods,
    "update ledger.periods set closed_at = closed_at - interval '1 day' where status = 'closed'",
    "2026-08 is closed since",
  ],
  [
    Sources.sources,
    `update ledger.journal_entries set resource_id = gen_random_uuid() where entry_id = ${entry}`,
    "is of account",
  ],
  [
    Sources.sources,
    `update ledger.journal_entries set resource_id = null, resource_type = null where entry_id = ${september}`,
    "no resource; statement entry",
  ],
  [
    Sources.manifests,
    "update export.batches set as_of = now() where batch = 1",
    "batch 1 covers other entries than its manifest states",
  ],
  [
    Sources.manifests,
    `update export.batches set covered = '[{"from": "2026-08-01", "to": "2026-08-31", "through": "9"}]' where batch = 1`,
    "batch 1 covers other entries than its manifest states",
  ],
  [
    Sources.manifests,
    `update export.batches set manifest = jsonb_set(manifest::jsonb, '{lineage,supersedes}', '[1]')::json where batch = 2`,
    "batch 1 does not say that it was superseded, as batch 2 did by its manifest",
  ],
  [
    Sources.manifests,
    `insert into export.batch_states (book_id, batch, sequence, state, who, reason, by_batch) values (${book}, 1, 1, 'superseded', 'me', 'r', 2)`,
    "batch 1 says that batch 2 superseded it, which that one's manifest does not",
  ],
  [
    Sources.manifests,
    `insert into export.batch_states (book_id, batch, sequence, state, who) values (${book}, 1, 2, 'acknowledged', 'me')`,
    "batch 1 became acknowledged after it was committed",
  ],
  [
    Sources.manifests,
    `insert into export.batch_states (book_id, batch, sequence, state, who) values (${book}, 1, 1, 'committed', 'me')`,
    "batch 1 became committed after it was committed",
  ],
  [archives, `${archive} update ledger.locks set closed_through = null`, "reaches through 2020-12"],
  [archives, archive, "says that 1 journal entries left; by month they are 0"],
  [
    archives,
    `${archive} update ledger.archives set through = '2019-12-01'`,
    "archive of 2020 reaches through 2019-12, which is not its last month",
  ],
  [
    archives,
    `${archive} update ledger.archives set rows = '{"ledger.journal_entries": 1, "mirror.resources": 2}'`,
    "says that 2 deposits, withdrawals and conversions left; 0 of them are known",
  ],
  [
    archives,
    `insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     select ${book}, 2020, '2020-03-01', 'native', account_id::text, 7, 0 from ledger.accounts where role = 'cash'`,
    "archived turnover of 2020-03 in USD leaves 7",
  ],
  [
    archives,
    `insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     select ${book}, 2020, '2020-03-01', 'native', account_id::text, 7, 0 from ledger.accounts where role = 'cash'`,
    "moved 7 by what is archived; the statement says 0",
  ],
  [
    archives,
    `insert into ledger.archived_sources (book_id, year, source_id)
     select ${book}, 2020, source_id from ledger.journal_entries where entry_id = ${entry}`,
    "is archived, and has journal entries here",
  ],
  [
    archives,
    `insert into mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)
     select book_id, 2020, 1, resource_id, resource_type, 'd' from mirror.resources`,
    "is archived, and is here as well",
  ],
  [
    archives,
    `insert into ledger.archived_sources (book_id, year, source_id)
     select ${book}, 2020, source_id from ledger.journal_entries where entry_id = ${entry}`,
    "is archived with 2020; the deposit ",
  ],
  [
    archives,
    `insert into ledger.archived_sources (book_id, year, source_id)
     select ${book}, 2020, source_id from ledger.journal_entries where entry_id = ${entry};
     insert into mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)
     select e.book_id, 2021, 1, e.related_id, e.related_type, 'd' from mirror.statement_entries e
     join ledger.archived_sources x on x.source_id = e.entry_id`,
    "is archived with 2020; the deposit ",
  ],
  [
    archives,
    `insert into mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)
     values (${book}, 2020, 1, gen_random_uuid(), 'DEPOSIT', 'd')`,
    "is archived, and no statement entry that is names it",
  ],
  [
    archives,
    `insert into ledger.archived_sources (book_id, year, source_id) values (${book}, 2020, gen_random_uuid())`,
    "is archived, and is neither a statement entry nor an archived movement",
  ],
  ...[
    ["months", "ledger.archived_months (book_id, year, period, entries)", "'2020-03-01', 1"],
    [
      "turnovers",
      "ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)",
      "'2020-03-01', 'native', '1', 0, 0",
    ],
    ["sources", "ledger.archived_sources (book_id, year, source_id)", "gen_random_uuid()"],
    [
      "movements",
      "mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)",
      "1, gen_random_uuid(), 'DEPOSIT', 'd'",
    ],
    [
      "totals",
      "export.archived_totals (book_id, year, batch, currency, debit, credit, entries, postings)",
      "1, 'USD', 0, 0, 0, 0",
    ],
  ].map(
    ([what, table, values]) =>
      [
        archives,
        `${archive} insert into ${table} values (${book}, 2019, ${values})`,
        `archived ${what} of 2019 belong to no archive`,
      ] as const,
  ),
]

/** As an archive leaves it that took one entry. */
const archived = `${archive} insert into ledger.archived_months (book_id, year, period, entries) values (${book}, 2020, '2020-03-01', 1);`

/** What may be so, and a proof that must not accuse it. */
const harmless: ReadonlyArray<readonly [ProofQuery, string]> = [
  // A rate crossed through the euro.
  [
    BaseJournal.rates,
    `update valuation.months set base_currency = 'GBP';
     insert into valuation.rates (date, from_currency, to_currency, version, rate, source) values ('2026-08-10', 'EUR', 'GBP', 1, 0.8, 'test');
     update valuation.postings set rate = '0.8*0.9' where rate is not null and rate_date = '2026-08-10'`,
  ],
  // An entry that moves nothing, one that is held, and an opening balance.
  ...["0, balance_after, occurred_at, false", "5, balance_after, occurred_at, true"].map(
    (rest) =>
      [
        Cash.booked,
        `insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, currency, run_id, amount, balance_after, occurred_at, held)
         select book_id, account_id, 1000000000001, gen_random_uuid(), type, currency, run_id, ${rest}
         from mirror.statement_entries where position = 3`,
      ] as const,
  ),
  [
    Cash.booked,
    `update ledger.journal_entries set source_type = 'opening' where entry_id = ${entry};
     update mirror.statement_entries set held = true where position = 1`,
  ],
  // Entries that are held are no part of the chain.
  [
    Cash.chain,
    `insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, currency, run_id, amount, balance_after, occurred_at, held)
     select book_id, account_id, 1000000000001, gen_random_uuid(), type, currency, run_id, amount, balance_after + 1, occurred_at, true
     from mirror.statement_entries where position = 3`,
  ],
  // Entries that came after their month was valued.
  [
    BaseJournal.natives,
    "update valuation.months set through_number = 0; delete from valuation.postings where series = 'journal'",
  ],
  // A month that is to be valued anew.
  [
    BaseJournal.natives,
    "update valuation.months set state = null; delete from valuation.postings where series = 'journal'",
  ],
  [BaseJournal.balances, "update valuation.months set state = null"],
  // A month whose month before was valued anew.
  [
    BaseJournal.balances,
    "update valuation.months set previous = 'another'; update valuation.postings set amount = amount * 2",
  ],
  [archives, archived],
  [
    archives,
    `${archived} ${archived.replaceAll("2020", "2019").replaceAll(", 1)", ", 2)").replace('entries": 1', 'entries": 2')}`,
  ],
  // Of the two journals of an archived month, the statement is of one.
  [
    archives,
    `${archived} insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     select book_id, 2020, '2020-03-01', 'base', account_id::text, 7, 0 from ledger.accounts where role = 'cash';
     insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     values (${book}, 2020, '2020-03-01', 'base', 'fx_realized', 0, 7)`,
  ],
]

/** What no row of Tieout's has, and what is said of it, by the proof that meets it. */
const unreadable: ReadonlyArray<readonly [string, string, string]> = [
  [
    "update export.batches set manifest = '{}' where batch = 1",
    "batches",
    "batch 1 cannot be proved: the manifest of",
  ],
  [
    `update export.batches set manifest = '{"entries": "x"}' where batch = 1`,
    "batches",
    "batch 1 cannot be proved: the manifest of",
  ],
  [
    `update valuation.months set state = '{"balances": {"1": "x"}}'`,
    "base-balances",
    "at the end of 2026-08 says 0.00; the month before and the postings come to",
  ],
  ["update valuation.months set state = '[]'", "base-balances", "at the end of 2026-08 says 0.00"],
  ["delete from ledger.accounts where role = 'cash'", "closes", "close of 2026-08 Account 1010"],
  [
    `insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
     values (${book}, 2020, '2020-03-01', 'native', 'x', 7, 7)`,
    "balances",
    "balance of account 0 in 2020-03 says debit 0, credit 0; its postings add up to 7 and 7",
  ],
  [
    `${archive} update ledger.archives set rows = '{"ledger.journal_entries": "x"}'`,
    "archives",
    "this proof cannot be carried out: Proof.archives: a value that the column's type cannot hold",
  ],
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
    "table public.more, read as rows of mirror.contradictions was not made by tieout migrate",
  ],
  ["alter table ledger.postings detach partition ledger.postings_0", "table ledger.postings_0 is another"],
  [
    `alter table ledger.postings detach partition ledger.postings_0;
    create table public.more partition of ledger.postings for values with (modulus ${testPartitions}, remainder 0)`,
    "table public.more, read as rows of ledger.postings was not made by tieout migrate",
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
    "setting tieout.program=on was not made by tieout migrate; to take it back: alter database DATABASE reset tieout.program",
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

  it.effect("names a row that cannot be read, and whatever else is wrong", () =>
    Effect.gen(function* () {
      const other =
        "update ledger.balances set debit = debit + 0.01 where debit > 0 and period = '2026-09-01'"
      for (const [statement, name, named] of unreadable) {
        const { look = [] } = yield* tried("unruled", `${statement}; ${other}`, found)
        const lines = (proof: string) => look.filter((line) => line.startsWith(`${proof}: `)).join("\n")
        expect([statement, lines(name)]).toEqual([statement, expect.stringContaining(named)])
        expect([statement, lines("balances")]).toEqual([
          statement,
          expect.stringContaining("in 2026-09 says debit 50.01"),
        ])
      }
    }),
  )

  it.effect("names each thing that a proof says is so, where it is not", () =>
    Effect.gen(function* () {
      const database = yield* Database
      for (const [query, statement, named] of everyPart) {
        const asked = database.query(
          "Test.part",
          (sql) => sql<Array<{ row: string; message: string }>>`${query.wrong(sql)}`,
        )
        expect([statement, yield* asked]).toEqual([statement, []])
        const { look = [] } = yield* tried("unruled", statement, asked)
        expect([statement, look.map(({ message, row }) => `${row} ${message}`).join("\n")]).toEqual([
          statement,
          expect.stringContaining(named),
        ])
      }
    }),
  )

  it.effect("accuses nothing that may be so", () =>
    Effect.gen(function* () {
      const database = yield* Database
      for (const [query, statement] of harmless) {
        const asked = database.query(
          "Test.harmless",
          (sql) => sql<Array<{ row: string; message: string }>>`${query.wrong(sql)}`,
        )
        const { look, refused } = yield* tried("unruled", statement, asked)
        expect([statement, refused, look]).toEqual([statement, "", []])
      }
    }),
  )

  it.effect(
    "holds for an account that the service states in another currency than at first: that is a finding",
    () =>
      Effect.gen(function* () {
        const other = `update mirror.accounts set raw = jsonb_set(raw::jsonb, '{currency}', '"NOK"')::json`
        const { look = [], written } = yield* tried("unruled", other, found)
        expect(written).toBeGreaterThan(0)
        expect(look).toEqual([
          expect.stringMatching(/^found-again: ORG: account .* has no open finding cash-balance/),
        ])
      }),
  )

  it.effect("holds for batches that are in their folders alone", () =>
    Effect.gen(function* () {
      const { look, written } = yield* tried("unruled", "delete from export.batch_files", found)
      expect([written > 0, look]).toEqual([true, []])
    }),
  )

  it.effect("says of which books it looked for no findings", () =>
    Effect.gen(function* () {
      const lines = Effect.map(Effect.provide(prove(), Settings.from({ variables: {} })), proofLines)
      expect(yield* lines).toEqual([expect.stringMatching(/^The database is whole: /)])
      const { look = [] } = yield* tried("unruled", "delete from reconcile.progress", lines)
      expect(look).toEqual([
        "Note: found-again says nothing of ORG, where a run came after the last reconciliation. To look there as well: tieout reconcile, then this again.",
        expect.stringMatching(/^The database is whole: /),
      ])
      // A sync that the settings did not allow has read nothing, as opposed to one that failed.
      for (const [code, notes] of [
        [2, 0],
        [1, 1],
      ]) {
        const ended = `insert into sync.runs (connection, command, state, started_at, ended_at, exit_code)
          values ('default', 'sync', 'failed', now(), now(), ${code})`
        const { look: after = [], written } = yield* tried("unruled", ended, lines)
        expect([written, after.length]).toEqual([1, 1 + (notes ?? 0)])
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
      const { name } = yield* TestDatabase
      for (const [statement, named] of lifted) {
        const { look = [] } = yield* tried("program", statement, broken)
        expect(look.map(({ message, row }) => `${row} ${message}`)).toContain(named.replace("DATABASE", name))
      }
    }),
  )
})
