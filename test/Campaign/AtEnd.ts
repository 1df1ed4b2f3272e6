/** The proof at the end of a history: everything is read again, and every account must have the balance that the oracle expects. */
import { Effect, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { baseProblems } from "./BaseAtEnd.ts"
import { idsOf } from "./BookIds.ts"
import { plain } from "./Decimals.ts"
import type { BookFacts } from "./Facts.ts"
import { factsOf } from "./FactsOf.ts"
import { held } from "./Invariants.ts"
import { backfillBook, books, operate } from "./Operations.ts"
import {
  type ExpectedOpen,
  expectedLoanClearing,
  expectedNative,
  expectedOpenConversions,
  expectedUnpaid,
  expectedWaits,
} from "./Oracle.ts"
import type { Site } from "./Site.ts"
import { differences, standing, unnoticed, withOlder } from "./Standing.ts"

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

/** The findings that were opened or closed since a time, by check and subject. */
const changedFindings = (all: ReadonlyArray<Book>, since: string) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.changedFindings",
      (sql) => sql<Array<{ readonly finding: string }>>`
        select concat_ws(' ', case when closed_at is null then 'opened' else 'closed' end, check_name, subject_id, message) as finding
        from reconcile.findings where book_id = any (${idsOf(all)}::integer[])
          and greatest(opened_at, closed_at) > ${since}::text::timestamptz order by 1`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => rows.map(({ finding }) => finding)),
  )

/** The database's clock, by which findings are dated. */
const databaseTime = Effect.flatMap(Database, (database) =>
  database.query(
    "Campaign.time",
    (sql) => sql<Array<{ readonly now: string }>>`select clock_timestamp()::text as now`,
  ),
).pipe(
  Effect.orDie,
  Effect.map(([row]) => row?.now ?? "infinity"),
)

/** A sync leaves out checks that cannot find anything new. So all checks over everything, right after it, may open and close no finding. */
const checkedEnough = (site: Site, overHttp: boolean, told: Array<string>) =>
  Effect.gen(function* () {
    const sync = yield* operate(site, overHttp, { do: "sync" })
    site.world.settle(sync.done)
    told.push(`a sync before everything is checked: ${sync.told}`)
    if (!sync.done) return []
    const { run } = yield* Reconcile
    const since = yield* databaseTime
    const { closed, opened } = yield* Effect.orDie(
      run({ connection: Option.some(site.connection), period: Option.none(), full: true }),
    )
    if (opened + closed === 0) return []
    const changed = yield* changedFindings(yield* books(site), since)
    return [
      `all checks after a sync open ${opened} findings and close ${closed} that it left as they were: ${changed.slice(0, 3).join("; ")}`,
    ]
  }).pipe(Effect.provide(site.services))

export const provedAtEnd = (site: Site, overHttp: boolean, told: Array<string>) =>
  Effect.gen(function* () {
    const unchecked = [...(yield* checkedEnough(site, overHttp, told)), ...(yield* unnoticed(site))]
    // Entries older than all that was known are booked by a backfill.
    for (const book of new Set(withOlder(site).map((account) => account.book))) {
      // The older entries are dated December 2024; the last sync reads what came after them.
      const back = yield* backfillBook(site, overHttp, book, { from: "2024-11-01", to: "2025-01-01" })
      told.push(`the last backfill: ${back.told}`)
    }
    site.world.settle(false)
    const last = yield* operate(site, overHttp, { do: "sync", full: true })
    site.world.settle(last.done)
    told.push(`the last sync: ${last.told}`)
    const all = yield* books(site)
    // An account or client that went away for good leaves the run incomplete. Then only the invariants can be proved.
    const whole = [...site.world.accounts.values(), ...site.world.clients.values()].every(
      ({ access }) => access === "served" || access === "unlisted",
    )
    if (!last.done) return [...unchecked, ...(whole ? [`the last sync failed: ${last.told}`] : [])]
    const problems = [...unchecked, ...(yield* held(all))]
    const stands = yield* standing(all)
    const open = yield* openItems(all)
    const findings = yield* loanFindings(all)
    const facts = yield* factsOf(site, all)
    for (const { book, facts: of } of facts) {
      const own = stands.filter(({ book: id }) => id === book.bookId)
      const ours = <Row extends { readonly book: number }>(rows: ReadonlyArray<Row>) =>
        rows.filter(({ book: id }) => id === book.bookId)
      const wrong = [
        ...differences(own, expectedNative(of)),
        ...openDifferences(ours(open), of),
        ...findingDifferences(ours(findings), of),
      ]
      problems.push(...wrong.map((text) => `book ${book.code}: ${text}`))
    }
    return [...problems, ...(yield* baseProblems(site, overHttp, all))]
  })
