import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Explain } from "../../src/Explain.ts"
import { addEntry, openAccount, openBook, post, putResource, query, reconciled } from "../Reconcile/Books.ts"
import { unruled } from "../support/unruled.ts"
import { explaining, fact, titles } from "./Steps.ts"

/** A deposit of 1000 with its fee netted, reclassified, numbered, reconciled, in its second version. */
const story = Effect.gen(function* () {
  const book = yield* openBook
  const account = yield* openAccount(book)
  const raw = '{"depositId":"x", "amount":"1000.00","status":"COMPLETED"}'
  const deposit = yield* putResource(account, { type: "DEPOSIT", amount: "1000.00", fee: "5.00", raw })
  yield* query(
    (sql) => sql`
      insert into mirror.resource_versions (book_id, resource_type, resource_id, version, raw, changed_at, superseded_at, run_id)
      values (${book.bookId}, 'DEPOSIT', ${deposit.id}, 1, '{"status":"PENDING"}', '2026-10-05T09:30:00Z', '2026-10-06T11:00:00Z', 0)`,
  )
  const entry = yield* addEntry(account, { type: "CREDIT", amount: "995.00", of: deposit })
  yield* post(
    account,
    { type: "statement_entry", id: entry, kind: "reclassification", sequence: 1, of: deposit },
    [
      ["fees", "5.00"],
      ["deposits_clearing", "-5.00"],
    ],
  )
  yield* query((sql) => sql`select ledger.assign_numbers(${`{${book.bookId}}`}::text::integer[])`)
  const first = `${book.code}-2026-10-000001`
  const second = `${book.code}-2026-10-000002`
  return { book, account, deposit, entry, first, second, raw }
})

