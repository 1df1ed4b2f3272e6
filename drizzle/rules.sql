-- The rules of the books that column constraints cannot express, and the views and functions that status, closes, reports
-- and exports read. The rules bind every writer, the program included. This file is idempotent: `tieout migrate` runs all of
-- it in one transaction whenever it has changed.
--
-- How a posting is checked: the header of a journal entry and all its lines are inserted by one statement (one WITH with two
-- inserts). Both triggers fire when that statement is complete and read transition tables, which hold its new rows alone.
-- Each of them looks for the other's rows, and the header states its `line_count`, so that no line can be added later.
--
-- How the checks are planned: a session caches the plans of a trigger's queries. It makes them while the tables are small,
-- when a sequential scan looks cheapest, and would keep them when the tables have grown. The `set enable_...` of a function
-- therefore prescribe index probes. Numbering processes everything that waits at once, permits scans and joins and is planned anew
-- each time.
--
-- SQLSTATE class TO is Tieout's own:
--   TO001  a journal entry and its lines do not belong together
--   TO002  a journal entry does not balance in every currency
--   TO003  a line names an account, a currency or a scale that the book does not have
--   TO004  the row is immutable, or only a trigger may change it
--   TO005  the period is closed
--   TO006  a journal number is out of order
--   TO007  the cash lines differ from the statement entry
--   TO008  periods must close and reopen in order
--   TO009  the export batch cannot change from its state to the new one
--   TO010  the date is not the one that the book's time zone and last close give
--   TO011  the state of a period, its close, the balances kept with it or its approval do not agree
--   TO012  the statement comes from a session that is not the program's
--   TO013  the statement names a partition of a table instead of the table
--   TO014  what is archived would be booked or opened again, or an archive is not of whole closed years as its dump has them
--
-- What stands where, each under a line of its own (`-- == 1. … ==`):
--   1. Rows that stay as they are
--   2. Dates and postings
--   3. Numbers
--   4. Periods, locks, new books
--   5. Loans: whose entries a transaction is
--   6. What several readers ask: findings, runs, receivables
--   7. Closing
--   8. Evidence: what may change, and what is forgotten
--   9. Exports
--   10. Valuation
--   11. The journal, to be read
--   12. Standings and open items
--   13. Archive
--   14. Who writes

comment on sequence ledger.journal_entry_block is 'Each value reserves the 1024 entry ids that end before it plus 1024.';

-- == 1. Rows that stay as they are ==

-- A text of the program or of the service, such as DEPOSIT, in small letters and in capitals. In the locale of the database, lower and
-- upper would make other letters of some: a Turkish I becomes a dotless one.
create or replace function mirror.lower_ascii(text) returns text language sql immutable parallel safe as $$
  select lower($1 collate "C")
$$;

create or replace function mirror.upper_ascii(text) returns text language sql immutable parallel safe as $$
  select upper($1 collate "C")
$$;

-- TO004. What was posted, numbered, exported or closed is evidence for an auditor: a mistake is corrected by a new entry and
-- never by a change.
create or replace function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and ledger.archiving(tg_relid) then return null; end if;
  raise exception 'rows of %.% are immutable: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO004', hint = 'Corrections are reversals and reclassifications: post a new entry.';
end $$;

create or replace trigger journal_entries_immutable before update or delete or truncate on ledger.journal_entries
  for each statement execute function ledger.refuse_change();

create or replace trigger postings_immutable before update or delete or truncate on ledger.postings
  for each statement execute function ledger.refuse_change();

create or replace trigger journal_numbers_immutable before update or delete or truncate on ledger.journal_numbers
  for each statement execute function ledger.refuse_change();

create or replace trigger batches_immutable before update or delete or truncate on export.batches
  for each statement execute function ledger.refuse_change();

-- Makes statistics of tables of ours. Before Postgres 17 no right lets another role than their owner do so, and `analyze` passes them
-- over: the program's role would plan for empty tables until autovacuum has looked at them. Not for who only reads: the locks last until
-- the transaction ends, and every sync would wait for them.
create or replace function ledger.make_statistics(tables text[]) returns void language plpgsql security definer as $$
declare one regclass;
begin
  foreach one in array tables::regclass[] loop
    if (select c.relnamespace::regnamespace::text from pg_class c where c.oid = one) not in ('mirror', 'ledger', 'sync') then
      raise exception '% is no table of the books', one using errcode = '42501';
    end if;
    perform ledger.refuse_reader(one);
    execute format('analyze %s', one);
  end loop;
end $$;

-- Whether one of our functions is under way, by a stack as `pg_context` gives it; they are named as `sync[.]forget_runs|…`. What
-- stands around a function in a line of the stack is in the server's language (`lc_messages`), in some of them a quote before it; only
-- its schema, its name and its arguments are not. Behind any other quote, of whatever language, stands a statement, which may say anything.
create or replace function ledger.is_under_way(stack text, functions text) returns boolean language sql immutable as $$
  select stack ~ (e'(^|\n)([^"\\u00ab\\u00bb\\u2039\\u203a\\u201e\\u201c\\u201d\\u201a\\u2018\\u2019\\u300c\\u300d\\u300e\\u300f\n]*[^"\\u00ab\\u00bb\\u2039\\u203a\\u201e\\u201c\\u201d\\u201a\\u2018\\u2019\\u300c\\u300d\\u300e\\u300f\na-z0-9_.])?"?(' || functions || ')[(]')
$$;

-- Whether somebody's own code is among the callers: a trigger of a temporary table, or an anonymous block, may run inside a session
-- that may write rows. Nothing of that kind is ours; functions can be made nowhere else by who does not own the tables.
create or replace function ledger.is_called_by_others() returns boolean language plpgsql as $$
declare callers text;
begin
  get diagnostics callers = pg_context;
  return callers ~ 'pg_temp|inline_code_block';
end $$;

-- TO004. What a trigger of ours writes follows from the rows of its table. A session may make a temporary table that says anything,
-- and give it the same trigger.
create or replace function ledger.refuse_other_table(fired_on oid, own regclass) returns void language plpgsql as $$
begin
  if fired_on <> own then
    raise exception 'a trigger of % on another table: refused', own
      using errcode = 'TO004', hint = 'Post a journal entry instead.';
  end if;
end $$;

-- Whoever changes the state of a book locks it, and then looks at what stands in it. A transaction of another isolation level looks at what
-- stood there when it began, also after it waited for the lock: what was posted or numbered meanwhile it does not see.
create or replace function ledger.refuse_old_snapshot(code text) returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the isolation level % does not see what was committed meanwhile: refused',
      current_setting('transaction_isolation') using errcode = code, hint = 'Do it in a transaction that reads what is committed.';
  end if;
end $$;

-- TO004. Account balances, conversions in transit and the queue of unnumbered entries are derived from the postings. Only the
-- triggers of postings and journal numbers maintain them: a direct write would make them disagree with the journal.
create or replace function ledger.refuse_direct_write() returns trigger language plpgsql as $$
begin
  -- The depth is 1 for a direct write (this trigger alone), and more within the trigger of a posting or of a number.
  if pg_trigger_depth() < 2 or ledger.is_called_by_others() then
    raise exception '%.% is kept by the posting triggers: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
      using errcode = 'TO004', hint = 'Post a journal entry instead.';
  end if;
  return null;
end $$;

create or replace trigger balances_kept_by_posting before insert or update or delete or truncate on ledger.balances
  for each statement execute function ledger.refuse_direct_write();

create or replace trigger unnumbered_kept_by_posting before insert or update or delete or truncate on ledger.unnumbered
  for each statement execute function ledger.refuse_direct_write();

-- A template of the chart as an account's code or name. The placeholders are those of src/Settings/Chart.ts; only cash has an
-- account of the service, of whose identifier a name has the first eight digits, and payment rails.
create or replace function ledger.filled(template text, currency text, account uuid, rail text, client text) returns text
language sql immutable as $$
  select replace(replace(replace(replace(template, '{currency}', currency), '{account}', coalesce(left(account::text, 8), '')),
    '{rail}', coalesce(rail, '')), '{client}', client)
$$;

-- TO004. Postings refer to a ledger account: its book, role, currency and service account are fixed once it exists.
create or replace function ledger.keep_account_identity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'account % of book % cannot be deleted', old.code, old.book_id using errcode = 'TO004';
  end if;
  if (new.book_id, new.account_id, new.role, new.currency, new.rule_code, new.created_at) is distinct from
     (old.book_id, old.account_id, old.role, old.currency, old.rule_code, old.created_at)
     or new.partner_account_id is distinct from old.partner_account_id then
    raise exception 'account % of book %: only its code and name may change', old.code, old.book_id
      using errcode = 'TO004';
  end if;
  return new;
end $$;

create or replace trigger accounts_identity_kept before update or delete on ledger.accounts
  for each row execute function ledger.keep_account_identity();

create or replace trigger accounts_not_truncated before truncate on ledger.accounts
  for each statement execute function ledger.refuse_change();

-- TO004. A statement entry that is posted (not held) is what the service reported and never changes, with one exception: an
-- entry that named no resource may name one later. A row of mirror.statement_entry_versions then keeps its former content. A
-- held entry waits behind a break in the statement; its content may change until the break heals, its identity may not.
create or replace function mirror.keep_statement_entry() returns trigger language plpgsql as $$
declare may_change constant text[] := array['related_type', 'related_id', 'extra', 'run_id'];
begin
  if not old.held then
    if tg_op = 'UPDATE' and to_jsonb(new) - may_change = to_jsonb(old) - may_change and new.run_id >= old.run_id
       and (new.related_type, new.related_id) is distinct from (old.related_type, old.related_id)
       and (old.related_type is null or new.related_type = old.related_type)
       and (old.related_id is null or new.related_id = old.related_id) then
      insert into mirror.statement_entry_versions (book_id, entry_id, version, related_type, related_id, extra, run_id)
      values (old.book_id, old.entry_id, 1 + (
          select count(*) from mirror.statement_entry_versions v
          where v.book_id = old.book_id and v.entry_id = old.entry_id),
        old.related_type, old.related_id, old.extra, old.run_id);
      return new;
    end if;
    raise exception 'statement entry % is posted and immutable: % refused', old.entry_id, lower(tg_op collate "C")
      using errcode = 'TO004', hint = 'Only a resource that it did not name before may be added to it.';
  end if;
  if tg_op = 'DELETE' or (new.book_id, new.account_id, new.entry_id) is distinct from (old.book_id, old.account_id, old.entry_id) then
    raise exception 'statement entry % was read: % refused', old.entry_id, lower(tg_op collate "C")
      using errcode = 'TO004', hint = 'It is held until the break before it heals.';
  end if;
  return new;
end $$;

create or replace trigger statement_entries_kept before update or delete on mirror.statement_entries
  for each row execute function mirror.keep_statement_entry();

create or replace trigger statement_entries_not_truncated before truncate on mirror.statement_entries
  for each statement execute function ledger.refuse_change();

-- == 2. Dates and postings ==

-- The calendar day of an instant in a book's time zone (UTC where the book has none). What dates the books goes through it. The
-- planner inlines this function and the two after it.
create or replace function ledger.day_of(at timestamptz, zone text) returns date language sql immutable parallel safe as $$
  select (at at time zone coalesce(zone, 'UTC'))::date
$$;

-- The first instant of a day there. Where clocks are put back from one to midnight (Havana, the Azores), a day has its first hour
-- twice, and Postgres takes midnight for the second one. The planner inlines it.
create or replace function ledger.begin_of_day(day date, zone text) returns timestamptz language sql stable parallel safe as $$
  select case
    when ledger.day_of(day::timestamp at time zone coalesce(zone, 'UTC') - interval '1 hour', zone) >= day
      then day::timestamp at time zone coalesce(zone, 'UTC') - interval '1 hour'
    else day::timestamp at time zone coalesce(zone, 'UTC') end
$$;

-- The date of an entry: its day, or the first day of the first open month where its own month is closed.
create or replace function ledger.effective_date(at timestamptz, zone text, closed_through date) returns date
language sql immutable parallel safe as $$
  select greatest(ledger.day_of(at, zone), (closed_through + interval '1 month')::date)
$$;

-- The closed month in which an entry happened, where it is dated to a later one; null where it is dated to its own day.
create or replace function ledger.late_for(at timestamptz, zone text, closed_through date) returns date
language sql immutable parallel safe as $$
  select case when closed_through is not null and ledger.day_of(at, zone) < (closed_through + interval '1 month')::date
    then date_trunc('month', ledger.day_of(at, zone)::timestamp)::date end
$$;

-- The headers of new journal entries. TO001: each comes with its lines. TO003: its book has a ledger. TO005: its period is open.
-- TO010: its date is the one that the book's time zone and last close give. It also opens the months that are new and queues the
-- entries for numbering.
--
-- `limit 1` in a look-up makes the planner probe the index for each row. Books and months are few, and are looked up once for
-- all entries.
create or replace function ledger.check_entries() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = on set enable_mergejoin = off as $$
declare bad record;
begin
  perform ledger.refuse_other_table(tg_relid, 'ledger.journal_entries');
  select n.book_id, n.entry_id into bad
  from new_entries n
  where not exists (
    select 1 from ledger.postings p where p.book_id = n.book_id and p.entry_id = n.entry_id limit 1)
  limit 1;
  if found then
    raise exception 'journal entry % of book % has no lines', bad.entry_id, bad.book_id
      using errcode = 'TO001', hint = 'Insert the entry and all its lines in one statement.';
  end if;

  -- A close locks these rows exclusively. The date of the last close is read only after they are locked here, so that no close
  -- commits between the check and this transaction's commit.
  perform 1 from ledger.locks l
  where l.book_id in (select distinct n.book_id from new_entries n)
  order by l.book_id for share;

  with book as materialized (
    select l.book_id, l.closed_through, l.time_zone
    from (select distinct n.book_id from new_entries n) b
    cross join lateral (select * from ledger.locks k where k.book_id = b.book_id limit 1) l)
  select n.book_id, n.entry_id, n.period, n.effective_date, n.late_for, n.occurred_at, l.book_id as known,
    l.closed_through, l.time_zone into bad
  from new_entries n left join book l on l.book_id = n.book_id
  where l.book_id is null
     or n.effective_date is distinct from ledger.effective_date(n.occurred_at, l.time_zone, l.closed_through)
     or n.late_for is distinct from ledger.late_for(n.occurred_at, l.time_zone, l.closed_through)
  limit 1;
  if found then
    if bad.known is null then
      raise exception 'book % has no ledger', bad.book_id using errcode = 'TO003';
    end if;
    if bad.period <= bad.closed_through then
      raise exception 'journal entry % is dated to %, but book % is closed through %', bad.entry_id,
        to_char(bad.period, 'YYYY-MM'), bad.book_id, to_char(bad.closed_through, 'YYYY-MM')
        using errcode = 'TO005', hint = 'Date it to the first open day and say which period it is late for.';
    end if;
    if bad.late_for > bad.closed_through or (bad.late_for is not null and bad.closed_through is null) then
      raise exception 'journal entry % is late for a period that is not closed', bad.entry_id using errcode = 'TO005';
    end if;
    raise exception 'journal entry % of book % is dated %, late for %, but % in % is %, late for %', bad.entry_id,
      bad.book_id, bad.effective_date, coalesce(to_char(bad.late_for, 'YYYY-MM'), 'nothing'), bad.occurred_at,
      coalesce(bad.time_zone, 'UTC'), ledger.effective_date(bad.occurred_at, bad.time_zone, bad.closed_through),
      coalesce(to_char(ledger.late_for(bad.occurred_at, bad.time_zone, bad.closed_through), 'YYYY-MM'), 'nothing')
      using errcode = 'TO010', hint = 'Take ledger.effective_date and ledger.late_for with the zone and close of ledger.locks.';
  end if;

  insert into ledger.periods (book_id, period)
  select n.book_id, n.period from (select distinct e.book_id, e.period from new_entries e) n
  where not exists (
    select 1 from ledger.periods p where p.book_id = n.book_id and p.period = n.period limit 1)
  order by 1, 2
  on conflict do nothing;

  insert into ledger.unnumbered (book_id, entry_id) select n.book_id, n.entry_id from new_entries n;
  return null;
end $$;

create or replace trigger journal_entries_checked after insert on ledger.journal_entries
  referencing new table as new_entries for each statement execute function ledger.check_entries();

-- The lines of new journal entries. TO001: each entry has exactly its stated lines, numbered from 1. TO002: it balances in every
-- currency. TO003: its accounts exist, hold the line's currency and have room for its decimals. TO007: its cash equals the
-- statement entry. Sound lines are added to the account balances and to conversions in transit.
--
-- All of it is one pass over the lines. A page posts to a handful of accounts, which are looked up one by one: lateral probes,
-- which `limit 1` keeps the planner from turning into joins that begin at the other table. Its entries are looked up all at once:
-- an index takes an array of keys at a third of what as many probes cost. What was found is joined by hash, even where the plan
-- was made for few lines. Only when a rule is broken does a further query find the line that broke it.
create or replace function ledger.check_postings() returns trigger language plpgsql
  set enable_hashjoin = on set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
  set enable_mergejoin = off as $$
declare
  seen record;
  bad record;
