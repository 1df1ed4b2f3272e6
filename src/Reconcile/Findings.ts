/**
 * Findings open and close by themselves. What a check finds becomes an open finding, or refreshes the one that is open where
 * that says something else; an open finding that the check no longer finds is closed. So a check must cover the subjects of its
 * open findings, too, or state which of them it covers.
 */
import type { Sql } from "../Database/Client.ts"
import { int8 } from "../Database/Columns.ts"
import { type CheckName, severityOf } from "./Check.ts"
import { type Fragment, inBooks, type Scope } from "./ReconcileScope.ts"
import type { Signs } from "./Signs.ts"

/** The row of `record`: how many findings of the check it opened and closed. */
export const recordedColumns = {
  opened: int8,
  closed: int8,
}

/** A check: `found` selects `check_name, book_id, subject_type, subject_id, message, evidence, ripe`, one row per subject. */
export interface CheckQuery {
  readonly checks: ReadonlyArray<CheckName>
  readonly found: (sql: Sql, scope: Scope) => Fragment
  /**
   * `book_id, subject_id` of what the check looks at, for `found` to read as `covered`. Set only where every input of the check carries a
   * run number: a finding whose inputs no later run touched is then left unchanged.
   */
  readonly covered?: (sql: Sql, scope: Scope) => Fragment
  /** Whether the check can find anything, given what is in the books; absent: always. */
  readonly mayFind?: (signs: Signs) => boolean
  /** Resources in these states wait in `reconcile.deferred` while they are found but not ripe. */
  readonly deferring?: ReadonlyArray<string>
}

/**
 * A subject that is found but not ripe waits for the next run instead of becoming a finding; a settled one leaves the list. A
 * check may only remove resources in its own states.
 */
const deferral = (sql: Sql, scope: Scope, states: ReadonlyArray<string>): Fragment => sql`,
  waiting as (
    insert into reconcile.deferred (book_id, resource_id, resource_type)
    select f.book_id, f.subject_id::uuid, mirror.upper_ascii(f.subject_type) from found f where not f.ripe
    on conflict do nothing),
  settled as (
    delete from reconcile.deferred d using mirror.resources r
    where d.book_id = ${inBooks(sql, scope)} and r.book_id = d.book_id and r.book_id = ${inBooks(sql, scope)}
      and r.resource_id = d.resource_id
      and r.resource_type = d.resource_type and r.status = any (${`{${states.join(",")}}`}::text[])
      -- NOT IN uses a hash table: thousands may wait, and each would be compared with all that are found.
      and (d.book_id, d.resource_id::text, d.resource_type) not in (
        select f.book_id, f.subject_id, mirror.upper_ascii(f.subject_type) from found f where not f.ripe))`

/** A check's results as a query of its own. */
export const findingsOf = (sql: Sql, scope: Scope, { covered, found }: CheckQuery): Fragment =>
  covered === undefined
    ? found(sql, scope)
    : sql`with covered as materialized (${covered(sql, scope)}) ${found(sql, scope)}`

/** Runs a check and records its findings, in one statement. */
export const record = (sql: Sql, scope: Scope, query: CheckQuery) => {
  const severities = JSON.stringify(Object.fromEntries(query.checks.map((name) => [name, severityOf(name)])))
  return sql`
    with ${query.covered === undefined ? sql`` : sql`covered as materialized (${query.covered(sql, scope)}),`}
    found as materialized (${query.found(sql, scope)}),
    kept as (
      insert into reconcile.findings as k
        (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
      select f.book_id, f.check_name, f.severity, f.subject_type, f.subject_id, f.message, f.evidence, ${scope.runId}::integer
      from (select *, ${severities}::text::json ->> check_name as severity from found) f
      -- Most findings stand as they are from one night to the next: nothing is written of them. Each is looked up by its key
      -- (offset 0): where there are no statistics, a join would compare it with all that are open.
      where f.ripe and not exists (
        select from reconcile.findings s
        where s.book_id = f.book_id and s.check_name = f.check_name and s.subject_type = f.subject_type
          and s.subject_id = f.subject_id and s.closed_at is null
          and (s.severity, s.message, s.evidence) is not distinct from (f.severity, f.message, f.evidence) offset 0)
      -- The numbers of what is found together rise with its age, as lists are sorted.
      order by coalesce(f.evidence ->> 'occurredAt', f.evidence ->> 'since'), f.book_id, f.subject_id
      on conflict (book_id, check_name, subject_type, subject_id) where closed_at is null
      do update set severity = excluded.severity, message = excluded.message, evidence = excluded.evidence,
        seen_at = now()
      returning k.xmax = 0 as opened),
    closed as (
      update reconcile.findings o set closed_at = now(), closed_run = ${scope.runId}::integer
      where o.book_id = ${inBooks(sql, scope)} and o.closed_at is null
        and o.check_name = any (${`{${query.checks.join(",")}}`}::text[])
        ${query.covered === undefined ? sql`` : sql`and (o.book_id, o.subject_id) in (select c.book_id, c.subject_id from covered c)`}
        -- NOT IN uses a hash table whatever joins the session allows: both sides may have many rows.
        and (o.book_id, o.check_name, o.subject_type, o.subject_id) not in (
          select f.book_id, f.check_name, f.subject_type, f.subject_id from found f)
      returning 1)
    ${query.deferring === undefined ? sql`` : deferral(sql, scope, query.deferring)}
    select (select count(*) from kept where opened) as opened, (select count(*) from closed) as closed`
}
