/**
 * Statement entries as the service posted them. A posted entry never changes; an entry behind a break is held until the break
 * heals.
 */
import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import * as Money from "../Common/Money.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, int8 } from "../Database/Columns.ts"
import { DatabaseError } from "../Database/DatabaseError.ts"
import { columnsOf, plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { PartnerError } from "../Partner/PartnerError.ts"
import type { StatementEntry } from "../Partner.ts"
import { contentOf } from "./EntryContent.ts"
import { entryColumns, entryFromRow } from "./EntryRow.ts"
import { goneEntries } from "./GoneEntries.ts"

/** A statement entry with its place in the account's statement, counted from 1. */
export interface PlacedEntry {
  readonly entry: StatementEntry
  readonly position: bigint
}

/** An entry that is mirrored. */
export interface KnownEntry extends PlacedEntry {
  readonly held: boolean
  /** An earlier reading said that it was gone. */
  readonly gone: boolean
}

const knownColumns = { ...entryColumns, held: bool, position: int8, gone: bool }

/** Held entries take places of their own, far behind any that are posted, until the break before them heals. */
export const heldFrom = 1_000_000_000_000n

/** One entry is in the statements of two accounts, so it is unknown whose it is. */
const onTwoAccounts = (entryId: string, accountId: string, elsewhere: string): PartnerError =>
  new PartnerError({
    reason: "BadResponse",
    operation: `GET statement of ${accountId}`,
    detail: `statement entry ${entryId} is in the statements of two accounts, ${elsewhere} and ${accountId}`,
    advice: `Nothing of this answer was booked; what was booked of ${elsewhere} stays. Ask the operators of the service which account it belongs to`,
  })

/** Fails if an entry of an account's statement is mirrored as another account's. */
export const refuseElsewhere = (
  accountId: string,
  known: ReadonlyMap<string, KnownEntry>,
): Effect.Effect<void, PartnerError> => {
  const other = [...known.values()].find(({ entry }) => entry.accountId !== accountId)
  return other === undefined
    ? Effect.void
    : onTwoAccounts(other.entry.entryId, accountId, other.entry.accountId)
}

/**
 * Whether a statement failed because another transaction has mirrored its new entries meanwhile: looked up again, they are
 * known.
 */
export const isKnownMeanwhile = (error: unknown): boolean =>
  error instanceof DatabaseError && error.constraint === "statement_entries_entry"

const inserted = (
  sql: Sql,
  book: Book,
  runId: number,
  entries: ReadonlyArray<PlacedEntry>,
  held: boolean,
) => {
  const { plain, text } = columnsOf(sql, entries)
  return sql`
    insert into mirror.statement_entries as s (book_id, account_id, position, entry_id, type, amount, currency,
      balance_before, balance_after, related_type, related_id, occurred_at, extra, held, run_id)
    select ${book.bookId}, t.account_id, t.position, t.entry_id, t.type, t.amount, t.currency, t.balance_before,
      t.balance_after, t.related_type, t.related_id, t.occurred_at, t.extra::json, ${held}, ${runId}
    from unnest(${plain(({ entry }) => entry.accountId, "uuid")}, ${plain(({ position }) => position.toString(), "int8")},
      ${plain(({ entry }) => entry.entryId, "uuid")}, ${plain(({ entry }) => entry.type)},
      ${plain(({ entry }) => Money.toText(entry.amount), "numeric")}, ${plain(({ entry }) => entry.currency)},
      ${plain(({ entry: { balanceBefore } }) => (Option.isSome(balanceBefore) ? Money.toText(balanceBefore.value) : null), "numeric")},
      ${plain(({ entry }) => Money.toText(entry.balanceAfter), "numeric")},
      ${text(({ entry }) => Option.getOrNull(entry.relatedResourceType))},
      ${plain(({ entry }) => Option.getOrNull(entry.relatedResourceId), "uuid")},
      ${plain(({ entry }) => entry.occurredAt, "timestamptz")}, ${text(({ entry }) => entry.extra)})
      as t (account_id, position, entry_id, type, amount, currency, balance_before, balance_after, related_type,
        related_id, occurred_at, extra)`
}

const made = Effect.gen(function* () {
  const database = yield* Database

  /** The mirrored ones among `ids`, with their place and whether they are held. */
  const known = traced("Mirror.StatementEntries.known")(function* (book: Book, ids: ReadonlyArray<string>) {
    if (ids.length === 0) return new Map<string, KnownEntry>()
    const rows = yield* database.rows(
      "Mirror.StatementEntries.known",
      knownColumns,
      (sql) => sql`
          select entry_id, account_id, position, type, amount, currency, balance_after, related_type, related_id,
            to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at, held, exists (
              select from mirror.gone_entries g where g.book_id = e.book_id and g.entry_id = e.entry_id) as gone
          from mirror.statement_entries e
          where book_id = ${book.bookId} and entry_id = any (${plainArray(sql, ids, "uuid")})`,
    )
    return new Map<string, KnownEntry>(
      rows.map((row) => {
        const { gone, held, position } = row
        return [row.entry_id, { entry: entryFromRow(row), held, position, gone }]
      }),
    )
  })

  /** Another statement that was read at the same time may have brought one of the entries first. */
  const checkOwner = Effect.fn("Mirror.StatementEntries.checkOwner")(function* (
    book: Book,
    entries: ReadonlyArray<PlacedEntry>,
  ) {
    const ids = entries.map(({ entry }) => entry.entryId)
    for (const accountId of new Set(entries.map(({ entry }) => entry.accountId))) {
      yield* refuseElsewhere(accountId, yield* known(book, ids))
    }
  })

  /**
   * Part of the caller's transaction. An entry that was held takes its proper place; `held` ones wait. Fails with
   * `PartnerError` where one of them is another account's.
   */
  const put = traced("Mirror.StatementEntries.put")(function* (
    book: Book,
    runId: number,
    entries: ReadonlyArray<PlacedEntry>,
    held: boolean,
  ) {
    if (entries.length === 0) return
    const written = yield* database.execute(
      "Mirror.StatementEntries.put",
      (sql) => sql`
          ${inserted(sql, book, runId, entries, held)}
          on conflict (book_id, entry_id) do update set
            position = excluded.position, type = excluded.type, amount = excluded.amount,
            currency = excluded.currency, balance_before = excluded.balance_before,
            balance_after = excluded.balance_after, related_type = excluded.related_type,
            related_id = excluded.related_id, occurred_at = excluded.occurred_at, extra = excluded.extra,
            held = excluded.held, run_id = excluded.run_id
          where s.held and not excluded.held and s.account_id = excluded.account_id`,
    )
    if (written < entries.length) yield* checkOwner(book, entries)
  })

  /**
   * The same for entries that `known` did not return, which costs a third less; fails with a conflict (`isKnownMeanwhile`) if
   * another transaction has brought one of them since.
   */
  const add = traced("Mirror.StatementEntries.add")(function* (
    book: Book,
    runId: number,
    entries: ReadonlyArray<PlacedEntry>,
  ) {
    if (entries.length === 0) return
    yield* database.execute("Mirror.StatementEntries.add", (sql) =>
      inserted(sql, book, runId, entries, false),
    )
  })

  /** Part of the caller's transaction: the database keeps the former version. */
  const enrich = traced("Mirror.StatementEntries.enrich")(function* (
    book: Book,
    runId: number,
    entries: ReadonlyArray<PlacedEntry>,
  ) {
    if (entries.length === 0) return
    yield* database.execute(
      "Mirror.StatementEntries.enrich",
      (sql) => sql`
          update mirror.statement_entries e set related_type = t.related_type, related_id = t.related_id::uuid,
            extra = t.extra::json, run_id = greatest(e.run_id, ${runId})
          from unnest(${plainArray(
            sql,
            entries.map(({ entry }) => entry.entryId),
          )}, ${textArray(
            sql,
            entries.map(({ entry }) => Option.getOrNull(entry.relatedResourceType)),
          )}, ${plainArray(
            sql,
            entries.map(({ entry }) => Option.getOrNull(entry.relatedResourceId)),
          )}, ${textArray(
            sql,
            entries.map(({ entry }) => entry.extra),
          )}) as t (entry_id, related_type, related_id, extra)
          where e.book_id = ${book.bookId} and e.entry_id = t.entry_id::uuid and not e.held
            and (e.related_type, e.related_id) is distinct from (t.related_type, t.related_id::uuid)`,
    )
  })

  /** How many entries of an account are held; the next held one takes the place after them. */
  const heldCount = Effect.fn("Mirror.StatementEntries.heldCount")(function* (book: Book, accountId: string) {
    const { last } = yield* database.row(
      "Mirror.StatementEntries.heldCount",
      { last: int8 },
      (sql) => sql`
          select coalesce(max(position) - ${heldFrom}::bigint, 0) as last from mirror.statement_entries
          where book_id = ${book.bookId} and account_id = ${accountId} and position >= ${heldFrom}`,
    )
    return last
  })

  /** Part of the caller's transaction: a posted entry was read again and says something else. */
  const contradict = traced("Mirror.StatementEntries.contradict")(function* (
    book: Book,
    runId: number,
    entries: ReadonlyArray<StatementEntry>,
  ) {
    for (const entry of entries) {
      const text = contentOf(entry)
      const digest = createHash("sha256").update(text).digest("hex")
      yield* database.execute(
        "Mirror.StatementEntries.contradict",
        (sql) => sql`
            insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, run_id)
            values (${book.bookId}, ${entry.entryId}, ${entry.accountId}, ${text}, ${digest}, ${runId})
            on conflict do nothing`,
      )
    }
  })

  return { known, put, add, enrich, heldCount, contradict, ...goneEntries(database) }
})

export class StatementEntries extends Effect.Service<StatementEntries>()("tieout/Mirror/StatementEntries", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new StatementEntries(parts))
}
