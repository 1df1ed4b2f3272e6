/**
 * The objects that enforce the database's rules: functions, triggers, views, constraints. Their digests are recorded when the
 * rules are applied, so that one that was replaced or disabled since can be named.
 */

const inOurSchemas = "in ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')"

/** Columns `name`, `digest`; `portable`: another major version of the server prints the same. */
const objects = `
  select 'function ' || p.oid::regprocedure::text as name, true as portable,
    md5(concat_ws('|', p.prosrc, p.proconfig::text, p.provolatile, p.prosecdef)) as digest
  from pg_proc p where p.pronamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass::text, false,
    md5(pg_get_triggerdef(t.oid))
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where not t.tgisinternal and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'view ' || c.oid::regclass::text, false, md5(pg_get_viewdef(c.oid))
  from pg_class c where c.relkind = 'v' and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'constraint ' || n.conname || ' on ' || n.conrelid::regclass::text, false,
    md5(concat_ws('|', pg_get_constraintdef(n.oid), n.convalidated))
  from pg_constraint n where n.conrelid <> 0 and n.contype <> 't' and n.connamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'index ' || i.indexrelid::regclass::text, false, md5(concat_ws('|', pg_get_indexdef(i.indexrelid), i.indisvalid))
  from pg_index i join pg_class c on c.oid = i.indrelid
  where i.indisunique and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'table ' || c.oid::regclass::text, false, md5(concat_ws('|', c.relpersistence,
      pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid), (
      select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated,
        a.attidentity, pg_get_expr(d.adbin, d.adrelid)), ',' order by a.attnum)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)))
  from pg_class c where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text ${inOurSchemas}`

const notOurs = "was not made by tieout migrate"

/** Columns `name`, `message`: objects that our database never has. */
const foreign = `
  select 'switched-off trigger ' || t.tgname || ' on ' || t.tgrelid::regclass::text as name, '${notOurs}' as message
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where t.tgenabled <> 'O' and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  select 'row security that may hide rows of ' || c.oid::regclass::text, '${notOurs}' from pg_class c
  where c.relrowsecurity and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  -- Tables that inherit (their rows are read as the parent's), and rewrite rules (they replace a statement). The partitions of
  -- our tables are among the objects above.
  select 'table ' || h.inhrelid::regclass::text || ', read as rows of ' || h.inhparent::regclass::text, '${notOurs}'
  from pg_inherits h join pg_class c on c.oid = h.inhparent join pg_class i on i.oid = h.inhrelid
  where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text ${inOurSchemas}
    and not (i.relispartition and i.relnamespace::regnamespace::text ${inOurSchemas})
  union all
  select 'rule ' || w.rulename || ' on ' || w.ev_class::regclass::text, '${notOurs}'
  from pg_rewrite w join pg_class c on c.oid = w.ev_class
  where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text ${inOurSchemas}
  union all
  -- Settings that every new session begins with which may look into the books: those of the database, and of the roles that have, or
  -- may take on, a right there. Others' are common on a server that is shared.
  select 'setting ' || s.setting || coalesce(' of ' || r.rolname, ''),
    '${notOurs}; to take it back: alter ' || case
        when d.setrole = 0 and d.setdatabase = 0 then 'role all'
        when d.setrole = 0 then 'database ' || quote_ident(b.datname)
        else 'role ' || quote_ident(r.rolname) || coalesce(' in database ' || quote_ident(b.datname), '')
      end || ' reset ' || split_part(s.setting, '=', 1)
  from pg_db_role_setting d
  left join pg_roles r on r.oid = d.setrole
  left join pg_database b on b.oid = d.setdatabase
  cross join lateral unnest(d.setconfig) s (setting)
  where (d.setdatabase = 0 or b.datname = current_database())
    and s.setting ~ '^(tieout[.]|session_replication_role=|search_path=)' and s.setting <> 'search_path="$user", public'
    and (d.setrole = 0 or exists (
      select from pg_roles m join pg_namespace n on n.nspname ${inOurSchemas}
      where pg_has_role(d.setrole, m.oid, 'member') and has_schema_privilege(m.oid, n.oid, 'usage')))`

const major = "current_setting('server_version_num')::integer / 10000"

/** Part of the script that applies the rules. */
export const noteObjects = `
drop table if exists drizzle.objects;
create table drizzle.objects as select o.*, ${major} as server from (${objects}) o;`

/** Columns `name`, `message`: objects that changed since the rules were applied. */
export const changedObjects = `
  select coalesce(n.name, o.name) as name,
    case when o.name is null then 'is gone' when n.name is null then '${notOurs}' else 'is another' end
      as message
  from drizzle.objects n
  full join (${objects}) o on o.name = n.name
  where (n.name is null and (o.portable or ${major} = (select max(server) from drizzle.objects)))
    or (n.portable or n.server = ${major}) and (o.name is null or o.digest <> n.digest)
  union all
  select f.name, f.message from (${foreign}) f`

/**
 * Drops the views of our schemas, and the functions that no trigger runs, unless something else depends on them: a view that
 * somebody else builds on is kept.
 */
export const dropReplaceable = `
  do $$
  declare
    one record;
    again boolean := true;
  begin
    while again loop
      again := false;
      for one in
        select 'view ' || c.oid::regclass::text as name from pg_class c
        where c.relkind = 'v' and c.relnamespace::regnamespace::text ${inOurSchemas}
        union all
        select 'function ' || p.oid::regprocedure::text from pg_proc p
        where p.prokind = 'f' and p.prorettype <> 'trigger'::regtype and p.pronamespace::regnamespace::text ${inOurSchemas}
      loop
        begin
          execute 'drop ' || one.name || ' restrict';
          again := true;
        exception when dependent_objects_still_exist or undefined_table or undefined_function then
          null;
        end;
      end loop;
    end loop;
  end $$;`
