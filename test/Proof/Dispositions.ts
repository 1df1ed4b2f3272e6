/**
 * What becomes of a falsehood in each column of the database: decided for every one of them. An owner's session can change
 * nothing at all. Beyond that, a session of the program itself is refused, or the change is named by `tieout verify
 * --database`, or it is free, for a reason.
 */

export interface Disposition {
  /** Columns that the database does not let even the program change. */
  readonly refused: string
  /** By the name of the proof: columns that the program may change, and that are proved again. */
  readonly proved?: Readonly<Record<string, string>>
  /** Columns that the program may change, and why no figure rests on them. */
  readonly free?: Readonly<Record<string, string>>
  /** Why the program may delete rows; none: it may not. */
  readonly deleted?: string
}

export const dispositions: Readonly<Record<string, Disposition>> = {
  "export.account_mappings": {
    refused: "book_id version accounts imported_at",
  },
  "export.archived_totals": {
    refused: "book_id year batch currency debit credit entries postings",
  },
  "export.batch_files": {
    refused: "book_id batch name chunk content",
  },
  "export.batch_states": {
    refused: "book_id batch sequence state who at reason by_batch",
  },
  "export.batches": {
    refused:
      "book_id batch scope from_date to_date formats folder through_numbering manifest committed_at preview who currency_basis since_numbering covered as_of manifest_sha256",
  },
  "ledger.accounts": {
    refused: "book_id account_id role currency partner_account_id rule_code created_at",
    free: {
      "code name": "the chart names accounts; a close keeps the names that it was made with",
    },
  },
  "ledger.archived_months": {
    refused: "book_id year period entries",
  },
  "ledger.archived_sources": {
    refused: "book_id year source_id",
  },
  "ledger.archived_turnover": {
    refused: "book_id year period basis account debit credit",
  },
  "ledger.archives": {
    refused:
      "book_id year through file digest taken_at rows_digest rows through_numbering known_from who os_user database_user at transaction",
  },
  "ledger.balances": {
    refused: "book_id account_id period debit credit",
  },
  "ledger.close_approvals": {
    refused: "book_id sequence close_hash name os_user database_user two_persons at hash",
  },
  "ledger.close_balances": {
    refused: "book_id sequence account_id code name currency debit credit balance",
  },
  "ledger.closes": {
    refused:
      "book_id sequence period action hash previous_hash entries who os_user database_user at reason transaction accepted valuation_method record_hash",
  },
  "ledger.currencies": {
    refused: "code scale",
  },
  "ledger.journal_entries": {
    refused:
      "book_id entry_id source_type source_id kind sequence correction effective_date period occurred_at recorded_at late_for line_count partner_account_id position resource_type resource_id description external_reference counterparty reverses run_id",
  },
  "ledger.journal_numbers": {
    refused: "book_id entry_id period number numbering",
  },
  "ledger.locks": {
    refused: "book_id closed_through time_zone",
  },
  "ledger.periods": {
    refused: "book_id period status last_number closed_at",
  },
  "ledger.postings": {
    refused: "book_id entry_id line_number account_id currency amount",
  },
  "ledger.receivable_dues": {
    refused: "book_id receivable_id",
    free: {
      "currency side lent lent_waiting repaid repaid_waiting taken taken_back open owed since policy":
        "not proved: it says of which receivable it is what stands in loan clearing and in transit, whose balances are proved",
    },
  },
  "ledger.receivable_shares": {
    refused: "book_id receivable_id unit currency purpose amount rest entries",
    deleted: "written anew with every version of a receivable, as the dues",
  },
  "ledger.receivable_waits": {
    refused: "book_id receivable_id purpose version sequence currency amount side occurred_at tx_ids whole",
    deleted: "written anew with every version of a receivable, as the dues",
  },
  "ledger.touched_conversions": {
    refused: "book_id conversion_id",
    deleted: "a conversion that is looked at is taken off; one that is not stays in transit, a finding",
  },
  "ledger.transit": {
    refused: "book_id conversion_id currency amount",
  },
  "ledger.unnumbered": {
    refused: "book_id entry_id",
  },
  "mirror.accounts": {
    refused: "book_id account_id currency",
    proved: {
      accounts: "payment_rails status balance raw entries last_entry_id last_balance last_occurred_at",
    },
    free: {
      "balance_read_at tail_read_at run_id": "when our clock last saw it: nothing is proved by it",
      unlisted_since: "an account that seems gone is read again and, where it can be, is listed",
    },
  },
  "mirror.archived_resources": {
    refused: "book_id year version resource_id resource_type digest",
  },
  "mirror.books": {
    refused: "book_id connection client_id code created_at",
    free: {
      name: "the service renames its clients",
    },
  },
  "mirror.contradictions": {
    refused: "book_id entry_id account_id content digest first_seen_at run_id",
  },
  "mirror.missing_resources": {
    refused: "book_id resource_type resource_id first_missed_at",
    free: {
      tries: "a count of tries",
    },
  },
  "mirror.quarantine": {
    refused: "quarantine_id book_id stream item_id raw digest first_seen_at resolved_at",
    free: {
      "reason path last_seen_at run_id": "what the decoders say of it now, and when it was last seen",
    },
  },
  "mirror.receivable_transactions": {
    refused: "book_id receivable_id tx_id version purpose tx_timestamp",
    free: {
      sought: "looked for once more with every run that brings cash",
    },
  },
  "mirror.receivables": {
    refused:
      "book_id receivable_id version current client_id status currency payment_rails issue_date initial_principal current_principal repayment_amount raw served_at read_at run_id",
    free: {
      posted:
        "a version that was not posted changes no figure by saying so: credit-totals shows what is missing",
      "unlisted_since last_listed_at": "the next list of receivables says it again",
    },
  },
  "mirror.reference_items": {
    refused: "book_id kind item_id version current label raw read_at run_id",
  },
  "mirror.resource_versions": {
    refused:
      "book_id resource_type resource_id version status final rate fee_currency raw changed_at superseded_at run_id",
  },
  "mirror.resources": {
    refused: "book_id resource_type resource_id raw changed_at run_id",
    proved: {
      resources:
        "status final form account_id account_rail currency amount fee fee_currency delivered buy_account_id buy_account_rail buy_currency buy_amount rate pair_id reason_code external_reference counterparty reference destination_id code transaction_hash created_at completed_at version",
    },
    free: {
      read_at: "our clock: a close asks for it only of what is not final",
    },
  },
  "mirror.statement_entries": {
    refused:
      "book_id account_id position entry_id type amount currency balance_before balance_after related_type related_id occurred_at extra held run_id",
  },
  "mirror.statement_entry_versions": {
    refused: "book_id entry_id version related_type related_id extra run_id superseded_at",
  },
  "reconcile.deferred": {
    refused: "book_id resource_id resource_type",
    deleted: "what was waited for has come; --full looks at all of it",
  },
  "reconcile.findings": {
    refused:
      "finding_id book_id check_name severity subject_type subject_id message evidence opened_at opened_run seen_at closed_at closed_run",
  },
  "reconcile.progress": {
    refused: "book_id through_run through_batch",
    free: {
      reconciled_at: "our clock",
      settings: "by which settings a book was checked; found-again makes all checks by those of now",
    },
  },
  "sync.book_events": {
    refused: "",
    free: { "connection event_id digest book_id": "who takes an event; the event itself is in the inbox" },
    deleted: "it is handed out again",
  },
  "sync.book_jobs": {
    refused: "",
    free: {
      "run_id book_id task":
        "what workers have still to read: a book that is passed over is read by the next run",
      "result taken": "what is said at the end of a run; the books themselves are proved",
    },
    deleted: "nobody waits for a run that has ended",
  },
  "sync.checkpoints": {
    refused: "book_id stream",
    free: {
      "cursor leads_to ordering complete run_id updated_at":
        "where reading goes on: an entry that is passed over breaks the chain of balances",
    },
  },
  "sync.dead_letters": {
    refused: "kind",
    free: {
      "book_id run_id tries why given_up_at from_day to_day":
        "what workers could not do: the books themselves are proved",
    },
    deleted: "what was not read is read by the next run",
  },
  "sync.leases": {
    refused: "connection book_id epoch run_id taken_at",
  },
  "sync.nights": {
    refused: "",
    free: { "connection due_at epoch claimed_at ended_at told": "who works at a night, not what it read" },
    deleted: "a night that is forgotten is run again at most",
  },
  "sync.page_boundaries": {
    refused: "book_id account_id position occurred_at",
    free: {
      cursor: "where reading goes on: an entry that is passed over breaks the chain of balances",
    },
  },
  "sync.paces": {
    refused: "",
    free: { "connection state": "how fast the service is asked, not what it says" },
  },
  "sync.runs": {
    refused: "run_id connection command state started_at ended_at exit_code summary whole",
  },
  "sync.stream_reads": {
    refused: "book_id stream began_at ended_at run_id failing_since",
    free: {
      "trouble status detail": "why the last try failed: it proves nothing",
    },
  },
  "sync.tokens": {
    refused: "",
    free: { "connection sealed refresh_at": "a token that does not open, or is refused, is asked for anew" },
    deleted: "it is asked for anew",
  },
  "valuation.accounts": {
    refused: "book_id role",
    free: {
      "currency code name": "the chart names accounts",
    },
  },
  "valuation.entries": {
    refused:
      "book_id period series number effective_date line_count entry_id kind description resource_id reverses",
  },
  "valuation.months": {
    refused:
      "book_id period base_currency method rates monetary_roles max_rate_age_days rates_version fingerprint previous through_number over valued_at transaction state",
  },
  "valuation.postings": {
    refused:
      "book_id period series number line_number account_id role amount native native_currency basis rate rate_date rate_source",
  },
  "valuation.rate_imports": {
    refused: "version imported_at",
  },
  "valuation.rates": {
    refused: "date from_currency to_currency version rate source",
  },
  "valuation.settings": {
    refused: "book_id sequence since base_currency method rates max_rate_age_days monetary_roles",
  },
  "webhook.inbox": {
    refused: "connection event_id digest received_at type body key_id algorithm",
    free: {
      "state tries next_try_at error conflict processed_at":
        "an event is a hint to read; the nightly run reads without it",
    },
  },
}
