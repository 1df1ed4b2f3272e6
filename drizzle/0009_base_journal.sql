CREATE SCHEMA "valuation";
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
ALTER TABLE "valuation"."rates" ADD CONSTRAINT "rates_version_rate_imports_version_fk" FOREIGN KEY ("version") REFERENCES "valuation"."rate_imports"("version") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
-- The rules of the base-currency journal. It never touches the native books, and they never know of it.
--
-- A month is inserted, then its entries with their lines (header and lines in one statement), then its state, all in one
-- transaction. Nothing is added to it or changed in it later. To value it again, the month's row is deleted, and everything
-- of it goes with it: that is refused once the month is closed.
--
-- SQLSTATEs as in 0001: TO001 torn entry, TO002 unbalanced, TO003 no such account, TO004 immutable, TO005 closed.
create trigger rate_imports_immutable before update or delete or truncate on valuation.rate_imports
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger rates_immutable before update or delete or truncate on valuation.rates
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger entries_immutable before update or truncate on valuation.entries
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger postings_immutable before update or truncate on valuation.postings
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger months_not_truncated before truncate on valuation.months
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create function valuation.refuse_single_delete() returns trigger language plpgsql as $$
begin
  -- 1 is this trigger itself; where a month goes as a whole it is more.
  if pg_trigger_depth() < 2 then
    raise exception 'rows of %.% go with their month only: delete refused', tg_table_schema, tg_table_name
      using errcode = 'TO004', hint = 'A month is valued again as a whole.';
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger entries_whole before delete on valuation.entries
  for each statement execute function valuation.refuse_single_delete();
--> statement-breakpoint
create trigger postings_whole before delete on valuation.postings
  for each statement execute function valuation.refuse_single_delete();
--> statement-breakpoint
create function valuation.keep_month() returns trigger language plpgsql as $$
declare kept boolean;
begin
  if tg_op = 'UPDATE' then
    if old.state is null and new.state is not null and old.transaction = pg_current_xact_id()
       and to_jsonb(new) - 'state' = to_jsonb(old) - 'state' then
      return new;
    end if;
    raise exception 'the valuation of % of book % is immutable: update refused', to_char(old.period, 'YYYY-MM'),
      old.book_id using errcode = 'TO004', hint = 'A month is valued again as a whole.';
  end if;
  -- No lock: a close that is under way waits for nothing and is not waited for. A month that is being closed is valued as
  -- before the close; where that lacks anything of what the close has, it is not kept.
  --
  -- One that was made before the month was complete, or before the month before it was, or before a rate was imported that
  -- was there at the close, is not the closed month's.
  select old.over and old.through_number = p.last_number and old.previous = coalesce(
      (select m.fingerprint from valuation.months m
       where m.book_id = old.book_id and m.period = (old.period - interval '1 month')::date), '')
    and (old.rates <> 'file' or not exists (
      select 1 from valuation.rates r join valuation.rate_imports i on i.version = r.version
      where r.version > coalesce(old.rates_version, 0) and old.base_currency in (r.from_currency, r.to_currency)
        and r.date >= old.period - old.max_rate_age_days and r.date < old.period + interval '1 month'
        and i.imported_at <= (
          select c.at from ledger.closes c
          where c.book_id = old.book_id and c.period >= old.period and c.action = 'close'
          order by c.period, c.sequence desc limit 1)))
  into kept
  from ledger.periods p where p.book_id = old.book_id and p.period = old.period and p.status = 'closed';
  if kept then
    raise exception '% of book % is closed: its valuation is kept', to_char(old.period, 'YYYY-MM'), old.book_id
      using errcode = 'TO005', hint = 'Reopen the month to value it again.';
  end if;
  delete from valuation.postings p where p.book_id = old.book_id and p.period = old.period;
  delete from valuation.entries e where e.book_id = old.book_id and e.period = old.period;
  return old;
end $$;
--> statement-breakpoint
create trigger months_kept before update or delete on valuation.months
  for each row execute function valuation.keep_month();
