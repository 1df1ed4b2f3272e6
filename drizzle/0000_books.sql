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
	CONSTRAINT "accounts_book_id_account_id_pk" PRIMARY KEY("book_id","account_id"),
	CONSTRAINT "accounts_identity" UNIQUE NULLS NOT DISTINCT("book_id","role","currency","partner_account_id","rule_code"),
	CONSTRAINT "accounts_role" CHECK ("ledger"."accounts"."role" in ('cash', 'deposits_clearing', 'withdrawals_clearing', 'payouts_clearing', 'fees', 'trading', 'suspense', 'opening_balance', 'receivable_principal', 'receivable_interest', 'interest_income', 'loan_clearing', 'loan_payable', 'interest_payable', 'interest_expense')),
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
	"entry_id" bigint NOT NULL,
	"source_type" text NOT NULL,
	"source_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"sequence" integer DEFAULT 0 NOT NULL,
	"effective_date" date NOT NULL,
	"period" date GENERATED ALWAYS AS ((date_trunc('month', effective_date::timestamp))::date) STORED NOT NULL,
	"occurred_at" timestamptz NOT NULL,
	"recorded_at" timestamptz DEFAULT now() NOT NULL,
	"late_for" date,
	"line_count" smallint NOT NULL,
	"partner_account_id" uuid,
	"position" bigint,
	"resource_type" text,
	"resource_id" uuid,
	"description" text NOT NULL,
	"external_reference" text,
	"counterparty" text,
	"reverses" bigint,
	"run_id" integer,
	CONSTRAINT "journal_entries_book_id_entry_id_pk" PRIMARY KEY("book_id","entry_id"),
	CONSTRAINT "journal_entries_source_type" CHECK ("ledger"."journal_entries"."source_type" in ('statement_entry', 'opening', 'resource_version', 'receivable_version', 'manual')),
	CONSTRAINT "journal_entries_lines" CHECK ("ledger"."journal_entries"."line_count" between 2 and 1000),
	CONSTRAINT "journal_entries_sequence" CHECK (("ledger"."journal_entries"."kind" in ('reclassification', 'opening_correction')) = ("ledger"."journal_entries"."sequence" > 0)),
	CONSTRAINT "journal_entries_dates" CHECK ("ledger"."journal_entries"."effective_date" between '1970-01-01' and '2199-12-31')
);
--> statement-breakpoint
CREATE TABLE "ledger"."journal_numbers" (
	"book_id" integer NOT NULL,
	"entry_id" bigint NOT NULL,
	"period" date NOT NULL,
	"number" integer NOT NULL,
	"numbering" bigint NOT NULL,
	CONSTRAINT "journal_numbers_book_id_entry_id_pk" PRIMARY KEY("book_id","entry_id")
);
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
	"entry_id" bigint NOT NULL,
	"line_number" smallint NOT NULL,
	"account_id" integer NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "postings_book_id_entry_id_line_number_pk" PRIMARY KEY("book_id","entry_id","line_number"),
	CONSTRAINT "postings_amount" CHECK ("ledger"."postings"."amount" <> 0 and "ledger"."postings"."amount" between -1e30 and 1e30)
);
--> statement-breakpoint
CREATE TABLE "ledger"."unnumbered" (
	"book_id" integer NOT NULL,
	"entry_id" bigint NOT NULL
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
	"raw" json NOT NULL,
	"changed_at" timestamptz NOT NULL,
	"superseded_at" timestamptz NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "resource_versions_book_id_resource_id_resource_type_version_pk" PRIMARY KEY("book_id","resource_id","resource_type","version")
);
--> statement-breakpoint
CREATE TABLE "mirror"."resources" (
	"book_id" integer NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"status" text NOT NULL,
	"final" boolean NOT NULL,
	"form" text,
	"account_id" uuid NOT NULL,
	"account_rail" text NOT NULL,
	"currency" text NOT NULL,
	"amount" numeric NOT NULL,
	"fee" numeric,
	"fee_currency" text,
	"delivered" numeric,
	"buy_account_id" uuid,
	"buy_account_rail" text,
	"buy_currency" text,
	"buy_amount" numeric,
	"rate" numeric,
	"pair_id" uuid,
	"reason_code" text,
	"external_reference" text,
	"counterparty" text,
	"reference" text,
	"destination_id" text,
	"code" text,
	"transaction_hash" text,
	"created_at" timestamptz NOT NULL,
	"completed_at" timestamptz,
	"raw" json NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"changed_at" timestamptz NOT NULL,
	"read_at" timestamptz NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "resources_book_id_resource_id_resource_type_pk" PRIMARY KEY("book_id","resource_id","resource_type"),
	CONSTRAINT "resources_type" CHECK ("mirror"."resources"."resource_type" in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION')),
	CONSTRAINT "resources_amount" CHECK ("mirror"."resources"."amount" >= 0 and "mirror"."resources"."amount" < 1e30)
);
--> statement-breakpoint
CREATE TABLE "mirror"."statement_entries" (
	"book_id" integer NOT NULL,
	"account_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"entry_id" uuid NOT NULL,
	"type" text NOT NULL,
	"amount" numeric NOT NULL,
	"currency" text NOT NULL,
	"balance_before" numeric,
	"balance_after" numeric NOT NULL,
	"related_type" text,
	"related_id" uuid,
	"occurred_at" timestamptz NOT NULL,
	"extra" json,
	"held" boolean DEFAULT false NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "statement_entries_book_id_account_id_position_pk" PRIMARY KEY("book_id","account_id","position"),
	CONSTRAINT "statement_entries_type" CHECK ("mirror"."statement_entries"."type" in ('CREDIT', 'DEBIT')),
	CONSTRAINT "statement_entries_amount" CHECK ("mirror"."statement_entries"."amount" > 0 and "mirror"."statement_entries"."amount" < 1e30),
	CONSTRAINT "statement_entries_balance" CHECK ("mirror"."statement_entries"."balance_after" between -1e30 and 1e30)
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
	"reconciled_at" timestamptz DEFAULT now() NOT NULL
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
CREATE TABLE "sync"."leases" (
	"connection" text PRIMARY KEY NOT NULL,
	"epoch" bigint NOT NULL,
	"run_id" integer NOT NULL,
	"taken_at" timestamptz DEFAULT now() NOT NULL
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
	CONSTRAINT "runs_state" CHECK ("sync"."runs"."state" in ('running', 'done', 'failed', 'stopped', 'abandoned'))
);
--> statement-breakpoint
ALTER TABLE "ledger"."accounts" ADD CONSTRAINT "accounts_currency_currencies_code_fk" FOREIGN KEY ("currency") REFERENCES "ledger"."currencies"("code") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."accounts" ADD CONSTRAINT "accounts_book_id_locks_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "ledger"."locks"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."locks" ADD CONSTRAINT "locks_book_id_books_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "mirror"."books"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger"."periods" ADD CONSTRAINT "periods_book_id_locks_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "ledger"."locks"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mirror"."accounts" ADD CONSTRAINT "accounts_book_id_books_book_id_fk" FOREIGN KEY ("book_id") REFERENCES "mirror"."books"("book_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_cash_account" ON "ledger"."accounts" USING btree ("book_id","partner_account_id") WHERE "ledger"."accounts"."partner_account_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "journal_entries_source" ON "ledger"."journal_entries" USING btree ("book_id","source_id","sequence","source_type");--> statement-breakpoint
CREATE INDEX "journal_entries_resource" ON "ledger"."journal_entries" USING btree ("book_id","resource_id") WHERE "ledger"."journal_entries"."resource_id" is not null and "ledger"."journal_entries"."sequence" > 0;--> statement-breakpoint
CREATE INDEX "journal_entries_run" ON "ledger"."journal_entries" USING brin ("run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_numbers_number" ON "ledger"."journal_numbers" USING btree ("book_id","period","number");--> statement-breakpoint
CREATE INDEX "journal_numbers_step" ON "ledger"."journal_numbers" USING brin ("numbering");--> statement-breakpoint
CREATE UNIQUE INDEX "quarantine_row" ON "mirror"."quarantine" USING btree ("book_id","stream","digest");--> statement-breakpoint
CREATE INDEX "quarantine_open" ON "mirror"."quarantine" USING btree ("book_id","stream") WHERE "mirror"."quarantine"."resolved_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "reference_items_current" ON "mirror"."reference_items" USING btree ("book_id","kind","item_id") WHERE "mirror"."reference_items"."current";--> statement-breakpoint
CREATE INDEX "resources_open" ON "mirror"."resources" USING btree ("book_id","read_at") WHERE not "mirror"."resources"."final";--> statement-breakpoint
CREATE INDEX "resources_run" ON "mirror"."resources" USING brin ("run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "statement_entries_entry" ON "mirror"."statement_entries" USING btree ("book_id","entry_id");--> statement-breakpoint
CREATE INDEX "statement_entries_related" ON "mirror"."statement_entries" USING btree ("book_id","related_id") WHERE "mirror"."statement_entries"."related_id" is not null;--> statement-breakpoint
CREATE INDEX "statement_entries_run" ON "mirror"."statement_entries" USING brin ("run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "findings_open" ON "reconcile"."findings" USING btree ("book_id","check_name","subject_type","subject_id") WHERE "reconcile"."findings"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "findings_book" ON "reconcile"."findings" USING btree ("book_id","opened_at");--> statement-breakpoint
CREATE INDEX "runs_connection" ON "sync"."runs" USING btree ("connection","run_id");