begin
  perform ledger.refuse_other_table(tg_relid, 'ledger.postings');
  with account as materialized (
    select n.book_id, n.account_id, a.currency, a.role, a.partner_account_id, a.scale
    from (select distinct p.book_id, p.account_id from new_postings p) n
    left join lateral (
      select x.currency, x.role, x.partner_account_id,
        (select y.scale from ledger.currencies y where y.code = x.currency) as scale
      from ledger.accounts x where x.book_id = n.book_id and x.account_id = n.account_id limit 1) a on true),
  given as materialized (
    select p.book_id, p.entry_id, count(*) as lines, min(p.line_number) as first, max(p.line_number) as last,
      sum(p.amount) as difference, min(p.currency) <> max(p.currency) as mixed,
      bool_or(a.currency is null or a.currency <> p.currency
        or scale(p.amount) > a.scale and scale(trim_scale(p.amount)) > a.scale) as foreign_account,
      count(*) filter (where a.role = 'cash') as cash_lines, sum(p.amount) filter (where a.role = 'cash') as cash,
      min(p.account_id) filter (where a.role = 'cash') as cash_account,
      max(p.account_id) filter (where a.role = 'cash') as other_cash_account
    from new_postings p
    join account a on a.book_id = p.book_id and a.account_id = p.account_id
    group by p.book_id, p.entry_id),
  entry as materialized (
    select n.*, j.source_type, j.source_id, j.sequence, j.partner_account_id, j.period, j.line_count,
      coalesce(j.resource_id, j.source_id) as item_id, j.source_type = 'statement_entry' and j.sequence = 0 as books_cash
    from given n
    left join ledger.journal_entries j on j.book_id = n.book_id and j.entry_id = n.entry_id
      and j.book_id = any (array(select a.book_id from account a)) and j.entry_id = any (array(select g.entry_id from given g))),
  stated as materialized (
    select m.book_id, m.entry_id, m.account_id, m.currency,
      case m.type when 'CREDIT' then m.amount else -m.amount end as amount
    from mirror.statement_entries m
    where m.book_id = any (array(select a.book_id from account a)) and not m.held
      and m.entry_id = any (array(select e.source_id from entry e where e.books_cash))),
  -- Entries in several currencies are few: each currency by itself.
  uneven as materialized (
    select from new_postings p
    where exists (select from given n where n.mixed)
    group by p.book_id, p.entry_id, p.currency having sum(p.amount) <> 0 limit 1),
  -- The journal entry of a statement entry has exactly one cash line, on the statement's account, in its currency and of its
  -- amount. No other journal entry has a cash line, except an opening balance. An account of the service has one cash account:
  -- of two, one is elsewhere.
  verdict as materialized (
    select bool_or(e.line_count is null or e.line_count <> e.lines or e.first <> 1 or e.last <> e.lines) as torn,
      bool_or(e.difference <> 0 and not e.mixed) or exists (select from uneven) as unbalanced,
      bool_or(e.foreign_account) as foreign_account,
      bool_or(e.cash_account <> e.other_cash_account
        or e.cash_account is not null and a.partner_account_id is distinct from e.partner_account_id
        or case when e.books_cash then e.cash_lines <> 1 or e.cash is distinct from m.amount
            or a.currency is distinct from m.currency
          else e.cash_lines > 0 and e.source_type <> 'opening' end) as wrong_cash
    from entry e
    left join account a on a.book_id = e.book_id and a.account_id = e.cash_account
    left join stated m on m.book_id = e.book_id and m.entry_id = e.source_id and m.account_id = e.partner_account_id),
  sound as materialized (
    select from verdict v
    where not (v.torn or v.unbalanced or coalesce(v.foreign_account, false) or coalesce(v.wrong_cash, false))),
  -- Both inserts go in key order: two transactions that post into the same accounts may wait for each other, but cannot
  -- deadlock.
  kept as (
    insert into ledger.balances as b (book_id, account_id, period, debit, credit)
    select p.book_id, p.account_id, e.period,
      coalesce(sum(p.amount) filter (where p.amount > 0), 0), coalesce(-sum(p.amount) filter (where p.amount < 0), 0)
    from new_postings p join entry e on e.book_id = p.book_id and e.entry_id = p.entry_id
    where exists (select from sound)
    group by p.book_id, p.account_id, e.period
    order by p.book_id, p.account_id, e.period
    on conflict (book_id, account_id, period)
    do update set debit = b.debit + excluded.debit, credit = b.credit + excluded.credit),
  -- The balance in transit by conversion, so that open conversions are found without reading all postings.
  moved as (
    insert into ledger.transit as t (book_id, conversion_id, currency, amount)
    select p.book_id, e.item_id, p.currency, sum(p.amount)
    from new_postings p
    join account a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'conversions_in_transit'
    join entry e on e.book_id = p.book_id and e.entry_id = p.entry_id
    where exists (select from sound)
    group by p.book_id, e.item_id, p.currency having sum(p.amount) <> 0
    order by p.book_id, e.item_id, p.currency
    on conflict (book_id, conversion_id, currency) do update set amount = t.amount + excluded.amount
    returning t.conversion_id, t.amount)
  select v.*, (select array_agg(m.conversion_id) from moved m where m.amount = 0) as settled into seen from verdict v;

  if seen.torn then
    select n.book_id, n.entry_id, n.lines, e.line_count into bad
    from (
      select p.book_id, p.entry_id, count(*) as lines, min(p.line_number) as first, max(p.line_number) as last
      from new_postings p group by p.book_id, p.entry_id) n
    left join lateral (
      select j.line_count from ledger.journal_entries j
      where j.book_id = n.book_id and j.entry_id = n.entry_id limit 1) e on true
    where e.line_count is null or e.line_count <> n.lines or n.first <> 1 or n.last <> n.lines
    limit 1;
    raise exception 'journal entry % of book %: % lines came, the entry says %', bad.entry_id, bad.book_id, bad.lines,
      coalesce(bad.line_count::text, 'nothing, there is none')
      using errcode = 'TO001', hint = 'Insert the entry and all its lines in one statement.';
  end if;

  if seen.unbalanced then
    select p.book_id, p.entry_id, p.currency, sum(p.amount) as difference into bad
    from new_postings p group by p.book_id, p.entry_id, p.currency having sum(p.amount) <> 0 limit 1;
    raise exception 'journal entry % of book % does not balance: % % over', bad.entry_id, bad.book_id, bad.difference,
      bad.currency using errcode = 'TO002';
  end if;

  if seen.foreign_account then
    select p.book_id, p.entry_id, p.line_number, p.currency, p.amount, a.code, a.currency as expected into bad
    from new_postings p
    left join lateral (
      select x.code, x.currency, (select y.scale from ledger.currencies y where y.code = x.currency) as scale
      from ledger.accounts x where x.book_id = p.book_id and x.account_id = p.account_id limit 1) a on true
    where a.code is null or a.currency <> p.currency or scale(trim_scale(p.amount)) > a.scale
    limit 1;
    if bad.code is null then
      raise exception 'line % of journal entry %: book % has no such account', bad.line_number, bad.entry_id, bad.book_id
        using errcode = 'TO003';
    end if;
    if bad.expected <> bad.currency then
      raise exception 'line % of journal entry %: account % holds %, not %', bad.line_number, bad.entry_id, bad.code,
        bad.expected, bad.currency using errcode = 'TO003';
    end if;
    raise exception 'line % of journal entry %: % has more decimals than % can have', bad.line_number, bad.entry_id,
      bad.amount, bad.currency using errcode = 'TO003';
  end if;

  if seen.wrong_cash then
    select n.book_id, n.entry_id, e.source_type, n.cash || ' ' || n.currency as cash,
      s.amount || ' ' || s.currency as amount into bad
    from (
      select p.book_id, p.entry_id, sum(p.amount) filter (where a.role = 'cash') as cash,
        max(p.currency) filter (where a.role = 'cash') as currency,
        count(*) filter (where a.role = 'cash') as lines,
        array_agg(a.partner_account_id) filter (where a.role = 'cash') as accounts
      from new_postings p
      cross join lateral (
        select x.role, x.partner_account_id from ledger.accounts x
        where x.book_id = p.book_id and x.account_id = p.account_id limit 1) a
      group by p.book_id, p.entry_id) n
    cross join lateral (
      select j.source_type, j.source_id, j.sequence, j.partner_account_id from ledger.journal_entries j
      where j.book_id = n.book_id and j.entry_id = n.entry_id limit 1) e
    left join lateral (
      select case m.type when 'CREDIT' then m.amount else -m.amount end as amount, m.currency
      from mirror.statement_entries m
      where e.source_type = 'statement_entry' and e.sequence = 0 and m.book_id = n.book_id and m.entry_id = e.source_id
        and m.account_id = e.partner_account_id and not m.held limit 1) s on true
    where exists (select from unnest(n.accounts) u where u is distinct from e.partner_account_id)
       or (e.source_type = 'statement_entry' and e.sequence = 0
         and (n.lines <> 1 or (n.cash, n.currency) is distinct from (s.amount, s.currency)))
       or (n.cash is not null and e.source_type <> 'opening' and (e.source_type <> 'statement_entry' or e.sequence > 0))
    limit 1;
    raise exception 'journal entry % of book % moves % of cash, its source (%) %', bad.entry_id, bad.book_id,
      coalesce(bad.cash, 'nothing'), bad.source_type, coalesce('moves ' || bad.amount, 'moves none')
      using errcode = 'TO007';
  end if;

  -- Deletes settled conversions by their keys, because a book may have many others in transit.
  if seen.settled is not null then
    delete from ledger.transit t
    where t.amount = 0 and t.conversion_id = any (seen.settled)
      and t.book_id = any (array(select distinct n.book_id from new_postings n));
  end if;
  return null;
end $$;

create or replace trigger postings_checked after insert on ledger.postings
  referencing new table as new_postings for each statement execute function ledger.check_postings();

-- == 3. Numbers ==

-- TO006. Journal numbers are gapless within a book and period, and are given in an open period, by a numbering step. Gapless
-- numbers show an auditor that no entry was removed.
create or replace function ledger.check_numbers() returns trigger language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = on set enable_nestloop = off
  set enable_mergejoin = off as $$
declare bad record;
begin
  perform ledger.refuse_other_table(tg_relid, 'ledger.journal_numbers');
  select n.book_id, n.entry_id into bad
  from new_numbers n
  left join lateral (
    select x.period from ledger.journal_entries x where x.book_id = n.book_id and x.entry_id = n.entry_id limit 1) e on true
  where e.period is distinct from n.period limit 1;
  if found then
    raise exception 'journal number for entry % of book %: no such entry in that period', bad.entry_id, bad.book_id
      using errcode = 'TO006';
  end if;

  -- The next export begins after the last step that was exported: a number that claims an earlier step would never be
  -- exported, and after one that is still to come nothing else would. A session may set what it likes: the step is looked at, too.
  if exists (select 1 from new_numbers n where n.numbering::text is distinct from current_setting('tieout.numbering', true)
      or n.numbering > coalesce(pg_sequence_last_value('ledger.numbering_step'), 0))
    or exists (
      select 1 from (select distinct x.book_id, x.numbering from new_numbers x) n
      join export.batches b on b.book_id = n.book_id and b.through_numbering >= n.numbering) then
    raise exception 'journal numbers are given in a numbering step only' using errcode = 'TO006',
      hint = 'Call ledger.assign_numbers.';
  end if;

  perform 1 from ledger.periods p
  where (p.book_id, p.period) in (select distinct n.book_id, n.period from new_numbers n)
  order by p.book_id, p.period for update;

  select n.book_id, n.period, n.first, n.last, n.given, p.last_number into bad
  from (select book_id, period, min(number) as first, max(number) as last, count(*) as given
        from new_numbers group by book_id, period) n
  join ledger.periods p on p.book_id = n.book_id and p.period = n.period
  where n.first <> p.last_number + 1 or n.last <> p.last_number + n.given or p.status <> 'open' limit 1;
  if found then
    raise exception 'journal numbers % to % of book % in %: the last one given is %', bad.first, bad.last, bad.book_id,
      to_char(bad.period, 'YYYY-MM'), bad.last_number
      using errcode = 'TO006', hint = 'Numbers are gapless and given only in an open period.';
  end if;

  update ledger.periods p set last_number = n.last
  from (select book_id, period, max(number) as last from new_numbers group by book_id, period) n
  where p.book_id = n.book_id and p.period = n.period;
  return null;
end $$;

create or replace trigger journal_numbers_checked after insert on ledger.journal_numbers
  referencing new table as new_numbers for each statement execute function ledger.check_numbers();

-- Queues conversions for the numbering step, which checks whether both legs are booked: those with a new entry here, those
-- whose terms changed in `mirror.touch_conversion`.
create or replace function ledger.touch_conversions() returns trigger language plpgsql as $$
begin
  insert into ledger.touched_conversions (book_id, conversion_id)
  select distinct n.book_id, n.resource_id from new_entries n
  where n.resource_type = 'CONVERSION' and n.resource_id is not null and n.source_type <> 'resource_version';
  return null;
end $$;

create or replace trigger journal_entries_touch_conversions after insert on ledger.journal_entries
  referencing new table as new_entries for each statement execute function ledger.touch_conversions();

-- Queues a conversion of which the service reports another amount, currency, fee or account.
create or replace function mirror.touch_conversion() returns trigger language plpgsql as $$
begin
  insert into ledger.touched_conversions (book_id, conversion_id) values (new.book_id, new.resource_id);
  return null;
end $$;

create or replace trigger resources_touch_conversions after update on mirror.resources for each row
  when (new.resource_type = 'CONVERSION' and
    (old.account_id, old.currency, old.amount, old.fee, old.fee_currency, old.buy_account_id, old.buy_currency, old.buy_amount)
    is distinct from
    (new.account_id, new.currency, new.amount, new.fee, new.fee_currency, new.buy_account_id, new.buy_currency, new.buy_amount))
  execute function mirror.touch_conversion();

-- Earlier versions kept conversions in transit by a trigger of their own; ledger.check_postings does so now.
drop trigger if exists postings_keep_transit on ledger.postings;
drop function if exists ledger.keep_transit();

-- TO004. The postings maintain what is in transit, as they do balances.
create or replace trigger transit_kept_by_posting before insert or update or delete or truncate on ledger.transit
  for each statement execute function ledger.refuse_direct_write();

-- Gives journal numbers to all entries of these books that have none, and returns how many. The order depends on the entries
-- alone (date, account, position in the statement), so that the same data gets the same numbers in any database. Entries that
-- move a conversion to trading follow the cash entries of their day. Raises TO006 where the sequence of steps was set back.
create or replace function ledger.assign_numbers(books integer[]) returns bigint language plpgsql
  set enable_seqscan = on set enable_hashjoin = on set enable_mergejoin = on set plan_cache_mode = force_custom_plan as $$
declare
  step bigint;
  numbered bigint;
begin
  -- Excludes postings into these books: no entry commits after the entries are ordered and before they are numbered.
  perform 1 from ledger.locks l where l.book_id = any (books) order by l.book_id for update;
  if not exists (select 1 from ledger.unnumbered u where u.book_id = any (books)) then return 0; end if;
  step := nextval('ledger.numbering_step');
  if step <= (select max(b.through_numbering) from export.batches b where b.book_id = any (books)) then
    raise exception 'numbering step % was exported already: the sequence was set back, tieout verify --database says how to set it', step
      using errcode = 'TO006', hint = 'Set ledger.numbering_step beyond the largest numbering of ledger.journal_numbers.';
  end if;
  -- Later steps have later numbers, also where nothing was exported yet: the last number of each open month is looked at.
  if exists (
    select 1 from ledger.periods p
    cross join lateral (
      select n.numbering from ledger.journal_numbers n
      where n.book_id = p.book_id and n.period = p.period and n.number = p.last_number limit 1) n
    where p.book_id = any (books) and p.status = 'open' and n.numbering >= step) then
    raise exception 'numbering step % was given already: the sequence was set back, tieout verify --database says how to set it', step
      using errcode = 'TO006', hint = 'Set ledger.numbering_step beyond the largest numbering of ledger.journal_numbers.';
  end if;
  perform set_config('tieout.numbering', step::text, true);
  insert into ledger.journal_numbers (book_id, entry_id, period, number, numbering)
  select e.book_id, e.entry_id, e.period,
    p.last_number + row_number() over (
      partition by e.book_id, e.period
      order by e.effective_date, e.partner_account_id nulls last, e.position nulls last,
        case e.source_type when 'resource_version' then e.source_id end nulls first, e.sequence, e.correction,
        e.source_type, e.source_id)::integer,
    step
  from ledger.unnumbered u
  join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id
  join ledger.periods p on p.book_id = e.book_id and p.period = e.period
  where u.book_id = any (books);
  get diagnostics numbered = row_count;
  perform set_config('tieout.numbering', '', true);
  return numbered;
end $$;

-- Removes an entry from the queue of unnumbered entries when it gets its number. The queue is empty whenever statistics of it are made:
-- the server believes that one entry waits, and without its nested loops turned off would compare each with each.
create or replace function ledger.take_from_unnumbered() returns trigger language plpgsql
  set enable_seqscan = on set enable_hashjoin = on set enable_mergejoin = on set enable_nestloop = off as $$
begin
  perform ledger.refuse_other_table(tg_relid, 'ledger.journal_numbers');
  delete from ledger.unnumbered u using new_numbers n where u.book_id = n.book_id and u.entry_id = n.entry_id;
  return null;
end $$;

create or replace trigger journal_numbers_taken after insert on ledger.journal_numbers
  referencing new table as new_numbers for each statement execute function ledger.take_from_unnumbered();

-- == 4. Periods, locks, new books ==

-- Guards the state of a period. TO008: periods close in order, without unnumbered entries, and only the last closed one
-- reopens. TO005: no period opens at or before the last close. TO004 and TO006: a period cannot be deleted or moved, and
-- only numbering counts its numbers.
create or replace function ledger.check_period() returns trigger language plpgsql as $$
declare closed date;
begin
  perform ledger.refuse_other_table(tg_relid, 'ledger.periods');
  if tg_op = 'DELETE' then
    raise exception 'period % of book % cannot be deleted', to_char(old.period, 'YYYY-MM'), old.book_id
      using errcode = 'TO004';
  end if;
  if tg_op = 'UPDATE' and (new.book_id, new.period) is distinct from (old.book_id, old.period) then
    raise exception 'a period keeps its book and month' using errcode = 'TO004';
  end if;
  if tg_op = 'UPDATE' and new.last_number is distinct from old.last_number
      and (pg_trigger_depth() < 2 or ledger.is_called_by_others()) then
    raise exception 'journal numbers are counted by the numbering itself' using errcode = 'TO006';
  end if;
  if tg_op = 'INSERT' and new.last_number <> 0 then
    raise exception 'a period starts at journal number 0' using errcode = 'TO006';
  end if;
  if new.closed_at is distinct from (case tg_op when 'UPDATE' then old.closed_at end) then
    raise exception 'when period % of book % was closed is kept by the close', to_char(new.period, 'YYYY-MM'), new.book_id
      using errcode = 'TO004';
  end if;
  if tg_op = 'INSERT' and new.status = 'open' then
    -- A close that is under way ends first: its month, or one before it, would else open beside it.
    select closed_through into closed from ledger.locks where book_id = new.book_id for share;
    if new.period <= closed then
      raise exception 'book % is closed through %', new.book_id, to_char(closed, 'YYYY-MM') using errcode = 'TO005';
    end if;
    return new;
  end if;
  if tg_op = 'UPDATE' and new.status = old.status then return new; end if;

  perform ledger.refuse_old_snapshot('TO008');
  -- Closing or reopening excludes every posting into the book until the transaction ends.
  select closed_through into closed from ledger.locks where book_id = new.book_id for update;
  if new.status = 'closed' then
    if exists (select 1 from ledger.periods p
               where p.book_id = new.book_id and p.period < new.period and p.status = 'open')
       or new.period <= closed then
      raise exception 'period % of book % cannot close before an earlier one', to_char(new.period, 'YYYY-MM'), new.book_id
        using errcode = 'TO008', hint = 'Periods close in order.';
    end if;
    if exists (select 1 from ledger.unnumbered u
               join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id
               where u.book_id = new.book_id and e.period <= new.period) then
      raise exception 'period % of book % has entries without a journal number', to_char(new.period, 'YYYY-MM'), new.book_id
        using errcode = 'TO008', hint = 'Number the entries first.';
    end if;
    new.closed_at := now();
    update ledger.locks set closed_through = new.period where book_id = new.book_id;
  else
    if new.period is distinct from closed then
      raise exception 'only the latest closed period can be reopened, that is %', to_char(closed, 'YYYY-MM')
        using errcode = 'TO008';
    end if;
    if exists (select 1 from ledger.archives a where a.book_id = new.book_id and a.through >= new.period) then
      raise exception 'period % of book % is archived: it stays closed', to_char(new.period, 'YYYY-MM'), new.book_id
        using errcode = 'TO014', hint = 'Restore the dump of before into another database.';
    end if;
    new.closed_at := null;
    update ledger.locks set closed_through =
      (select max(p.period) from ledger.periods p
       where p.book_id = new.book_id and p.status = 'closed' and p.period < new.period)
    where book_id = new.book_id;
  end if;
  return new;
end $$;

create or replace trigger periods_checked before insert or update or delete on ledger.periods
  for each row execute function ledger.check_period();

create or replace trigger periods_not_truncated before truncate on ledger.periods
  for each statement execute function ledger.refuse_change();

-- TO010. Postgres takes some names for abbreviations of one offset before it looks for a zone: CET has no summer there, and IST is not
-- India's. Others it does not know at all, and no entry of the book could ever be dated. Those that stand for the same all year pass,
-- unless the server's `timezone_abbreviations` has another offset for them, and one that another book has from before: books of one
-- database are dated alike.
create or replace function ledger.refuse_zone(zone text) returns void language plpgsql as $$
declare wrong text;
begin
  if zone !~ '/' and exists (
      select 1 from pg_timezone_abbrevs a where a.abbrev = upper(zone collate "C") and (a.abbrev, a.utc_offset) not in (
        ('UTC', '0'), ('UCT', '0'), ('GMT', '0'), ('ZULU', '0'), ('EST', '-5 h'), ('MST', '-7 h'), ('HST', '-10 h'))) then
    wrong := 'is an abbreviation, which the database takes for the same offset all year';
  else
    begin
      perform ledger.day_of(now(), zone);
    exception when invalid_parameter_value then
      wrong := 'is not known to the database';
    end;
  end if;
  if wrong is null or exists (select 1 from ledger.locks l where l.time_zone = zone) then return; end if;
  raise exception 'the time zone % %', zone, wrong
    using errcode = 'TO010', hint = 'Name the zone by its place, such as Europe/Brussels.';
end $$;

-- A row of ledger.locks holds a book's last closed month and its time zone. TO004: the month follows from ledger.periods and
-- is never set directly; the time zone is set once, before there are entries, because every date of the book depends on it.
-- TO008: a new book has no closed month.
create or replace function ledger.keep_lock() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' and new.time_zone is distinct from (case tg_op when 'UPDATE' then old.time_zone end) then
    perform ledger.refuse_zone(new.time_zone);
  end if;
  if tg_op = 'UPDATE' and new.time_zone is distinct from old.time_zone and old.time_zone is not null then
    raise exception 'book % is dated in %', old.book_id, old.time_zone using errcode = 'TO004',
      hint = 'A book is dated in one time zone for good: begin a new one.';
  end if;
  if tg_op = 'UPDATE' and new.time_zone is not null and old.time_zone is null
     and new.closed_through is not distinct from old.closed_through then
    perform ledger.refuse_old_snapshot('TO004');
    -- Entries that were posted before a zone was set are dated in UTC.
    if new.time_zone <> 'UTC' and exists (select 1 from ledger.periods p where p.book_id = new.book_id) then
      raise exception 'book % has entries that are dated in UTC', old.book_id using errcode = 'TO004',
        hint = 'A book is dated in one time zone for good: begin a new one.';
    end if;
    return new;
  end if;
  if tg_op <> 'INSERT' and (pg_trigger_depth() < 2 or ledger.is_called_by_others()) then
    raise exception 'ledger.locks follows ledger.periods: % refused', lower(tg_op collate "C") using errcode = 'TO004';
  end if;
  if tg_op = 'INSERT' and new.closed_through is not null then
    raise exception 'a book starts with all periods open' using errcode = 'TO008';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create or replace trigger locks_kept before insert or update or delete on ledger.locks
  for each row execute function ledger.keep_lock();

-- Every new book has its row in ledger.locks: without it nothing can be posted into the book (TO003).
create or replace function ledger.open_book() returns trigger language plpgsql as $$
begin
  insert into ledger.locks (book_id) values (new.book_id);
  return null;
end $$;

create or replace trigger books_open_ledger after insert on mirror.books for each row execute function ledger.open_book();

