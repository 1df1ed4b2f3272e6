-- The rules of the books that columns and checks cannot express, and the views that everything reads. They hold whoever
-- writes. Idempotent: `tieout migrate` makes all of it anew, in one transaction, whenever this file has changed.
--
-- Statement-level triggers over transition tables look at the new rows only. All lines of a journal entry and its header
-- come in one statement (one WITH with two inserts): the header's line_count makes anything else impossible, because
-- both triggers run when the statement is complete and each looks for the other's rows.
--
-- A session keeps the plans of a trigger's queries, and the first ones are made while the tables are small, when reading
-- them whole looks cheapest: the functions say that look-ups are index probes, whatever the size. Numbering,
-- which takes all that waits at once, says the opposite.
--
-- SQLSTATE class TO is ours:
--   TO001 entry and lines do not belong together    TO002 entry does not balance      TO003 account or currency is wrong
--   TO004 the rows are immutable                    TO005 the period is closed        TO006 journal number out of order
--   TO007 cash differs from the statement           TO008 periods close and reopen in order
--   TO009 not a change that a batch can go through
create sequence if not exists ledger.journal_entry_block as bigint increment by 1024 minvalue 1024 start with 1024;

comment on sequence ledger.journal_entry_block is 'Each value reserves the 1024 entry ids that end before it plus 1024.';

create sequence if not exists ledger.numbering_step as bigint;

create or replace function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of %.% are immutable: % refused', tg_table_schema, tg_table_name, lower(tg_op)
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

create or replace function ledger.refuse_direct_write() returns trigger language plpgsql as $$
begin
  -- 1 is this trigger itself; inside a posting's or a numbering's trigger it is more.
  if pg_trigger_depth() < 2 then
    raise exception '%.% is kept by the posting triggers: % refused', tg_table_schema, tg_table_name, lower(tg_op)
      using errcode = 'TO004', hint = 'Post a journal entry instead.';
  end if;
  return null;
end $$;

create or replace trigger balances_kept_by_posting before insert or update or delete or truncate on ledger.balances
  for each statement execute function ledger.refuse_direct_write();

create or replace trigger unnumbered_kept_by_posting before insert or update or delete or truncate on ledger.unnumbered
  for each statement execute function ledger.refuse_direct_write();

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

-- A statement entry that is posted (not held) is what the service said: it never changes.
create or replace function mirror.keep_statement_entry() returns trigger language plpgsql as $$
begin
  if not old.held then
    raise exception 'statement entry % is posted and immutable: % refused', old.entry_id, lower(tg_op)
      using errcode = 'TO004';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create or replace trigger statement_entries_kept before update or delete on mirror.statement_entries
  for each row execute function mirror.keep_statement_entry();

create or replace trigger statement_entries_not_truncated before truncate on mirror.statement_entries
  for each statement execute function ledger.refuse_change();

create or replace function ledger.check_entries() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare bad record;
begin
  select n.book_id, n.entry_id into bad
  from new_entries n
  where not exists (
    select 1 from ledger.postings p where p.book_id = n.book_id and p.entry_id = n.entry_id)
  limit 1;
  if found then
    raise exception 'journal entry % of book % has no lines', bad.entry_id, bad.book_id
      using errcode = 'TO001', hint = 'Insert the entry and all its lines in one statement.';
  end if;

  -- The shared side of the lock that a close takes exclusively: read after it is held, so that no close slips between.
  perform 1 from ledger.locks l
  where l.book_id in (select distinct n.book_id from new_entries n)
  order by l.book_id for share;

  select n.book_id, n.entry_id, n.period, l.book_id as known, l.closed_through into bad
  from new_entries n left join ledger.locks l on l.book_id = n.book_id
  where l.book_id is null or n.period <= l.closed_through or n.late_for >= n.period
     or n.late_for > l.closed_through or (n.late_for is not null and l.closed_through is null)
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
    raise exception 'journal entry % is late for a period that is not closed', bad.entry_id using errcode = 'TO005';
  end if;

  insert into ledger.periods (book_id, period)
  select distinct n.book_id, n.period from new_entries n
  where not exists (select 1 from ledger.periods p where p.book_id = n.book_id and p.period = n.period)
  order by 1, 2
  on conflict do nothing;

  insert into ledger.unnumbered (book_id, entry_id) select n.book_id, n.entry_id from new_entries n;
  return null;
