/** What is proved once a history is over: everything read again, and every account what the oracle says. */
import { Effect, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { baseProblems } from "./BaseAtEnd.ts"
import { plain } from "./Decimals.ts"
import type { BookFacts, ExpectedBalance } from "./Facts.ts"
import { factsOf } from "./FactsOf.ts"
import type { BookName } from "./History.ts"
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
        where p.book_id = any (${`{${all.map(({ bookId }) => bookId).join(",")}}`}::integer[])
        group by 1, 2, 3, 4, 5 having sum(p.amount) <> 0`,
    ),
  ).pipe(Effect.orDie)

/** What a rule or a person sent elsewhere is told by its code, whatever the role. */
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
  /** Null: nobody's. */
  readonly id: string | null
  readonly currency: string
  readonly balance: string
}

const openItems = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query("Campaign.open", (sql) => {
      const ids = `{${all.map(({ bookId }) => bookId).join(",")}}`
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

/** Per receivable and per conversion, what is open. */
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
        where book_id = any (${`{${all.map(({ bookId }) => bookId).join(",")}}`}::integer[])
          and check_name = 'loan-clearing' and severity = 'blocking' and closed_at is null`,
    ),
  ).pipe(Effect.orDie)

/** Every receivable that was paid too much or too little has a finding, and no other. */
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

/** Books with entries from before all that were known. */
const withOlder = ({ history, world }: Site): ReadonlySet<BookName> =>
  new Set(
    history.steps.flatMap((step) => {
      if (!("event" in step) || step.event.what !== "older") return []
      const account = world.accounts.get(step.event.account)
      return account === undefined ? [] : [account.book]
    }),
  )

/** What changed of the findings in the last moment: by check and subject. */
const changedFindings = (all: ReadonlyArray<Book>, since: string) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.changedFindings",
      (sql) => sql<Array<{ readonly finding: string }>>`
        select concat_ws(' ', case when closed_at is null then 'opened' else 'closed' end, check_name, subject_id, message) as finding
        from reconcile.findings where book_id = any (${`{${all.map(({ bookId }) => bookId).join(",")}}`}::integer[])
          and greatest(opened_at, closed_at) > ${since}::text::timestamptz order by 1`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => rows.map(({ finding }) => finding)),
  )

/** The database's time, which findings have. */
const databaseTime = Effect.flatMap(Database, (database) =>
  database.query(
    "Campaign.time",
    (sql) => sql<Array<{ readonly now: string }>>`select clock_timestamp()::text as now`,
  ),
).pipe(
  Effect.orDie,
  Effect.map(([row]) => row?.now ?? "infinity"),
)

/** What a sync leaves out of the checks would have found nothing: all of them over everything open and close no finding after it. */
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
    const unchecked = yield* checkedEnough(site, overHttp, told)
    // Entries from before all that was known are a backfill's to book.
    for (const book of withOlder(site)) {
      // Older entries are of December 2024; what came since is the last sync's to read.
      const back = yield* backfillBook(site, overHttp, book, { from: "2024-11-01", to: "2025-01-01" })
      told.push(`the last backfill: ${back.told}`)
    }
    site.world.settle(false)
    const last = yield* operate(site, overHttp, { do: "sync", full: true })
    site.world.settle(last.done)
    told.push(`the last sync: ${last.told}`)
    const all = yield* books(site)
    // What went away for good leaves a run incomplete; then there is nothing more to prove than what always holds.
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