-- These rows change after every page. Room in each block lets Postgres update them in place, without index entries.
alter table ledger.balances set (fillfactor = 50);

alter table mirror.accounts set (fillfactor = 50);

alter table sync.checkpoints set (fillfactor = 50);

-- Queues that fill and empty with every run: vacuumed by the number of dead rows, whatever their size.
alter table ledger.touched_conversions set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000);

alter table ledger.unnumbered set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000);

-- How many decimals a currency has. The same table as src/Common/Currency.ts; a test compares the two.
insert into ledger.currencies (code, scale) values
  ('AED', 2), ('AFN', 2), ('ALL', 2), ('AMD', 2), ('ANG', 2), ('AOA', 2), ('ARS', 2), ('AUD', 2),
  ('AWG', 2), ('AZN', 2), ('BAM', 2), ('BBD', 2), ('BDT', 2), ('BGN', 2), ('BHD', 3), ('BIF', 0),
  ('BMD', 2), ('BND', 2), ('BOB', 2), ('BOV', 2), ('BRL', 2), ('BSD', 2), ('BTN', 2), ('BWP', 2),
  ('BYN', 2), ('BZD', 2), ('CAD', 2), ('CDF', 2), ('CHE', 2), ('CHF', 2), ('CHW', 2), ('CLF', 4),
  ('CLP', 0), ('CNY', 2), ('COP', 2), ('COU', 2), ('CRC', 2), ('CUP', 2), ('CVE', 2), ('CZK', 2),
  ('DJF', 0), ('DKK', 2), ('DOP', 2), ('DZD', 2), ('EGP', 2), ('ERN', 2), ('ETB', 2), ('EUR', 2),
  ('FJD', 2), ('FKP', 2), ('GBP', 2), ('GEL', 2), ('GHS', 2), ('GIP', 2), ('GMD', 2), ('GNF', 0),
  ('GTQ', 2), ('GYD', 2), ('HKD', 2), ('HNL', 2), ('HTG', 2), ('HUF', 2), ('IDR', 2), ('ILS', 2),
  ('INR', 2), ('IQD', 3), ('IRR', 2), ('ISK', 0), ('JMD', 2), ('JOD', 3), ('JPY', 0), ('KES', 2),
  ('KGS', 2), ('KHR', 2), ('KMF', 0), ('KPW', 2), ('KRW', 0), ('KWD', 3), ('KYD', 2), ('KZT', 2),
  ('LAK', 2), ('LBP', 2), ('LKR', 2), ('LRD', 2), ('LSL', 2), ('LYD', 3), ('MAD', 2), ('MDL', 2),
  ('MGA', 2), ('MKD', 2), ('MMK', 2), ('MNT', 2), ('MOP', 2), ('MRU', 2), ('MUR', 2), ('MVR', 2),
  ('MWK', 2), ('MXN', 2), ('MXV', 2), ('MYR', 2), ('MZN', 2), ('NAD', 2), ('NGN', 2), ('NIO', 2),
  ('NOK', 2), ('NPR', 2), ('NZD', 2), ('OMR', 3), ('PAB', 2), ('PEN', 2), ('PGK', 2), ('PHP', 2),
  ('PKR', 2), ('PLN', 2), ('PYG', 0), ('QAR', 2), ('RON', 2), ('RSD', 2), ('RUB', 2), ('RWF', 0),
  ('SAR', 2), ('SBD', 2), ('SCR', 2), ('SDG', 2), ('SEK', 2), ('SGD', 2), ('SHP', 2), ('SLE', 2),
  ('SOS', 2), ('SRD', 2), ('SSP', 2), ('STN', 2), ('SVC', 2), ('SYP', 2), ('SZL', 2), ('THB', 2),
  ('TJS', 2), ('TMT', 2), ('TND', 3), ('TOP', 2), ('TRY', 2), ('TTD', 2), ('TWD', 2), ('TZS', 2),
  ('UAH', 2), ('UGX', 0), ('USD', 2), ('USDC', 8), ('USDT', 8), ('USN', 2), ('UYI', 0), ('UYU', 2),
  ('UYW', 4), ('UZS', 2), ('VED', 2), ('VES', 2), ('VND', 0), ('VUV', 0), ('WST', 2), ('XAD', 2),
  ('XAF', 0), ('XCD', 2), ('XCG', 2), ('XOF', 0), ('XPF', 0), ('YER', 2), ('ZAR', 2), ('ZMW', 2),
  ('ZWG', 2)
on conflict do nothing;

-- == 5. Loans: whose entries a transaction is ==

-- The text as a UUID, or null where it is none. A receivable names a transaction by its identifier or by a network's hash.
create or replace function mirror.uuid_or_null(text) returns uuid language sql immutable strict parallel safe as $$
  select case when $1 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $1::uuid end
$$;

-- The statement entries of the cash movement that a receivable names by `tx`: an entry's identifier, its resource's identifier,
-- or the hash of the network in lower case. The answer holds all entries of that movement, its returns and partial amounts
-- included.
create or replace function mirror.entries_of_transaction(book integer, tx text) returns setof uuid
  language sql stable parallel safe as $$
  -- Step by step, each look-up from what the one before found: the planner knows nothing of tables that are small or new.
  select x.entry_id from (select mirror.uuid_or_null(tx) as id offset 0) i
  cross join lateral (
    select e.entry_id, e.related_id, e.related_type, e.account_id from mirror.statement_entries e
    where e.book_id = book and e.entry_id = i.id offset 0) e
  cross join lateral (
    select e.entry_id
    union all
    select o.entry_id from mirror.statement_entries o
    where o.book_id = book and o.related_id = e.related_id and o.related_type = e.related_type
      and o.account_id = e.account_id) x
  union
  select e.entry_id from (select mirror.uuid_or_null(tx) as id offset 0) i
  cross join lateral (
    select e.entry_id from mirror.statement_entries e where e.book_id = book and e.related_id = i.id offset 0) e
  union
  select e.entry_id from (
    select r.resource_id, r.resource_type from mirror.resources r
    where r.book_id = book and lower(r.transaction_hash) = tx and r.transaction_hash is not null offset 0) r
  cross join lateral (
    select e.entry_id from mirror.statement_entries e
    where e.book_id = book and e.related_id = r.resource_id and e.related_type = r.resource_type offset 0) e
$$;

-- The inverse of `mirror.entries_of_transaction`: every name by which a receivable may refer to the movement of an entry.
create or replace function mirror.transactions_of_entry(book integer, entry uuid) returns setof text
  language sql stable parallel safe as $$
  select entry::text
  union
  select x.tx_id from (
    select e.related_id, e.related_type, e.account_id from mirror.statement_entries e
    where e.book_id = book and e.entry_id = entry offset 0) e
  cross join lateral (
    select o.entry_id::text as tx_id from mirror.statement_entries o
    where o.book_id = book and o.related_id = e.related_id and o.related_type = e.related_type
      and o.account_id = e.account_id
    union all
    select e.related_id::text where e.related_id is not null
    union all
    select lower(r.transaction_hash) from mirror.resources r
    where r.book_id = book and r.resource_id = e.related_id and r.resource_type = e.related_type
      and r.transaction_hash is not null) x
$$;

-- The balance (debit positive) that the journal entries of these sources and their corrections leave in the loan clearing
-- account of a currency. An amount that a person reclassified to another account is not in it.
create or replace function ledger.in_loan_clearing(book integer, sources uuid[], in_currency text)
returns table (amount numeric) language sql stable parallel safe rows 1 as $$
  select coalesce(sum(p.amount), 0)
  from ledger.journal_entries j
  join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  where j.book_id = book and j.source_id = any (sources) and a.role = 'loan_clearing' and a.rule_code = ''
    and p.currency = in_currency
$$;

-- == 6. What several readers ask: findings, runs, receivables ==

-- Findings whose cause no reconciliation has found resolved.
create or replace view reconcile.open_findings as select f.* from reconcile.findings f where f.closed_at is null;

-- Open blocking findings that the book's last close accepted for good and that still say the same: nobody has to act. `period` is
-- the month of that close. Each stands here once, whatever a close has kept, and is looked up by its key (`limit 1`), since a close may have accepted thousands.
create or replace view reconcile.accepted_findings as
select distinct f.book_id, f.finding_id, f.check_name, f.subject_type, f.subject_id, c.period
from (select distinct o.book_id from reconcile.open_findings o where o.severity = 'blocking') b
cross join lateral (
  select k.period, k.accepted from ledger.closes k where k.book_id = b.book_id and k.action = 'close'
  order by k.sequence desc limit 1) c
cross join lateral jsonb_array_elements(c.accepted) a (one)
cross join lateral (
  select o.* from reconcile.findings o
  where o.finding_id = case when a.one ->> 'id' ~ '^F[0-9]{1,18}$' then substr(a.one ->> 'id', 2)::bigint end limit 1) f
where f.book_id = b.book_id and f.severity = 'blocking' and f.closed_at is null and a.one ->> 'evidence' = md5(f.evidence::text);

-- The findings that were open at an instant.
create or replace function reconcile.findings_open_at(at timestamptz) returns setof reconcile.findings
language sql stable as $$
  select f.* from reconcile.findings f where f.opened_at <= at and (f.closed_at is null or f.closed_at > at)
$$;

-- What the evidence of a finding says of its time and its amount. `day` and `month` are in the book's time zone; null: it belongs
-- to no month. What stands in transit is dated by its first entry. It has an amount where that is one number in one currency; that
-- of a loan is what was paid too much or too little.
create or replace function reconcile.facts_of(evidence jsonb, zone text)
returns table (day date, month text, in_transit boolean, currency text, amount text) language sql stable rows 1 as $$
  select d.day, coalesce(evidence ->> 'period', to_char(d.day, 'YYYY-MM')), evidence ? 'since',
    coalesce(evidence ->> 'currency', i.item ->> 'currency'),
    (regexp_match(coalesce(evidence ->> 'amount', i.item ->> 'amount', evidence ->> 'excess', evidence ->> 'shortfall'),
      '^-?[0-9]+(?:[.][0-9]+)?$'))[1]
  from (
    select coalesce(ledger.day_of((evidence ->> 'occurredAt')::timestamptz, zone), (evidence ->> 'since')::date) as day) d,
    (select case when evidence ? 'since' and jsonb_array_length(evidence -> 'items') = 1
      then evidence -> 'items' -> 0 end as item) i
$$;

-- Whether a finding is of a month (`2026-10`), or of none. What stands in transit is of every month from its first on.
create or replace function reconcile.is_of_month(evidence jsonb, zone text, of_month text) returns boolean language sql stable as $$
  select x.month is null or x.month = of_month or x.in_transit and x.month < of_month
  from reconcile.facts_of(evidence, zone) x
$$;

-- Booked entries that two readings of their statement did not show, and no reading since. Marks are kept like all that was read.
create or replace view mirror.gone_entries as
  select c.book_id, c.entry_id, c.run_id, c.first_seen_at from mirror.contradictions c
  where c.content like '{"absent":true%' and not exists (
    select from mirror.contradictions s
    where s.book_id = c.book_id and s.entry_id = c.entry_id and s.content like '{"shown":true%'
      and (s.run_id, s.first_seen_at) > (c.run_id, c.first_seen_at));
-- Rows of the service that the program could not decode, and has not decoded since.
create or replace view mirror.open_quarantine as select q.* from mirror.quarantine q where q.resolved_at is null;

-- Every connection that has run or has a book.
create or replace view sync.connections as
select l.connection from sync.leases l union select b.connection from mirror.books b;

-- The last sync of a connection, whether or not it has ended. One that was not possible as asked (a client that is not listed) is none.
create or replace function sync.last_sync(of_connection text) returns setof sync.runs language sql stable rows 1 as $$
  select r.* from sync.runs r where r.connection = of_connection and r.command = 'sync' and r.exit_code is distinct from 2
  order by r.run_id desc limit 1
$$;

-- The last sync that read the whole connection and succeeded. One that ended after now ran while the clock was ahead: when it was is
-- not known, and until that day nothing would be late.
create or replace function sync.last_success(of_connection text) returns setof sync.runs language sql stable rows 1 as $$
  select r.* from sync.runs r
  where r.connection = of_connection and r.whole and r.ended_at < clock_timestamp() + interval '1 minute'
  order by r.run_id desc limit 1
$$;

-- Whether a run may have failed to read a book, by the run's summary: it names the book, or it names only some of the books
-- that failed.
create or replace function sync.failed_to_read(summary jsonb, code text) returns boolean language sql immutable as $$
  select coalesce(summary -> 'failedBooks' ? code, false) or summary ? 'moreFailedBooks'
$$;

-- Every journal entry with its month and its journal number (null until it is numbered).
create or replace view ledger.entry_numbers as
select n.book_id, n.entry_id, n.period, n.number from ledger.journal_numbers n
union all
select u.book_id, u.entry_id, e.period, null::integer from ledger.unnumbered u
join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id;

-- The cash in loan clearing that a receivable has a share of, by currency: its amount (debit positive), and by direction as in the
-- view below. Looked up receivable by receivable: a plan that joins them compares each with all others.
create or replace function reconcile.receivable_cash(of_book integer, of_receivable uuid, side smallint)
returns table (currency text, amount numeric, repaid numeric, lent numeric, returned numeric) language sql stable rows 1 as $$
  select s.currency, sum(s.amount),
    coalesce(sum(s.amount * side) filter (where s.purpose = 'repayment'), 0),
    coalesce(sum(s.amount * -side) filter (where s.purpose = 'disbursement'), 0),
    coalesce(sum(s.amount * -side) filter (where s.purpose = 'repayment' and s.amount * side < 0), 0)
  from (
    select h.currency, h.purpose,
      case when h.rest then (select c.amount from ledger.in_loan_clearing(h.book_id, h.entries, h.currency) c)
          - (select coalesce(sum(o.amount), 0) from ledger.receivable_shares o
             where o.book_id = h.book_id and o.unit = h.unit and o.currency = h.currency and not o.rest)
        else h.amount end as amount
    from ledger.receivable_shares h where h.book_id = of_book and h.receivable_id = of_receivable
    -- Else the amount is looked up anew in each of the four sums.
    offset 0) s
  group by s.currency
$$;

-- Loan clearing of the receivables that were not paid exactly, a row for each receivable and currency. `amount` is the balance
-- in loan clearing (debit positive). The other amounts are by direction (lent, repaid): due, paid, and waiting for cash; none
-- is negative where the data are sound. An amount that a person reclassified counts as neither due nor paid. `returned` is the
-- part of `repaid_paid` by which transactions that the receivable names as repayments sent money back. `came_back` is what was
-- lent beyond what was due and repaid beyond what was due: the cash of a loan that was cancelled, there and back.
create or replace view reconcile.receivable_clearing as
select s.*, greatest(least(s.lent_paid - s.lent_due, s.repaid_paid - s.repaid_due), 0) as came_back
from (
  select o.book_id, o.receivable_id, o.currency, x.stands + coalesce(c.amount, 0) as amount,
    -- A reclassified amount of the receivable's own entries counts to the direction that was not paid exactly.
    o.lent + case when o.repaid - o.repaid_waiting = coalesce(c.repaid, 0) then (x.stands - o.taken) * o.side else 0 end as lent_due,
    coalesce(c.lent, 0) as lent_paid, o.lent_waiting,
    o.repaid + case when o.repaid - o.repaid_waiting = coalesce(c.repaid, 0) then 0 else (x.stands - o.taken) * -o.side end
      as repaid_due,
    coalesce(c.repaid, 0) as repaid_paid, o.repaid_waiting, o.since, coalesce(c.returned, 0) as returned
  from ledger.receivable_dues o
  cross join lateral ledger.in_loan_clearing(o.book_id, array[o.receivable_id], o.currency) as x (stands)
  left join lateral reconcile.receivable_cash(o.book_id, o.receivable_id, o.side) c on c.currency = o.currency
  where o.open
  union all
  select o.book_id, o.receivable_id, c.currency, c.amount, 0, c.lent, 0, 0, c.repaid, 0, o.since, c.returned
  from ledger.receivable_dues o
  cross join lateral reconcile.receivable_cash(o.book_id, o.receivable_id, o.side) c
  where o.open and c.currency <> o.currency and exists (
    select from ledger.receivable_shares h
    where h.book_id = o.book_id and h.receivable_id = o.receivable_id and h.currency <> o.currency offset 0)) s;

drop function if exists ledger.loan_clearing_of(integer, uuid[], text);

-- The balance of loan clearing by receivable; the rows of a book and currency add up to that balance. A row without a
-- receivable is cash that no receivable names, or that arrived after receivables were booked last. `due` and `paid` are those
-- of the direction (`purpose`) that was not paid exactly; `waiting` is the amount of both directions whose cash is not known.
create or replace view reconcile.loan_clearing_items as
select c.book_id, c.receivable_id, c.currency, c.amount, p.purpose,
  case p.purpose when 'repayment' then c.repaid_due else c.lent_due end as due,
  case p.purpose when 'repayment' then c.repaid_paid else c.lent_paid end as paid,
  c.repaid_waiting + c.lent_waiting as waiting,
  ledger.day_of(c.since, l.time_zone) as since
from reconcile.receivable_clearing c
join ledger.locks l on l.book_id = c.book_id
cross join lateral (
  select case when c.repaid_due <> c.repaid_paid - c.came_back then 'repayment' else 'disbursement' end as purpose) p
where c.amount <> 0
union all
select b.book_id, null, b.currency, b.amount - k.amount, null, null, null, null, null
from (
  select a.book_id, a.currency, sum(t.debit - t.credit) as amount
  from ledger.accounts a
  join ledger.balances t on t.book_id = a.book_id and t.account_id = a.account_id
  where a.role = 'loan_clearing' and a.rule_code = ''
  group by a.book_id, a.currency) b
cross join lateral (
  select coalesce(sum(c.amount), 0) as amount from reconcile.receivable_clearing c
  where c.book_id = b.book_id and c.currency = b.currency) k
where b.amount <> k.amount;

-- The open items of loans, each once: every leg whose cash has not arrived (two legs can cancel each other in the balances
-- above), and every other balance in loan clearing. A shortfall within the interest leaves none: it is a finding alone.
create or replace view reconcile.open_loans as
select w.book_id, w.receivable_id, w.currency, w.sequence from ledger.receivable_waits w
union all (
select i.book_id, i.receivable_id, i.currency, null::integer
from reconcile.loan_clearing_items i
cross join lateral (
  select coalesce(sum(w.amount * w.side), 0) as amount from ledger.receivable_waits w
  where w.book_id = i.book_id and w.receivable_id = i.receivable_id and w.currency = i.currency) w
where i.amount <> w.amount
union
select f.book_id, (f.evidence ->> 'receivableId')::uuid, f.evidence ->> 'currency', null::integer
from reconcile.open_findings f
where f.check_name = 'loan-clearing' and (f.evidence ->> 'loanClearing')::numeric is distinct from 0);

-- TO004. What was closed, by whom and why, is kept for good.
create or replace trigger closes_immutable before update or delete or truncate on ledger.closes
  for each statement execute function ledger.refuse_change();

create or replace trigger close_balances_immutable before update or delete or truncate on ledger.close_balances
  for each statement execute function ledger.refuse_change();

-- == 7. Closing ==

-- The hash of a record of ledger.closes: of all that it says of who closed or reopened what, when, why, and with which findings accepted,
-- and of the hash of the book's record before it. Hashed as JSON: joined as plain text, the end of one field could pass for the
-- beginning of the next.
create or replace function ledger.record_hash(c ledger.closes, before text) returns text language sql stable as $$
  select encode(sha256(convert_to(json_build_array(before, c.sequence, to_char(c.period, 'YYYY-MM'), c.action, c.hash,
    c.previous_hash, c.entries, c.who, c.os_user, c.database_user, to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    c.reason, c.accepted, c.valuation_method)::text, 'UTF8')), 'hex')
$$;

-- What the hash of each record of a book ought to be. Records of earlier versions keep none; the first that keeps one covers them.
create or replace function ledger.record_hashes(of_book integer) returns table (sequence integer, hash text)
language sql stable as $$
  with recursive r as (
    select c.sequence, ledger.record_hash(c, null) as expected, c.record_hash as kept
    from ledger.closes c where c.book_id = of_book and c.sequence = 1
    union all
    select c.sequence, ledger.record_hash(c, coalesce(r.kept, r.expected)), c.record_hash
    from r join ledger.closes c on c.book_id = of_book and c.sequence = r.sequence + 1)
  select r.sequence, r.expected from r
$$;

-- TO011. A close consists of the period's state, a row of ledger.closes and the balance of every account, written in this
-- order by one transaction. This trigger compares the row with the period and with the close before; deferred triggers below
-- compare the balances and the state when the transaction commits. The hash of each close includes the hash of the one before
-- it: a close that is changed or removed breaks the chain.
create or replace function ledger.check_close() returns trigger language plpgsql as $$
declare
  last record;
  state ledger.periods;