end $$;

create or replace trigger journal_entries_checked after insert on ledger.journal_entries
  referencing new table as new_entries for each statement execute function ledger.check_entries();

create or replace function ledger.check_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  torn boolean;
  foreign_account boolean;
  wrong_cash boolean;
  booking bigint;
  cash_lines bigint;
  cash_entries bigint;
  bad record;
begin
  -- Each rule is one pass over the new rows; only where one is broken is it asked which row it was.
  --
  -- Look-ups are lateral index probes; `limit 1` keeps the planner, which knows nothing about the size of a transition
  -- table, from turning them into joins that begin at the other end.
  select bool_or(e.line_count is null or e.line_count <> n.lines or n.first <> 1 or n.last <> n.lines),
    count(*) filter (where e.source_type = 'statement_entry' and e.sequence = 0)
  into torn, booking
  from (
    select p.book_id, p.entry_id, count(*) as lines, min(p.line_number) as first, max(p.line_number) as last
    from new_postings p group by p.book_id, p.entry_id
  ) n
  left join lateral (
    select j.line_count, j.source_type, j.sequence from ledger.journal_entries j
    where j.book_id = n.book_id and j.entry_id = n.entry_id limit 1
  ) e on true;
  if torn then
    select n.book_id, n.entry_id, n.lines, e.line_count into bad
    from (
      select p.book_id, p.entry_id, count(*) as lines, min(p.line_number) as first, max(p.line_number) as last
      from new_postings p group by p.book_id, p.entry_id
    ) n
    left join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
    where e.line_count is null or e.line_count <> n.lines or n.first <> 1 or n.last <> n.lines
    limit 1;
    raise exception 'journal entry % of book %: % lines came, the entry says %', bad.entry_id, bad.book_id, bad.lines,
      coalesce(bad.line_count::text, 'nothing, there is none')
      using errcode = 'TO001', hint = 'Insert the entry and all its lines in one statement.';
  end if;

  select p.book_id, p.entry_id, p.currency, sum(p.amount) as difference into bad
  from new_postings p group by p.book_id, p.entry_id, p.currency having sum(p.amount) <> 0 limit 1;
  if found then
    raise exception 'journal entry % of book % does not balance: % % over', bad.entry_id, bad.book_id, bad.difference,
      bad.currency using errcode = 'TO002';
  end if;

  -- Cash is what the statement says: the entry that books a statement entry has exactly one cash line, on the statement's
  -- account, of exactly its amount; nothing else but an opening balance touches cash.
  select
    bool_or(a.code is null or a.currency <> p.currency or scale(trim_scale(p.amount)) > a.scale),
    bool_or(c.source_type is not null and (
      a.partner_account_id is distinct from c.partner_account_id
      or c.source_type not in ('statement_entry', 'opening')
      or (c.source_type = 'statement_entry' and (c.sequence > 0 or c.amount is distinct from p.amount)))),
    count(*) filter (where c.source_type = 'statement_entry'),
    count(distinct p.entry_id) filter (where c.source_type = 'statement_entry')
  into foreign_account, wrong_cash, cash_lines, cash_entries
  from new_postings p
  left join lateral (
    select x.code, x.currency, x.role, x.partner_account_id,
      (select y.scale from ledger.currencies y where y.code = x.currency) as scale
    from ledger.accounts x where x.book_id = p.book_id and x.account_id = p.account_id limit 1
  ) a on true
  left join lateral (
    select j.source_type, j.sequence, j.partner_account_id,
      (select case m.type when 'CREDIT' then m.amount else -m.amount end
       from mirror.statement_entries m
       where m.book_id = j.book_id and m.entry_id = j.source_id and m.account_id = j.partner_account_id and not m.held
       limit 1) as amount
    from ledger.journal_entries j
    where a.role = 'cash' and j.book_id = p.book_id and j.entry_id = p.entry_id limit 1
  ) c on true;
  if foreign_account then
    select p.book_id, p.entry_id, p.line_number, p.currency, p.amount, a.code, a.currency as expected into bad
    from new_postings p
    left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    left join ledger.currencies c on c.code = a.currency
    where a.code is null or a.currency <> p.currency or scale(trim_scale(p.amount)) > c.scale
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
  if wrong_cash or cash_lines <> booking or cash_entries <> booking then
    select n.book_id, n.entry_id, n.source_type, n.cash, s.amount into bad
    from (
      select e.book_id, e.entry_id, e.source_type, e.source_id, e.sequence, e.partner_account_id,
        sum(p.amount) filter (where a.role = 'cash') as cash, count(*) filter (where a.role = 'cash') as lines,
        bool_or(a.role = 'cash' and a.partner_account_id is distinct from e.partner_account_id) as elsewhere
      from new_postings p
      join ledger.journal_entries e on e.book_id = p.book_id and e.entry_id = p.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      group by e.book_id, e.entry_id, e.source_type, e.source_id, e.sequence, e.partner_account_id
    ) n
    left join lateral (
      select case m.type when 'CREDIT' then m.amount else -m.amount end as amount
      from mirror.statement_entries m
      where n.source_type = 'statement_entry' and n.sequence = 0 and m.book_id = n.book_id and m.entry_id = n.source_id
        and m.account_id = n.partner_account_id and not m.held
    ) s on true
    where n.elsewhere
       or (n.source_type = 'statement_entry' and n.sequence = 0 and (n.lines <> 1 or n.cash is distinct from s.amount))
       or (n.cash is not null and n.source_type <> 'opening' and (n.source_type <> 'statement_entry' or n.sequence > 0))
    limit 1;
    raise exception 'journal entry % of book % moves % of cash, its source (%) %', bad.entry_id, bad.book_id,
      coalesce(bad.cash::text, 'nothing'), bad.source_type, coalesce('moves ' || bad.amount, 'moves none')
      using errcode = 'TO007';
  end if;

  -- Locked in key order, so that two postings into the same accounts wait for each other and never in a circle.
  insert into ledger.balances as b (book_id, account_id, period, debit, credit)
  select p.book_id, p.account_id, e.period,
    coalesce(sum(p.amount) filter (where p.amount > 0), 0), coalesce(-sum(p.amount) filter (where p.amount < 0), 0)
  from new_postings p
  cross join lateral (
    select j.period from ledger.journal_entries j where j.book_id = p.book_id and j.entry_id = p.entry_id limit 1) e
  group by p.book_id, p.account_id, e.period
  order by p.book_id, p.account_id, e.period
  on conflict (book_id, account_id, period)
  do update set debit = b.debit + excluded.debit, credit = b.credit + excluded.credit;
  return null;
