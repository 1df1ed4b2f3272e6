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
-- What has been valued already was valued by the settings of its newest month, as far as is known.
insert into "valuation"."settings" (book_id, sequence, since, base_currency, method, rates, max_rate_age_days)
select distinct on (m.book_id) m.book_id, 1, f.since, m.base_currency, m.method, m.rates, m.max_rate_age_days
from "valuation"."months" m
join (select book_id, min(valued_at) as since from "valuation"."months" group by book_id) f on f.book_id = m.book_id
order by m.book_id, m.period desc;
--> statement-breakpoint
create trigger settings_immutable before update or delete or truncate on valuation.settings
  for each statement execute function ledger.refuse_change();
