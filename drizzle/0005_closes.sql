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
	"at" timestamptz DEFAULT now() NOT NULL,
	"reason" text,
	"accepted" jsonb NOT NULL,
	CONSTRAINT "closes_book_id_sequence_pk" PRIMARY KEY("book_id","sequence"),
	CONSTRAINT "closes_action" CHECK ("ledger"."closes"."action" in ('close', 'reopen')),
	CONSTRAINT "closes_hash" CHECK (("ledger"."closes"."action" = 'close') = ("ledger"."closes"."hash" is not null)),
	CONSTRAINT "closes_reason" CHECK ("ledger"."closes"."action" = 'close' or "ledger"."closes"."reason" is not null)
);
--> statement-breakpoint
CREATE INDEX "closes_period" ON "ledger"."closes" USING btree ("book_id","period");