end $$;

create or replace trigger postings_checked after insert on ledger.postings
  referencing new table as new_postings for each statement execute function ledger.check_postings();

create or replace function ledger.check_numbers() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare bad record;
begin
  select n.book_id, n.entry_id into bad
  from new_numbers n
  left join lateral (
    select j.period from ledger.journal_entries j where j.book_id = n.book_id and j.entry_id = n.entry_id limit 1) e on true
  where e.period is distinct from n.period limit 1;
  if found then
    raise exception 'journal number for entry % of book %: no such entry in that period', bad.entry_id, bad.book_id
      using errcode = 'TO006';
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

-- Numbers everything that waits, in the order in which the books read: the same data gives the same numbers.
create or replace function ledger.assign_numbers(books integer[]) returns bigint language plpgsql
  set enable_seqscan = on set enable_hashjoin = on set enable_mergejoin = on as $$
declare
  step bigint;
  given bigint;
begin
  -- Exclusive against postings of these books, so that no entry commits between the ordering and the numbers.
  perform 1 from ledger.locks l where l.book_id = any (books) order by l.book_id for update;
  if not exists (select 1 from ledger.unnumbered u where u.book_id = any (books)) then return 0; end if;
  step := nextval('ledger.numbering_step');
  insert into ledger.journal_numbers (book_id, entry_id, period, number, numbering)
  select e.book_id, e.entry_id, e.period,
    p.last_number + row_number() over (
      partition by e.book_id, e.period
      order by e.effective_date, e.partner_account_id, e.position, e.sequence, e.source_type, e.source_id)::integer,
    step
  from ledger.unnumbered u
  join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id
  join ledger.periods p on p.book_id = e.book_id and p.period = e.period
  where u.book_id = any (books);
  get diagnostics given = row_count;
  return given;
end $$;

-- The queue is emptied by the numbers themselves.
create or replace function ledger.take_from_unnumbered() returns trigger language plpgsql
  set enable_seqscan = on set enable_hashjoin = on set enable_mergejoin = on as $$
