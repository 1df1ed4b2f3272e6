/** Entries leave the queue for numbers in one pass, whatever the planner assumes about its size. */
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import postgres from "postgres"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { assignNumbers, openBook, partner, post } from "../Export/Books.ts"
import { rows } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const entries = 40

const posted = (bookId: number, many = entries) =>
  Effect.forEach(Array.from({ length: many }), () =>
    post(bookId, {
      ...{ date: "2026-10-05", kind: "deposit", partner: partner.usd, cash: "7.00", description: "Deposit" },
      lines: [
        ["cash", "", "USD", "7.00"],
        ["deposits_clearing", "", "USD", "-7.00"],
      ],
    }),
  )

/** A session of the owner, and the plans of the statements inside the database's functions that it calls. */
const explaining = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const { password, path, ...at } = Either.getOrThrow(parseDatabaseUrl(Redacted.make(url)))
  const plans: Array<string> = []
  const owner = yield* Effect.acquireRelease(
    Effect.sync(() =>
      postgres({
        ...{ host: at.host, port: at.port, database: at.database, user: at.username, max: 1 },
        ...(path === undefined ? {} : { path }),
        ...(password === undefined ? {} : { password: Redacted.value(password) }),
        onnotice: ({ message }) => plans.push(String(message)),
      }),
    ),
    (client) => Effect.promise(() => client.end()),
  )
  const run = (statement: string) => Effect.promise(() => owner.unsafe(statement))
  yield* run(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set client_min_messages = log;
    select set_config('tieout.program', 'on', false)`)
  return { plans, number: (bookId: number) => run(`select ledger.assign_numbers(array[${bookId}])`) }
})

layer(TestDatabase.layer, { excludeTestServices: true })("the queue of entries without a number", (it) => {
  it.scoped(
    "is left in one pass where it was empty when statistics were made, after a small book as well",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("ORG")
        const small = yield* openBook("CL-00001", "33333333-0000-4000-8000-000000000001")
        yield* posted(bookId)
        yield* assignNumbers(bookId)
        yield* rows("analyze ledger.unnumbered")
        yield* posted(small, 1)
        yield* posted(bookId)
        const { number, plans } = yield* explaining
        yield* number(small)
        yield* number(bookId)
        const taken = plans.filter((plan) => plan.includes("delete from ledger.unnumbered"))
        expect(taken).toHaveLength(2)
        expect(taken.filter((plan) => plan.includes("Nested Loop") || !plan.includes("Hash Join"))).toEqual(
          [],
        )
        expect(yield* rows("select count(*)::integer as waiting from ledger.unnumbered")).toEqual([
          { waiting: 0 },
        ])
      }),
  )

  it.scoped("is looked up by key by a session that has numbered small books before", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("CL-00002", "33333333-0000-4000-8000-000000000002")
      const { number, plans } = yield* explaining
      // From its sixth call on, a session keeps a plan that was made for the tables as they were, unless it is told not to.
      for (let call = 1; call <= 8; call++) {
        yield* posted(bookId, 1)
        if (call === 3) yield* rows("analyze")
        yield* number(bookId)
      }
      yield* posted(bookId, 800)
      plans.length = 0
      yield* number(bookId)
      const [numbered, ...more] = plans.filter((plan) => plan.includes("insert into ledger.journal_numbers"))
      expect(more).toEqual([])
      expect(numbered).toMatch(/Hash Join|Index Scan using journal_entries/)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the queue of conversions", (it) => {
  it.effect("holds one of which the service reports another amount, currency, fee or account", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("ORG")
      const resource = (type: string) => `
        insert into mirror.resources (book_id, resource_type, resource_id, status, final, account_id, account_rail, currency, amount,
          fee, fee_currency, buy_account_id, buy_currency, buy_amount, raw, created_at, changed_at, read_at, run_id)
        values (${bookId}, '${type}', gen_random_uuid(), 'ACTIVE', false, '${partner.usd}', 'SWIFT', 'USD', 100, 1, 'USD',
          '${partner.eur}', 'EUR', 90, '{}', now(), now(), now(), 1)`
      yield* rows(resource("CONVERSION"))
      yield* rows(resource("DEPOSIT"))
      const queuedBy = (change: string, type = "CONVERSION") =>
        rows(`
          with before as (delete from ledger.touched_conversions)
          update mirror.resources set ${change} where resource_type = '${type}'`).pipe(
          Effect.zipRight(rows("select count(*)::integer as queued from ledger.touched_conversions")),
          Effect.map(([row]) => row?.queued),
        )
      for (const change of [
        `account_id = '${partner.jpy}'`,
        "currency = 'GBP'",
        "amount = 101",
        "fee = 2",
        "fee_currency = 'EUR'",
        `buy_account_id = '${partner.usdt}'`,
        "buy_currency = 'CHF'",
        "buy_amount = 91",
      ])
        expect([change, yield* queuedBy(change)]).toEqual([change, 1])
      expect(yield* queuedBy("status = 'COMPLETED', final = true")).toBe(0)
      expect(yield* queuedBy("amount = 102", "DEPOSIT")).toBe(0)
    }),
  )
})