layer(explaining)("explaining", (it) => {
  it.effect("a journal number leads back to the service's data, in every version", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { account, deposit, entry, first, raw, second } = yield* story
      const { id, steps } = yield* explain(first.toLowerCase())
      expect(id).toBe(first.toLowerCase())
      expect(titles(steps)).toEqual([
        `journal entry ${first}`,
        `journal entry ${second}`,
        `statement entry ${entry}`,
        `deposit ${deposit.id}`,
        `deposit ${deposit.id}, version 1`,
      ])
      expect(steps[0]?.facts).toEqual([
        ["description", "movement"],
        ["kind", "movement"],
        ["debit", "995.00 USD  cash:USD  cash"],
        ["credit", "995.00 USD  deposits_clearing:USD  deposits_clearing"],
        ["effective date", "2026-10-06"],
        ["occurred", "2026-10-06T10:00:00.000000Z (the service's time)"],
        ["recorded", expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)],
        ["by", "run 0"],
        ["from", `statement entry ${entry}`],
      ])
      expect(steps[2]?.facts).toEqual([
        ["account", account.id],
        ["position", "1"],
        ["moved", "CREDIT 995.00 USD"],
        ["balance after", "995.00 USD"],
        ["names", `DEPOSIT ${deposit.id}`],
        ["occurred", "2026-10-06T10:00:00.000000Z (the service's time)"],
        ["read by", "run 0"],
      ])
      expect(fact(steps, `deposit ${deposit.id}`, "as sent")).toEqual([raw, '{"status":"PENDING"}'])
      expect(fact(steps, `deposit ${deposit.id}`, "status")).toEqual(["COMPLETED", "PENDING"])
    }),
  )

  it.effect("the other journal number begins with itself", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { first, second } = yield* story
      const { steps } = yield* explain(second)
      expect(titles(steps).slice(0, 2)).toEqual([`journal entry ${second}`, `journal entry ${first}`])
      expect(fact(steps, `journal entry ${second}`, "kind")).toEqual(["reclassification (1)"])
    }),
  )

  it.effect("an entry that a person moved leads to the entry that moves it, and that one back", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const book = yield* openBook
      const account = yield* openAccount(book)
      const entry = yield* addEntry(account, { type: "CREDIT", amount: "10.00" })
      yield* post(account, { type: "manual", id: entry, kind: "reclassification", sequence: 1 }, [
        ["suspense", "10.00"],
        ["fees", "-10.00"],
      ])
      yield* query((sql) => sql`select ledger.assign_numbers(${`{${book.bookId}}`}::text::integer[])`)
      const numbers = [1, 2].map((number) => `journal entry ${book.code}-2026-10-00000${number}`)
      for (const asked of [numbers, [...numbers].reverse()]) {
        const { steps } = yield* explain((asked[0] ?? "").replace("journal entry ", ""))
        expect(titles(steps)).toEqual([...asked, `statement entry ${entry}`])
      }
    }),
  )

  it.effect("an entry, a resource and an account lead to the books", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { account, deposit, entry, first, second } = yield* story
      const trail = [
        `statement entry ${entry}`,
        `journal entry ${first}`,
        `journal entry ${second}`,
        `deposit ${deposit.id}`,
        `deposit ${deposit.id}, version 1`,
      ]
      expect(titles((yield* explain(entry)).steps)).toEqual(trail)
      expect(titles((yield* explain(deposit.id)).steps)).toEqual([...trail.slice(3), ...trail.slice(0, 3)])
      const ofAccount = (yield* explain(account.id)).steps
      expect(titles(ofAccount)).toEqual([`account ${account.id}`, `statement entry ${entry}`])
      expect(fact(ofAccount, "account", "the books hold")).toEqual(["995.00 USD  cash:USD  cash"])
      expect(fact(ofAccount, "account", "statement")).toEqual(["ends at 995.00 USD after 1 entry"])
    }),
  )

  it.effect("the beginning of an identifier is enough, in any case, with or without dashes", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { entry } = yield* story
      const whole = (yield* explain(entry)).steps
      expect((yield* explain(entry.slice(0, 8))).steps).toEqual(whole)
      expect((yield* explain(entry.toUpperCase().replaceAll("-", ""))).steps).toEqual(whole)
      expect((yield* explain(entry.slice(0, 20))).steps).toEqual(whole)
    }),
  )

  it.effect("a finding is shown once and leads on to its subject", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { account, book, entry } = yield* story
      yield* query((sql) => sql`update mirror.accounts set balance = 996 where book_id = ${book.bookId}`)
      expect(yield* reconciled(book)).toHaveLength(1)
      const rows = yield* query(
        (sql) =>
          sql<
            Array<{ id: string }>
          >`select finding_id::text as id from reconcile.findings where book_id = ${book.bookId}`,
      )
      const id = rows[0]?.id ?? ""
      const { steps } = yield* explain(`f${id}`)
      expect(titles(steps)).toEqual([
        `finding F${id}: cash-balance`,
        `account ${account.id}`,
        `statement entry ${entry}`,
      ])
      expect(fact(steps, "finding", "found")).toEqual([
        "The books hold 995.00 USD, the last booked statement entry leaves 995.00 USD, the service reports 996.00 USD.",
      ])
      expect(titles((yield* explain(account.id)).steps)).toContain(`finding F${id}: cash-balance`)
    }),
  )

  it.effect("a malformed row is named without its content", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { account, book, deposit } = yield* story
      const put = (stream: string, item: string | null, raw: string) =>
        query(
          (sql) => sql`
            insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
            values (${book.bookId}, ${stream}, ${item}, ${raw}, 'is negative', '$.fee', ${raw}, 0)`,
        )
      yield* put("deposits", deposit.id, '{"fee": -1}')
      yield* put(`statement:${account.id}`, null, '{"amount": 1}')
      const numbers = yield* query(
        (sql) => sql<Array<{ id: string }>>`
          select 'Q' || quarantine_id as id from mirror.quarantine where book_id = ${book.bookId} order by 1`,
      )
      const [first, second] = numbers.map(({ id }) => id)
      const shown = (number: string | undefined) => [`tieout quarantine show ${number}`]
      expect(fact((yield* explain(deposit.id)).steps, "quarantined row", "as sent")).toEqual(shown(first))
      expect(fact((yield* explain(account.id)).steps, "quarantined row", "as sent")).toEqual(shown(second))
      const byNumber = (yield* explain(`${first}`)).steps
      expect(titles(byNumber)).toEqual([`quarantined row ${first} of deposits`])
      expect(fact(byNumber, "quarantined row", "not understood")).toEqual(["$.fee is negative"])
      expect(JSON.stringify(byNumber)).not.toContain('fee\\": -1')
      yield* reconciled(book)
      const rows = yield* query(
        (sql) => sql<Array<{ id: string }>>`
          select finding_id::text as id from reconcile.findings where book_id = ${book.bookId} and subject_id = 'deposits'`,
      )
      const { steps } = yield* explain(`F${rows[0]?.id}`)
      expect(titles(steps)).toEqual([
        `finding F${rows[0]?.id}: quarantine`,
        `quarantined row ${first} of deposits`,
      ])
    }),
  )

  it.effect("a resource that the service does not have says so", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { book } = yield* story
      const id = "0d15ea5e-0000-4000-8000-000000000000"
      yield* query(
        (sql) => sql`
          insert into mirror.missing_resources (book_id, resource_type, resource_id, tries)
          values (${book.bookId}, 'WITHDRAWAL', ${id}, 2)`,
      )
      const { steps } = yield* explain(id)
      expect(fact(steps, `withdrawal ${id}`, "asked")).toEqual(["2 times"])
    }),
  )

  it.effect("what an entry names in a type that nobody knows leads to the entry", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const account = yield* openAccount(yield* openBook)
      const entry = yield* addEntry(account, { type: "CREDIT", amount: "10.00" })
      const id = "5e1f1e55-0000-4000-8000-000000000000"
      yield* unruled(
        `update mirror.statement_entries set related_type = 'REBATE', related_id = '${id}' where entry_id = '${entry}'`,
      )
      const { steps } = yield* explain(id.slice(0, 8))
      expect(titles(steps)[0]).toBe(`statement entry ${entry}`)
    }),
  )

  it.effect("a transaction hash leads to its movement, in upper or lower case", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { deposit } = yield* story
      const hash = `0xAbC${deposit.id}`
      yield* query(
        (sql) =>
          sql`update mirror.resources set transaction_hash = ${hash} where resource_id = ${deposit.id}`,
      )
      const { steps } = yield* explain(` ${hash.toUpperCase()} `)
      expect(titles(steps)[0]).toBe(`deposit ${deposit.id}`)
    }),
  )

  it.effect("an unknown identifier and one that fits several fail with advice", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { book } = yield* story
      for (const id of [
        "00000000-0000-4000-8000-00000000dead",
        "ORG-2026-10-999999",
        "F999999",
        "nonsense",
        "abc",
        "",
      ]) {
        const error = yield* Effect.flip(explain(id))
        expect(error).toMatchObject({ _tag: "NothingFound", reason: "Unknown", id })
      }
      const ids = ["facade00-0000-4000-8000-000000000001", "facade00-0000-4000-8000-000000000002"]
      for (const id of ids) yield* putResource(yield* openAccount(book), { type: "DEPOSIT", amount: "1" }, id)
      const error = yield* Effect.flip(explain("facade00"))
      expect(error).toMatchObject({
        _tag: "NothingFound",
        reason: "Ambiguous",
        message: `"facade00" may be deposit ${ids[0]} of ${book.code}, or deposit ${ids[1]} of ${book.code}.`,
      })
      expect(titles((yield* explain(`${ids[0]}`)).steps)[0]).toBe(`deposit ${ids[0]}`)
    }),
  )
})