begin
  delete from ledger.unnumbered u using new_numbers n where u.book_id = n.book_id and u.entry_id = n.entry_id;
  return null;
end $$;

create or replace trigger journal_numbers_taken after insert on ledger.journal_numbers
  referencing new table as new_numbers for each statement execute function ledger.take_from_unnumbered();

create or replace function ledger.check_period() returns trigger language plpgsql as $$
declare closed date;
begin
  if tg_op = 'DELETE' then
    raise exception 'period % of book % cannot be deleted', to_char(old.period, 'YYYY-MM'), old.book_id
      using errcode = 'TO004';
  end if;
  if tg_op = 'UPDATE' and (new.book_id, new.period) is distinct from (old.book_id, old.period) then
    raise exception 'a period keeps its book and month' using errcode = 'TO004';
  end if;
  if tg_op = 'UPDATE' and new.last_number is distinct from old.last_number and pg_trigger_depth() < 2 then
    raise exception 'journal numbers are counted by the numbering itself' using errcode = 'TO006';
  end if;
  if tg_op = 'INSERT' and new.last_number <> 0 then
    raise exception 'a period starts at journal number 0' using errcode = 'TO006';
  end if;
  if tg_op = 'INSERT' and new.status = 'open' then
    select closed_through into closed from ledger.locks where book_id = new.book_id;
    if new.period <= closed then
      raise exception 'book % is closed through %', new.book_id, to_char(closed, 'YYYY-MM') using errcode = 'TO005';
    end if;
    return new;
  end if;
  if tg_op = 'UPDATE' and new.status = old.status then return new; end if;

  -- Closing or reopening: exclusive against every posting of the book, until the transaction ends.
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

-- closed_through follows the periods; nobody sets it by hand.
create or replace function ledger.keep_lock() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.time_zone is distinct from old.time_zone and old.time_zone is not null then
    raise exception 'book % is dated in %', old.book_id, old.time_zone using errcode = 'TO004';
  end if;
  if tg_op = 'UPDATE' and new.time_zone is not null and old.time_zone is null
     and new.closed_through is not distinct from old.closed_through then
    return new;
  end if;
  if tg_op <> 'INSERT' and pg_trigger_depth() < 2 then
    raise exception 'ledger.locks follows ledger.periods: % refused', lower(tg_op) using errcode = 'TO004';
  end if;
  if tg_op = 'INSERT' and new.closed_through is not null then
    raise exception 'a book starts with all periods open' using errcode = 'TO008';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;

create or replace trigger locks_kept before insert or update or delete on ledger.locks
  for each row execute function ledger.keep_lock();

create or replace function ledger.open_book() returns trigger language plpgsql as $$
begin
  insert into ledger.locks (book_id) values (new.book_id);
  return null;
end $$;

create or replace trigger books_open_ledger after insert on mirror.books for each row execute function ledger.open_book();

alter table ledger.balances set (fillfactor = 50);

-- Most values change in place often (balances after every page): leave room for it.
alter table mirror.accounts set (fillfactor = 50);

alter table sync.checkpoints set (fillfactor = 50);

-- What a run brought is found by block range; ranges that nobody has summarized yet would be read again every night.
alter index mirror.statement_entries_run set (autosummarize = on);

alter index mirror.resources_run set (autosummarize = on);

alter index ledger.journal_entries_run set (autosummarize = on);

alter index ledger.journal_numbers_step set (autosummarize = on);

alter table ledger.unnumbered set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000);

-- The same table as src/Money/Currency.ts; a test compares them.
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

-- A transaction of a receivable may be named by an identifier or by a hash: only the first can be looked up as one.
create or replace function mirror.uuid_or_null(text) returns uuid language sql immutable strict parallel safe as $$
  select case when $1 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $1::uuid end
$$;

-- What was closed, by whom and why, is kept for good.
create or replace trigger closes_immutable before update or delete or truncate on ledger.closes
  for each statement execute function ledger.refuse_change();

create or replace trigger close_balances_immutable before update or delete or truncate on ledger.close_balances
  for each statement execute function ledger.refuse_change();

create or replace trigger account_mappings_immutable before update or delete or truncate on export.account_mappings
  for each statement execute function ledger.refuse_change();