begin
  perform 1 from ledger.locks l where l.book_id = new.book_id for update;
  select coalesce(max(c.sequence), 0) as sequence,
    (array_agg(c.action order by c.sequence desc) filter (where c.period = new.period))[1] as action,
    (array_agg(c.hash order by c.sequence desc) filter (where c.action = 'close'))[1] as hash,
    (array_agg(c.hash order by c.sequence desc) filter (where c.action = 'close' and c.period = new.period))[1] as undone,
    (array_agg(c.record_hash order by c.sequence desc))[1] as record
  into last from ledger.closes c where c.book_id = new.book_id;
  select * into state from ledger.periods p where p.book_id = new.book_id and p.period = new.period;
  new.database_user := session_user;
  if new.sequence <> last.sequence + 1 or new.transaction <> pg_current_xact_id() or new.at <> now() then
    raise exception 'close % of book % does not follow close %, or is not of this transaction', new.sequence, new.book_id,
      last.sequence using errcode = 'TO011', hint = 'Use tieout close and tieout reopen.';
  end if;
  if state.status is distinct from (case new.action when 'close' then 'closed' else 'open' end)
     or coalesce(last.action, 'reopen') = new.action then
    raise exception '% of % of book %: the period is % and its last close was %', new.action,
      to_char(new.period, 'YYYY-MM'), new.book_id, coalesce(state.status, 'not there'), coalesce(last.action, 'never')
      using errcode = 'TO011', hint = 'Use tieout close and tieout reopen.';
  end if;
  if new.action = 'close' and (new.hash !~ '^[0-9a-f]{64}$' or new.entries <> state.last_number)
     or new.previous_hash is distinct from (case new.action when 'close' then last.hash else last.undone end) then
    raise exception 'close of % of book % with hash % after %, over % entries: it follows %, and the period has %',
      to_char(new.period, 'YYYY-MM'), new.book_id, new.hash, coalesce(new.previous_hash, 'none'), new.entries,
      coalesce(last.hash, 'none'), state.last_number
      using errcode = 'TO011', hint = 'Use tieout close and tieout reopen.';
  end if;
  new.record_hash := ledger.record_hash(new, coalesce(last.record,
    (select r.hash from ledger.record_hashes(new.book_id) r where r.sequence = last.sequence)));
  return new;
end $$;

create or replace trigger closes_checked before insert on ledger.closes
  for each row execute function ledger.check_close();

-- TO011. Balances are kept by the transaction of their close, and by no later one; each is the books' own. That none is missing is
-- looked at when the transaction commits: or sooner, if it asks for that, and then it may still add more.
create or replace function ledger.check_close_balances() returns trigger language plpgsql as $$
declare bad record;
begin
  if exists (select 1 from new_balances n where not exists (
      select 1 from ledger.closes c where c.book_id = n.book_id and c.sequence = n.sequence and c.action = 'close'
        and c.transaction = pg_current_xact_id())) then
    raise exception 'balances of a close that is not of this transaction'
      using errcode = 'TO011', hint = 'Use tieout close.';
  end if;
  select n.book_id, n.sequence, n.account_id into bad
  from (
    select x.book_id, x.sequence, x.account_id, x.code, x.name, x.currency, x.debit, x.credit, x.balance from new_balances x
    except
    select c.book_id, c.sequence, b.* from ledger.closes c
    cross join lateral ledger.balances_at(c.book_id, c.period) b
    where (c.book_id, c.sequence) in (select x.book_id, x.sequence from new_balances x)) n limit 1;
  if found then
    raise exception 'close % of book % does not keep account % as the books have it', bad.sequence, bad.book_id, bad.account_id
      using errcode = 'TO011', hint = 'Use tieout close.';
  end if;
  return null;
end $$;

create or replace trigger close_balances_checked after insert on ledger.close_balances
  referencing new table as new_balances for each statement execute function ledger.check_close_balances();

-- TO004. An approval is kept for good, like the close that it approves.
create or replace trigger close_approvals_immutable before update or delete or truncate on ledger.close_approvals
  for each statement execute function ledger.refuse_change();

-- The hash of an approval, which includes the hash of its close and that of the close's record, where it has one: who approves a
-- month approves what was accepted, too. Hashed as JSON, as records are.
create or replace function ledger.approval_hash(a ledger.close_approvals) returns text language sql stable as $$
  select encode(sha256(convert_to((case when c.record_hash is null
    then json_build_array(a.close_hash, a.name, a.os_user, a.database_user, a.two_persons, x.at)
    else json_build_array(a.close_hash, a.name, a.os_user, a.database_user, a.two_persons, x.at, c.record_hash) end)::text, 'UTF8')),
    'hex')
  from (select to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at) x
  left join ledger.closes c on c.book_id = a.book_id and c.sequence = a.sequence
$$;

-- A person's name for comparison, whatever its case, spaces, form of Unicode or invisible characters: foldedName of
-- src/Close/Person.ts, which refuses before this one, as far as the database's encoding and locale know the letters.
create or replace function ledger.folded_name(name text) returns text language sql stable as $$
  select btrim(lower(regexp_replace(regexp_replace(
    case getdatabaseencoding() when 'UTF8' then regexp_replace(normalize(name, NFKC),
      '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]',
      '', 'g') else name end,
    '[[:space:]]+', ' ', 'g'), '[[:cntrl:]]+| +(?= )', '', 'g')))
$$;

-- TO011. An approval names a close that stands. Where two persons are required, the approver has another name than the person
-- who closed, and another login. The database states its own user; it does not accept one from the statement.
create or replace function ledger.check_approval() returns trigger language plpgsql as $$
declare closed ledger.closes;
begin
  perform 1 from ledger.locks l where l.book_id = new.book_id for update;
  select c.* into closed from ledger.closes c
  where c.book_id = new.book_id and c.sequence = new.sequence and c.action = 'close' and c.hash = new.close_hash
    and not exists (select 1 from ledger.closes x
      where x.book_id = c.book_id and x.period = c.period and x.sequence > c.sequence);
  if not found or new.at <> now() then
    raise exception 'close % of book % with hash % does not stand: it cannot be approved', new.sequence, new.book_id,
      new.close_hash using errcode = 'TO011', hint = 'Use tieout close approve.';
  end if;
  new.database_user := session_user;
  if new.two_persons and (ledger.folded_name(new.name) = ledger.folded_name(closed.who)
      or new.os_user = closed.os_user and new.database_user = closed.database_user) then
    raise exception 'close % of book % was closed by the same person that would approve it', new.sequence, new.book_id
      using errcode = 'TO011', hint = 'Another person, logged in as another user, approves it.';
  end if;
  new.hash := ledger.approval_hash(new);
  return new;
end $$;

create or replace trigger close_approvals_checked before insert on ledger.close_approvals
  for each row execute function ledger.check_approval();

-- The closes of a book that stood at an instant: the last close of each month that was not reopened by then.
create or replace function ledger.standing_closes(of_book integer, known_at timestamptz) returns setof ledger.closes
language sql stable as $$
  select c.* from ledger.closes c
  where c.book_id = of_book and c.action = 'close' and c.at <= known_at and not exists (
    select 1 from ledger.closes x
    where x.book_id = of_book and x.period = c.period and x.sequence > c.sequence and x.at <= known_at)
$$;

-- The balance of an account (debit positive) at the end of a month, or of everything that is booked.
create or replace function ledger.balance_of(of_book integer, of_account integer, through date default 'infinity')
returns table (balance numeric) language sql stable rows 1 as $$
  select coalesce(sum(b.debit - b.credit), 0) from ledger.balances b
  where b.book_id = of_book and b.account_id = of_account and b.period <= through
$$;

-- The balance of every account at the end of a period, and its turnover in the period. A close keeps these rows.
create or replace function ledger.balances_at(of_book integer, at_period date)
returns table (account_id integer, code text, name text, currency text, debit numeric, credit numeric, balance numeric)
language sql stable as $$
  select a.account_id, a.code, a.name, a.currency,
    coalesce(sum(b.debit) filter (where b.period = at_period), 0),
    coalesce(sum(b.credit) filter (where b.period = at_period), 0), sum(b.debit - b.credit)
  from ledger.accounts a
  join ledger.balances b on b.book_id = a.book_id and b.account_id = a.account_id and b.period <= at_period
  where a.book_id = of_book
  group by a.account_id, a.code, a.name, a.currency
$$;

-- TO011. When a close commits, it keeps exactly the balances of the books at the end of its period; a reopening keeps none.
create or replace function ledger.check_kept_balances() returns trigger language plpgsql as $$
declare bad integer;
begin
  select coalesce(b.account_id, k.account_id) into bad
  from ledger.balances_at(new.book_id, new.period) b
  full join (
    select * from ledger.close_balances x where x.book_id = new.book_id and x.sequence = new.sequence
  ) k on k.account_id = b.account_id
  where new.action = 'close' and (b.code, b.name, b.currency, b.debit, b.credit, b.balance) is distinct from
      (k.code, k.name, k.currency, k.debit, k.credit, k.balance)
    or new.action <> 'close' and k.account_id is not null
  limit 1;
  if found then
    raise exception 'close % of book % does not keep account % as the books have it', new.sequence, new.book_id, bad
      using errcode = 'TO011', hint = 'Use tieout close.';
  end if;
  return null;
end $$;

-- Constraint triggers, which alone can be deferred, know no `create or replace`: this one and the two below are made anew.
drop trigger if exists closes_complete on ledger.closes;

create constraint trigger closes_complete after insert on ledger.closes deferrable initially deferred
  for each row execute function ledger.check_kept_balances();

-- TO011. When a transaction commits that changed the state of a period, ledger.closes says so: nobody closes or reopens a
-- period without a record of who did it and why.
create or replace function ledger.check_status_kept() returns trigger language plpgsql as $$
begin
  -- Every change needs a row of its own: to close and reopen in one transaction takes two.
  if not exists (
      select 1 from ledger.closes c
      where c.book_id = new.book_id and c.period = new.period and c.transaction = pg_current_xact_id()
        and c.action = case new.status when 'closed' then 'close' else 'reopen' end)
     or (select c.action from ledger.closes c where c.book_id = new.book_id and c.period = new.period
         order by c.sequence desc limit 1)
        <> (select case p.status when 'closed' then 'close' else 'reopen' end from ledger.periods p
            where p.book_id = new.book_id and p.period = new.period) then
    raise exception 'the status of period % of book % was set to % without a row in ledger.closes', to_char(new.period, 'YYYY-MM'),
      new.book_id, new.status using errcode = 'TO011', hint = 'Use tieout close and tieout reopen.';
  end if;
  return null;
end $$;

drop trigger if exists periods_closed_by_close on ledger.periods;

create constraint trigger periods_closed_by_close after update of status on ledger.periods deferrable initially deferred
  for each row when (new.status <> old.status) execute function ledger.check_status_kept();

drop trigger if exists periods_closed_empty on ledger.periods;

create constraint trigger periods_closed_empty after insert on ledger.periods deferrable initially deferred
  for each row when (new.status = 'closed') execute function ledger.check_status_kept();

-- == 8. Evidence: what may change, and what is forgotten ==

-- TO004. A book's code is part of every journal number, file name and hash, and its connection and client say whose money it
-- is: none of them changes once the book has a journal number.
create or replace function mirror.keep_book() returns trigger language plpgsql as $$
begin
  if (new.code, new.connection, new.client_id, new.book_id, new.created_at) is not distinct from
     (old.code, old.connection, old.client_id, old.book_id, old.created_at) then
    return new;
  end if;
  perform ledger.refuse_old_snapshot('TO004');
  perform 1 from ledger.locks l where l.book_id = old.book_id for update;
  if (new.book_id, new.created_at) is distinct from (old.book_id, old.created_at)
     or exists (select 1 from ledger.periods p where p.book_id = old.book_id and p.last_number > 0) then
    raise exception 'book % has journal numbers: its code, connection and client stay', old.code
      using errcode = 'TO004', hint = 'Only its name may change.';
  end if;
  return new;
end $$;

create or replace trigger books_kept before update on mirror.books
  for each row execute function mirror.keep_book();

create or replace trigger books_not_deleted before delete or truncate on mirror.books
  for each statement execute function ledger.refuse_change();

-- TO004. The decimals of a currency decide which amounts are valid and how they print: they are fixed once an account uses the
-- currency.
create or replace function ledger.keep_currency() returns trigger language plpgsql as $$
begin
  perform ledger.refuse_old_snapshot('TO004');
  -- Waits for a transaction that is opening an account in this currency: its foreign key holds the row.
  perform 1 from ledger.currencies c where c.code = old.code for update;
  if tg_op = 'UPDATE' and (new.code, new.scale) is not distinct from (old.code, old.scale) then return new; end if;
  if exists (select 1 from ledger.accounts a where a.currency = old.code)
     or exists (select 1 from mirror.accounts a where a.currency = old.code) then
    raise exception 'currency % is used with % decimals: % refused', old.code, old.scale, lower(tg_op collate "C")
      using errcode = 'TO004', hint = 'A currency keeps its decimals once an account has it.';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create or replace trigger currencies_kept before update or delete on ledger.currencies
  for each row execute function ledger.keep_currency();

create or replace trigger currencies_not_truncated before truncate on ledger.currencies
  for each statement execute function ledger.refuse_change();

-- TO004. The gate of a close relies on what was read and found: these tables are never truncated, and rows are deleted only
-- where the program does so itself (a resource that is no longer missing, a queue, events and runs of long ago). A new table
-- that holds evidence of what was read belongs into these lists.
create or replace function mirror.refuse_removal() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and ledger.archiving(tg_relid) then return null; end if;
  raise exception 'rows of %.% are evidence: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO004', hint = 'What was read and found is kept. To begin anew, use a new database.';
end $$;

-- Whether the statement runs with the rights of the table's owner.
create or replace function ledger.is_owner(relation oid) returns boolean language sql stable as $$
  select pg_catalog.pg_has_role(current_user, c.relowner, 'usage') from pg_catalog.pg_class c where c.oid = relation
$$;

-- The same but for the retention functions, which must be among the callers, and run as the owner of the table. The stack of calls
-- alone proves nothing: a session's own function, or a statement of its own, may have a name or a text that reads like them.
create or replace function mirror.refuse_but_forgetting() returns trigger language plpgsql as $$
declare callers text;
begin
  get diagnostics callers = pg_context;
  if ledger.is_owner(tg_relid)
      and ledger.is_under_way(callers, 'sync[.]forget_runs|sync[.]forget_boundaries|reconcile[.]forget_findings')
      and not ledger.is_called_by_others() then
    return null;
  end if;
  raise exception 'rows of %.% are evidence: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO004', hint = 'They are forgotten after the terms of the settings (retention).';
end $$;

