/**
 * The tables that grow with the history are partitioned by hash of `book_id`: in one partition by default, in as many as the
 * first `tieout migrate --partitions N` says. Rules and indexes stand on the tables; a partition has its own refusal of
 * statements that name it (TO013, `drizzle/rules.sql`), since those would pass by the rules for whole statements.
 */

export const partitionedTables = [
  "mirror.statement_entries",
  "mirror.resources",
  "ledger.journal_entries",
  "ledger.postings",
  "ledger.journal_numbers",
] as const

/** What Postgres calls a partition, or an index of one: indexes begin with their table's name. */
const partNames = new RegExp(
  `^(${partitionedTables.map((name) => name.replace(/^.*[.]/, "")).join("|")})(_.*)?_\\d+$`,
)

/** More would cost every statement more than the smaller tables save. */
export const mostPartitions = 256

/**
 * Gives each partitioned table that has none its partitions, named `TABLE_0`, `TABLE_1`, …, and names their indexes likewise after
 * those of the table, so that `withoutPartition` finds back to them. It comes before the rules.
 */
export const partitionsSql = (partitions: number): string => `
do $$
declare
  parent text;
  part record;
begin
  foreach parent in array array['${partitionedTables.join("', '")}'] loop
    if exists (select from pg_partitioned_table where partrelid = to_regclass(parent))
      and not exists (select from pg_inherits where inhparent = to_regclass(parent)) then
      for remainder in 0 .. ${partitions - 1} loop
        execute format('create table %s_%s partition of %s for values with (modulus ${partitions}, remainder %s)',
          parent, remainder, parent, remainder);
      end loop;
    end if;
  end loop;
  for part in
    select i.oid::regclass as index, format('%s_%s', p.relname, substring(t.relname from '[0-9]+$')) as name
    from pg_inherits h
    join pg_class p on p.oid = h.inhparent and p.relkind = 'I'
    join pg_class i on i.oid = h.inhrelid
    join pg_index x on x.indexrelid = i.oid
    join pg_class t on t.oid = x.indrelid
    where t.relnamespace::regnamespace::text in ('ledger', 'mirror') loop
    if part.index::text !~ format('[.]%s$', part.name) then
      execute format('alter index %s rename to %I', part.index, part.name);
    end if;
  end loop;
end $$;`

/** The name of a partition, or of a partition's index, without the partition's number. */
export const withoutPartition = (name: string): string =>
  partNames.test(name) ? name.replace(/_\d+$/, "") : name