-- The last change tells; a batch without one is as it was written.
create or replace function export.batch_state(of_book integer, of_batch integer) returns text language sql stable as $$
  select coalesce(
    (select s.state from export.batch_states s where s.book_id = of_book and s.batch = of_batch
     order by s.sequence desc limit 1),
    (select case when b.preview then 'preview' else 'committed' end from export.batches b
     where b.book_id = of_book and b.batch = of_batch))
$$;

-- A batch of what the books said at a time counts for nothing: it stays as it was written.
create or replace function export.check_batch_state() returns trigger language plpgsql as $$
declare
  before text;
  last integer;
  past timestamptz;
begin
  -- One change at a time: a second one waits here and then sees the first.
  select b.as_of into past from export.batches b where b.book_id = new.book_id and b.batch = new.batch for update;
  if past is not null then
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

create or replace trigger batch_states_immutable before update or delete or truncate on export.batch_states
  for each statement execute function ledger.refuse_change();

create or replace trigger batch_files_immutable before update or delete or truncate on export.batch_files
  for each statement execute function ledger.refuse_change();

-- Compressed already: to try again costs time and saves nothing.
alter table export.batch_files alter column content set storage external;

-- The rules of the base-currency journal. It never touches the native books, and they never know of it.
--
-- A month is inserted, then its entries with their lines (header and lines in one statement), then its state, all in one
-- transaction. Nothing is added to it or changed in it later. To value it again, the month's row is deleted, and everything
-- of it goes with it: that is refused once the month is closed.
--
create or replace trigger rate_imports_immutable before update or delete or truncate on valuation.rate_imports
  for each statement execute function ledger.refuse_change();

create or replace trigger rates_immutable before update or delete or truncate on valuation.rates
  for each statement execute function ledger.refuse_change();

create or replace trigger entries_immutable before update or truncate on valuation.entries
  for each statement execute function ledger.refuse_change();

create or replace trigger postings_immutable before update or truncate on valuation.postings
  for each statement execute function ledger.refuse_change();

create or replace trigger months_not_truncated before truncate on valuation.months
  for each statement execute function ledger.refuse_change();

create or replace function valuation.refuse_single_delete() returns trigger language plpgsql as $$
begin
  -- 1 is this trigger itself; where a month goes as a whole it is more.
  if pg_trigger_depth() < 2 then
    raise exception 'rows of %.% go with their month only: delete refused', tg_table_schema, tg_table_name
      using errcode = 'TO004', hint = 'A month is valued again as a whole.';
  end if;
  return null;
end $$;

create or replace trigger entries_whole before delete on valuation.entries
  for each statement execute function valuation.refuse_single_delete();

create or replace trigger postings_whole before delete on valuation.postings
  for each statement execute function valuation.refuse_single_delete();

create or replace function valuation.keep_month() returns trigger language plpgsql as $$
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

create or replace trigger months_kept before update or delete on valuation.months
  for each row execute function valuation.keep_month();

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

create or replace trigger settings_immutable before update or delete or truncate on valuation.settings
  for each statement execute function ledger.refuse_change();

-- Every stream that there is: its evidence, and whether the service still serves it. `unreadable`: a person must look why,
-- another try will not help. `gone`: an account that the list has no more and whose statement cannot be read.
create or replace view reconcile.stream_standing as
select x.book_id, x.stream, x.account_id, r.began_at, r.ended_at, r.run_id, r.trouble, r.status, r.detail, r.failing_since,
  x.unlisted_since, coalesce(r.trouble in ('Forbidden', 'NotFound', 'NoPath', 'Inactive'), false) as unreadable,
  x.unlisted_since is not null and coalesce(r.trouble in ('Forbidden', 'NotFound'), false) as gone
from (
  select a.book_id, 'statement:' || a.account_id as stream, a.account_id, a.unlisted_since from mirror.accounts a
  union all
  select l.book_id, l.stream, null::uuid, null::timestamptz from sync.stream_reads l
  where l.stream not like 'statement:%') x
left join sync.stream_reads r on r.book_id = x.book_id and r.stream = x.stream;

-- Clients whose accounts were read once and can be no more, by their status or by what the service answers.
create or replace view reconcile.gone_clients as
select b.book_id, b.client_id, s.trouble, s.status, s.detail, s.failing_since, s.began_at
from mirror.books b
join reconcile.stream_standing s on s.book_id = b.book_id and s.stream = 'accounts' and s.unreadable
where b.client_id is not null and exists (select 1 from mirror.accounts a where a.book_id = b.book_id);