--> statement-breakpoint
create function valuation.check_entries() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare bad record;
begin
  select n.book_id, n.period into bad
  from (select distinct book_id, period from new_entries) n
  where not exists (
    select 1 from valuation.months m
    where m.book_id = n.book_id and m.period = n.period and m.transaction = pg_current_xact_id() and m.state is null)
  limit 1;
  if found then
    raise exception 'the valuation of % of book % is not being written', to_char(bad.period, 'YYYY-MM'), bad.book_id
      using errcode = 'TO004', hint = 'A month is valued as a whole, in one transaction.';
  end if;
  select n.book_id, n.period, n.series, n.number into bad
  from new_entries n
  left join lateral (
    select count(*) as lines from valuation.postings p
    where p.book_id = n.book_id and p.period = n.period and p.series = n.series and p.number = n.number) l on true
  where l.lines <> n.line_count limit 1;
  if found then
    raise exception 'base entry % % of % of book % does not have its lines', bad.series, bad.number,
      to_char(bad.period, 'YYYY-MM'), bad.book_id using errcode = 'TO001';
  end if;
  select n.book_id, n.entry_id into bad
  from new_entries n
  left join lateral (
    select x.number, x.period from ledger.journal_numbers x
    where x.book_id = n.book_id and x.entry_id = n.entry_id limit 1) j on true
  where n.series = 'journal' and (j.number is distinct from n.number or j.period is distinct from n.period) limit 1;
  if found then
    raise exception 'journal entry % of book % does not have the number that it is valued under', bad.entry_id, bad.book_id
      using errcode = 'TO003';
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger entries_checked after insert on valuation.entries
  referencing new table as new_entries for each statement execute function valuation.check_entries();
--> statement-breakpoint
create function valuation.check_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare bad record;
begin
  select n.book_id, n.period into bad
  from (select distinct book_id, period from new_postings) n
  where not exists (
    select 1 from valuation.months m
    where m.book_id = n.book_id and m.period = n.period and m.transaction = pg_current_xact_id() and m.state is null)
  limit 1;
  if found then
    raise exception 'the valuation of % of book % is not being written', to_char(bad.period, 'YYYY-MM'), bad.book_id
      using errcode = 'TO004', hint = 'A month is valued as a whole, in one transaction.';
  end if;
  select p.book_id, p.period, p.series, p.number, count(*) as lines, sum(p.amount) as difference, max(e.line_count) as stated
  into bad
  from new_postings p
  left join lateral (
    select x.line_count from valuation.entries x
    where x.book_id = p.book_id and x.period = p.period and x.series = p.series and x.number = p.number limit 1) e on true
  group by p.book_id, p.period, p.series, p.number
  having sum(p.amount) <> 0 or count(*) is distinct from max(e.line_count)
    or min(p.line_number) <> 1 or max(p.line_number) <> count(*) limit 1;
  if found then
    if bad.difference <> 0 then
      raise exception 'base entry % % of % of book % does not balance: % over', bad.series, bad.number,
        to_char(bad.period, 'YYYY-MM'), bad.book_id, bad.difference using errcode = 'TO002';
    end if;
    raise exception 'base entry % % of % of book %: % lines came, the entry says %', bad.series, bad.number,
      to_char(bad.period, 'YYYY-MM'), bad.book_id, bad.lines, coalesce(bad.stated::text, 'nothing, there is none')
      using errcode = 'TO001', hint = 'Insert the entry and all its lines, numbered from 1, in one statement.';
  end if;
  select p.book_id, p.account_id, p.role into bad
  from new_postings p
  left join lateral (
    select true as known from ledger.accounts a where a.book_id = p.book_id and a.account_id = p.account_id limit 1) a on true
  left join lateral (
    select true as known from valuation.accounts v where v.book_id = p.book_id and v.role = p.role limit 1) v on true
  where coalesce(a.known, v.known) is null limit 1;
  if found then
    raise exception 'book % has no account %', bad.book_id, coalesce(bad.account_id::text, bad.role)
      using errcode = 'TO003';
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger postings_checked after insert on valuation.postings
  referencing new table as new_postings for each statement execute function valuation.check_postings();
