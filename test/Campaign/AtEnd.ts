/** The proof at the end of a history: everything is read again, and every account must have the balance that the oracle expects. */
import { Effect, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { baseProblems } from "./BaseAtEnd.ts"
import { idsOf } from "./BookIds.ts"
import { deliveryProblems } from "./Delivered.ts"
import type { Access } from "./History.ts"
import { held } from "./Invariants.ts"
import { monthProblems } from "./MonthsAtEnd.ts"
import { backfillBook, books, operate } from "./Operations.ts"
import type { Site } from "./Site.ts"
import { unnoticed, withOlder, wrongBooks } from "./Standing.ts"

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
    const isShown = ({ access }: { readonly access: Access }) => access === "served" || access === "unlisted"
    const accounts = [...site.world.accounts.values()]
    const whole = [...accounts, ...site.world.clients.values()].every(isShown)
    const unread = accounts.filter(
      (account) =>
        !isShown(account) || !isShown(site.world.clients.get(account.book) ?? { access: "served" }),
    )
    if (!last.done) return [...unchecked, ...(whole ? [`the last sync failed: ${last.told}`] : [])]
    const problems = [...unchecked, ...(yield* held(all, new Set(unread.map(({ id }) => id))))]
    const wrong = yield* wrongBooks(site, all)
    problems.push(...wrong.flatMap(({ book, texts }) => texts.map((text) => `book ${book.code}: ${text}`)))
    if (whole) problems.push(...(yield* monthProblems(site, all)))
    problems.push(...(yield* deliveryProblems(site, all, told)))
    return [...problems, ...(yield* baseProblems(site, overHttp, all))]
  })
