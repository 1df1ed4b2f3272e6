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
	"posted" boolean DEFAULT false NOT NULL,
	"run_id" integer NOT NULL,
	CONSTRAINT "receivables_book_id_receivable_id_version_pk" PRIMARY KEY("book_id","receivable_id","version"),
	CONSTRAINT "receivables_amounts" CHECK ("mirror"."receivables"."initial_principal" >= 0 and "mirror"."receivables"."current_principal" >= 0 and "mirror"."receivables"."repayment_amount" >= 0 and "mirror"."receivables"."initial_principal" < 1e30 and "mirror"."receivables"."current_principal" < 1e30 and "mirror"."receivables"."repayment_amount" < 1e30)
);
--> statement-breakpoint
ALTER TABLE "ledger"."journal_entries" DROP CONSTRAINT "journal_entries_sequence";--> statement-breakpoint
ALTER TABLE "mirror"."reference_items" ADD COLUMN "label" text;--> statement-breakpoint
CREATE INDEX "receivable_transactions_tx" ON "mirror"."receivable_transactions" USING btree ("book_id","tx_id");--> statement-breakpoint
CREATE INDEX "receivable_transactions_unsought" ON "mirror"."receivable_transactions" USING btree ("book_id") WHERE not "mirror"."receivable_transactions"."sought";--> statement-breakpoint
CREATE UNIQUE INDEX "receivables_current" ON "mirror"."receivables" USING btree ("book_id","receivable_id") WHERE "mirror"."receivables"."current";--> statement-breakpoint
CREATE INDEX "receivables_waiting" ON "mirror"."receivables" USING btree ("book_id") WHERE not "mirror"."receivables"."posted";--> statement-breakpoint
CREATE INDEX "receivables_active" ON "mirror"."receivables" USING btree ("book_id","currency","payment_rails") WHERE "mirror"."receivables"."current" and "mirror"."receivables"."status" = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "resources_transaction_hash" ON "mirror"."resources" USING btree ("book_id",lower("transaction_hash")) WHERE "mirror"."resources"."transaction_hash" is not null;--> statement-breakpoint
ALTER TABLE "ledger"."journal_entries" ADD CONSTRAINT "journal_entries_sequence" CHECK (("ledger"."journal_entries"."kind" in ('reclassification', 'opening_correction')) = ("ledger"."journal_entries"."sequence" > 0) or "ledger"."journal_entries"."source_type" = 'receivable_version');