do $$
declare kept text;
begin
  foreach kept in array array['mirror.accounts', 'mirror.resources', 'mirror.resource_versions', 'mirror.receivables',
      'mirror.receivable_transactions', 'mirror.reference_items', 'mirror.quarantine', 'mirror.contradictions',
      'mirror.statement_entry_versions', 'reconcile.progress', 'sync.leases', 'sync.checkpoints', 'sync.stream_reads',
      'sync.paces', 'valuation.accounts', 'ledger.receivable_dues'] loop
    execute format('create or replace trigger not_removed before delete or truncate on %s
      for each statement execute function mirror.refuse_removal()', kept);
  end loop;
  -- The retention functions below delete old rows of these; nothing else does.
  foreach kept in array array['reconcile.findings', 'sync.runs', 'sync.page_boundaries'] loop
    execute format('create or replace trigger not_removed before delete or truncate on %s
      for each statement execute function mirror.refuse_but_forgetting()', kept);
    execute format('create or replace trigger not_emptied before truncate on %s
      for each statement execute function mirror.refuse_removal()', kept);
  end loop;
  foreach kept in array array['mirror.missing_resources', 'reconcile.deferred', 'webhook.inbox', 'ledger.touched_conversions',
      'ledger.receivable_shares', 'ledger.receivable_waits', 'ledger.locks', 'sync.book_jobs',
      'sync.nights', 'sync.dead_letters', 'sync.tokens', 'sync.book_events'] loop
    execute format('create or replace trigger not_emptied before truncate on %s
      for each statement execute function mirror.refuse_removal()', kept);
  end loop;
  foreach kept in array array['mirror.resource_versions', 'mirror.contradictions', 'mirror.statement_entry_versions',
      'reconcile.deferred', 'ledger.touched_conversions', 'ledger.receivable_shares', 'ledger.receivable_waits'] loop
    execute format('create or replace trigger not_changed before update on %s
      for each statement execute function mirror.refuse_removal()', kept);
  end loop;
end $$;

-- 42501. Functions that run as their owner do so only for whom may delete these rows by itself, which nobody does who only reads.
create or replace function ledger.refuse_reader(relation regclass) returns void language plpgsql as $$
declare caller constant name := case current_setting('role') when 'none' then session_user else current_setting('role') end;
begin
  if not has_table_privilege(caller, relation, 'delete') then
    raise exception 'permission denied for table %', relation using errcode = '42501';
  end if;
end $$;

-- Deletes runs that ended long ago, at most `most` at once, and returns how many. It keeps, whatever their age: the last run of
-- each command, the last success, runs that a read, a reconciliation or a held entry refers to, backfills (a close may rely on
-- one) and commands that a person ran. `greatest` states the shortest span: a shorter setting has no effect.
create or replace function sync.forget_runs(kept_for interval, events_kept_for interval, most integer) returns integer
language plpgsql security definer as $$
declare forgotten integer;
begin
  perform ledger.refuse_reader('sync.runs');
  with referenced as materialized (
    select s.run_id from sync.stream_reads s where s.run_id is not null
    union select p.through_run from reconcile.progress p
    -- A look at the end of each statement: as a join it would be planned as a scan of all entries (`offset 0`).
    union select h.run_id from mirror.accounts a
    cross join lateral (
      select e.run_id from mirror.statement_entries e
      where e.book_id = a.book_id and e.account_id = a.account_id
        and e.position between a.entries + 1 and 9223372036854775807 and e.held offset 0) h)
  delete from sync.runs r using (
    select x.run_id from sync.runs x
    where x.command in ('sync', 'replay', 'events') and x.state <> 'running'
      and x.ended_at < now() - case x.command when 'events' then greatest(events_kept_for, interval '1 hour')
        else greatest(kept_for, interval '30 days') end
      and exists (
        select 1 from sync.runs l where l.connection = x.connection and l.command = x.command and l.run_id > x.run_id)
      and (not x.whole or exists (
        select 1 from sync.runs l where l.connection = x.connection and l.whole and l.run_id > x.run_id))
      and x.run_id not in (select n.run_id from referenced n)
    order by x.run_id limit most) o
  where r.run_id = o.run_id;
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

-- Deletes findings that were closed long ago, at most `most` at once. It keeps, whatever their age: findings that were open at a
-- close, because the close names them (that of a client's book also those of the organization's lists), and contradictions between
-- events, which the next reconciliation would find again.
create or replace function reconcile.forget_findings(kept_for interval, most integer) returns integer
language plpgsql security definer as $$
declare forgotten integer;
begin
  perform ledger.refuse_reader('reconcile.findings');
  with unread as materialized (
    select 'F' || x.finding_id as id from reconcile.findings x
    where x.closed_at < now() - greatest(kept_for, interval '90 days') and x.check_name = 'stream-unread'),
  -- All closes are looked through once, not for each finding anew. IN uses a hash table in any session.
  named as materialized (
    select x.finding_id
    from (
      select case when a.one ->> 'id' in (select u.id from unread u) then substr(a.one ->> 'id', 2)::bigint end as finding_id, c.at
      from ledger.closes c cross join lateral jsonb_array_elements(c.accepted) a (one)
      where exists (select from unread) offset 0) k
    join reconcile.findings x on x.finding_id = k.finding_id
    where k.at >= x.opened_at and k.at < x.closed_at)
  delete from reconcile.findings f using (
    select x.finding_id from reconcile.findings x
    where x.closed_at < now() - greatest(kept_for, interval '90 days') and x.check_name <> 'event-conflict'
      and not exists (
        select 1 from ledger.closes c
        where c.book_id = x.book_id and c.action = 'close' and c.at >= x.opened_at and c.at < x.closed_at)
      and x.finding_id not in (select n.finding_id from named n)
    limit most) o
  where f.finding_id = o.finding_id;
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

-- Deletes old page boundaries, at most `most` at once. It keeps the first boundary of each account and month, where a backfill
-- begins, and the last ten of each account, where a read resumes whose cursor has expired.
create or replace function sync.forget_boundaries(kept_for interval, most integer) returns integer
language plpgsql security definer as $$
declare forgotten integer;
begin
  perform ledger.refuse_reader('sync.page_boundaries');
  delete from sync.page_boundaries b using (
    select x.book_id, x.account_id, x.position from sync.page_boundaries x
    cross join lateral (
      select p.occurred_at from sync.page_boundaries p
      where p.book_id = x.book_id and p.account_id = x.account_id and p.position < x.position
      order by p.position desc limit 1) before
    where x.occurred_at < now() - greatest(kept_for, interval '30 days')
      and date_trunc('month', before.occurred_at, 'UTC') = date_trunc('month', x.occurred_at, 'UTC')
      and exists (
        select 1 from sync.page_boundaries l
        where l.book_id = x.book_id and l.account_id = x.account_id and l.position > x.position offset 9)
    limit most) o
  where b.book_id = o.book_id and b.account_id = o.account_id and b.position = o.position;
  get diagnostics forgotten = row_count;
  return forgotten;
end $$;

-- TO004. The program updates these rows, but never what identifies them, nor what each condition names beside it.
create or replace trigger identity_kept before update on mirror.accounts for each row
  when ((new.book_id, new.account_id) is distinct from (old.book_id, old.account_id)
    or new.currency is distinct from old.currency and old.entries > 0)
  execute function mirror.refuse_removal();

-- A resource that the service reports differently gets the next version number; mirror.resource_versions keeps the former one.
create or replace trigger identity_kept before update on mirror.resources for each row
  when ((new.book_id, new.resource_type, new.resource_id) is distinct from (old.book_id, old.resource_type, old.resource_id)
    or new.version not between old.version and old.version + 1
    or new.version = old.version and ((new.changed_at, new.run_id) is distinct from (old.changed_at, old.run_id)
      or new.raw::text <> old.raw::text and new.raw::jsonb <> old.raw::jsonb))
  execute function mirror.refuse_removal();

create or replace trigger identity_kept before update on mirror.missing_resources for each row
  when ((new.book_id, new.resource_type, new.resource_id, new.first_missed_at) is distinct from
    (old.book_id, old.resource_type, old.resource_id, old.first_missed_at) or new.tries < old.tries)
  execute function mirror.refuse_removal();

-- A quarantined row keeps the text that the service sent, because it is decoded again from that text.
create or replace trigger identity_kept before update on mirror.quarantine for each row
  when ((new.quarantine_id, new.book_id, new.stream, new.item_id, new.raw, new.digest, new.first_seen_at) is distinct from
    (old.quarantine_id, old.book_id, old.stream, old.item_id, old.raw, old.digest, old.first_seen_at)
    or new.resolved_at is not null and new.resolved_at is distinct from old.resolved_at and new.resolved_at <> now())
  execute function mirror.refuse_removal();

create or replace trigger identity_kept before update on sync.checkpoints for each row
  when ((new.book_id, new.stream) is distinct from (old.book_id, old.stream)) execute function mirror.refuse_removal();

create or replace trigger identity_kept before update on sync.page_boundaries for each row
  when ((new.book_id, new.account_id, new.position, new.occurred_at) is distinct from
    (old.book_id, old.account_id, old.position, old.occurred_at)) execute function mirror.refuse_removal();

-- Each run that takes a connection's lease raises its epoch by one. A run that holds an earlier epoch can write nothing more.
create or replace trigger identity_kept before update on sync.leases for each row
  when ((new.connection, new.book_id) is distinct from (old.connection, old.book_id) or new.epoch <> old.epoch + 1
    or new.taken_at <> now())
  execute function mirror.refuse_removal();

-- A run ends once, at the time of the update, and its result is evidence.
create or replace trigger identity_kept before update on sync.runs for each row
  when (old.state <> 'running' or new.state <> 'running' and new.ended_at is distinct from now()
    or (new.run_id, new.connection, new.command, new.started_at) is distinct from
      (old.run_id, old.connection, old.command, old.started_at))
  execute function mirror.refuse_removal();

create or replace trigger identity_kept before update on ledger.receivable_dues for each row
  when ((new.book_id, new.receivable_id) is distinct from (old.book_id, old.receivable_id))
  execute function mirror.refuse_removal();

create or replace trigger identity_kept before update on valuation.accounts for each row
  when ((new.book_id, new.role) is distinct from (old.book_id, old.role)) execute function mirror.refuse_removal();

-- A webhook event keeps what was received. Its marks that two bodies contradict each other, or that it cannot be read, stay.
create or replace trigger identity_kept before update on webhook.inbox for each row
  when ((new.connection, new.event_id, new.digest, new.received_at, new.type, new.body, new.key_id, new.algorithm)
    is distinct from
    (old.connection, old.event_id, old.digest, old.received_at, old.type, old.body, old.key_id, old.algorithm)
    or old.conflict and not new.conflict or (old.state = 'poison') <> (new.state = 'poison'))
  execute function mirror.refuse_removal();

-- TO004. A resource is missing until the mirror has it. An after trigger, because the statement that takes it off the list also
-- writes the resource.
create or replace function mirror.keep_missing() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from mirror.resources r where r.book_id = old.book_id and r.resource_id = old.resource_id
                 and r.resource_type = old.resource_type) then
    raise exception '% % is still missing: delete refused', mirror.lower_ascii(old.resource_type), old.resource_id
      using errcode = 'TO004', hint = 'It is taken off the list when the service shows it.';
  end if;
  return null;
end $$;

create or replace trigger missing_resources_kept after delete on mirror.missing_resources
  for each row execute function mirror.keep_missing();

-- TO004. An event that was given up or could not be read stays for 30 days, so that a person can look at it.
create or replace function webhook.keep_event() returns trigger language plpgsql as $$
begin
  if old.state <> 'done' and (old.state not in ('dead', 'poison') or old.received_at > now() - interval '30 days') then
    raise exception 'event % is %: delete refused', old.event_id, old.state
      using errcode = 'TO004', hint = 'Only an event that is done can be forgotten, or one given up a month ago.';
  end if;
  return old;
end $$;

create or replace trigger inbox_kept before delete on webhook.inbox
  for each row execute function webhook.keep_event();

-- TO004. A reconciliation updates an open finding that it sees again, and closes one that it does not see, both at the time of
-- the update. A closed finding never changes: where its cause returns, that is a new finding.
create or replace function reconcile.keep_finding() returns trigger language plpgsql as $$
declare may_change constant text[] := array['severity', 'message', 'evidence', 'seen_at', 'closed_at', 'closed_run'];
begin
  if old.closed_at is not null or to_jsonb(new) - may_change <> to_jsonb(old) - may_change
     or new.closed_at is null and (new.seen_at <> now() or new.closed_run is not null)
     or new.closed_at is not null and (new.closed_at <> now()
       or to_jsonb(new) - 'closed_at' - 'closed_run' <> to_jsonb(old) - 'closed_at' - 'closed_run') then
    raise exception 'finding F% of book % is % and stays what it is: update refused', old.finding_id, old.book_id,
      case when old.closed_at is null then 'open' else 'closed' end
      using errcode = 'TO004', hint = 'tieout reconcile opens and closes findings.';
  end if;
  return new;
end $$;

create or replace trigger findings_kept before update on reconcile.findings
  for each row execute function reconcile.keep_finding();

-- TO004. reconcile.progress states through which run a book is reconciled. It never goes back, and never runs ahead of a run
-- that exists: the next reconciliation would skip what later runs read.
create or replace function reconcile.keep_progress() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.book_id <> old.book_id or new.through_run < old.through_run) then
    raise exception 'book % is reconciled through run %: it cannot go back to run %', old.book_id, old.through_run,
      new.through_run using errcode = 'TO004', hint = 'tieout reconcile --full looks at everything again.';
  end if;
  if tg_op = 'UPDATE' and new.through_batch < old.through_batch
     or new.through_batch > (case tg_op when 'UPDATE' then old.through_batch else 0 end) and not exists (
       select 1 from export.batches b where b.book_id = new.book_id and b.batch = new.through_batch) then
    raise exception 'book % cannot be reconciled through batch %', new.book_id, new.through_batch
      using errcode = 'TO004', hint = 'tieout reconcile --full looks at everything again.';
  end if;
  if new.through_run > 0 and not exists (select 1 from sync.runs r where r.run_id = new.through_run) then
    raise exception 'book % cannot be reconciled through run %: there was none', new.book_id, new.through_run
      using errcode = 'TO004', hint = 'tieout reconcile says how far it came.';
  end if;
  return new;
end $$;

create or replace trigger progress_kept before insert or update on reconcile.progress
  for each row execute function reconcile.keep_progress();

-- TO004. The content of a version never changes. Its marks may, in one direction: a version ceases to be the current one, and
-- comes to be posted.
create or replace function mirror.keep_version() returns trigger language plpgsql as $$
declare may_change constant text[] := array['current', 'posted', 'sought', 'unlisted_since', 'last_listed_at'];
begin
  if to_jsonb(new) - may_change <> to_jsonb(old) - may_change
     or to_jsonb(new) ->> 'current' = 'true' and to_jsonb(old) ->> 'current' = 'false'
     or to_jsonb(new) ->> 'posted' = 'false' and to_jsonb(old) ->> 'posted' = 'true' then
    raise exception 'a version in %.% is what was read: update refused', tg_table_schema, tg_table_name
      using errcode = 'TO004', hint = 'What the service says later is another version.';
  end if;
  return new;
end $$;

create or replace trigger receivables_kept before update on mirror.receivables
  for each row execute function mirror.keep_version();

create or replace trigger receivable_transactions_kept before update on mirror.receivable_transactions
  for each row execute function mirror.keep_version();

create or replace trigger reference_items_kept before update on mirror.reference_items
  for each row execute function mirror.keep_version();

-- TO004. An export's files depend on the account mapping of their time: a new mapping is a new row.
create or replace trigger account_mappings_immutable before update or delete or truncate on export.account_mappings
  for each statement execute function ledger.refuse_change();

-- == 9. Exports ==

-- The state of an export batch: that of its last change, or the one with which it was written.
create or replace function export.batch_state(of_book integer, of_batch integer) returns text language sql stable as $$
  select coalesce(
    (select s.state from export.batch_states s where s.book_id = of_book and s.batch = of_batch
     order by s.sequence desc limit 1),
    (select case when b.preview then 'preview' else 'committed' end from export.batches b
     where b.book_id = of_book and b.batch = of_batch))
$$;

-- The batches that an accountant may have imported: committed or acknowledged, and neither previews nor as-of exports. `last_day`
-- is the last day that a batch covers; one without an end date covers everything, which in the base currency ends with the last
-- month that was valued. Only there is it looked up: a manifest is long, and what is exported night by night has no end date.
create or replace view export.standing_batches as
select b.book_id, b.batch, b.scope, b.formats, b.currency_basis, b.from_date, b.to_date, b.since_numbering,
  b.through_numbering, b.covered, b.manifest,
  coalesce(b.to_date, case when b.currency_basis <> 'native' then (
    select (max((m.period || '-01')::date) + interval '1 month')::date - 1
    from json_to_recordset(b.manifest #> '{base,months}') as m (period text)) end) as last_day
from export.batches b
where b.as_of is null and export.batch_state(b.book_id, b.batch) in ('committed', 'acknowledged');

-- TO009. A batch goes from preview to committed to acknowledged, and from each of them to superseded. An as-of batch only shows
-- what the books said at an instant, and has no states.
create or replace function export.check_batch_state() returns trigger language plpgsql as $$
declare
  before text;
  last integer;
  known_at timestamptz;
begin
  -- The row lock serializes changes: a second transaction waits here and then sees the first one's change.
  select b.as_of into known_at from export.batches b where b.book_id = new.book_id and b.batch = new.batch for update;
  if known_at is not null then
    raise exception 'batch % of book % is as of a time and counts for nothing: it cannot become %', new.batch,
      new.book_id, new.state using errcode = 'TO009';
  end if;
  before := export.batch_state(new.book_id, new.batch);
  select coalesce(max(s.sequence), 0) into last from export.batch_states s
    where s.book_id = new.book_id and s.batch = new.batch;
  if new.sequence <> last + 1 then
    raise exception 'change % of batch % of book % does not follow change %', new.sequence, new.batch, new.book_id, last
      using errcode = 'TO009';
  end if;
  if (before, new.state) not in (('preview', 'committed'), ('preview', 'superseded'), ('committed', 'acknowledged'),
      ('committed', 'superseded'), ('acknowledged', 'superseded')) then
    raise exception 'batch % of book % is %: it cannot become %', new.batch, new.book_id, before, new.state
      using errcode = 'TO009';
  end if;
  return new;
end $$;

create or replace trigger batch_states_checked before insert on export.batch_states
  for each row execute function export.check_batch_state();

-- TO004. The history of a batch's states and the files that it wrote are kept as they are.
create or replace trigger batch_states_immutable before update or delete or truncate on export.batch_states
  for each statement execute function ledger.refuse_change();

create or replace trigger batch_files_immutable before update or delete or truncate on export.batch_files
  for each statement execute function ledger.refuse_change();

-- The files are compressed already: compressing them again would cost time and save nothing.
alter table export.batch_files alter column content set storage external;

-- The rules of the base-currency journal. It is derived from the native books, which do not depend on it.
--
-- One transaction writes the valuation of a month: the month's row, then its entries with their lines (header and lines in one
-- statement), then its state. Nothing is added or changed later. To value the month again, the program deletes the month's row
-- and everything of the month with it, which is refused once the month is closed.
create or replace trigger rate_imports_immutable before update or delete or truncate on valuation.rate_imports
  for each statement execute function ledger.refuse_change();

create or replace trigger rates_immutable before update or delete or truncate on valuation.rates
  for each statement execute function ledger.refuse_change();

-- TO004. An import and its rates are written by one transaction. A rate that was added to an earlier import would seem to have
-- been known when a month was closed.
create or replace trigger rate_imports_now before insert on valuation.rate_imports for each row
  when (new.imported_at < now()) execute function ledger.refuse_change();

-- == 10. Valuation ==

-- TO004. The same for the rates themselves.
create or replace function valuation.check_rates() returns trigger language plpgsql as $$
begin
  if exists (select 1 from valuation.rate_imports i
             where i.version in (select n.version from new_rates n) and i.imported_at < now()) then
    raise exception 'rates come with their import: insert refused' using errcode = 'TO004', hint = 'Use tieout rates import.';
  end if;
  return null;
end $$;

create or replace trigger rates_of_import after insert on valuation.rates
  referencing new table as new_rates for each statement execute function valuation.check_rates();

-- TO004. Entries and lines of a valuation never change; a month is valued again as a whole.
create or replace trigger entries_immutable before update or truncate on valuation.entries
  for each statement execute function ledger.refuse_change();

create or replace trigger postings_immutable before update or truncate on valuation.postings
  for each statement execute function ledger.refuse_change();

create or replace trigger months_not_truncated before truncate on valuation.months
  for each statement execute function ledger.refuse_change();

-- TO004. Entries and lines of a valuation are deleted with their month only.
create or replace function valuation.refuse_single_delete() returns trigger language plpgsql as $$
begin
  -- The depth is 1 for a direct delete (this trigger alone), and more within the trigger that deletes a month.
  if (pg_trigger_depth() < 2 or ledger.is_called_by_others()) and not ledger.archiving(tg_relid) then
    raise exception 'rows of %.% go with their month only: delete refused', tg_table_schema, tg_table_name
      using errcode = 'TO004', hint = 'A month is valued again as a whole.';
  end if;
  return null;
end $$;

create or replace trigger entries_whole before delete on valuation.entries
  for each statement execute function valuation.refuse_single_delete();

create or replace trigger postings_whole before delete on valuation.postings
  for each statement execute function valuation.refuse_single_delete();

-- Whether a rate may value one of these currencies in the base currency: its pair or the pair turned round, or one of the two that
-- are crossed through the euro. Where there is no other currency than the base currency, none does.
create or replace function valuation.may_value(from_currency text, to_currency text, base text, currencies text[]) returns boolean
language sql immutable parallel safe as $$
  select cardinality(currencies) > 0 and (from_currency in (base, 'EUR') and to_currency = any (currencies || base)
    or to_currency in (base, 'EUR') and from_currency = any (currencies || base))
$$;

-- The rates of these days that may value these currencies, up to an import (null: all imports): the newest of each day and pair.
create or replace function valuation.rates_between(base text, currencies text[], first_day date, last_day date, through integer)
returns table (date date, from_currency text, to_currency text, rate text, source text) language sql stable parallel safe as $$
  select distinct on (r.date, r.from_currency, r.to_currency) r.date, r.from_currency, r.to_currency, r.rate::text, r.source
  from valuation.rates r
  where r.date between first_day and last_day and (through is null or r.version <= through)
    and valuation.may_value(r.from_currency, r.to_currency, base, currencies)
  order by r.date, r.from_currency, r.to_currency, r.version desc
$$;

-- Whether a valuation is that of a closed month, or of an empty one that the close of a later month locked: the month was over when
-- it was valued, it covers all the month's entries, it follows the valuation of the month before as that now stands, and the rates
-- that the close knew are those that it knew. Any other valuation may be replaced.
create or replace function valuation.is_kept(m valuation.months) returns boolean language sql stable as $$
  select coalesce((
    select m.over and m.through_number = coalesce(p.last_number, 0) and m.previous = coalesce(
        (select b.fingerprint from valuation.months b
         where b.book_id = m.book_id and b.period = (m.period - interval '1 month')::date), '')
      and (m.rates <> 'file' or not exists (
        select from (
          select k.known, m.period - m.max_rate_age_days as first_day, (m.period + interval '1 month')::date - 1 as last_day,
            array(
              select distinct a.currency from ledger.accounts a
              join ledger.balances t on t.book_id = a.book_id and t.account_id = a.account_id and t.period <= m.period
              where a.book_id = m.book_id and a.currency <> m.base_currency) as currencies
          from (
            select (select coalesce(max(i.version), 0) from valuation.rate_imports i where i.imported_at <= c.at) as known
            from ledger.closes c
            where c.book_id = m.book_id and c.period >= m.period and c.action = 'close'
            order by c.period, c.sequence desc limit 1) k
          where k.known > coalesce(m.rates_version, 0)) k
        cross join lateral (
          select * from valuation.rates_between(m.base_currency, k.currencies, k.first_day, k.last_day, k.known)
          except
          select * from valuation.rates_between(m.base_currency, k.currencies, k.first_day, k.last_day,
            coalesce(m.rates_version, 0))) r))
    from ledger.locks l left join ledger.periods p on p.book_id = l.book_id and p.period = m.period
    where l.book_id = m.book_id and m.period <= l.closed_through), false)
$$;

-- TO004: the row of a valued month is immutable, except that the transaction that inserts it sets its state last. TO005: the
-- valuation of a closed month is kept, if it is the one that the close relied on.
create or replace function valuation.keep_month() returns trigger language plpgsql as $$
declare kept boolean;
begin
  perform ledger.refuse_other_table(tg_relid, 'valuation.months');
  if tg_op = 'UPDATE' then
    if old.state is null and new.state is not null and old.transaction = pg_current_xact_id()
       and to_jsonb(new) - 'state' = to_jsonb(old) - 'state' then
      return new;
    end if;
    raise exception 'the valuation of % of book % is immutable: update refused', to_char(old.period, 'YYYY-MM'),
      old.book_id using errcode = 'TO004', hint = 'A month is valued again as a whole.';
  end if;
  -- No lock is taken, so that valuing never waits for a close, nor a close for valuing.
  kept := valuation.is_kept(old);
  if kept then
    raise exception '% of book % is closed: its valuation is kept', to_char(old.period, 'YYYY-MM'), old.book_id
      using errcode = 'TO005', hint = 'Reopen the month to value it again.';
  end if;
  delete from valuation.postings p where p.book_id = old.book_id and p.period = old.period;
  delete from valuation.entries e where e.book_id = old.book_id and e.period = old.period;
  return old;
end $$;

create or replace trigger months_kept before update or delete on valuation.months
  for each row execute function valuation.keep_month();

-- The headers of a month's valuation. TO004: they are inserted by the transaction that values the month. TO001: each comes with
-- its lines. TO003: the entry of a journal entry has that entry's journal number.
create or replace function valuation.check_entries() returns trigger language plpgsql
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

create or replace trigger entries_checked after insert on valuation.entries
  referencing new table as new_entries for each statement execute function valuation.check_entries();

-- The lines of a month's valuation. TO004: they are inserted by the transaction that values the month. TO001: each entry has all
-- its lines, numbered from 1. TO002: it balances in the base currency. TO003: its accounts exist.
create or replace function valuation.check_postings() returns trigger language plpgsql
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

create or replace trigger postings_checked after insert on valuation.postings
  referencing new table as new_postings for each statement execute function valuation.check_postings();

-- TO004. Each row holds the settings by which months were valued from an instant on: a change of settings is a new row.
create or replace trigger settings_immutable before update or delete or truncate on valuation.settings
  for each statement execute function ledger.refuse_change();

-- == 11. The journal, to be read ==

-- The numbered journal, which every export reads: `journal` has a row for each entry, `journal_lines` one for each line. The
-- views of schema ledger show the books in their own currencies, those of schema valuation the base-currency journal, with the
-- same columns: a reader chooses the schema and nothing else.
--
--   series, number   identify an entry within its month
--   place            orders the entries of a day
--   lines            `account amount account amount ...` in the order of the lines; computed only if a query reads it
--   natives          the lines' amounts in their own currencies; null in schema ledger; computed only if a query reads it
--   account          the id of a ledger account, or the role of an account that only the base-currency journal has
create or replace view ledger.journal as
select n.book_id, n.period, 'journal'::text as series, n.number, n.number::bigint as place, n.numbering, e.entry_id,
  e.effective_date, e.occurred_at, e.recorded_at, e.kind, e.description, e.source_type, e.source_id, e.sequence,
  e.correction, e.partner_account_id, e.position, e.resource_type, e.resource_id::text as resource_id, e.external_reference,
  e.counterparty, e.late_for, r.period as reverses_period, r.number as reverses_number,
  (select string_agg(p.account_id || ' ' || p.amount, ' ' order by p.line_number) from ledger.postings p
   where p.book_id = n.book_id and p.entry_id = n.entry_id) as lines,
  null::text as natives
from ledger.journal_numbers n
join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
left join ledger.journal_numbers r on r.book_id = e.book_id and r.entry_id = e.reverses;

create or replace view ledger.journal_lines as
select n.book_id, n.period, 'journal'::text as series, n.number, n.numbering, n.entry_id, e.effective_date, e.recorded_at,
  p.line_number, p.account_id::text as account, p.currency, p.amount
from ledger.journal_numbers n
join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id;

-- Makes the same views over the base-currency journal's tables. `prefix` names the permanent tables, or the temporary ones that
-- a transaction makes for an as-of export (`src/Valuation/BaseJournal.ts`). Entries that only this journal has (revaluations and
-- their reversals) happen at the beginning of their day in UTC and are recorded when their month was valued. Reversals come
-- first on their day, revaluations last.
create or replace function valuation.make_journal_views(prefix text) returns void language plpgsql as $$
begin
  execute format($view$
    create or replace view %1$sjournal as
    select v.book_id, v.period, v.series, v.number,
      v.number + case when v.kind = 'fx_reversal' then -4294967296 when v.series = 'fx' then 4294967296 else 0 end as place,
      n.numbering, v.entry_id, v.effective_date,
      coalesce(e.occurred_at, v.effective_date::timestamp at time zone 'UTC') as occurred_at,
      coalesce(e.recorded_at, m.valued_at) as recorded_at, coalesce(v.kind, e.kind) as kind,
      coalesce(v.description, e.description) as description, coalesce(e.source_type, 'valuation') as source_type,
      e.source_id, e.sequence, e.correction, e.partner_account_id, e.position,
      coalesce(e.resource_type, case when v.resource_id is not null then 'CONVERSION' end) as resource_type,
      coalesce(e.resource_id::text, v.resource_id) as resource_id, e.external_reference, e.counterparty, e.late_for,
      coalesce(r.period, case when v.reverses is not null then (v.period - interval '1 month')::date end) as reverses_period,
      coalesce(r.number, v.reverses) as reverses_number,
      (select string_agg(coalesce(p.account_id::text, p.role) || ' ' || p.amount, ' ' order by p.line_number)
       from %1$spostings p
       where p.book_id = v.book_id and p.period = v.period and p.series = v.series and p.number = v.number
         and p.amount <> 0) as lines,
      (select json_agg(json_build_array(p.line_number, coalesce(p.account_id::text, p.role), p.amount::text,
         p.native::text, p.native_currency, p.basis, p.rate, p.rate_date::text, p.rate_source) order by p.line_number)::text
       from %1$spostings p
       where p.book_id = v.book_id and p.period = v.period and p.series = v.series and p.number = v.number
         and p.native is not null) as natives
    from %1$sentries v
    left join %1$smonths m on m.book_id = v.book_id and m.period = v.period
    left join ledger.journal_entries e on e.book_id = v.book_id and e.entry_id = v.entry_id
    left join ledger.journal_numbers n on n.book_id = v.book_id and n.entry_id = v.entry_id
    left join ledger.journal_numbers r on r.book_id = e.book_id and r.entry_id = e.reverses
  $view$, prefix);
  execute format($view$
    create or replace view %1$sjournal_lines as
    select v.book_id, v.period, v.series, v.number, n.numbering, v.entry_id, v.effective_date,
      coalesce(e.recorded_at, m.valued_at) as recorded_at, p.line_number, coalesce(p.account_id::text, p.role) as account,
      m.base_currency as currency, p.amount
    from %1$sentries v
    -- Entry by entry, for which `offset 0` stands: a month that was valued a moment ago is in no statistics, and a join of it
    -- would be planned for one entry and one line, and compare each with each.
    cross join lateral (
      select x.line_number, x.account_id, x.role, x.amount from %1$spostings x
      where x.book_id = v.book_id and x.period = v.period and x.series = v.series and x.number = v.number offset 0) p
    left join %1$smonths m on m.book_id = v.book_id and m.period = v.period
    left join ledger.journal_entries e on e.book_id = v.book_id and e.entry_id = v.entry_id
    left join ledger.journal_numbers n on n.book_id = v.book_id and n.entry_id = v.entry_id
  $view$, prefix);
end $$;

do $$ begin perform valuation.make_journal_views('valuation.'); end $$;

-- What the conversions of a month post to trading accounts, corrections included, by conversion and currency. It counts entries
-- up to a journal number that were recorded by an instant, and leaves out amounts that come to zero. What a month only gives back or
-- corrects did not become whole in it.
drop function if exists valuation.traded_in(integer, date, integer, timestamptz);
create function valuation.traded_in(of_book integer, month date, through_number integer, known_at timestamptz)
returns table (resource_id text, currency text, amount numeric, became_whole boolean) language sql stable as $$
  select e.resource_id, p.currency, sum(p.amount), bool_or(e.kind in ('conversion', 'conversion_whole'))
  from ledger.journal e
  join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'trading'
  where e.book_id = of_book and e.period = month and e.number <= through_number and e.recorded_at <= known_at
    and e.resource_id is not null
  group by e.resource_id, p.currency having sum(p.amount) <> 0
$$;

-- Whether a batch has lines of the journal: one of bank statements alone has none, whatever its days are.
create or replace function export.holds_journal(manifest json) returns boolean language sql immutable parallel safe as $$
  select manifest ->> 'holds' is null
$$;

-- The journal lines that a batch in native currencies covers, computed from the batch's row. A check compares them with the
-- batch's control totals.
create or replace view export.batch_lines as
select b.batch, l.*
from export.batches b
join ledger.journal_lines l on l.book_id = b.book_id
  and l.numbering > b.since_numbering and l.numbering <= b.through_numbering
  and l.period between coalesce(date_trunc('month', b.from_date::timestamp)::date, '-infinity') and coalesce(b.to_date, 'infinity')
  and l.effective_date between coalesce(b.from_date, '-infinity') and coalesce(b.to_date, 'infinity')
  and (b.as_of is null or l.recorded_at <= b.as_of)
  -- Most cover what no batch did before them: nothing to be read for each line.
  and (json_array_length(b.covered) = 0 or not exists (
    select 1 from json_to_recordset(b.covered) as c ("from" date, "to" date, after bigint, through bigint)
    where l.effective_date between c."from" and c."to" and l.numbering > coalesce(c.after, 0) and l.numbering <= c.through))
where b.currency_basis = 'native' and export.holds_journal(b.manifest);

-- == 12. Standings and open items ==

-- Whether a stream that was in this trouble cannot be read at all.
create or replace function reconcile.is_unreadable(trouble text) returns boolean language sql immutable parallel safe as $$
  select coalesce(trouble in ('Forbidden', 'NotFound', 'NoPath', 'Inactive'), false)
$$;

-- Whether an account has left for good, as far as a statement can show that is refused from then on: it is closed, or no longer listed.
create or replace function reconcile.has_left(unlisted_since timestamptz, status text) returns boolean language sql immutable parallel safe as $$
  select unlisted_since is not null or status = 'CLOSED'
$$;

-- Whether an account is one that has left, and whose statement the service refuses: the interface does not show with which status.
create or replace function reconcile.is_gone(has_left boolean, trouble text) returns boolean language sql immutable parallel safe as $$
  select has_left and coalesce(trouble in ('Forbidden', 'NotFound', 'Rejected', 'Unauthorized'), false)
$$;

-- Every account with the evidence of its statement's last reads; that of a list is in sync.stream_reads alone. `unreadable`: the
-- service refuses it, and a person must find out why, since a retry will not help.
create or replace view reconcile.statement_standing as
select a.book_id, a.account_id, r.began_at, r.ended_at, r.run_id, r.trouble, r.status, r.detail, r.failing_since,
  reconcile.is_unreadable(r.trouble) as unreadable,
  reconcile.is_gone(reconcile.has_left(a.unlisted_since, a.status), r.trouble) as gone
from mirror.accounts a
left join sync.stream_reads r on r.book_id = a.book_id and r.stream = 'statement:' || a.account_id;

drop function if exists reconcile.is_gone(timestamptz, text);

-- Clients whose accounts were read before and which the service now refuses.
create or replace view reconcile.gone_clients as
select b.book_id, b.client_id, r.trouble, r.status, r.detail, r.failing_since, r.began_at
from mirror.books b
join sync.stream_reads r on r.book_id = b.book_id and r.stream = 'accounts' and reconcile.is_unreadable(r.trouble)
where b.client_id is not null and exists (select 1 from mirror.accounts a where a.book_id = b.book_id);

-- The balance of conversions_in_transit by conversion and currency; the rows add up to the balance of the role. `first_date` is
-- the day since which the item has not been zero, in whatever order its entries arrived.
create or replace view reconcile.conversions_in_transit as
select t.book_id, t.conversion_id, t.currency, t.amount, d.first_date, d.last_date, r.status,
  r.account_id as sell_account_id, r.currency as sell_currency, r.amount as sell_amount,
  r.buy_account_id, r.buy_currency, r.buy_amount
from ledger.transit t
left join mirror.resources r on r.book_id = t.book_id and r.resource_id = t.conversion_id
  and r.resource_type = 'CONVERSION'
left join lateral (
  select min(z.day) filter (where z.settled is null or z.day > z.settled) as first_date, max(z.day) as last_date
  from (
    select y.day, max(y.day) filter (where y.standing = 0) over () as settled
    from (
      select x.day, sum(sum(x.amount)) over (order by x.day) as standing
      from (
        select j.effective_date as day, p.amount, a.role
        from (
          select s.entry_id as source_id from mirror.statement_entries s
          where s.book_id = t.book_id and s.related_id = t.conversion_id and not s.held
          union
          select t.conversion_id) o
        join ledger.journal_entries j on j.book_id = t.book_id and j.source_id = o.source_id
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id and p.currency = t.currency
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          and a.role = 'conversions_in_transit') x
      group by x.day) y) z) d on true;

-- TO004. sync.stream_reads is the evidence that a stream was read to its end. It is never taken back, and only a run that is
-- running adds to it, at the time of the update.
create or replace function sync.keep_evidence() returns trigger language plpgsql as $$
begin
  if (new.book_id, new.stream) is distinct from (old.book_id, old.stream)
     or old.ended_at is not null and new.ended_at is null
     or old.began_at is not null and (new.began_at is null or new.began_at < old.began_at)
     or ((new.began_at, new.ended_at, new.run_id) is distinct from (old.began_at, old.ended_at, old.run_id)
         or old.trouble is not null and new.trouble is null)
       and (new.ended_at <> now() or not exists (
         select 1 from sync.runs r where r.run_id = new.run_id and r.state = 'running')) then
    raise exception 'stream % of book % was read: its evidence stays', old.stream, old.book_id
      using errcode = 'TO004', hint = 'Read it again: tieout sync.';
  end if;
  return new;
end $$;

create or replace trigger stream_reads_kept before update on sync.stream_reads
  for each row execute function sync.keep_evidence();

-- Open items explain the balance of a balance-sheet account, other than cash, as a list of items that adds up to it.
--
-- How the items of an account are listed:
--   item       a line for each movement that has not come to zero
--   clearing   a line for each movement that is under way or partly returned, and a line a month for all others
--   month      a line for each closed month, and a line for each movement of the open months
--   null       no items: the statement explains cash, and income and expenses carry no balance
-- An account that a rule or a person added has its kind by its name.
create or replace function ledger.open_item_reading(role text, rule_code text, name text) returns text
  language sql immutable parallel safe as $$
  select case
    when role in ('cash', 'fees', 'interest_income', 'interest_expense') then null
    when rule_code <> '' or role = 'other' then case when name ~* '^(income|expenses?|revenues?)(:|$)' then null else 'month' end
    when role in ('deposits_clearing', 'withdrawals_clearing') then 'clearing'
    when role in ('payouts_clearing', 'trading', 'opening_balance') then 'month'
    else 'item' end
$$;

-- The open items of a book's accounts; the lines of an account add up to its balance. The arguments:
--   through      the last month that counts, by its first day (`infinity`: all months)
--   known_at     entries that were recorded later do not count
--   of_account   one account, or null for all
--   drill        a closed month that is listed by movement
--
-- An item is the amount that a movement, a receivable or a single statement entry leaves on the account; `since` is the day since
-- which it has not been zero. Accounts of kind `item` are read through all months. The closed months of a clearing account are
-- not read: their open movements are found through the mirror. Up to a closed month, a movement is open if it was so at the close
-- of that month, whatever happened later.
create or replace function ledger.open_items(
  of_book integer, through date default 'infinity', known_at timestamptz default 'infinity',
  of_account integer default null, drill date default null)
returns table (account_id integer, period date, item_type text, item_id uuid, since date, last date, postings bigint,
  amount numeric, status text, external_reference text, counterparty text)
language sql stable as $$
  with account as materialized (
    select a.account_id, a.role, ledger.open_item_reading(a.role, a.rule_code, a.name) as reading
    from ledger.accounts a
    where a.book_id = of_book and ledger.open_item_reading(a.role, a.rule_code, a.name) is not null
      and (of_account is null or a.account_id = of_account)),
  lock as materialized (
    -- With `known_at`: the last month that was closed, and not reopened, by that instant.
    select coalesce(case when known_at < 'infinity' then (
          select max(c.period) from ledger.closes c
          where c.book_id = of_book and c.action = 'close' and c.at <= known_at and not exists (
            select 1 from ledger.closes o
            where o.book_id = c.book_id and o.period = c.period and o.sequence > c.sequence and o.action = 'reopen'
              and o.at <= known_at))
        else l.closed_through end, '-infinity'::date) as closed_through,
      -- The instant at which the mirror and the findings decide what is in flight: for a closed month, its close.
      case when known_at < 'infinity' then known_at when through <= l.closed_through then coalesce((
          select c.at from ledger.closes c
          where c.book_id = of_book and c.period >= through and c.action = 'close'
          order by c.period, c.sequence desc limit 1), 'infinity') else 'infinity' end as stated
    from ledger.locks l where l.book_id = of_book),
  -- Each account is looked up (`offset 0`): of a join the planner expects next to nothing, however well it knows the tables, and then
  -- looks at each pair of a book's entries and postings.
  turnover as materialized (
    select b.account_id, a.reading, b.period, b.debit - b.credit as amount,
      a.reading = 'item' or b.period > k.closed_through or b.period is not distinct from drill as whole
    from lock k
    cross join ledger.balances b
    cross join lateral (
      select ledger.open_item_reading(c.role, c.rule_code, c.name) as reading from ledger.accounts c
      where c.book_id = of_book and c.account_id = b.account_id offset 0) a
    where b.book_id = of_book and b.period <= through and a.reading is not null
      and (of_account is null or b.account_id = of_account)),
  -- Numbered entries are found by the numbers of their month, all others in the queue of unnumbered entries.
  entry as materialized (
    select n.entry_id from (select distinct t.period from turnover t where t.whole) m
    join ledger.journal_numbers n on n.book_id = of_book and n.period = m.period
    union all
    select u.entry_id from ledger.unnumbered u where u.book_id = of_book),
  -- The cash of a loan is listed under a receivable that names it. Of several, it is the one that takes the remainder.
  owner as materialized (
    select a.account_id, u.source_id, s.unit, s.receivable_id
    from account a
    join ledger.accounts c on c.book_id = of_book and c.account_id = a.account_id
    join ledger.receivable_shares s on s.book_id = of_book and s.currency = c.currency and s.rest
    cross join lateral unnest(s.entries) as u (source_id)
    where a.role = 'loan_clearing' and a.reading = 'item'),
  found as materialized (
    select t.account_id, t.reading, j.period, j.effective_date, j.source_type, j.source_id, j.kind,
      case when x.receivable_id is null then coalesce(j.resource_type, m.resource_type) else 'RECEIVABLE' end as resource_type,
      coalesce(x.receivable_id, j.resource_id, m.resource_id) as resource_id, j.external_reference, j.counterparty, j.amount,
      j.currency, x.unit, w.sequence as leg, j.correction,
      case when j.source_type = 'receivable_version' and c.account_id is not null then j.sequence end as sequence
    -- Entry by entry (`offset 0`), for the same reason.
    from (
      select h.*, l.account_id, l.currency, l.amount
      from entry e
      cross join lateral (
        select i.* from ledger.journal_entries i
        where i.book_id = of_book and i.entry_id = e.entry_id and i.recorded_at <= known_at offset 0) h
      cross join lateral (
        select k.account_id, k.currency, k.amount from ledger.postings k
        where k.book_id = of_book and k.entry_id = e.entry_id offset 0) l
      offset 0) j
    join turnover t on t.account_id = j.account_id and t.period = j.period and t.whole
    left join owner x on x.account_id = t.account_id and x.source_id = j.source_id and j.source_type <> 'receivable_version'
    -- A statement entry that named its movement only after it was booked belongs to that movement.
    left join lateral (
      select k.resource_type, k.resource_id from ledger.journal_entries k
      where j.resource_id is null and j.source_type <> 'receivable_version' and k.book_id = of_book
        and k.source_id = j.source_id and k.resource_id is not null and k.period <= through and k.recorded_at <= known_at
      limit 1) m on true
    -- A loan leg whose cash has not arrived is an item of its own.
    left join ledger.accounts c on c.book_id = of_book and c.account_id = j.account_id and c.role = 'loan_clearing'
    left join ledger.receivable_waits w on w.book_id = of_book and w.receivable_id = j.source_id and w.whole
      and w.sequence = j.sequence and j.source_type = 'receivable_version' and c.account_id is not null),
  -- The receivables that have cash for a purpose, where a closed month or an instant is asked for.
  paid as materialized (
    select s.receivable_id, s.purpose
    from (select distinct f.unit, f.currency from found f cross join lock k where f.unit is not null and k.stated < 'infinity') u
    join ledger.receivable_shares s on s.book_id = of_book and s.unit = u.unit and s.currency = u.currency),
  -- Legs whose cash has arrived since then stand apart, too: those of receivables of which only payouts and repayments stood there
  -- (nothing corrected, cancelled or taken back), without any cash for their purpose.
  posting as materialized (
    select f.account_id, f.reading, f.period, f.effective_date, f.source_type, f.source_id, f.kind, f.resource_type, f.resource_id,
      f.external_reference, f.counterparty, f.amount, f.currency, f.unit, f.leg
    from found f where f.sequence is null
    union all
    select f.account_id, f.reading, f.period, f.effective_date, f.source_type, f.source_id, f.kind, f.resource_type, f.resource_id,
      f.external_reference, f.counterparty, f.amount, f.currency, f.unit,
      case when f.leg is not null or f.only_legs and (f.source_id, f.kind) not in (select a.receivable_id, a.purpose from paid a)
        then f.sequence end
    from (
      select l.*, k.stated < 'infinity' and bool_and(l.correction = 0 and l.kind in ('disbursement', 'repayment')) over receivable
        and min(l.way) over receivable = max(l.way) over receivable as only_legs
      from (
        select f.*, sign(f.amount) * case f.kind when 'repayment' then -1 else 1 end as way from found f
        where f.sequence is not null) l
      cross join lock k
      window receivable as (partition by l.account_id, l.source_id)) f),
  -- The shares of other receivables in cash that is listed under the receivable that takes the remainder.
  shared as materialized (
    select f.account_id, f.period, f.effective_date, f.owner_id, s.receivable_id, s.amount
    from (
      select distinct on (p.account_id, p.unit) p.account_id, p.unit, p.currency, p.period, p.effective_date,
        p.resource_id as owner_id
      from posting p where p.unit is not null order by p.account_id, p.unit, p.effective_date) f
    join ledger.receivable_shares s on s.book_id = of_book and s.unit = f.unit and s.currency = f.currency and not s.rest),
  -- Movements that are not final, have an open finding, or were returned: what they leave in clearing is listed by movement.
  movement as materialized (
    select r.resource_id, r.resource_type from mirror.resources r
    where r.book_id = of_book and not r.final and r.resource_type in ('DEPOSIT', 'WITHDRAWAL')
    union
    select v.resource_id, v.resource_type from lock k
    join mirror.resource_versions v on v.book_id = of_book and not v.final and v.resource_type in ('DEPOSIT', 'WITHDRAWAL')
      and v.changed_at <= k.stated and v.superseded_at > k.stated and k.stated < 'infinity'
    union
    select mirror.uuid_or_null(f.subject_id), mirror.upper_ascii(f.subject_type) from lock k
    cross join lateral reconcile.findings_open_at(k.stated) f
    where f.book_id = of_book and f.subject_type in ('deposit', 'withdrawal')
    union
    select p.resource_id, p.resource_type from posting p
    where p.reading = 'clearing' and p.resource_id is not null and p.kind in ('deposit_return', 'withdrawal_return')),
  -- The postings to clearing of these movements, and of entries that name no movement, in whatever month.
  in_flight as materialized (
    select a.account_id, j.period, j.effective_date, j.source_type, j.source_id, j.kind, j.resource_type, j.resource_id,
      j.external_reference, j.counterparty, p.amount
    from (
      select s.entry_id as source_id from movement m
      join mirror.statement_entries s on s.book_id = of_book and s.related_id = m.resource_id
        and s.related_type = m.resource_type and not s.held
      where exists (select 1 from account c where c.reading = 'clearing')
      union
      select mirror.uuid_or_null(f.subject_id) from lock k
      cross join lateral reconcile.findings_open_at(k.stated) f
      where f.book_id = of_book and f.check_name = 'clearing-movement'
      union
      select p.source_id from posting p where p.reading = 'clearing' and p.resource_id is null) o
    join ledger.journal_entries j on j.book_id = of_book and j.source_id = o.source_id and j.period <= through
      and j.recorded_at <= known_at
    join ledger.postings p on p.book_id = of_book and p.entry_id = j.entry_id
    join account a on a.account_id = p.account_id and a.reading = 'clearing'),
  line as (
    select p.* from (
      select p.account_id, p.period, p.effective_date, p.source_type, p.source_id, p.kind, p.resource_type, p.resource_id,
        p.external_reference, p.counterparty, p.amount, p.leg, p.reading = 'item' as flies
      from posting p
      where p.reading <> 'clearing' or not exists (
        select 1 from in_flight f where f.account_id = p.account_id and f.source_id = p.source_id)
      union all
      select f.account_id, f.period, f.effective_date, f.source_type, f.source_id, f.kind, f.resource_type, f.resource_id,
        f.external_reference, f.counterparty, f.amount, null, true
      from in_flight f
      union all
      select h.account_id, h.period, h.effective_date, 'receivable_version', v.receivable_id, '', 'RECEIVABLE', v.receivable_id,
        null, null, v.amount, null, true
      from shared h
      cross join lateral (values (h.receivable_id, h.amount), (h.owner_id, -h.amount)) as v (receivable_id, amount)) p),
  daily as (
    select l.account_id, l.flies, case when l.flies then null else l.period end as period,
      case when l.source_type = 'receivable_version' then l.source_id else coalesce(l.resource_id, l.source_id) end as item_id,
      l.leg, max(case when l.resource_id is not null then l.resource_type
        when l.source_type = 'opening' then 'OPENING' else 'STATEMENT_ENTRY' end) as item_type,
      bool_or(l.resource_id is not null) as moved, bool_or(l.kind in ('deposit_return', 'withdrawal_return')) as returned,
      l.effective_date as day, count(*) as postings, sum(l.amount) as amount,
      max(l.external_reference) as external_reference, max(l.counterparty) as counterparty,
      sum(sum(l.amount)) over (
        partition by l.account_id, l.flies, case when l.flies then null else l.period end,
          case when l.source_type = 'receivable_version' then l.source_id else coalesce(l.resource_id, l.source_id) end, l.leg
        order by l.effective_date) as standing
    from line l group by 1, 2, 3, 4, l.leg, l.effective_date),
  settled as (
    select d.*, max(d.day) filter (where d.standing = 0) over (
      partition by d.account_id, d.flies, d.period, d.item_id, d.leg) as settled_on
    from daily d),
  item as (
    select s.account_id, s.flies, s.period, s.item_id, max(s.item_type) as item_type, bool_or(s.moved) as moved,
      bool_or(s.returned) as returned, min(s.day) filter (where s.settled_on is null or s.day > s.settled_on) as since,
      max(s.day) as last, sum(s.postings)::bigint as postings, sum(s.amount) as amount,
      max(s.external_reference) as external_reference, max(s.counterparty) as counterparty
    from settled s group by s.account_id, s.flies, s.period, s.item_id, s.leg having sum(s.amount) <> 0)
  select i.account_id, i.period, i.item_type, i.item_id, i.since, i.last, i.postings, i.amount,
    case when a.reading = 'clearing' and i.flies and (not i.moved or r.resource_id is null) then 'names no movement'
      when a.reading = 'clearing' and i.flies and i.returned and coalesce(v.final, r.final) then 'partly returned'
      when i.flies then mirror.lower_ascii(coalesce(v.status, r.status)) end,
    i.external_reference, i.counterparty
  from item i
  join account a on a.account_id = i.account_id
  left join mirror.resources r on r.book_id = of_book and r.resource_id = i.item_id and r.resource_type = i.item_type
  cross join lock k
  left join lateral (
    select o.status, o.final from mirror.resource_versions o
    where k.stated < 'infinity' and o.book_id = of_book and o.resource_id = i.item_id and o.resource_type = i.item_type
      and o.changed_at <= k.stated and o.superseded_at > k.stated limit 1) v on true
  union all
  -- The other months by their turnover, without the postings that are listed above and without entries recorded later.
  select m.account_id, m.period, null, null, m.period, (m.period + interval '1 month')::date - 1, null, sum(m.amount), null, null, null
  from (
    select t.account_id, t.period, t.amount from turnover t where not t.whole
    union all
    select f.account_id, f.period, -f.amount from in_flight f
    join turnover t on t.account_id = f.account_id and t.period = f.period and not t.whole
    union all
    select t.account_id, t.period, -p.amount
    from ledger.journal_entries j
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join turnover t on t.account_id = p.account_id and t.period = j.period and not t.whole
    where known_at < 'infinity' and j.book_id = of_book and j.recorded_at > known_at) m
  group by m.account_id, m.period having sum(m.amount) <> 0
$$;

-- Whether each account of the service ties out. It does if the ledger's cash, the last balance of its statement and the balance
-- that the service reports are equal, its statement was read to the end and can still be read (otherwise it is `unserved`), no
-- entry is held back, and no blocking finding on it is open. An account that does not tie out is `off`. A balance of the service that
-- differs is no difference yet, but `being_read`, until a run has opened the finding, or for an hour: a run reads balances and
-- statements one after the other, reads both again where they differ, and proves them at its end. `accepted` is the month of the close
-- that accepted for good all that keeps it from tying out; null: not all of it is accepted.
create or replace view reconcile.account_standings as
select a.book_id, a.account_id, a.currency, a.payment_rails, a.status, a.entries + o.older as entries, a.tail_read_at,
  a.balance as service, coalesce(a.last_balance, 0) as statement, c.amount as ledger, h.held, f.check_name as blocking,
  a.tail_read_at is null or h.held > 0 or c.amount <> coalesce(a.last_balance, 0) or c.amount <> a.balance and not a.is_fresh
    or f.check_name is not null or v.unserved as off,
  v.unserved, v.began_at as read_at, v.ended_at is not null as was_read, v.of_client, v.trouble, v.status as answers, v.detail,
  case when h.held = 0 and c.amount = coalesce(a.last_balance, 0) and c.amount = a.balance and f.unanswered = 0
    and case when v.unserved then coalesce(f.gone, false) or f.client_gone is not null else a.tail_read_at is not null end
    then coalesce(f.period, f.client_gone) end as accepted, c.amount <> a.balance and a.is_fresh as being_read
from (
  -- Findings and acceptances are grouped with the accounts that they are about. Where there are no statistics, or in a session that only
  -- probes indexes, a join would compare each account with every finding, and that one with every acceptance.
  select g.book_id, g.account_id, g.check_name, g.period, g.unanswered, g.gone, g.client_gone
  from (
    select o.book_id, o.account_id, min(o.check_name) as check_name, max(o.period) as period, sum(o.asks) as unanswered,
      bool_or(o.gone) as gone, bool_or(o.is_account) as is_account, max(max(o.client_gone)) over (partition by o.book_id) as client_gone
    from (
      select m.book_id, m.account_id, null as check_name, null::date as period, 0 as asks, null::boolean as gone, true as is_account,
        null::date as client_gone
      from mirror.accounts m
      union all
      select x.book_id, mirror.uuid_or_null(x.subject_id), x.check_name, null, 1, null, false, null
      from reconcile.open_findings x where x.severity = 'blocking' and x.subject_type = 'account'
      union all
      select k.book_id, case k.subject_type when 'account' then mirror.uuid_or_null(k.subject_id) end, null,
        case k.subject_type when 'account' then k.period end, case k.subject_type when 'account' then -1 else 0 end,
        k.check_name = 'account-gone', false, case k.check_name when 'client-gone' then k.period end
      from reconcile.accepted_findings k where k.subject_type = 'account' or k.check_name = 'client-gone') o
    group by o.book_id, o.account_id) g
  where g.is_account) f
cross join lateral (
  select m.*, greatest(m.balance_read_at, m.tail_read_at)
      between now() - interval '1 hour' and now() + interval '1 hour' as is_fresh
  from mirror.accounts m where m.book_id = f.book_id and m.account_id = f.account_id offset 0) a
cross join lateral (
  select s.began_at, s.ended_at, s.unreadable or s.gone or g.book_id is not null as unserved, g.book_id is not null as of_client,
    case when g.book_id is null then s.trouble else g.trouble end as trouble,
    case when g.book_id is null then s.status else g.status end as status,
    case when g.book_id is null then s.detail else g.detail end as detail
  from reconcile.statement_standing s
  left join reconcile.gone_clients g on g.book_id = s.book_id
  where s.book_id = a.book_id and s.account_id = a.account_id) v
cross join lateral (
  select coalesce(sum(t.debit - t.credit), 0) as amount
  from ledger.accounts l
  join ledger.balances t on t.book_id = l.book_id and t.account_id = l.account_id
  where l.book_id = a.book_id and l.partner_account_id = a.account_id) c
cross join lateral (
  -- With both bounds the planner expects few entries behind the booked ones, also where all are of one account: with the lower one alone it
  -- would read all entries for each account.
  select count(*) as held from mirror.statement_entries e
  where e.book_id = a.book_id and e.account_id = a.account_id and e.position between a.entries + 1 and 9223372036854775807
    and e.held) h
cross join lateral (
  -- Entries count from 1; those before the first known one, which a backfill found, stand at 0 and below without a gap.
  select coalesce(1 - min(e.position), 0) as older from mirror.statement_entries e
  where e.book_id = a.book_id and e.account_id = a.account_id and e.position between -9223372036854775807 and 0) o;

drop view if exists reconcile.stream_standing;

-- What keeps a month from closing because it is in transit too long: conversions, and loan legs without cash, that are older than
-- `transit_days` in the book's time zone and above the materiality. `since` is the day of the first entry: it keeps that month
-- and all later ones from closing.
create or replace function reconcile.overdue_in_transit(transit_days integer, of_books integer[] default null)
returns table (book_id integer, finding_id bigint, check_name text, message text, since date)
language sql stable as $$
  select f.book_id, f.finding_id, f.check_name, f.message, (f.evidence ->> 'since')::date
  from reconcile.open_findings f
  join ledger.locks k on k.book_id = f.book_id
  where f.check_name in ('conversion-in-transit', 'loan-in-transit') and (of_books is null or f.book_id = any (of_books))
    and (f.evidence ->> 'material')::boolean
    and ledger.day_of(now(), k.time_zone) - (f.evidence ->> 'since')::date > transit_days
$$;

drop function if exists reconcile.book_standings(integer, integer[]);

-- Whether each book ties out, and if not, why not. Status, alerts, reports and the status page read it. It reads open items and balances alone, so that its cost does not grow with history, and counts each cause once:
--   suspense, transit, loans, clearing   open items
--   unexplained                          suspense accounts with a balance and no open finding (not yet reconciled)
--   accepted                             blocking findings that were accepted for good (`reconcile.accepted_findings`); neither they
--                                        nor the accounts that they are about are counted elsewhere
--   other_blocking, other_warnings       all other open findings; blocking_findings counts every finding that blocks
--   quarantined                          rows in quarantine, without those whose finding was accepted for good
--   blocked, loans_blocked               by month, conversions and loan legs that are in transit too long
--                                        (`reconcile.overdue_in_transit`)
create or replace function reconcile.book_standings(transit_days integer, of_books integer[] default null)
returns table (book_id integer, connection text, code text, accounts integer, "off" integer, being_read integer, unread integer,
  entries bigint, suspense integer, transit integer, blocked jsonb, loans integer, loans_blocked jsonb, clearing integer,
  unexplained integer, other_blocking integer, other_warnings integer, blocking_findings integer, quarantined integer, accepted integer)
language sql stable as $$
  with finding as (
    select f.book_id, f.check_name, f.subject_id, case when not f.is_accepted then f.severity end as severity,
      case when f.is_accepted then 'accepted'
        when f.check_name in ('adjustment', 'unclassified-entry', 'missing-resource') then 'suspense'
        when f.check_name = 'conversion-in-transit' then 'conversions_in_transit'
        when f.check_name = 'loan-in-transit' or f.check_name = 'loan-clearing'
          and (f.evidence ->> 'loanClearing')::numeric is distinct from 0 then 'loan_clearing'
        when f.check_name = 'clearing-movement' then 'clearing'
        when f.check_name = 'quarantine' then 'quarantine'
        when f.severity = 'blocking' and f.subject_type = 'account' then 'account'
        else f.severity end as kind
    from (
      -- IN uses a hash table, as NOT IN below does: a join would compare each finding with every acceptance in a session that only
      -- probes indexes.
      select o.*, (o.book_id, o.finding_id) in (
        select k.book_id, k.finding_id from reconcile.accepted_findings k
        where of_books is null or k.book_id = any (of_books)) as is_accepted
      from reconcile.open_findings o where of_books is null or o.book_id = any (of_books) offset 0) f),
  counted as (
    select f.book_id, count(*) filter (where f.kind = 'suspense') as suspense,
      count(*) filter (where f.kind = 'clearing') as clearing,
      count(*) filter (where f.kind = 'blocking') as blocking, count(*) filter (where f.kind = 'warning') as warnings,
      count(*) filter (where f.severity = 'blocking') as all_blocking, count(*) filter (where f.kind = 'accepted') as accepted
    from finding f group by f.book_id),
  travelling as (
    select t.book_id, count(distinct t.conversion_id) as transit from ledger.transit t
    where of_books is null or t.book_id = any (of_books) group by t.book_id),
  lent as (
    select i.book_id, count(*) as loans from reconcile.open_loans i
    where of_books is null or i.book_id = any (of_books) group by i.book_id),
  late as (
    select m.book_id, jsonb_object_agg(m.month, m.items) filter (where m.check_name = 'conversion-in-transit') as blocked,
      jsonb_object_agg(m.month, m.items) filter (where m.check_name = 'loan-in-transit') as loans_blocked
    from (
      select t.book_id, t.check_name, to_char(greatest(date_trunc('month', t.since),
          (k.closed_through + interval '1 month'), o.first), 'YYYY-MM') as month, count(*) as items
      from reconcile.overdue_in_transit(transit_days, of_books) t
      join ledger.locks k on k.book_id = t.book_id
      left join lateral (
        select min(p.period)::timestamptz as first from ledger.periods p
        where p.book_id = t.book_id and p.status = 'open') o on true
      group by 1, 2, 3) m
    group by m.book_id),
  standing as (
    select a.book_id, count(*) as accounts, count(*) filter (where a.off and a.accepted is null) as off,
      count(*) filter (where a.being_read and not a.off) as being_read,
      count(*) filter (where a.tail_read_at is null) as unread, sum(a.entries) as entries
    from reconcile.account_standings a
    where of_books is null or a.book_id = any (of_books) group by a.book_id),
  unnamed as (
    select a.book_id, count(*) as accounts
    from ledger.accounts a
    cross join lateral ledger.balance_of(a.book_id, a.account_id) b
    where a.role = 'suspense' and a.rule_code = '' and b.balance <> 0
      and (of_books is null or a.book_id = any (of_books))
      and not exists (select 1 from counted c where c.book_id = a.book_id and c.suspense > 0)
    group by a.book_id),
  waiting as (
    select q.book_id, count(*) as rows from mirror.open_quarantine q
    -- NOT IN uses a hash table: where there are no statistics, a join would compare each row with every open finding.
    where (of_books is null or q.book_id = any (of_books)) and (q.book_id, q.stream) not in (
      select f.book_id, f.subject_id from finding f where f.kind = 'accepted' and f.check_name = 'quarantine')
    group by q.book_id)
  select b.book_id, b.connection, b.code, coalesce(s.accounts, 0)::integer, coalesce(s.off, 0)::integer,
    coalesce(s.being_read, 0)::integer, coalesce(s.unread, 0)::integer, coalesce(s.entries, 0)::bigint, coalesce(c.suspense, 0)::integer,
    coalesce(v.transit, 0)::integer, coalesce(l.blocked, '{}'), coalesce(n.loans, 0)::integer,
    coalesce(l.loans_blocked, '{}'), coalesce(c.clearing, 0)::integer, coalesce(u.accounts, 0)::integer, coalesce(c.blocking, 0)::integer,
    coalesce(c.warnings, 0)::integer, coalesce(c.all_blocking, 0)::integer, coalesce(w.rows, 0)::integer,
    coalesce(c.accepted, 0)::integer
  from mirror.books b
  left join standing s on s.book_id = b.book_id
  left join counted c on c.book_id = b.book_id
  left join travelling v on v.book_id = b.book_id
  left join lent n on n.book_id = b.book_id
  left join late l on l.book_id = b.book_id
  left join unnamed u on u.book_id = b.book_id
  left join waiting w on w.book_id = b.book_id
  where of_books is null or b.book_id = any (of_books)
$$;

-- Archives. Closed years can be moved out into a dump (`src/Archive.ts`). Statement entries stay, with their positions and
-- balances: they are the evidence of cash, and every later read, duplicate and bank statement is proved against them. What leaves
-- is what was booked and read of movements that are over: journal entries with their lines, numbers and valuations, and the
-- resources behind them. What stays in their place is small: turnovers, balances, closes, and the identifiers below.

-- == 13. Archive ==

-- Whether the trigger that asks was fired by ledger.archive_year, called by the owner of the table. That function alone may remove
-- what is immutable. `pg_context` names the functions under way, each with its schema, since the search path of archive_year is empty.
create or replace function ledger.archiving(relation oid) returns boolean language plpgsql as $$
declare stack text;
begin
  if not coalesce(ledger.is_owner(relation), false) then return false; end if;
  get diagnostics stack = pg_context;
  return ledger.is_under_way(stack, 'ledger[.]archive_year');
end $$;

-- TO004. What was archived, where it lies and what it adds up to is written by the archiving alone, and kept for good.
create or replace function ledger.refuse_archive_row() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and ledger.archiving(tg_relid) then return null; end if;
  raise exception 'rows of %.% are written by archiving alone: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO004', hint = 'Use tieout archive.';
end $$;

do $$
declare kept text;
begin
  foreach kept in array array['ledger.archives', 'ledger.archived_months', 'ledger.archived_turnover', 'ledger.archived_sources',
      'mirror.archived_resources', 'export.archived_totals'] loop
    execute format('create or replace trigger by_archiving before insert or update or delete or truncate on %s
      for each statement execute function ledger.refuse_archive_row()', kept);
  end loop;
end $$;

-- TO014. The journal entries of these sources are in an archive: the index that refuses a second booking no longer has them.
create or replace function ledger.refuse_archived() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare bad record;
begin
  select n.book_id, n.source_id, a.year into bad
  from new_entries n
  join ledger.archived_sources a on a.book_id = n.book_id and a.source_id = n.source_id limit 1;
  if found then
    raise exception 'the entries of source % of book % are booked already, and archived with %', bad.source_id, bad.book_id, bad.year
      using errcode = 'TO014', hint = 'An archived entry is corrected by a new one of its own.';
  end if;
  return null;
end $$;

create or replace trigger journal_entries_not_archived after insert on ledger.journal_entries
  referencing new table as new_entries for each statement execute function ledger.refuse_archived();

-- The last archive of each book that has one, with the last numbering step that any of them holds.
create or replace view ledger.archived_books as
select distinct on (a.book_id) a.book_id, a.year, a.through, (a.through + interval '1 month')::date - 1 as last_day,
  max(a.through_numbering) over b as through_numbering, max(a.known_from) over b as known_from
from ledger.archives a
window b as (partition by a.book_id)
order by a.book_id, a.year desc;

-- What a resource says of money, for comparison with a later read of it.
create or replace function mirror.resource_digest(status text, account_id uuid, currency text, amount numeric, fee numeric,
  fee_currency text, delivered numeric, buy_account_id uuid, buy_currency text, buy_amount numeric) returns text
language sql immutable parallel safe as $$
  select md5(json_build_array(status, account_id, currency, trim_scale(amount)::text, trim_scale(fee)::text, fee_currency,
    trim_scale(delivered)::text, buy_account_id, buy_currency, trim_scale(buy_amount)::text)::text)
$$;

-- What was booked up to the end of a month, by unit: a movement (deposit, withdrawal, conversion, payout), or a statement entry
-- that names none. A unit leaves as a whole or stays as a whole. `kept_by` says why one stays; null: it leaves.
--   opening            an account's opening balance
--   loan               cash of a loan, or what a receivable posted: shared out anew whenever one of its versions comes
--   moved later        the unit has entries after that month
--   open item          something of it stands in suspense or in transit
--   not final          the service had not said by then, or by the next close, that the movement is over
--   not read           the movement that its entries name could not be read
--   finding            a finding about it is open, or was open at a later close
--   contradiction      one of its entries was read with two contents
--   to be looked at    a check or the numbering has it in its queue
create or replace function ledger.archive_units(of_book integer, through date)
returns table (unit uuid, entries bigint, kept_by text) language sql stable as $$
  with known as materialized (
    select ledger.begin_of_day((through + interval '1 month')::date, l.time_zone) as ends, b.connection,
      coalesce((select min(c.at) from ledger.closes c
        where c.book_id = of_book and c.period > through and c.action = 'close'), 'infinity') as next_close
    from ledger.locks l join mirror.books b on b.book_id = l.book_id where l.book_id = of_book),
  booked as materialized (
    select j.entry_id, j.period, j.source_type, j.source_id, coalesce(j.resource_id, j.source_id) as item,
      coalesce(s.related_id, j.source_id) as unit
    from ledger.journal_entries j
    left join mirror.statement_entries s on s.book_id = of_book and s.entry_id = j.source_id
      and j.source_type in ('statement_entry', 'manual')
    where j.book_id = of_book),
  own as materialized (
    select b.unit, count(*) as entries, max(b.period) as last, bool_or(b.source_type = 'opening') as opening,
      bool_or(b.source_type = 'receivable_version') as receivable
    from booked b group by b.unit having min(b.period) <= through),
  standing as materialized (
    select p.unit, bool_or(p.loan) as loan, bool_or(p.reading = 'item' and p.amount <> 0) as open
    from (
      select b.unit, b.item, p.account_id, sum(p.amount) as amount,
        bool_or(a.role in ('loan_clearing', 'receivable_principal', 'receivable_interest', 'interest_income', 'deferred_interest',
          'loan_payable', 'interest_payable', 'interest_expense')) as loan,
        min(ledger.open_item_reading(a.role, a.rule_code, a.name)) as reading
      from booked b
      join own o on o.unit = b.unit
      join ledger.postings p on p.book_id = of_book and p.entry_id = b.entry_id
      join ledger.accounts a on a.book_id = of_book and a.account_id = p.account_id
      group by b.unit, b.item, p.account_id) p
    group by p.unit),
  -- A receivable names its cash by an entry, a resource or a transaction hash, in the organization's book or in the client's.
  lent as materialized (
    select o.unit from own o
    join mirror.receivable_transactions t on t.tx_id = o.unit::text
      and t.book_id in (select x.book_id from mirror.books x join known k on k.connection = x.connection)
    union
    select b.unit from booked b
    join mirror.receivable_transactions t on t.tx_id = b.source_id::text
      and t.book_id in (select x.book_id from mirror.books x join known k on k.connection = x.connection)
    union
    select r.resource_id from mirror.receivable_transactions t
    join mirror.resources r on r.book_id = of_book and lower(r.transaction_hash) = t.tx_id
    where t.book_id in (select x.book_id from mirror.books x join known k on k.connection = x.connection)),
  later as materialized (
    select distinct s.related_id as unit from mirror.statement_entries s cross join known k
    where s.book_id = of_book and s.related_id is not null and (s.held or s.occurred_at >= k.ends)),
  -- What has a resource of the service's: of which type its entries say.
  named as materialized (
    select distinct s.related_id as unit, s.related_type as type from mirror.statement_entries s
    where s.book_id = of_book and s.related_type in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION') and s.related_id is not null),
  unfinished as materialized (
    select r.resource_id as unit from mirror.resources r cross join known k
    where r.book_id = of_book and (not r.final or r.completed_at >= k.ends)
    union
    select v.resource_id from mirror.resource_versions v cross join known k
    where v.book_id = of_book and not coalesce(v.final, false) and v.superseded_at > k.next_close),
  unread as materialized (
    select n.unit from named n
    where not exists (
      select 1 from mirror.resources r where r.book_id = of_book and r.resource_id = n.unit and r.resource_type = n.type)
    union
    select m.resource_id from mirror.missing_resources m where m.book_id = of_book),
  found as materialized (
    select mirror.uuid_or_null(split_part(f.subject_id, ' ', 1)) as id
    from reconcile.findings f cross join known k
    where f.book_id = of_book and (f.closed_at is null or f.closed_at > k.next_close)),
  told as materialized (
    select c.entry_id as id from mirror.contradictions c where c.book_id = of_book),
  waiting as materialized (
    select d.resource_id as unit from reconcile.deferred d where d.book_id = of_book
    union select t.conversion_id from ledger.touched_conversions t where t.book_id = of_book
    union select t.conversion_id from ledger.transit t where t.book_id = of_book),
  blamed as materialized (
    select b.unit from booked b join found f on f.id = b.source_id union select f.id from found f),
  contradicted as materialized (
    select b.unit from booked b join told t on t.id = b.source_id union select t.id from told t)
  select o.unit, o.entries, case
    when o.opening then 'opening'
    when o.receivable or s.loan or l.unit is not null then 'loan'
    when o.last > through or m.unit is not null then 'moved later'
    when s.open then 'open item'
    when r.unit is not null then 'not read'
    when f.unit is not null then 'not final'
    when b.unit is not null then 'finding'
    when c.unit is not null then 'contradiction'
    when w.unit is not null then 'to be looked at' end
  from own o
  left join standing s on s.unit = o.unit
  left join lent l on l.unit = o.unit
  left join later m on m.unit = o.unit
  left join unread r on r.unit = o.unit
  left join unfinished f on f.unit = o.unit
  left join blamed b on b.unit = o.unit
  left join contradicted c on c.unit = o.unit
  left join waiting w on w.unit = o.unit
$$;

-- Lists in the temporary tables `archive_entries` and `archive_resources` what of a book leaves with a year, and returns the rows by
-- table, each with a digest: the sums of the first and of the second 60 bits of the SHA-256 of every row as text.
create or replace function ledger.archive_plan(of_book integer, of_year integer)
returns table (relation text, rows bigint, digest text) language plpgsql
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' set client_min_messages = warning
  set extra_float_digits = 1 as $$
declare
  through date := make_date(of_year, 12, 1);
  wanted record;
begin
  drop table if exists pg_temp.archive_units, pg_temp.archive_entries, pg_temp.archive_resources;
  create temporary table archive_units on commit drop as
    select u.unit from ledger.archive_units(of_book, through) u where u.kept_by is null;
  create temporary table archive_entries on commit drop as
    select j.entry_id, j.source_id, j.source_type, j.period
    from ledger.journal_entries j
    left join mirror.statement_entries s on s.book_id = of_book and s.entry_id = j.source_id
      and j.source_type in ('statement_entry', 'manual')
    join pg_temp.archive_units u on u.unit = coalesce(s.related_id, j.source_id)
    where j.book_id = of_book;
  create temporary table archive_resources on commit drop as
    select r.resource_id, r.resource_type from mirror.resources r
    join pg_temp.archive_units u on u.unit = r.resource_id where r.book_id = of_book;
  create unique index on pg_temp.archive_entries (entry_id);
  create unique index on pg_temp.archive_resources (resource_id, resource_type);
  analyze pg_temp.archive_units, pg_temp.archive_entries, pg_temp.archive_resources;
  for wanted in
    select * from (values
      ('ledger.journal_entries', 'ledger.journal_entries t join pg_temp.archive_entries x using (entry_id)'),
      ('ledger.journal_numbers', 'ledger.journal_numbers t join pg_temp.archive_entries x using (entry_id)'),
      ('ledger.postings', 'ledger.postings t join pg_temp.archive_entries x using (entry_id)'),
      ('mirror.resource_versions', 'mirror.resource_versions t join pg_temp.archive_resources x using (resource_id, resource_type)'),
      ('mirror.resources', 'mirror.resources t join pg_temp.archive_resources x using (resource_id, resource_type)'),
      ('valuation.entries', 'valuation.entries t join pg_temp.archive_entries x using (entry_id)'),
      ('valuation.postings', 'valuation.postings t join valuation.entries e using (book_id, period, series, number)
        join pg_temp.archive_entries x on x.entry_id = e.entry_id')) as v (relation, source)
  loop
    return query execute format($query$
      select %L, count(*), coalesce(sum(('x' || substr(h.hash, 1, 15))::bit(60)::bigint), 0)
        || '-' || coalesce(sum(('x' || substr(h.hash, 16, 15))::bit(60)::bigint), 0)
      from (select encode(sha256(convert_to(t::text, 'UTF8')), 'hex') as hash from %s where t.book_id = $1) h $query$,
      wanted.relation, wanted.source) using of_book;
  end loop;
end $$;

-- One digest of a plan: what a dump says of the rows that it was made for.
create or replace function ledger.archive_digest(of_book integer, of_year integer) returns text language sql as $$
  select encode(sha256(convert_to(string_agg(p.relation || ' ' || p.rows || ' ' || p.digest, e'\n' order by p.relation), 'UTF8')), 'hex')
  from ledger.archive_plan(of_book, of_year) p
$$;

-- What keeps a book's year from being archived, in sentences without a subject; no row: nothing does.
create or replace function ledger.archive_refusals(of_book integer, of_year integer) returns setof text
language sql stable as $$
  with at as (select make_date(of_year, 12, 1) as through)
  select format('is archived through %s already', a.year) from ledger.archived_books a
  where a.book_id = of_book and a.year >= of_year
  union all
  select format('is closed through %s, not %s-12', coalesce(to_char(l.closed_through, 'YYYY-MM'), 'no month'), of_year)
  from ledger.locks l cross join at
  where l.book_id = of_book and (l.closed_through is null or l.closed_through < at.through)
  union all
  select format('has %s open', to_char(p.period, 'YYYY-MM')) from ledger.periods p cross join at
  where p.book_id = of_book and p.period <= at.through and p.status <> 'closed'
  union all
  select format('has %s up to %s-12 without a number',
    case count(*) when 1 then '1 journal entry' else count(*) || ' journal entries' end, of_year)
  from ledger.unnumbered u
  join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
  cross join at
  where u.book_id = of_book and j.period <= at.through having count(*) > 0
  union all
  -- From the first month with entries on, each goes on from the one before it, also from an empty one that was locked with a later
  -- month; what was closed before holds nothing to value.
  select format('has %s closed, but not valued in the base currency as it was closed', to_char(p.period, 'YYYY-MM'))
  from ledger.locks l
  cross join at
  cross join lateral (
    select g.month::date as period
    from generate_series((select min(n.period) from ledger.periods n where n.book_id = of_book and n.last_number > 0)::timestamp,
      least(at.through, l.closed_through)::timestamp, interval '1 month') g (month)) p
  left join valuation.months m on m.book_id = of_book and m.period = p.period
  -- Of a book without a closed month `least` leaves out what is not there.
  where l.book_id = of_book and l.closed_through is not null
    and exists (select 1 from valuation.months v where v.book_id = of_book)
    and not exists (select 1 from ledger.archived_books a where a.book_id = of_book and p.period <= a.through)
    and (m.state is null or not valuation.is_kept(m))
$$;

-- Moves what leaves with a year out of the database. `of_rows` is the digest of these rows as the dump says it, and must be theirs
-- now: TO014 otherwise, and nothing is removed. The dump's own digest is kept for whoever looks for the rows later. Only the owner
-- of the tables may execute it.
create or replace function ledger.archive_year(of_book integer, of_year integer, of_rows text, of_file text, of_digest text,
  was_taken_at timestamptz, by_who text, by_os_user text) returns jsonb language plpgsql
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' as $$
declare
  through date := make_date(of_year, 12, 1);
  refusal text;
  found_rows text;
  planned jsonb;
  removed jsonb := '{}';
  count bigint;
begin
  -- Excludes postings, numbering and closes of the book.
  perform 1 from ledger.locks l where l.book_id = of_book for update;
  select string_agg(r, ', ') into refusal from ledger.archive_refusals(of_book, of_year) r;
  if refusal is not null or not exists (select 1 from ledger.locks l where l.book_id = of_book) then
    raise exception 'book % cannot be archived: it %', of_book, coalesce(refusal, 'has no ledger')
      using errcode = 'TO014', hint = 'tieout archive --dry-run says what stands in the way.';
  end if;
  select jsonb_object_agg(p.relation, p.rows), encode(sha256(convert_to(
      string_agg(p.relation || ' ' || p.rows || ' ' || p.digest, e'\n' order by p.relation), 'UTF8')), 'hex')
    into planned, found_rows from ledger.archive_plan(of_book, of_year) p;
  if found_rows is distinct from of_rows then
    raise exception 'the rows of book % that leave with % are not those of the dump: their digest is %, the dump says %', of_book,
      of_year, found_rows, coalesce(of_rows, 'nothing')
      using errcode = 'TO014', hint = 'Something was booked or read meanwhile: make another dump.';
  end if;
  if (planned ->> 'ledger.journal_entries')::bigint = 0 then return planned; end if;

  insert into ledger.archives (book_id, year, through, file, digest, taken_at, rows_digest, rows, through_numbering, known_from,
    who, os_user)
  select of_book, of_year, through, of_file, of_digest, was_taken_at, of_rows, planned,
    (select max(n.numbering) from ledger.journal_numbers n join pg_temp.archive_entries x using (entry_id) where n.book_id = of_book),
    greatest(
      (select max(j.recorded_at) from ledger.journal_entries j join pg_temp.archive_entries x using (entry_id) where j.book_id = of_book),
      (select max(r.changed_at) from mirror.resources r join pg_temp.archive_resources x using (resource_id, resource_type)
       where r.book_id = of_book),
      (select max(c.at) from ledger.closes c where c.book_id = of_book and c.period <= through),
      (select max(m.valued_at) from valuation.months m where m.book_id = of_book and m.period <= through)),
    by_who, by_os_user;

  insert into ledger.archived_months (book_id, year, period, entries)
  select of_book, of_year, x.period, count(*) from pg_temp.archive_entries x group by x.period;

  insert into ledger.archived_turnover (book_id, year, period, basis, account, debit, credit)
  select of_book, of_year, x.period, 'native', p.account_id::text, sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0))
  from ledger.postings p join pg_temp.archive_entries x using (entry_id)
  where p.book_id = of_book group by x.period, p.account_id
  union all
  select of_book, of_year, p.period, 'base', coalesce(p.account_id::text, p.role), sum(greatest(p.amount, 0)),
    sum(greatest(-p.amount, 0))
  from valuation.postings p join valuation.entries e using (book_id, period, series, number)
  join pg_temp.archive_entries x on x.entry_id = e.entry_id
  where p.book_id = of_book group by p.period, coalesce(p.account_id::text, p.role);

  insert into ledger.archived_sources (book_id, year, source_id)
  select distinct of_book, of_year, x.source_id from pg_temp.archive_entries x
  where x.source_type in ('statement_entry', 'resource_version');

  insert into mirror.archived_resources (book_id, year, version, resource_id, resource_type, digest)
  select of_book, of_year, r.version, r.resource_id, r.resource_type, mirror.resource_digest(r.status, r.account_id, r.currency,
    r.amount, r.fee, r.fee_currency, r.delivered, r.buy_account_id, r.buy_currency, r.buy_amount)
  from mirror.resources r join pg_temp.archive_resources x using (resource_id, resource_type) where r.book_id = of_book;

  insert into export.archived_totals (book_id, year, batch, currency, debit, credit, entries, postings)
  select of_book, of_year, l.batch, l.currency, coalesce(sum(l.amount) filter (where l.amount > 0), 0),
    coalesce(-sum(l.amount) filter (where l.amount < 0), 0), count(distinct l.entry_id), count(*)
  from export.batch_lines l join pg_temp.archive_entries x on x.entry_id = l.entry_id
  where l.book_id = of_book group by l.batch, l.currency;

  delete from valuation.postings p using valuation.entries e, pg_temp.archive_entries x
  where p.book_id = of_book and e.book_id = p.book_id and e.period = p.period and e.series = p.series and e.number = p.number
    and x.entry_id = e.entry_id;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('valuation.postings', count);
  delete from valuation.entries e using pg_temp.archive_entries x where e.book_id = of_book and x.entry_id = e.entry_id;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('valuation.entries', count);
  delete from ledger.journal_numbers n using pg_temp.archive_entries x where n.book_id = of_book and x.entry_id = n.entry_id;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('ledger.journal_numbers', count);
  delete from ledger.postings p using pg_temp.archive_entries x where p.book_id = of_book and x.entry_id = p.entry_id;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('ledger.postings', count);
  delete from ledger.journal_entries j using pg_temp.archive_entries x where j.book_id = of_book and x.entry_id = j.entry_id;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('ledger.journal_entries', count);
  delete from mirror.resource_versions v using pg_temp.archive_resources x
  where v.book_id = of_book and v.resource_id = x.resource_id and v.resource_type = x.resource_type;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('mirror.resource_versions', count);
  delete from mirror.resources r using pg_temp.archive_resources x
  where r.book_id = of_book and r.resource_id = x.resource_id and r.resource_type = x.resource_type;
  get diagnostics count = row_count;
  removed := removed || jsonb_build_object('mirror.resources', count);
  if removed <> planned then
    raise exception 'book %: % rows were removed, % were planned', of_book, removed, planned
      using errcode = 'TO014', hint = 'Something was read meanwhile: make another dump.';
  end if;
  return removed;
end $$;

do $$ begin
  execute 'revoke all on function ledger.archive_year(integer, integer, text, text, text, timestamptz, text, text) from public';
end $$;


-- == 14. Who writes ==

-- TO013. The rules for whole statements look at what is written to a partitioned table, and do not run where a statement names a
-- partition of it. Nothing but the tables themselves is written, therefore.
create or replace function ledger.refuse_partition() returns trigger language plpgsql as $$
begin
  raise exception '%.% is a partition: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO013', hint = 'Write to the table that it is a part of.';
end $$;

do $$
declare partition regclass;
begin
  for partition in
    select c.oid from pg_class c
    where c.relispartition and c.relkind = 'r' and c.relnamespace::regnamespace::text in ('ledger', 'mirror') loop
    execute format('create or replace trigger part_of_table before insert or update or delete or truncate on %s
      for each statement execute function ledger.refuse_partition()', partition);
  end loop;
end $$;

-- TO012, for every table; it stays at the end of the file. The rules above refuse what cannot be true. Much that could be true
-- would pass them: another time, another amount in the mirror, a finding marked as closed. Therefore only sessions of the program
-- may write; each announces itself by a setting (`src/Database/ConnectionSettings.ts`). An owner of the database can switch this
-- off like any other rule, but not by mistake and not with an ordinary statement.
create or replace function ledger.refuse_by_hand() returns trigger language plpgsql as $$
begin
  raise exception '%.% is written by tieout alone: % refused', tg_table_schema, tg_table_name, lower(tg_op collate "C")
    using errcode = 'TO012', hint = 'Everything that may be changed has a command: tieout --help.';
end $$;

do $$
declare kept regclass;
begin
  for kept in
    select c.oid from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text in
      ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook') loop
    execute format('create or replace trigger by_program before insert or update or delete or truncate on %s for each statement
      when (coalesce(current_setting(''tieout.program'', true), '''') <> ''on'') execute function ledger.refuse_by_hand()', kept);
  end loop;
end $$;

-- Made once more as the server prints them, which has other brackets where rows were compared: a restored pg_dump is made from
-- those words, and prints the same then. verify --database compares the words.
do $$
declare one record;
begin
  for one in
    select pg_get_triggerdef(t.oid) as made from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0 and t.tgqual is not null and t.tgconstraint = 0 and c.relnamespace::regnamespace::text in
      ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')
  loop
    execute regexp_replace(one.made, '^CREATE', 'CREATE OR REPLACE');
  end loop;
  for one in
    select c.oid::regclass as name, pg_get_viewdef(c.oid) as made from pg_class c
    where c.relkind = 'v' and c.relnamespace::regnamespace::text in
      ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')
  loop
    execute format('create or replace view %s as %s', one.name, one.made);
  end loop;
end $$;

-- Who makes a trigger needs this right; who writes to a table that has it does not. On a table of a session's own, whose columns may be
-- of types of its own, these functions would do what a rule of ours takes for the work of our tables.
do $$
declare made regprocedure;
begin
  for made in
    select p.oid from pg_proc p
    where p.prorettype = 'trigger'::regtype and p.pronamespace::regnamespace::text in
      ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')
  loop
    execute format('revoke execute on function %s from public', made);
  end loop;
end $$;

-- A name without its schema means Postgres' own, whatever a session's path is, and whatever it has made in its temporary schema: it could shadow a type.
do $$
declare made record;
begin
  for made in
    select p.oid::regprocedure as name from pg_proc p
    join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
    where p.pronamespace::regnamespace::text in ('archive', 'export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')
      and not coalesce(array_to_string(p.proconfig, ' ') ~ 'search_path', false)
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', made.name);
  end loop;
end $$;
