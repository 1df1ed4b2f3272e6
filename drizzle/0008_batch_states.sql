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
ALTER TABLE "export"."batches" ADD COLUMN "preview" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "who" text;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "currency_basis" text DEFAULT 'native' NOT NULL;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "since_numbering" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "covered" json DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "as_of" timestamptz;--> statement-breakpoint
ALTER TABLE "export"."batches" ADD COLUMN "manifest_sha256" text;--> statement-breakpoint
-- The accounts that are there were opened before it was kept.
ALTER TABLE "ledger"."accounts" ADD COLUMN "created_at" timestamptz DEFAULT '-infinity' NOT NULL;--> statement-breakpoint
ALTER TABLE "ledger"."accounts" ALTER COLUMN "created_at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "export"."batch_files" ADD CONSTRAINT "batch_files_book_id_batch_batches_book_id_batch_fk" FOREIGN KEY ("book_id","batch") REFERENCES "export"."batches"("book_id","batch") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "export"."batch_states" ADD CONSTRAINT "batch_states_book_id_batch_batches_book_id_batch_fk" FOREIGN KEY ("book_id","batch") REFERENCES "export"."batches"("book_id","batch") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
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
--> statement-breakpoint
-- What the batches that are there selected and say, as columns; this once, by the one who changes the tables.
alter table export.batches disable trigger batches_immutable;
--> statement-breakpoint
update export.batches set
  since_numbering = coalesce((manifest #>> '{scope,since}')::bigint, 0),
  covered = coalesce(manifest #> '{scope,covered}', '[]'),
  manifest_sha256 = encode(sha256(convert_to(manifest::text, 'UTF8')), 'hex');
--> statement-breakpoint
alter table export.batches enable trigger batches_immutable;
--> statement-breakpoint
-- The last change tells; a batch without one is as it was written.
create function export.batch_state(of_book integer, of_batch integer) returns text language sql stable as $$
  select coalesce(
    (select s.state from export.batch_states s where s.book_id = of_book and s.batch = of_batch
     order by s.sequence desc limit 1),
    (select case when b.preview then 'preview' else 'committed' end from export.batches b
     where b.book_id = of_book and b.batch = of_batch))
$$;
--> statement-breakpoint
-- TO009: not a change that a batch can go through.
create function export.check_batch_state() returns trigger language plpgsql as $$
declare
  before text;
  last integer;
begin
  -- One change at a time: a second one waits here and then sees the first.
  perform 1 from export.batches b where b.book_id = new.book_id and b.batch = new.batch for update;
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
--> statement-breakpoint
create trigger batch_states_checked before insert on export.batch_states
  for each row execute function export.check_batch_state();
--> statement-breakpoint
create trigger batch_states_immutable before update or delete or truncate on export.batch_states
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
create trigger batch_files_immutable before update or delete or truncate on export.batch_files
  for each statement execute function ledger.refuse_change();
--> statement-breakpoint
-- Compressed already: to try again costs time and saves nothing.
alter table export.batch_files alter column content set storage external;
