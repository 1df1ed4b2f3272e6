/** What stands in the books, and how it differs from what the oracle expects: accounts, open items, findings of receivables. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { notReadBySync } from "../../src/Reconcile/Unread.ts"
import { idsOf } from "./BookIds.ts"
import { plain } from "./Decimals.ts"
import type { BookFacts, ExpectedBalance } from "./Facts.ts"
import { factsOf, nameOf } from "./FactsOf.ts"
import type { BookName } from "./History.ts"
import { books } from "./Operations.ts"
import {
  type ExpectedOpen,
  expectedLoanClearing,
  expectedNative,
  expectedOpenConversions,
  expectedUnpaid,
  expectedWaits,
} from "./Oracle.ts"
import type { Site } from "./Site.ts"
import type { World, WorldAccount } from "./World.ts"

interface Standing {
  readonly book: number
  readonly role: string
  readonly currency: string
  readonly account: string | null
  readonly code: string | null
  readonly balance: string
}

const standing = (all: ReadonlyArray<Book>) =>
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

const differences = (
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

interface OpenRow {
  readonly kind: "loan clearing" | "in transit" | "waiting"
  readonly book: number
  /** Null where the item belongs to no receivable and no conversion. */
  readonly id: string | null
  readonly currency: string
  readonly balance: string
}

const openItems = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query("Campaign.open", (sql) => {
      const ids = idsOf(all)
      return sql<Array<OpenRow>>`
        select 'loan clearing' as kind, book_id as book, receivable_id::text as id, currency, amount::text as balance
        from reconcile.loan_clearing_items where book_id = any (${ids}::integer[])
        union all
        select 'waiting', book_id, purpose || ' ' || receivable_id, currency, sum(amount)::text
        from ledger.receivable_waits where book_id = any (${ids}::integer[]) group by 1, 2, 3, 4
        union all
        select 'in transit', book_id, conversion_id::text, currency, amount::text
        from reconcile.conversions_in_transit where book_id = any (${ids}::integer[])`
    }),
  ).pipe(Effect.orDie)

/** Compares the open items per receivable and per conversion. */
const openDifferences = (found: ReadonlyArray<OpenRow>, facts: BookFacts): ReadonlyArray<string> => {
  const named = (kind: string, all: ReadonlyArray<ExpectedOpen>) =>
    all.map(({ balance, currency, id }): [string, string] => [`${kind} ${currency} ${id}`, plain(balance)])
  const wanted = new Map([
    ...named("loan clearing", expectedLoanClearing(facts)),
    ...named("in transit", expectedOpenConversions(facts)),
    ...named("waiting", expectedWaits(facts)),
  ])
  const stands = new Map(
    found.map(({ balance, currency, id, kind }) => [
      `${kind} ${currency} ${id ?? "of nobody"}`,
      plain(balance),
    ]),
  )
  return [...new Set([...wanted.keys(), ...stands.keys()])].flatMap((key) => {
    const [has, ought] = [stands.get(key) ?? "0", wanted.get(key) ?? "0"]
    return has === ought ? [] : [`open item ${key} is ${has}, and ought to be ${ought}`]
  })
}

interface FindingRow {
  readonly book: number
  readonly receivable: string
}

const loanFindings = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.loanFindings",
      (sql) => sql<Array<FindingRow>>`
        select book_id as book, split_part(subject_id, ' ', 1) as receivable from reconcile.findings
        where book_id = any (${idsOf(all)}::integer[])
          and check_name = 'loan-clearing' and severity = 'blocking' and closed_at is null`,
    ),
  ).pipe(Effect.orDie)

