/** What is proved once a history is over: everything read again, and every account what the oracle says. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { plain } from "./Decimals.ts"
import type { ExpectedBalance } from "./Facts.ts"
import { factsOf } from "./FactsOf.ts"
import { held } from "./Invariants.ts"
import { books, operate } from "./Operations.ts"
import { expectedNative } from "./Oracle.ts"
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

export const provedAtEnd = (site: Site, overHttp: boolean, told: Array<string>) =>
  Effect.gen(function* () {
    // Entries from before all that was known are a backfill's to book.
    if (site.history.steps.some((step) => "event" in step && step.event.what === "older")) {
      const back = yield* operate(site, overHttp, {
        do: "backfill",
        from: "2024-11-01",
        // Older entries are of December 2024; what came since is the last sync's to read.
        to: "2025-01-01",
      })
      told.push(`the last backfill: ${back.told}`)
    }
    const last = yield* operate(site, overHttp, { do: "sync", full: true })
    told.push(`the last sync: ${last.told}`)
    const all = yield* books(site)
    // What went away for good leaves a run incomplete; then there is nothing more to prove than what always holds.
    const whole = [...site.world.accounts.values(), ...site.world.clients.values()].every(
      ({ access }) => access === "served" || access === "unlisted",
    )
    if (!last.done) return whole ? [`the last sync failed: ${last.told}`] : []
    const problems = [...(yield* held(all))]
    const stands = yield* standing(all)
    const facts = yield* factsOf(site, all)
    for (const { book, facts: of } of facts) {
      const own = stands.filter(({ book: id }) => id === book.bookId)
      problems.push(...differences(own, expectedNative(of)).map((text) => `book ${book.code}: ${text}`))
    }
    return problems
  })
