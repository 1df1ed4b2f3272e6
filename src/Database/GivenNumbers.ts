/**
 * Numbers that sequences give. Not every copy of the rows brings the sequences along: logical replication does not, a role that may
 * read the tables alone cannot, and those that are set back give their numbers again.
 */

/** The key that refuses a number which was given before, and the highest one that rows have of each sequence. */
const sequences: ReadonlyArray<readonly [sequence: string, key: string | undefined, highest: string]> = [
  [
    "ledger.accounts_account_id_seq",
    "ledger.accounts: accounts_book_id_account_id_pk",
    "select max(account_id) from ledger.accounts",
  ],
  // Each value reserves the 1024 that begin with it.
  [
    "ledger.journal_entry_block",
    "ledger.journal_entries: journal_entries_book_id_entry_id_pk",
    "select max(entry_id) / 1024 * 1024 from ledger.journal_entries",
  ],
  [
    "ledger.numbering_step",
    undefined,
    `select greatest((select max(numbering) from ledger.journal_numbers), (select max(through_numbering) from ledger.archives),
      (select max(through_numbering) from export.batches))`,
  ],
  ["mirror.books_book_id_seq", "mirror.books: books_pkey", "select max(book_id) from mirror.books"],
  [
    "mirror.quarantine_quarantine_id_seq",
    "mirror.quarantine: quarantine_pkey",
    "select max(quarantine_id) from mirror.quarantine",
  ],
  [
    "reconcile.findings_finding_id_seq",
    "reconcile.findings: findings_pkey",
    "select max(finding_id) from reconcile.findings",
  ],
  ["sync.runs_run_id_seq", "sync.runs: runs_pkey", "select max(run_id) from sync.runs"],
]

/** Lines are written before their entries. */
const ofLines = "ledger.postings: postings_book_id_entry_id_line_number_pk"

const keys: ReadonlySet<string | undefined> = new Set([...sequences.map(([, key]) => key), ofLines])

/** Whether this key of a table is of numbers that a sequence gives. */
export const isOfGivenNumbers = (table: string | undefined, constraint: string | undefined): boolean =>
  table !== undefined && constraint !== undefined && keys.has(`${table}: ${constraint}`)

/** Columns `name`, `last`, `highest`: the sequences that stand before a number of their rows, as far as the role may see them. */
export const sequencesSetBack = `
  select s.name, s.last, s.highest from (
    select h.name, h.highest, h.visible,
      case when h.visible then coalesce(pg_sequence_last_value(h.name::regclass), 0) end as last
    from (${sequences
      .map(
        ([name, , highest]) =>
          `select '${name}' as name, has_sequence_privilege('${name}', 'usage, select') as visible, (${highest})::bigint as highest`,
      )
      .join("\n      union all ")}) h) s
  where s.last < s.highest`
