import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { unreadText } from "../../../src/Sync/Runs/RunReport.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accountOf, client, clientId, lending, move } from "../Lending.ts"
import { id } from "../Partnership.ts"
import { findings, postings, rows, sync, syncWith, variablesFor } from "../Runs.ts"

const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }

const ref = (book: string) => ({ accountId: accountOf(book), currency: "USD", paymentRails: "SWIFT" })

const books = rows(`
  select b.code || ' ' || b.name || ': ' || coalesce(sum(t.debit - t.credit) filter (where a.role = 'cash'), 0) as line
  from mirror.books b
  left join ledger.accounts a on a.book_id = b.book_id
  left join ledger.balances t on t.book_id = a.book_id and t.account_id = a.account_id
  group by b.code, b.name order by b.code`).pipe(Effect.map((found) => found.map(({ line }) => line)))

layer(TestDatabase.layer, { excludeTestServices: true })("Clients", (it) => {
  it.scoped("are books of their own; the inactive ones are named and passed over", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({
        clients: [
          client(1),
          client(2, { status: "DISABLED" }),
          client(3, { code: "C1", legalEntityName: "Another Ltd" }),
          client(4, { code: "Ümläut & Söhne" }),
          client(5, { status: "ONBOARDING", code: "" }),
        ],
      })
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      move(held, clientId(3), { type: "CREDIT", amount: 30 })
      const report = yield* sync(service.url, surfaces)
      expect(report.clients).toEqual({ read: 3, skipped: ["C2 (DISABLED)", `${clientId(5)} (ONBOARDING)`] })
      expect(report.clientFailures).toEqual([])
      expect(yield* books).toEqual([
        "C1 Client 1 Ltd: 10.00",
        "C1-C1000000 Another Ltd: 30.00",
        "ML-UT-S-HNE Client 4 Ltd: 0",
        "ORG Organization: 0",
      ])
      expect(service.count(`/clients/${clientId(2)}`)).toBe(0)
      // A client keeps its code when its name changes.
      held.clients = [client(1, { code: "NEW", legalEntityName: "Renamed Ltd" })]
      yield* sync(service.url, surfaces)
      expect((yield* books)[0]).toBe("C1 Renamed Ltd: 10.00")
    }),
  )

  it.scoped("cost one request per account plus the lists where there is no news", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      yield* sync(service.url, surfaces)
      const again = yield* sync(service.url, surfaces)
      expect(again.requests).toEqual({
        accounts: 2,
        addressBook: 2,
        clients: 1,
        conversionPairs: 2,
        statement: 2,
        token: 1,
      })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("have their resources read by reference, in the flat forms", () =>
    Effect.gen(function* () {
      const book = clientId(1)
      const { held, service } = yield* lending()
      const own = [
        {
          depositId: id(20),
          account: ref(book),
          amount: "100.00",
          feeAmount: "2.00",
          currency: "USD",
          remitterName: "Ada",
          status: "COMPLETED",
          createdAt: "2026-10-01T00:00:00Z",
        },
      ]
      const withdrawals = [
        {
          withdrawalId: id(21),
          sourceAccount: ref(book),
          amount: "40.00",
          feeAmount: "1.00",
          currency: "USD",
          destination: { destinationId: id(60) },
          purpose: "Rent",
          status: "COMPLETED",
          createdAt: "2026-10-01T00:00:00Z",
        },
      ]
      const destination = {
        destinationId: id(60),
        status: "ACTIVE",
        currency: "USD",
        accountNumber: "DE01",
        swiftBic: "X",
        bankName: "Bank of Examples",
      }
      held.interfere = (path, response) => {
        const answers: Record<string, unknown> = {
          [`/clients/${book}/deposits/${id(20)}`]: own[0],
          [`/clients/${book}/withdrawals/${id(21)}`]: withdrawals[0],
          [`/clients/${book}/destinations?first=100`]: {
            items: [destination],
            pageInfo: { hasNextPage: false },
          },
          [`/clients/${book}/accounts/${accountOf(book)}/deposit-instructions`]: {
            beneficiaryName: "Client 1 Ltd",
            accountNumber: "DE99",
            swiftBic: "X",
            bankName: "Y",
            reference: "RF18 5390 0754 7034",
          },
        }
        const found = answers[path]
        if (found === undefined) return false
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found))
        return true
      }
      move(held, book, { type: "CREDIT", amount: 98, relatedType: "DEPOSIT", relatedId: id(20) })
      move(held, book, { type: "DEBIT", amount: 41, relatedType: "WITHDRAWAL", relatedId: id(21) })
      yield* sync(service.url, surfaces)
      expect(yield* postings).toEqual([
        "deposit cash 98, fees 2, deposits_clearing -100",
        "withdrawal withdrawals_clearing 40, fees 1, cash -41",
      ])
      expect(yield* findings).toEqual([])
      // The withdrawal says only where it went; the address book says who that is.
      expect(yield* rows("select counterparty from ledger.journal_entries order by position")).toEqual([
        { counterparty: "Ada" },
        { counterparty: "Bank of Examples, DE01" },
      ])
      expect(yield* rows("select kind from mirror.reference_items order by kind")).toEqual([
        { kind: "client" },
        { kind: "deposit_instruction" },
        { kind: "destination" },
      ])
      expect(service.count(`/clients/${book}/deposits?`)).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("have their resources listed where the profile names a list", () =>
    Effect.gen(function* () {
      const { service } = yield* lending()
      const report = yield* sync(service.url, {
        TIEOUT_CONNECTIONS:
          "{default: {surfaces: [client], interface: {clientPaths: {deposits: /incoming, addressBook: null}}}}",
      })
      // A list that the profile names and the service does not have is a failure of that client.
      expect(report.clientFailures.map(unreadText)).toEqual(["client C1, deposits"])
      expect(service.count(`/clients/${clientId(1)}/incoming`)).toBe(1)
      expect(service.count(`/clients/${clientId(1)}/destinations`)).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that cannot be read do not stop the others, and are named", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2), client(3)] })
      for (const index of [1, 2, 3]) move(held, clientId(index), { type: "CREDIT", amount: index })
      held.interfere = (path, response) => {
        const status = path.startsWith(`/clients/${clientId(1)}/accounts?`)
          ? 403
          : path.startsWith(`/clients/${clientId(2)}/accounts/${accountOf(clientId(2))}/statement`)
            ? 401
            : 0
        if (status === 0) return false
        response.writeHead(status, { "content-type": "application/json" }).end("{}")
        return true
      }
      const report = yield* sync(service.url, surfaces)
      expect(report.clients.read).toBe(1)
      expect(report.clientFailures.map(unreadText)).toEqual([
        "client C1",
        `client C2, statement ${accountOf(clientId(2))}`,
      ])
      expect(yield* books).toContain("C3 Client 3 Ltd: 3.00")
      expect(
        yield* rows("select state, exit_code, summary -> 'failedBooks' as failed from sync.runs"),
      ).toEqual([{ state: "done", exit_code: 3, failed: ["C1", "C2"] }])
      held.interfere = () => false
      const healed = yield* sync(service.url, surfaces)
      expect(healed.clientFailures).toEqual([])
      expect(yield* books).toEqual([
        "C1 Client 1 Ltd: 1.00",
        "C2 Client 2 Ltd: 2.00",
        "C3 Client 3 Ltd: 3.00",
        "ORG Organization: 0",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("can be read one at a time, by code or identifier", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(1), { type: "CREDIT", amount: 1 })
      const only = (name: string) =>
        syncWith({ ...variablesFor(service.url), ...surfaces }, { client: Option.some(name) })
      expect((yield* only("C2")).clients.read).toBe(1)
      expect(service.count(`/clients/${clientId(1)}/`)).toBe(0)
      expect((yield* only(clientId(1))).counters.entries).toBe(1)
      const last = rows("select run_id, state from sync.last_sync('default')")
      const before = yield* last
      const unknown = yield* Effect.flip(only("C9"))
      expect(unknown.message).toContain('the service lists no client "C9"')
      expect(unknown.message).toContain("where another connection has it, say so by --connection")
      // A misspelt client is no sync: exports are no more incomplete than before.
      expect(before).toMatchObject([{ state: "done" }])
      expect(yield* last).toEqual(before)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("Several connections in one database", (it) => {
  it.scoped("are never mixed, though identifiers are the same", () =>
    Effect.gen(function* () {
      const one = yield* lending()
      const two = yield* lending()
      move(one.held, clientId(1), { type: "CREDIT", amount: 1 })
      move(one.held, "", { type: "CREDIT", amount: 100 })
      move(two.held, clientId(1), { type: "CREDIT", amount: 2 })
      move(two.held, "", { type: "CREDIT", amount: 200 })
      const variables = {
        ...variablesFor(one.service.url),
        TIEOUT_CONNECTIONS:
          "{default: {surfaces: [organization, client]}, prod-eu: {surfaces: [organization, client]}}",
        TIEOUT_PROD_EU_BASE_URL: two.service.url,
        TIEOUT_PROD_EU_CLIENT_ID: "a",
        TIEOUT_PROD_EU_CLIENT_SECRET: "b",
        TIEOUT_PROD_EU_SCOPE: "c",
      }
      const run = (connection: string) => syncWith(variables, { connection })
      // At the same time: each has a lease of its own.
      yield* Effect.all([run("default"), run("prod-eu")], { concurrency: 2 })
      expect(yield* books).toEqual([
        "C1 Client 1 Ltd: 1.00",
        "ORG Organization: 100.00",
        "PROD-EU-C1 Client 1 Ltd: 2.00",
        "PROD-EU-ORG Organization (prod-eu): 200.00",
      ])
      expect(one.service.count("/clients/")).toBeGreaterThan(0)
      const stray = yield* rows(`
        select 1 from ledger.postings p join ledger.journal_entries e using (book_id, entry_id)
        join mirror.books b on b.book_id = e.book_id join sync.runs r on r.run_id = e.run_id
        where r.connection <> b.connection`)
      expect(stray).toEqual([])
    }),
  )
})
