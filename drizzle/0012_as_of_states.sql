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
