/** What stands in the books' accounts, and how it differs from what the oracle expects. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { idsOf } from "./BookIds.ts"
import { plain } from "./Decimals.ts"
import type { ExpectedBalance } from "./Facts.ts"
import { factsOf } from "./FactsOf.ts"
import { books } from "./Operations.ts"
import { expectedNative } from "./Oracle.ts"
import type { Site } from "./Site.ts"
import type { WorldAccount } from "./World.ts"

interface Standing {
  readonly book: number
  readonly role: string
  readonly currency: string
  readonly account: string | null
  readonly code: string | null
  readonly balance: string
}

export const standing = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.standing",
      (sql) => sql<Array<Standing>>`
        select a.book_id as book, a.role, a.currency, a.partner_account_id as account,
          nullif(a.rule_code, '') as code, sum(p.amount)::text as balance
        from ledger.postings p
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        where p.book_id = any (${idsOf(all)}::integer[])
        group by 1, 2, 3, 4, 5 having sum(p.amount) <> 0`,
    ),
  ).pipe(Effect.orDie)

/** Names a balance. One that a rule or a person sent to another account goes by that account's code, whatever its role. */
const keyOf = (role: string, currency: string, account: string | null, code: string | null): string =>
  [code === null ? role : "sent to", currency, account, code].filter((part) => part !== null).join(" ")

export const differences = (
  found: ReadonlyArray<Standing>,
  expected: ReadonlyArray<ExpectedBalance>,
): ReadonlyArray<string> => {
  const sides = new Map<string, { found: string; expected: string }>()
  const side = (key: string) => {
    const known = sides.get(key) ?? { found: "0", expected: "0" }
    sides.set(key, known)
    return known
  }
  for (const one of found)
    side(keyOf(one.role, one.currency, one.account, one.code)).found = plain(one.balance)
  for (const one of expected) {
    side(keyOf(one.role, one.currency, one.accountId, one.code)).expected = plain(one.balance)
  }
  return [...sides].flatMap(([key, { expected: wanted, found: has }]) =>
    has === wanted ? [] : [`${key} stands at ${has}, and ought to at ${wanted}`],
  )
}

/** Accounts of which the service showed entries older than all that were known. */
export const withOlder = ({ history, world }: Site): ReadonlyArray<WorldAccount> =>
  history.steps.flatMap((step) => {
    if (!("event" in step) || step.event.what !== "older") return []
    const account = world.accounts.get(step.event.account)
    return account === undefined ? [] : [account]
  })

/** Books that no blocking finding doubts, and of which the run has read everything. */
const unsuspected = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.unsuspected",
      (sql) => sql<Array<{ readonly book: number }>>`
        select b as book from unnest(${idsOf(all)}::integer[]) b
        where not exists (select from reconcile.findings f
          where f.book_id = b and f.closed_at is null and f.severity = 'blocking')
        and not exists (select from sync.stream_reads r where r.book_id = b and r.trouble is not null)`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ book }) => book))),
  )

/**
 * After a sync that came to its end, before everything is read again: a book that no blocking finding doubts is right already, or it
 * is wrong unnoticed.
 */
export const unnoticed = (site: Site) =>
  Effect.gen(function* () {
    const all = yield* books(site)
    const sure = yield* unsuspected(all)
    const stands = yield* standing(all)
    const facts = yield* factsOf(site, all)
    const older = new Set(withOlder(site).map(({ id }) => id))
    return facts.flatMap(({ book, facts: of }) =>
      !sure.has(book.bookId) || of.accounts.some(({ accountId }) => older.has(accountId))
        ? []
        : differences(
            stands.filter(({ book: id }) => id === book.bookId),
            expectedNative(of),
          ).map((text) => `book ${book.code}, which no finding doubts: ${text}`),
    )
  })