/** Every receivable that was paid too much or too little must have a finding, and no other may have one. */
const findingDifferences = (found: ReadonlyArray<FindingRow>, facts: BookFacts): ReadonlyArray<string> => {
  const has = new Set(found.map(({ receivable }) => receivable))
  const wanted = expectedUnpaid(facts)
  return [
    ...[...wanted].flatMap((id) =>
      has.has(id) ? [] : [`receivable ${id} was not paid exactly, and nothing says so`],
    ),
    ...[...has].flatMap((id) =>
      wanted.has(id) ? [] : [`receivable ${id} was paid exactly, and a finding says not`],
    ),
  ]
}

/** What differs between each book and the oracle's: balances, open items, findings of receivables. */
export const wrongBooks = (site: Site, all: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const stands = yield* standing(all)
    const open = yield* openItems(all)
    const findings = yield* loanFindings(all)
    const facts = yield* factsOf(site, all)
    return facts.map(({ book, facts: of }) => {
      const ours = <Row extends { readonly book: number }>(rows: ReadonlyArray<Row>) =>
        rows.filter(({ book: id }) => id === book.bookId)
      const texts = [
        ...differences(ours(stands), expectedNative(of)),
        ...openDifferences(ours(open), of),
        ...findingDifferences(ours(findings), of),
      ]
      return { book, facts: of, texts }
    })
  })

/** Accounts of which the service showed entries older than all that were known. */
export const withOlder = ({ history, world }: Site): ReadonlyArray<WorldAccount> =>
  history.steps.flatMap((step) => {
    if (!("event" in step) || step.event.what !== "older") return []
    const account = world.accounts.get(step.event.account)
    return account === undefined ? [] : [account]
  })

/**
 * Books of which the run has read everything, and that nothing doubts: no blocking finding, no entry of which the service does not say
 * what it is (it may say so later, of which only a full sync hears), and nothing that waits for the next sync to be proved.
 */
const unsuspected = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.unsuspected",
      (sql) => sql<Array<{ readonly book: number }>>`
        select b as book from unnest(${idsOf(all)}::integer[]) b
        where not exists (select from reconcile.findings f where f.book_id = b and f.closed_at is null
          and (f.severity = 'blocking' or f.check_name = 'adjustment'))
        and not exists (select from sync.stream_reads r where r.book_id = b and r.trouble is not null)
        and not exists (select from reconcile.deferred d where d.book_id = b)`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ book }) => book))),
  )

const final = ["COMPLETED", "CANCELED", "REJECTED"]

/** Books with a movement that is not over at the service, or that it shows in part, or not at all: the oracle is told what happened. */
const unsettled = ({ resources }: World): ReadonlySet<BookName> =>
  new Set(
    [...resources.values()].flatMap(({ book, hidden, spoiled, status }) =>
      hidden || spoiled !== null || !final.includes(status) ? [book] : [],
    ),
  )

/**
 * After a sync that came to its end, before everything is read again: a book that nothing doubts is right already, or it
 * is wrong unnoticed. Not one in which a movement is on its way, or that has entries older than all that were known.
 */
export const unnoticed = (site: Site) =>
  Effect.gen(function* () {
    const all = yield* books(site)
    const sure = yield* unsuspected(all)
    const older = new Set(withOlder(site).map(({ id }) => id))
    const underWay = unsettled(site.world)
    const wrong = (yield* wrongBooks(site, all)).filter(({ book, facts: of, texts }) => {
      const name = nameOf(site.world, book)
      return (
        texts.length > 0 &&
        sure.has(book.bookId) &&
        !(name !== undefined && underWay.has(name)) &&
        !of.accounts.some(({ accountId }) => older.has(accountId))
      )
    })
    // A client that could not be read is named by the sync, which ends with 3, and its streams by every sentence about it since.
    const claimed = yield* Effect.filter(wrong, ({ book }) =>
      notReadBySync([book]).pipe(
        Effect.orDie,
        Effect.map(({ length }) => length === 0),
      ),
    ).pipe(Effect.provide(site.settings))
    return claimed.flatMap(({ book, texts }) =>
      texts.map((text) => `book ${book.code}, which nothing doubts: ${text}`),
    )
  })
