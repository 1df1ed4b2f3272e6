/**
 * What events announce and statements have to show. An event may come some moments before the statement shows what it is about:
 * whoever reads once, and finds nothing, would leave it out until the next sync.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { mostLag } from "../../Common/ServiceLag.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import { text, uuid } from "../../Database/Columns.ts"
import { columnsOf, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { parse } from "../../Partner/Wire/Instant.ts"
import type { ResourceKey } from "../Resources/Hydration.ts"

/** A posting that an event of an account announces. */
export interface Announced {
  readonly accountId: string
  readonly type: "CREDIT" | "DEBIT"
  /** Major unit, as text. */
  readonly amount: string
  /** The identifier of its movement; null where it has none. */
  readonly relatedId: string | null
  readonly occurredAt: Instant
}

const types = new Map([
  ["account.credited", "CREDIT"],
  ["account.debited", "DEBIT"],
] as const)

/** None: the event announces no posting, or what it says of one cannot be read. */
export const announcedBy = (
  type: string,
  accountId: string,
  { amount, occurredAt, relatedResourceId: related }: Readonly<Record<string, unknown>>,
): Option.Option<Announced> => {
  const direction = [...types].find(([name]) => name === type)?.[1]
  const of = typeof amount === "string" ? Either.getOrUndefined(Money.parse(amount)) : undefined
  const at = typeof occurredAt === "string" ? Either.getOrUndefined(parse(occurredAt)) : undefined
  if (direction === undefined || of === undefined || at === undefined) return Option.none()
  const relatedId = typeof related === "string" && isUuidInAnyCase(related) ? related.toLowerCase() : null
  return Option.some({ accountId, type: direction, amount: Money.toText(of), relatedId, occurredAt: at })
}

export const keyOfAnnounced = ({ accountId, amount, occurredAt, relatedId, type }: Announced): string =>
  `${accountId}|${type}|${amount}|${relatedId ?? occurredAt}`

/**
 * What the mirrored statements do not show: of each account, by `keyOfResource` the completed movements without an entry there, and
 * by `keyOfAnnounced` the postings. Where no entry of the book names its movement, none is expected to.
 */
export const unshownOf = Effect.fn("Events.unshown")(function* (
  book: Book,
  {
    announced,
    resources,
  }: { readonly announced: ReadonlyArray<Announced>; readonly resources: ReadonlyArray<ResourceKey> },
) {
  if (resources.length + announced.length === 0) return []
  const database = yield* Database
  const ids = resources.map(({ id }) => id)
  return yield* database.rows("Events.unshown", { account_id: uuid, key: text }, (sql) => {
    const columns = columnsOf(sql, announced)
    return sql`
      select n.account_id, r.resource_type || '|' || r.resource_id as key
      from mirror.resources r cross join lateral (values (r.account_id), (r.buy_account_id)) n (account_id)
      join mirror.accounts a on a.book_id = r.book_id and a.account_id = n.account_id
      where r.book_id = ${book.bookId} and r.resource_id = any (${textArray(sql, ids)}::uuid[]) and r.status = 'COMPLETED'
        and exists (
          select from mirror.statement_entries e where e.book_id = r.book_id and e.related_id is not null)
        and not exists (
          select from mirror.statement_entries e
          where e.book_id = r.book_id and e.related_id = r.resource_id and e.account_id = n.account_id)
      union
      select a.account_id, t.key
      from unnest(${columns.text(({ accountId }) => accountId)}, ${columns.text(({ type }) => type)},
        ${columns.text(({ amount }) => amount)}, ${columns.text(({ relatedId }) => relatedId)},
        ${columns.text(({ occurredAt }) => occurredAt)}, ${columns.text(keyOfAnnounced)})
        as t (account_id, type, amount, related_id, occurred_at, key)
      join mirror.accounts a on a.book_id = ${book.bookId} and a.account_id = t.account_id::uuid
      where case when t.related_id is null
        then not exists (
          select from mirror.statement_entries e
          where e.book_id = a.book_id and e.account_id = a.account_id and e.type = t.type and e.amount = t.amount::numeric
            and e.occurred_at between t.occurred_at::timestamptz - make_interval(secs => ${mostLag})
              and t.occurred_at::timestamptz + make_interval(secs => ${mostLag}))
        else exists (
            select from mirror.statement_entries e where e.book_id = a.book_id and e.related_id is not null)
          and not exists (
            select from mirror.statement_entries e
            where e.book_id = a.book_id and e.related_id = t.related_id::uuid and e.account_id = a.account_id
              and e.type = t.type and e.amount = t.amount::numeric) end`
  })
})
