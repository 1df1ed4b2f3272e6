import { expect, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Sandbox } from "../../src/Sandbox.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { journal, rows, sync } from "./Runs.ts"

const State = Schema.Struct({
  accounts: Schema.Array(
    Schema.Struct({ accountId: Schema.String, balance: Schema.String, entries: Schema.Number }),
  ),
})

const state = (sandbox: Sandbox) =>
  Effect.promise(() => fetch(`${sandbox.origin}/control/state`).then((answer) => answer.json())).pipe(
    Effect.flatMap(Schema.decodeUnknown(State)),
    Effect.orDie,
  )

const numeric = (text: unknown): string =>
  String(text)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "")

const cash = rows(`
  select a.partner_account_id as id, sum(b.debit - b.credit)::text as balance
  from ledger.balances b join ledger.accounts a using (book_id, account_id)
  where a.role = 'cash' group by 1 order by 1`)

/** The ledger's cash is the service's balance, account by account. */
const tiesOut = (sandbox: Sandbox) =>
  Effect.gen(function* () {
    const expected = (yield* state(sandbox)).accounts
      .filter(({ entries }) => entries > 0)
      .map(({ accountId, balance }) => [accountId, numeric(balance)])
      .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))
    expect((yield* cash).map(({ balance, id }) => [id, numeric(balance)])).toEqual(expected)
  })

layer(TestDatabase.layer, { excludeTestServices: true })("sync", (it) => {
  it.scoped("books everything, ties out, and then reads only what is new", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 600 })
      const first = yield* sync(sandbox.url)
      expect(first.counters.entries).toBe(600)
      yield* tiesOut(sandbox)
      const numbers = yield* rows(`select count(*)::integer as entries, count(n.number)::integer as numbered
        from ledger.journal_entries e left join ledger.journal_numbers n using (book_id, entry_id)`)
      expect(numbers[0]?.entries).toBe(numbers[0]?.numbered)
      const blocking = yield* rows(`select check_name, message from reconcile.findings
        where closed_at is null and severity = 'blocking'`)
      expect(blocking).toEqual([])

      const before = yield* journal
      const second = yield* sync(sandbox.url)
      expect(second.counters.entries).toBe(0)
      expect(yield* journal).toEqual(before)
      // One request per account, one per list, the token, and what was open by id: never the history again.
      const { account, conversion, deposit, withdrawal, ...requests } = second.requests
      expect(requests).toEqual({
        accounts: 1,
        addressBook: 1,
        conversionPairs: 1,
        deposits: 1,
        statement: first.newEntries.size,
        token: 1,
        withdrawals: 1,
      })
      expect(account).toBeUndefined()
      expect((conversion ?? 0) + (deposit ?? 0) + (withdrawal ?? 0)).toBe(second.openResources)

      sandbox.advance(40)
      const third = yield* sync(sandbox.url)
      expect(third.counters.entries).toBeGreaterThan(0)
      expect(third.requests.statement).toBeLessThanOrEqual(2 * first.newEntries.size)
      yield* tiesOut(sandbox)
      expect((yield* journal).length).toBeGreaterThan(before.length)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("A quick run", (it) => {
  it.scoped("reads only the statements whose balance has moved, and nothing else", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400, seed: 7 })
      yield* sync(sandbox.url)
      const still = yield* sync(sandbox.url, {}, false, true)
      expect(still.requests).toEqual({ accounts: 1, token: 1 })
      sandbox.advance(5)
      const moved = yield* sync(sandbox.url, {}, false, true)
      expect(moved.counters.entries).toBeGreaterThan(0)
      expect(moved.requests.deposits).toBeUndefined()
      expect(moved.requests.statement).toBeLessThan(moved.newEntries.size + 5)
      yield* tiesOut(sandbox)
      // The next whole run finds nothing that the quick one should have booked.
      expect((yield* sync(sandbox.url)).counters.entries).toBe(0)
    }),
  )

  it.scoped("reads a statement that was never read, once: that of a new account without movements", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 0, accounts: 4 })
      const standings = rows(
        "select count(*)::integer as accounts, count(*) filter (where off)::integer as off from reconcile.account_standings",
      )
      const run = Effect.gen(function* () {
        const first = yield* sync(sandbox.url, {}, false, true)
        expect(first.requests.statement).toBe(4)
        expect(yield* standings).toEqual([{ accounts: 4, off: 0 }])
        expect((yield* sync(sandbox.url, {}, false, true)).requests).toEqual({ accounts: 1, token: 1 })
      })
      yield* run.pipe(Effect.provide(TestDatabase.layer))
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the books", (it) => {
  const totals = rows(`
    select e.resource_type, e.resource_id, a.role, p.currency, trim_scale(sum(p.amount))::text as total
    from ledger.journal_entries e
    join ledger.postings p using (book_id, entry_id)
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    group by 1, 2, 3, 4 having sum(p.amount) <> 0 order by 1, 2, 3, 4`)

  it.scoped("are the same to the letter however many accounts are read at once", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400, seed: 7 })
      const journalWith = (variables: Record<string, string>) =>
        Effect.zipRight(sync(sandbox.url, variables), journal).pipe(Effect.provide(TestDatabase.layer))
      const usual = yield* journalWith({})
      expect(usual.length).toBeGreaterThan(800)
      expect(yield* journalWith({ TIEOUT_LIMITS_ACCOUNTS_IN_PARALLEL: "1" })).toEqual(usual)
    }),
  )

  it.scoped("have the same totals per resource, role and currency wherever the pages end", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400, seed: 7 })
      const totalsWith = (size: string) =>
        Effect.zipRight(sync(sandbox.url, { TIEOUT_INTERFACE_PAGING_SIZE: size }), totals).pipe(
          Effect.provide(TestDatabase.layer),
        )
      const usual = yield* totalsWith("100")
      expect(usual.length).toBeGreaterThan(400)
      expect(yield* totalsWith("3")).toEqual(usual)
    }),
  )
})
