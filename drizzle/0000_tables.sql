CREATE SCHEMA "export";
--> statement-breakpoint
CREATE SCHEMA "ledger";
--> statement-breakpoint
CREATE SCHEMA "mirror";
--> statement-breakpoint
CREATE SCHEMA "reconcile";
--> statement-breakpoint
CREATE SCHEMA "sync";
--> statement-breakpoint
CREATE SCHEMA "valuation";
--> statement-breakpoint
CREATE SCHEMA "webhook";
--> statement-breakpoint
CREATE SEQUENCE "ledger"."journal_entry_block" INCREMENT BY 1024 MINVALUE 1024 MAXVALUE 9223372036854775807 START WITH 1024 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "ledger"."numbering_step" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "ledger"."archived_months" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"period" date NOT NULL,
	"entries" integer NOT NULL,
	CONSTRAINT "archived_months_book_id_year_period_pk" PRIMARY KEY("book_id","year","period"),
	CONSTRAINT "archived_months_entries" CHECK ("ledger"."archived_months"."entries" > 0)
);
--> statement-breakpoint
CREATE TABLE "mirror"."archived_resources" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"version" integer NOT NULL,
	"resource_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	"digest" text NOT NULL,
	CONSTRAINT "archived_resources_book_id_resource_id_resource_type_pk" PRIMARY KEY("book_id","resource_id","resource_type")
);
--> statement-breakpoint
CREATE TABLE "ledger"."archived_sources" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"source_id" uuid NOT NULL,
	CONSTRAINT "archived_sources_book_id_source_id_pk" PRIMARY KEY("book_id","source_id")
);
--> statement-breakpoint
CREATE TABLE "export"."archived_totals" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"batch" integer NOT NULL,
	"currency" text NOT NULL,
	"debit" numeric NOT NULL,
	"credit" numeric NOT NULL,
	"entries" bigint NOT NULL,
	"postings" bigint NOT NULL,
	CONSTRAINT "archived_totals_book_id_year_batch_currency_pk" PRIMARY KEY("book_id","year","batch","currency")
);
--> statement-breakpoint
CREATE TABLE "ledger"."archived_turnover" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"period" date NOT NULL,
	"basis" text NOT NULL,
	"account" text NOT NULL,
	"debit" numeric NOT NULL,
	"credit" numeric NOT NULL,
	CONSTRAINT "archived_turnover_book_id_year_period_basis_account_pk" PRIMARY KEY("book_id","year","period","basis","account"),
	CONSTRAINT "archived_turnover_basis" CHECK ("ledger"."archived_turnover"."basis" in ('native', 'base')),
	CONSTRAINT "archived_turnover_sides" CHECK ("ledger"."archived_turnover"."debit" >= 0 and "ledger"."archived_turnover"."credit" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ledger"."archives" (
	"book_id" integer NOT NULL,
	"year" smallint NOT NULL,
	"through" date NOT NULL,
	"file" text NOT NULL,
	"digest" text NOT NULL,
	"taken_at" timestamptz NOT NULL,
	"rows_digest" text NOT NULL,
	"rows" jsonb NOT NULL,
	"through_numbering" bigint NOT NULL,
	"known_from" timestamptz NOT NULL,
	"who" text NOT NULL,
	"os_user" text NOT NULL,
	"database_user" text DEFAULT session_user NOT NULL,
	"at" timestamptz DEFAULT now() NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "archives_book_id_year_pk" PRIMARY KEY("book_id","year"),
	CONSTRAINT "archives_digest" CHECK ("ledger"."archives"."digest" ~ '^[0-9a-f]{64}$' and "ledger"."archives"."rows_digest" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "archives_file" CHECK ("ledger"."archives"."file" ~ '^[^/]+$')
);
--> statement-breakpoint
CREATE TABLE "ledger"."close_approvals" (
	"book_id" integer NOT NULL,
	"sequence" integer NOT NULL,
	"close_hash" text NOT NULL,
	"name" text NOT NULL,
	"os_user" text NOT NULL,
	"database_user" text DEFAULT session_user NOT NULL,
	"two_persons" boolean NOT NULL,
	"at" timestamptz DEFAULT now() NOT NULL,
	"hash" text DEFAULT '' NOT NULL,
	CONSTRAINT "close_approvals_book_id_sequence_pk" PRIMARY KEY("book_id","sequence"),
	CONSTRAINT "close_approvals_name" CHECK ("ledger"."close_approvals"."name" ~ '[^[:space:]]' and char_length("ledger"."close_approvals"."name") <= 100)
);
--> statement-breakpoint
CREATE TABLE "ledger"."close_balances" (
	"book_id" integer NOT NULL,
	"sequence" integer NOT NULL,
	"account_id" integer NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"currency" text NOT NULL,
	"debit" numeric NOT NULL,
	"credit" numeric NOT NULL,
	"balance" numeric NOT NULL,
	CONSTRAINT "close_balances_book_id_sequence_account_id_pk" PRIMARY KEY("book_id","sequence","account_id")
);
--> statement-breakpoint
CREATE TABLE "ledger"."closes" (
	"book_id" integer NOT NULL,
	"sequence" integer NOT NULL,
	"period" date NOT NULL,
	"action" text NOT NULL,
	"hash" text,
	"previous_hash" text,
	"entries" bigint NOT NULL,
	"who" text NOT NULL,
	"os_user" text DEFAULT 'unknown' NOT NULL,
	"database_user" text DEFAULT session_user NOT NULL,
	"at" timestamptz DEFAULT now() NOT NULL,
	"reason" text,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"accepted" jsonb NOT NULL,
	"valuation_method" text,
	CONSTRAINT "closes_book_id_sequence_pk" PRIMARY KEY("book_id","sequence"),
	CONSTRAINT "closes_action" CHECK ("ledger"."closes"."action" in ('close', 'reopen')),
	CONSTRAINT "closes_hash" CHECK (("ledger"."closes"."action" = 'close') = ("ledger"."closes"."hash" is not null)),
	CONSTRAINT "closes_valuation_method" CHECK ("ledger"."closes"."action" = 'close' and "ledger"."closes"."valuation_method" in ('average', 'fifo') or "ledger"."closes"."valuation_method" is null),
	CONSTRAINT "closes_reason" CHECK ("ledger"."closes"."action" = 'close' or "ledger"."closes"."reason" is not null)
);
--> statement-breakpoint
CREATE TABLE "mirror"."receivable_transactions" (
	"book_id" integer NOT NULL,
	"receivable_id" uuid NOT NULL,
	"tx_id" text NOT NULL,
	"version" integer NOT NULL,
	"purpose" text NOT NULL,
	"tx_timestamp" timestamptz NOT NULL,
	"sought" boolean DEFAULT false NOT NULL,
	CONSTRAINT "receivable_transactions_book_id_receivable_id_tx_id_pk" PRIMARY KEY("book_id","receivable_id","tx_id"),
	CONSTRAINT "receivable_transactions_purpose" CHECK ("mirror"."receivable_transactions"."purpose" in ('disbursement', 'repayment'))
);
--> statement-breakpoint
CREATE TABLE "mirror"."receivables" (
	"book_id" integer NOT NULL,
	"receivable_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"current" boolean NOT NULL,
	"client_id" uuid NOT NULL,
	"status" text NOT NULL,
	"currency" text NOT NULL,
	"payment_rails" text NOT NULL,
	"issue_date" timestamptz NOT NULL,
	"initial_principal" numeric NOT NULL,
	"current_principal" numeric NOT NULL,
	"repayment_amount" numeric NOT NULL,
	"raw" json NOT NULL,
	"served_at" timestamptz NOT NULL,
	"read_at" timestamptz NOT NULL,
	"unlisted_since" timestamptz,
	"last_listed_at" timestamptz,
	"posted" boolean DEFAULT false NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "receivables_book_id_receivable_id_version_pk" PRIMARY KEY("book_id","receivable_id","version"),
	CONSTRAINT "receivables_amounts" CHECK ("mirror"."receivables"."initial_principal" >= 0 and "mirror"."receivables"."current_principal" >= 0 and "mirror"."receivables"."repayment_amount" >= 0 and "mirror"."receivables"."initial_principal" < 1e30 and "mirror"."receivables"."current_principal" < 1e30 and "mirror"."receivables"."repayment_amount" < 1e30)
);
--> statement-breakpoint
CREATE TABLE "export"."account_mappings" (
	"book_id" integer NOT NULL,
	"version" integer NOT NULL,
	"accounts" json NOT NULL,
	"imported_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "account_mappings_book_id_version_pk" PRIMARY KEY("book_id","version")
);
--> statement-breakpoint
CREATE TABLE "export"."batch_files" (
	"book_id" integer NOT NULL,
	"batch" integer NOT NULL,
	"name" text NOT NULL,
	"chunk" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "batch_files_book_id_batch_name_chunk_pk" PRIMARY KEY("book_id","batch","name","chunk"),
	CONSTRAINT "batch_files_content" CHECK (octet_length("export"."batch_files"."content") between 1 and 1048576)
);
--> statement-breakpoint
CREATE TABLE "export"."batch_states" (
	"book_id" integer NOT NULL,
	"batch" integer NOT NULL,
	"sequence" integer NOT NULL,
	"state" text NOT NULL,
	"who" text NOT NULL,
	"at" timestamptz DEFAULT now() NOT NULL,
	"reason" text,
	"by_batch" integer,
	CONSTRAINT "batch_states_book_id_batch_sequence_pk" PRIMARY KEY("book_id","batch","sequence"),
	CONSTRAINT "batch_states_state" CHECK ("export"."batch_states"."state" in ('committed', 'acknowledged', 'superseded')),
	CONSTRAINT "batch_states_reason" CHECK ("export"."batch_states"."state" <> 'superseded' or "export"."batch_states"."reason" is not null)
);
--> statement-breakpoint
CREATE TABLE "export"."batches" (
	"book_id" integer NOT NULL,
	"batch" integer NOT NULL,
	"scope" text NOT NULL,
	"from_date" date,
	"to_date" date,
	"formats" text[] NOT NULL,
	"folder" text NOT NULL,
	"through_numbering" bigint NOT NULL,
	"manifest" json NOT NULL,
	"committed_at" timestamptz DEFAULT now() NOT NULL,
	"preview" boolean DEFAULT false NOT NULL,
	"who" text,
	"currency_basis" text DEFAULT 'native' NOT NULL,
	"since_numbering" bigint DEFAULT 0 NOT NULL,
	"covered" json DEFAULT '[]' NOT NULL,
	"as_of" timestamptz,
	"manifest_sha256" text,
	CONSTRAINT "batches_book_id_batch_pk" PRIMARY KEY("book_id","batch")
);
--> statement-breakpoint
CREATE TABLE "ledger"."accounts" (
	"book_id" integer NOT NULL,
	"account_id" integer GENERATED ALWAYS AS IDENTITY (sequence name "ledger"."accounts_account_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"role" text NOT NULL,
	"currency" text NOT NULL,
	"partner_account_id" uuid,
	"rule_code" text DEFAULT '' NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_book_id_account_id_pk" PRIMARY KEY("book_id","account_id"),
	CONSTRAINT "accounts_identity" UNIQUE NULLS NOT DISTINCT("book_id","role","currency","partner_account_id","rule_code"),
	CONSTRAINT "accounts_role" CHECK ("ledger"."accounts"."role" in ('cash', 'deposits_clearing', 'withdrawals_clearing', 'payouts_clearing', 'fees', 'trading', 'suspense', 'opening_balance', 'receivable_principal', 'receivable_interest', 'interest_income', 'deferred_interest', 'loan_clearing', 'loan_payable', 'interest_payable', 'interest_expense', 'conversions_in_transit', 'other')),
	CONSTRAINT "accounts_cash" CHECK (("ledger"."accounts"."role" = 'cash') = ("ledger"."accounts"."partner_account_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "ledger"."balances" (
	"book_id" integer NOT NULL,
	"account_id" integer NOT NULL,
	"period" date NOT NULL,
	"debit" numeric NOT NULL,
	"credit" numeric NOT NULL,
	CONSTRAINT "balances_book_id_account_id_period_pk" PRIMARY KEY("book_id","account_id","period")
);
--> statement-breakpoint
CREATE TABLE "ledger"."currencies" (
	"code" text PRIMARY KEY NOT NULL,
	"scale" smallint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger"."journal_entries" (
	"book_id" integer NOT NULL,
	"sequence" integer DEFAULT 0 NOT NULL,
	"entry_id" bigint NOT NULL,
	"occurred_at" timestamptz NOT NULL,
	"recorded_at" timestamptz DEFAULT now() NOT NULL,
	"position" bigint,
	"effective_date" date NOT NULL,
	"period" date GENERATED ALWAYS AS ((date_trunc('month', effective_date::timestamp))::date) STORED NOT NULL,
	"late_for" date,
	"correction" integer DEFAULT 0 NOT NULL,
	"run_id" integer,
	"line_count" smallint NOT NULL,
	"source_type" text NOT NULL,
	"source_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"partner_account_id" uuid,
	"resource_type" text,
	"resource_id" uuid,
	"description" text NOT NULL,
	"external_reference" text,
	"counterparty" text,
	"reverses" bigint,
	CONSTRAINT "journal_entries_book_id_entry_id_pk" PRIMARY KEY("book_id","entry_id"),
	CONSTRAINT "journal_entries_source_type" CHECK ("ledger"."journal_entries"."source_type" in ('statement_entry', 'opening', 'resource_version', 'receivable_version', 'manual')),
	CONSTRAINT "journal_entries_lines" CHECK ("ledger"."journal_entries"."line_count" between 2 and 1000),
	CONSTRAINT "journal_entries_sequence" CHECK (("ledger"."journal_entries"."kind" in ('reclassification', 'opening_correction')) = ("ledger"."journal_entries"."sequence" > 0) or "ledger"."journal_entries"."source_type" in ('receivable_version', 'resource_version')),
	CONSTRAINT "journal_entries_correction" CHECK ("ledger"."journal_entries"."correction" = 0 or ("ledger"."journal_entries"."correction" > 0 and "ledger"."journal_entries"."source_type" = 'receivable_version' and "ledger"."journal_entries"."kind" = 'reclassification')),
	CONSTRAINT "journal_entries_dates" CHECK ("ledger"."journal_entries"."effective_date" between '1970-01-01' and '2199-12-31')
) PARTITION BY HASH ("book_id");
--> statement-breakpoint
CREATE TABLE "ledger"."journal_numbers" (
	"book_id" integer NOT NULL,
	"entry_id" bigint NOT NULL,
	"period" date NOT NULL,
	"number" integer NOT NULL,
	"numbering" bigint NOT NULL,
	CONSTRAINT "journal_numbers_book_id_entry_id_pk" PRIMARY KEY("book_id","entry_id")
) PARTITION BY HASH ("book_id");
--> statement-breakpoint
CREATE TABLE "ledger"."locks" (
	"book_id" integer PRIMARY KEY NOT NULL,
	"closed_through" date,
	"time_zone" text
);
--> statement-breakpoint
CREATE TABLE "ledger"."periods" (
	"book_id" integer NOT NULL,
	"period" date NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"last_number" integer DEFAULT 0 NOT NULL,
	"closed_at" timestamptz,
	CONSTRAINT "periods_book_id_period_pk" PRIMARY KEY("book_id","period"),
	CONSTRAINT "periods_status" CHECK ("ledger"."periods"."status" in ('open', 'closed')),
	CONSTRAINT "periods_month" CHECK (extract(day from "ledger"."periods"."period") = 1)
);
--> statement-breakpoint
CREATE TABLE "ledger"."postings" (
	"book_id" integer NOT NULL,
	"account_id" integer NOT NULL,
	"entry_id" bigint NOT NULL,
	"line_number" smallint NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "postings_book_id_entry_id_line_number_pk" PRIMARY KEY("book_id","entry_id","line_number"),
	CONSTRAINT "postings_amount" CHECK ("ledger"."postings"."amount" <> 0 and "ledger"."postings"."amount" between -1e30 and 1e30)
) PARTITION BY HASH ("book_id");
--> statement-breakpoint
CREATE TABLE "ledger"."touched_conversions" (
	"book_id" integer NOT NULL,
	"conversion_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger"."transit" (
	"book_id" integer NOT NULL,
	"conversion_id" uuid NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "transit_book_id_conversion_id_currency_pk" PRIMARY KEY("book_id","conversion_id","currency")
);
--> statement-breakpoint
CREATE TABLE "ledger"."unnumbered" (
	"book_id" integer NOT NULL,
	"entry_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger"."receivable_dues" (
	"book_id" integer NOT NULL,
	"receivable_id" uuid NOT NULL,
	"currency" text NOT NULL,
	"side" smallint NOT NULL,
	"lent" numeric NOT NULL,
	"lent_waiting" numeric NOT NULL,
	"repaid" numeric NOT NULL,
	"repaid_waiting" numeric NOT NULL,
	"taken_back" numeric NOT NULL,
	"taken" numeric NOT NULL,
	"open" boolean NOT NULL,
	"owed" boolean NOT NULL,
	"policy" text NOT NULL,
	"since" timestamptz,
	CONSTRAINT "receivable_dues_book_id_receivable_id_pk" PRIMARY KEY("book_id","receivable_id"),
	CONSTRAINT "receivable_dues_side" CHECK ("ledger"."receivable_dues"."side" in (-1, 1))
);
--> statement-breakpoint
CREATE TABLE "ledger"."receivable_shares" (
	"book_id" integer NOT NULL,
	"receivable_id" uuid NOT NULL,
	"unit" text NOT NULL,
	"currency" text NOT NULL,
	"purpose" text NOT NULL,
	"amount" numeric NOT NULL,
	"rest" boolean NOT NULL,
	"entries" uuid[] NOT NULL,
	CONSTRAINT "receivable_shares_book_id_receivable_id_unit_currency_pk" PRIMARY KEY("book_id","receivable_id","unit","currency"),
	CONSTRAINT "receivable_shares_purpose" CHECK ("ledger"."receivable_shares"."purpose" in ('disbursement', 'repayment'))
);
--> statement-breakpoint
CREATE TABLE "ledger"."receivable_waits" (
	"book_id" integer NOT NULL,
	"receivable_id" uuid NOT NULL,
	"purpose" text NOT NULL,
	"version" integer NOT NULL,
	"sequence" integer NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	"side" smallint NOT NULL,
	"occurred_at" timestamptz NOT NULL,
	"tx_ids" text[] NOT NULL,
	"whole" boolean NOT NULL,
	CONSTRAINT "receivable_waits_book_id_receivable_id_sequence_pk" PRIMARY KEY("book_id","receivable_id","sequence"),
	CONSTRAINT "receivable_waits_purpose" CHECK ("ledger"."receivable_waits"."purpose" in ('disbursement', 'repayment')),
	CONSTRAINT "receivable_waits_amount" CHECK ("ledger"."receivable_waits"."amount" > 0 and "ledger"."receivable_waits"."side" in (-1, 1))
);
--> statement-breakpoint
CREATE TABLE "mirror"."accounts" (
	"book_id" integer NOT NULL,
	"account_id" uuid NOT NULL,
	"currency" text NOT NULL,
	"payment_rails" text NOT NULL,
	"status" text NOT NULL,
	"balance" numeric NOT NULL,
	"balance_read_at" timestamptz NOT NULL,
	"raw" json NOT NULL,
	"entries" bigint DEFAULT 0 NOT NULL,
	"last_entry_id" uuid,
	"last_balance" numeric,
	"last_occurred_at" timestamptz,
	"tail_read_at" timestamptz,
	"unlisted_since" timestamptz,
	"run_id" integer NOT NULL,
	CONSTRAINT "accounts_book_id_account_id_pk" PRIMARY KEY("book_id","account_id"),
	CONSTRAINT "accounts_balance" CHECK ("mirror"."accounts"."balance" between -1e30 and 1e30)
);
--> statement-breakpoint
CREATE TABLE "mirror"."books" (
	"book_id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mirror"."books_book_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"connection" text NOT NULL,
	"client_id" uuid,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "books_code_unique" UNIQUE("code"),
	CONSTRAINT "books_connection_client" UNIQUE NULLS NOT DISTINCT("connection","client_id"),
	CONSTRAINT "books_code" CHECK ("mirror"."books"."code" ~ '^[A-Z0-9][A-Z0-9_.-]{0,39}$')
);
--> statement-breakpoint
CREATE TABLE "mirror"."contradictions" (
	"book_id" integer NOT NULL,
	"entry_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"content" text NOT NULL,
	"digest" text NOT NULL,
	"first_seen_at" timestamptz DEFAULT now() NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "contradictions_book_id_entry_id_digest_pk" PRIMARY KEY("book_id","entry_id","digest")
);
--> statement-breakpoint
CREATE TABLE "mirror"."missing_resources" (
	"book_id" integer NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"first_missed_at" timestamptz DEFAULT now() NOT NULL,
	"tries" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "missing_resources_book_id_resource_id_resource_type_pk" PRIMARY KEY("book_id","resource_id","resource_type")
);
--> statement-breakpoint
CREATE TABLE "mirror"."quarantine" (
	"quarantine_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "mirror"."quarantine_quarantine_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"book_id" integer NOT NULL,
	"stream" text NOT NULL,
	"item_id" text,
	"raw" text NOT NULL,
	"reason" text NOT NULL,
	"path" text NOT NULL,
	"digest" text NOT NULL,
	"first_seen_at" timestamptz DEFAULT now() NOT NULL,
	"last_seen_at" timestamptz DEFAULT now() NOT NULL,
	"resolved_at" timestamptz,
	"run_id" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mirror"."reference_items" (
	"book_id" integer NOT NULL,
	"kind" text NOT NULL,
	"item_id" text NOT NULL,
	"version" integer NOT NULL,
	"current" boolean NOT NULL,
	"label" text,
	"raw" json NOT NULL,
	"read_at" timestamptz NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "reference_items_book_id_kind_item_id_version_pk" PRIMARY KEY("book_id","kind","item_id","version")
);
--> statement-breakpoint
CREATE TABLE "mirror"."resource_versions" (
	"book_id" integer NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"status" text,
	"final" boolean,
	"rate" numeric,
	"fee_currency" text,
	"raw" json NOT NULL,
	"changed_at" timestamptz NOT NULL,
	"superseded_at" timestamptz NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "resource_versions_book_id_resource_id_resource_type_version_pk" PRIMARY KEY("book_id","resource_id","resource_type","version")
);
--> statement-breakpoint
CREATE TABLE "mirror"."resources" (
	"book_id" integer NOT NULL,
	"run_id" integer NOT NULL,
	"created_at" timestamptz NOT NULL,
	"completed_at" timestamptz,
	"changed_at" timestamptz NOT NULL,
	"read_at" timestamptz NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"resource_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"buy_account_id" uuid,
	"pair_id" uuid,
	"resource_type" text NOT NULL,
	"status" text NOT NULL,
	"final" boolean NOT NULL,
	"form" text,
	"account_rail" text NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	"fee" numeric,
	"fee_currency" text,
	"delivered" numeric,
	"buy_account_rail" text,
	"buy_currency" text,
	"buy_amount" numeric,
	"rate" numeric,
	"reason_code" text,
	"external_reference" text,
	"counterparty" text,
	"reference" text,
	"destination_id" text,
	"code" text,
	"transaction_hash" text,
	"raw" json NOT NULL,
	CONSTRAINT "resources_book_id_resource_id_resource_type_pk" PRIMARY KEY("book_id","resource_id","resource_type"),
	CONSTRAINT "resources_type" CHECK ("mirror"."resources"."resource_type" in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION')),
	CONSTRAINT "resources_amount" CHECK ("mirror"."resources"."amount" >= 0 and "mirror"."resources"."amount" < 1e30)
) PARTITION BY HASH ("book_id");
--> statement-breakpoint
CREATE TABLE "mirror"."statement_entries" (
	"book_id" integer NOT NULL,
	"run_id" integer NOT NULL,
	"position" bigint NOT NULL,
	"occurred_at" timestamptz NOT NULL,
	"account_id" uuid NOT NULL,
	"entry_id" uuid NOT NULL,
	"type" text NOT NULL,
	"amount" numeric NOT NULL,
	"currency" text NOT NULL,
	"balance_before" numeric,
	"balance_after" numeric NOT NULL,
	"related_type" text,
	"related_id" uuid,
	"extra" json,
	"held" boolean DEFAULT false NOT NULL,
	CONSTRAINT "statement_entries_book_id_account_id_position_pk" PRIMARY KEY("book_id","account_id","position"),
	CONSTRAINT "statement_entries_type" CHECK ("mirror"."statement_entries"."type" in ('CREDIT', 'DEBIT')),
	CONSTRAINT "statement_entries_amount" CHECK ("mirror"."statement_entries"."amount" >= 0 and "mirror"."statement_entries"."amount" < 1e30),
	CONSTRAINT "statement_entries_balance" CHECK ("mirror"."statement_entries"."balance_after" between -1e30 and 1e30)
) PARTITION BY HASH ("book_id");
--> statement-breakpoint
CREATE TABLE "mirror"."statement_entry_versions" (
	"book_id" integer NOT NULL,
	"entry_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"related_type" text,
	"related_id" uuid,
	"extra" json,
	"run_id" integer NOT NULL,
	"superseded_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "statement_entry_versions_book_id_entry_id_version_pk" PRIMARY KEY("book_id","entry_id","version")
);
--> statement-breakpoint
CREATE TABLE "reconcile"."deferred" (
	"book_id" integer NOT NULL,
	"resource_id" uuid NOT NULL,
	"resource_type" text NOT NULL,
	CONSTRAINT "deferred_book_id_resource_id_resource_type_pk" PRIMARY KEY("book_id","resource_id","resource_type")
);
--> statement-breakpoint
CREATE TABLE "reconcile"."findings" (
	"finding_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "reconcile"."findings_finding_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"book_id" integer NOT NULL,
	"check_name" text NOT NULL,
	"severity" text NOT NULL,
	"subject_type" text NOT NULL,
	"subject_id" text NOT NULL,
	"message" text NOT NULL,
	"evidence" jsonb NOT NULL,
	"opened_at" timestamptz DEFAULT now() NOT NULL,
	"opened_run" integer,
	"seen_at" timestamptz DEFAULT now() NOT NULL,
	"closed_at" timestamptz,
	"closed_run" integer,
	CONSTRAINT "findings_severity" CHECK ("reconcile"."findings"."severity" in ('warning', 'blocking'))
);
--> statement-breakpoint
CREATE TABLE "reconcile"."progress" (
	"book_id" integer PRIMARY KEY NOT NULL,
	"through_run" integer NOT NULL,
	"through_batch" integer DEFAULT 0 NOT NULL,
	"reconciled_at" timestamptz DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."book_events" (
	"connection" text NOT NULL,
	"event_id" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"book_id" integer NOT NULL,
	CONSTRAINT "book_events_connection_event_id_digest_pk" PRIMARY KEY("connection","event_id","digest")
);
--> statement-breakpoint
CREATE TABLE "sync"."book_jobs" (
	"run_id" integer NOT NULL,
	"book_id" integer NOT NULL,
	"task" jsonb NOT NULL,
	"result" jsonb,
	"taken" boolean DEFAULT false NOT NULL,
	CONSTRAINT "book_jobs_run_id_book_id_pk" PRIMARY KEY("run_id","book_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."checkpoints" (
	"book_id" integer NOT NULL,
	"stream" text NOT NULL,
	"cursor" text,
	"ordering" text,
	"complete" boolean DEFAULT false NOT NULL,
	"run_id" integer NOT NULL,
	"updated_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "checkpoints_book_id_stream_pk" PRIMARY KEY("book_id","stream")
);
--> statement-breakpoint
CREATE TABLE "sync"."dead_letters" (
	"book_id" integer NOT NULL,
	"kind" text NOT NULL,
	"run_id" integer NOT NULL,
	"tries" integer NOT NULL,
	"why" text NOT NULL,
	"given_up_at" timestamptz DEFAULT now() NOT NULL,
	"from_day" date,
	"to_day" date,
	CONSTRAINT "dead_letters_book_id_kind_pk" PRIMARY KEY("book_id","kind"),
	CONSTRAINT "dead_letters_kind" CHECK ("sync"."dead_letters"."kind" in ('sync', 'events', 'backfill')),
	CONSTRAINT "dead_letters_days" CHECK (("sync"."dead_letters"."kind" = 'backfill') = ("sync"."dead_letters"."from_day" is not null) and ("sync"."dead_letters"."from_day" is null) = ("sync"."dead_letters"."to_day" is null))
);
--> statement-breakpoint
CREATE TABLE "sync"."leases" (
	"connection" text NOT NULL,
	"book_id" integer DEFAULT 0 NOT NULL,
	"epoch" bigint NOT NULL,
	"run_id" integer NOT NULL,
	"taken_at" timestamptz DEFAULT now() NOT NULL,
	CONSTRAINT "leases_connection_book_id_pk" PRIMARY KEY("connection","book_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."nights" (
	"connection" text NOT NULL,
	"due_at" timestamptz NOT NULL,
	"epoch" integer DEFAULT 1 NOT NULL,
	"claimed_at" timestamptz DEFAULT now() NOT NULL,
	"ended_at" timestamptz,
	"told" boolean DEFAULT false NOT NULL,
	CONSTRAINT "nights_connection_due_at_pk" PRIMARY KEY("connection","due_at")
);
--> statement-breakpoint
CREATE TABLE "sync"."paces" (
	"connection" text PRIMARY KEY NOT NULL,
	"state" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."page_boundaries" (
	"book_id" integer NOT NULL,
	"account_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"cursor" text NOT NULL,
	"occurred_at" timestamptz NOT NULL,
	CONSTRAINT "page_boundaries_book_id_account_id_position_pk" PRIMARY KEY("book_id","account_id","position")
);
--> statement-breakpoint
CREATE TABLE "sync"."runs" (
	"run_id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."runs_run_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"connection" text NOT NULL,
	"command" text NOT NULL,
	"state" text DEFAULT 'running' NOT NULL,
	"started_at" timestamptz DEFAULT now() NOT NULL,
	"ended_at" timestamptz,
	"exit_code" integer,
	"summary" jsonb,
	"whole" boolean DEFAULT false NOT NULL,
	CONSTRAINT "runs_whole_done" CHECK (not "sync"."runs"."whole" or "sync"."runs"."command" = 'sync' and "sync"."runs"."state" = 'done'),
	CONSTRAINT "runs_state" CHECK ("sync"."runs"."state" in ('running', 'done', 'failed', 'stopped', 'abandoned'))
);
--> statement-breakpoint
CREATE TABLE "sync"."stream_reads" (
	"book_id" integer NOT NULL,
	"stream" text NOT NULL,
	"began_at" timestamptz,
	"ended_at" timestamptz,
	"run_id" integer,
	"trouble" text,
	"status" integer,
	"detail" text,
	"failing_since" timestamptz,
	CONSTRAINT "stream_reads_book_id_stream_pk" PRIMARY KEY("book_id","stream"),
	CONSTRAINT "stream_reads_trouble" CHECK (("sync"."stream_reads"."trouble" is null) = ("sync"."stream_reads"."failing_since" is null))
);
--> statement-breakpoint
CREATE TABLE "sync"."tokens" (
	"connection" text PRIMARY KEY NOT NULL,
	"sealed" "bytea" NOT NULL,
	"refresh_at" timestamptz NOT NULL
);
--> statement-breakpoint
CREATE TABLE "valuation"."rate_imports" (
	"version" integer PRIMARY KEY NOT NULL,
	"imported_at" timestamptz DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "valuation"."rates" (
	"date" date NOT NULL,
	"from_currency" text NOT NULL,
	"to_currency" text NOT NULL,
	"version" integer NOT NULL,
	"rate" numeric NOT NULL,
	"source" text NOT NULL,
	CONSTRAINT "rates_date_from_currency_to_currency_version_pk" PRIMARY KEY("date","from_currency","to_currency","version"),
	CONSTRAINT "rates_rate" CHECK ("valuation"."rates"."rate" > 0),
	CONSTRAINT "rates_pair" CHECK ("valuation"."rates"."from_currency" <> "valuation"."rates"."to_currency")
);
--> statement-breakpoint
CREATE TABLE "valuation"."accounts" (
	"book_id" integer NOT NULL,
	"role" text NOT NULL,
	"currency" text NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "accounts_book_id_role_pk" PRIMARY KEY("book_id","role"),
	CONSTRAINT "accounts_role" CHECK ("valuation"."accounts"."role" in ('fx_realized', 'fx_unrealized', 'rounding'))
);
--> statement-breakpoint
CREATE TABLE "valuation"."settings" (
	"book_id" integer NOT NULL,
	"sequence" integer NOT NULL,
	"since" timestamptz DEFAULT now() NOT NULL,
	"base_currency" text NOT NULL,
	"method" text NOT NULL,
	"rates" text NOT NULL,
	"max_rate_age_days" smallint NOT NULL,
	"monetary_roles" text NOT NULL,
	CONSTRAINT "settings_book_id_sequence_pk" PRIMARY KEY("book_id","sequence"),
	CONSTRAINT "settings_method" CHECK ("valuation"."settings"."method" in ('average', 'fifo')),
	CONSTRAINT "settings_rates" CHECK ("valuation"."settings"."rates" in ('file', 'conversions'))
);
--> statement-breakpoint
CREATE TABLE "valuation"."entries" (
	"book_id" integer NOT NULL,
	"period" date NOT NULL,
	"series" text NOT NULL,
	"number" integer NOT NULL,
	"effective_date" date NOT NULL,
	"line_count" smallint NOT NULL,
	"entry_id" bigint,
	"kind" text,
	"description" text,
	"resource_id" text,
	"reverses" integer,
	CONSTRAINT "entries_book_id_period_series_number_pk" PRIMARY KEY("book_id","period","series","number"),
	CONSTRAINT "entries_series" CHECK (("valuation"."entries"."series" = 'journal') = ("valuation"."entries"."entry_id" is not null)),
	CONSTRAINT "entries_known_series" CHECK ("valuation"."entries"."series" in ('journal', 'fx')),
	CONSTRAINT "entries_fx" CHECK (("valuation"."entries"."series" = 'fx') = ("valuation"."entries"."kind" is not null and "valuation"."entries"."description" is not null)),
	CONSTRAINT "entries_month" CHECK (date_trunc('month', "valuation"."entries"."effective_date"::timestamp) = "valuation"."entries"."period"::timestamp)
);
--> statement-breakpoint
CREATE TABLE "valuation"."months" (
	"book_id" integer NOT NULL,
	"period" date NOT NULL,
	"base_currency" text NOT NULL,
	"method" text NOT NULL,
	"rates" text NOT NULL,
	"max_rate_age_days" smallint NOT NULL,
	"monetary_roles" text NOT NULL,
	"rates_version" integer,
	"fingerprint" text NOT NULL,
	"previous" text NOT NULL,
	"through_number" integer NOT NULL,
	"over" boolean NOT NULL,
	"valued_at" timestamptz DEFAULT now() NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"state" json,
	CONSTRAINT "months_book_id_period_pk" PRIMARY KEY("book_id","period"),
	CONSTRAINT "months_method" CHECK ("valuation"."months"."method" in ('average', 'fifo')),
	CONSTRAINT "months_rates" CHECK ("valuation"."months"."rates" in ('file', 'conversions')),
	CONSTRAINT "months_first_day" CHECK (extract(day from "valuation"."months"."period") = 1)
);
--> statement-breakpoint
CREATE TABLE "valuation"."postings" (
	"book_id" integer NOT NULL,
	"period" date NOT NULL,
	"series" text NOT NULL,
	"number" integer NOT NULL,
	"line_number" smallint NOT NULL,
	"account_id" integer,
	"role" text,
	"amount" numeric NOT NULL,
	"native" numeric,
	"native_currency" text,
	"basis" text,
	"rate" text,
	"rate_date" date,
	"rate_source" text,
	CONSTRAINT "postings_book_id_period_series_number_line_number_pk" PRIMARY KEY("book_id","period","series","number","line_number"),
	CONSTRAINT "postings_account" CHECK (("valuation"."postings"."account_id" is null) <> ("valuation"."postings"."role" is null)),
	CONSTRAINT "postings_amount" CHECK (scale("valuation"."postings"."amount") <= 2 and ("valuation"."postings"."amount" <> 0 or "valuation"."postings"."native" is not null))
);
--> statement-breakpoint
CREATE TABLE "webhook"."inbox" (
	"connection" text NOT NULL,
	"event_id" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"received_at" timestamptz DEFAULT now() NOT NULL,
	"type" text,
	"body" "bytea" NOT NULL,
	"key_id" text NOT NULL,
	"algorithm" text NOT NULL,
	"state" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_try_at" timestamptz DEFAULT now() NOT NULL,
	"error" text,
	"conflict" boolean DEFAULT false NOT NULL,
	"processed_at" timestamptz,
	CONSTRAINT "inbox_connection_event_id_digest_pk" PRIMARY KEY("connection","event_id","digest"),
	CONSTRAINT "inbox_state" CHECK ("webhook"."inbox"."state" in ('waiting', 'done', 'failed', 'dead', 'poison'))
);
--> statement-breakpoint
ALTER TABLE "export"."batch_files" ADD CONSTRAINT "batch_files_book_id_batch_batches_book_id_batch_fk" FOREIGN KEY ("book_id","batch") REFERENCES "export"."batches"("book_id","batch") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "export"."batch_states" ADD CONSTRAINT "batch_states_book_id_batch_batches_book_id_batch_fk" FOREIGN KEY ("book_id","batch") REFERENCES "export"."batches"("book_id","batch") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."accounts" ADD CONSTRAINT "accounts_currency_currencies_code_fk" FOREIGN KEY ("currency") REFERENCES "ledger"."currencies"("code") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."accounts" ADD CONSTRAINT "accounts_book_id_locks_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "ledger"."locks"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."locks" ADD CONSTRAINT "locks_book_id_books_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "mirror"."books"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."periods" ADD CONSTRAINT "periods_book_id_locks_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "ledger"."locks"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."accounts" ADD CONSTRAINT "accounts_book_id_books_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "mirror"."books"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "valuation"."rates" ADD CONSTRAINT "rates_version_rate_imports_version_fk" FOREIGN KEY ("version") REFERENCES "valuation"."rate_imports"("version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "closes_period" ON "ledger"."closes" USING btree ("book_id","period");--> statement-breakpoint
CREATE INDEX "receivable_transactions_tx" ON "mirror"."receivable_transactions" USING btree ("book_id","tx_id");--> statement-breakpoint
CREATE INDEX "receivable_transactions_unsought" ON "mirror"."receivable_transactions" USING btree ("book_id") WHERE not "mirror"."receivable_transactions"."sought";--> statement-breakpoint
CREATE UNIQUE INDEX "receivables_current" ON "mirror"."receivables" USING btree ("book_id","receivable_id") WHERE "mirror"."receivables"."current";--> statement-breakpoint
CREATE INDEX "receivables_waiting" ON "mirror"."receivables" USING btree ("book_id") WHERE not "mirror"."receivables"."posted";--> statement-breakpoint
CREATE INDEX "receivables_active" ON "mirror"."receivables" USING btree ("book_id","currency","payment_rails") WHERE "mirror"."receivables"."current" and "mirror"."receivables"."status" = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "receivables_unlisted" ON "mirror"."receivables" USING btree ("book_id") WHERE "mirror"."receivables"."current" and "mirror"."receivables"."unlisted_since" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_cash_account" ON "ledger"."accounts" USING btree ("book_id","partner_account_id") WHERE "ledger"."accounts"."partner_account_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "journal_entries_source" ON "ledger"."journal_entries" USING btree ("book_id","source_id","sequence","correction",left("source_type", 3));--> statement-breakpoint
CREATE INDEX "journal_entries_resource" ON "ledger"."journal_entries" USING btree ("book_id","resource_id") WHERE "ledger"."journal_entries"."resource_id" is not null and "ledger"."journal_entries"."sequence" > 0;--> statement-breakpoint
CREATE INDEX "journal_entries_run" ON "ledger"."journal_entries" USING brin ("run_id") WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "journal_numbers_number" ON "ledger"."journal_numbers" USING btree ("book_id","period","number");--> statement-breakpoint
CREATE INDEX "journal_numbers_step" ON "ledger"."journal_numbers" USING brin ("numbering") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "touched_conversions_conversion" ON "ledger"."touched_conversions" USING btree ("book_id","conversion_id");--> statement-breakpoint
CREATE INDEX "receivable_dues_open" ON "ledger"."receivable_dues" USING btree ("book_id") WHERE "ledger"."receivable_dues"."open";--> statement-breakpoint
CREATE INDEX "receivable_dues_owed" ON "ledger"."receivable_dues" USING btree ("book_id") WHERE "ledger"."receivable_dues"."owed";--> statement-breakpoint
CREATE INDEX "receivable_dues_policy" ON "ledger"."receivable_dues" USING btree ("book_id","policy");--> statement-breakpoint
CREATE INDEX "receivable_dues_receivable" ON "ledger"."receivable_dues" USING btree ("receivable_id");--> statement-breakpoint
CREATE INDEX "receivable_shares_unit" ON "ledger"."receivable_shares" USING btree ("book_id","unit","currency");--> statement-breakpoint
CREATE UNIQUE INDEX "quarantine_row" ON "mirror"."quarantine" USING btree ("book_id","stream","digest");--> statement-breakpoint
CREATE INDEX "quarantine_open" ON "mirror"."quarantine" USING btree ("book_id","stream") WHERE "mirror"."quarantine"."resolved_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "reference_items_current" ON "mirror"."reference_items" USING btree ("book_id","kind","item_id") WHERE "mirror"."reference_items"."current";--> statement-breakpoint
CREATE INDEX "resource_versions_superseded" ON "mirror"."resource_versions" USING brin ("superseded_at") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "resources_open" ON "mirror"."resources" USING btree ("book_id","read_at") WHERE not "mirror"."resources"."final";--> statement-breakpoint
CREATE INDEX "resources_run" ON "mirror"."resources" USING brin ("run_id") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "resources_transaction_hash" ON "mirror"."resources" USING hash (lower("transaction_hash")) WHERE "mirror"."resources"."transaction_hash" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "statement_entries_entry" ON "mirror"."statement_entries" USING btree ("book_id","entry_id");--> statement-breakpoint
CREATE INDEX "statement_entries_related" ON "mirror"."statement_entries" USING btree ("book_id","related_id") WHERE "mirror"."statement_entries"."related_id" is not null;--> statement-breakpoint
CREATE INDEX "statement_entries_zero" ON "mirror"."statement_entries" USING btree ("book_id","occurred_at") WHERE "mirror"."statement_entries"."amount" = 0;--> statement-breakpoint
CREATE INDEX "statement_entries_run" ON "mirror"."statement_entries" USING brin ("run_id") WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "findings_open" ON "reconcile"."findings" USING btree ("book_id","check_name","subject_type","subject_id") WHERE "reconcile"."findings"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "findings_book" ON "reconcile"."findings" USING btree ("book_id","opened_at");--> statement-breakpoint
CREATE INDEX "book_events_book" ON "sync"."book_events" USING btree ("book_id");--> statement-breakpoint
CREATE INDEX "book_jobs_book" ON "sync"."book_jobs" USING btree ("book_id");--> statement-breakpoint
CREATE INDEX "runs_connection" ON "sync"."runs" USING btree ("connection","run_id");--> statement-breakpoint
CREATE INDEX "runs_command" ON "sync"."runs" USING btree ("connection","command","run_id");--> statement-breakpoint
CREATE INDEX "runs_whole" ON "sync"."runs" USING btree ("connection","run_id") WHERE "sync"."runs"."whole";--> statement-breakpoint
CREATE INDEX "inbox_waiting" ON "webhook"."inbox" USING btree ("connection","next_try_at") WHERE "webhook"."inbox"."state" in ('waiting', 'failed');--> statement-breakpoint
CREATE INDEX "inbox_troubled" ON "webhook"."inbox" USING btree ("connection","received_at") WHERE "webhook"."inbox"."state" in ('dead', 'poison') or "webhook"."inbox"."conflict";--> statement-breakpoint
CREATE INDEX "inbox_received" ON "webhook"."inbox" USING brin ("received_at");