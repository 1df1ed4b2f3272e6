import { Effect } from "effect"
import { rows } from "../Sync/Runs.ts"

/**
 * From now on the first fetch of one of a table's rows fails as on a standby whose recovery is in its way; the same query may then be
 * run again. For roles that own nothing: row security binds no superuser.
 */
export const conflictOnce = (table: string) =>
  Effect.forEach(
    [
      `create function public.conflict_once() returns boolean language plpgsql as $$
       begin
         if current_query() ~* '^fetch' and not exists (
           select from pg_locks where locktype = 'advisory' and objid = 40001
             and database = (select oid from pg_database where datname = current_database())) then
           -- A session's lock outlives the transaction, also one that may only read.
           perform pg_advisory_lock(40001);
           raise exception 'canceling statement due to conflict with recovery' using errcode = '40001';
         end if;
         return true;
       end $$`,
      `alter table ${table} enable row level security`,
      `create policy conflicts on ${table} using (public.conflict_once())`,
      // A view looks with the rights of its owner.
      `do $$ declare seen text; begin
         for seen in select oid::regclass from pg_class where relkind = 'v' and relnamespace = 'ledger'::regnamespace loop
           execute format('alter view %s set (security_invoker = on)', seen);
         end loop;
       end $$`,
    ],
    rows,
    { discard: true },
  )

/** Whether it has happened. */
export const hasConflicted = Effect.map(
  rows("select from pg_locks where locktype = 'advisory' and objid = 40001"),
  (held) => held.length > 0,
)
