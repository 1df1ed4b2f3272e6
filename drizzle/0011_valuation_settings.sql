CREATE TABLE "valuation"."settings" (
	"book_id" integer NOT NULL,
	"sequence" integer NOT NULL,
	"since" timestamptz DEFAULT now() NOT NULL,
	"base_currency" text NOT NULL,
	"method" text NOT NULL,
	"rates" text NOT NULL,
	"max_rate_age_days" smallint NOT NULL,
	CONSTRAINT "settings_book_id_sequence_pk" PRIMARY KEY("book_id","sequence"),
	CONSTRAINT "settings_method" CHECK ("valuation"."settings"."method" in ('average', 'fifo')),
	CONSTRAINT "settings_rates" CHECK ("valuation"."settings"."rates" in ('file', 'conversions'))
);
--> statement-breakpoint
create trigger settings_immutable before update or delete or truncate on valuation.settings
  for each statement execute function ledger.refuse_change();
