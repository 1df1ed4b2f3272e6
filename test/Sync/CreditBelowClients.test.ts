/** Credit accounts and receivables that the service lists below each client: `{clientId}` in the path. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { client, clientId, creditAccount, lending, move } from "./Lending.ts"
import { at, loan, surfaces, tx } from "./Loaned.ts"
import { id } from "./Partnership.ts"
import { rows, sync } from "./Runs.ts"

const below = {
  ...surfaces,
  TIEOUT_INTERFACE_PATHS_CREDIT_ACCOUNTS: "/clients/{clientId}/credit-accounts",
  TIEOUT_INTERFACE_PATHS_RECEIVABLES: "/clients/{clientId}/receivables",
}

const findings = Effect.map(
  rows(
    "select check_name, subject_id from reconcile.findings where closed_at is null and severity = 'blocking' order by 1, 2",
  ),
  (found) => found.map(({ check_name: check, subject_id: subject }) => `${String(check)} ${String(subject)}`),
)

type Item = Record<string, unknown>

/** What each client's lists show; a client that is not named here answers `absent`. */
const serving = Effect.fn("test.serving")(function* (clients: ReadonlyArray<Item>) {
  const held = {
    accounts: new Map<string, Array<Item>>(),
    receivables: new Map<string, Array<Item>>(),
    absent: 404,
  }
  const asked: Array<string> = []
  const { held: lent, service } = yield* lending({
    clients: [...clients],
    interfere: (path, response) => {
      const [route = "", query = ""] = path.split("?")
      const [, of = "", list = ""] = /^\/clients\/([^/]+)\/(credit-accounts|receivables)$/.exec(route) ?? []
      if (list === "") return false
      asked.push(route)
      const items = (list === "receivables" ? held.receivables : held.accounts).get(of)
      const headers = { date: new Date(lent.clock).toUTCString() }
      // Two rows a page.
      const from = Number(new URLSearchParams(query).get("after") ?? 0)
      const pageInfo = { hasNextPage: (items ?? []).length > from + 2, endCursor: String(from + 2) }
      if (items === undefined) json(response, { code: "not_found" }, held.absent, headers)
      else json(response, { items: items.slice(from, from + 2), pageInfo }, 200, headers)
      return true
    },
  })
  return { asked, held, lent, service }
})

const account = (index: number, principal: string, repayment: string, over: Item = {}) => ({
  ...creditAccount(principal, repayment),
  creditAccountId: id(950 + index),
  ...over,
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Lists of the credit surface below clients",
  (it) => {
    it.scoped("are read client by client, and compared client by client, though their rows name none", () =>
      Effect.gen(function* () {
        const { held, lent, service } = yield* serving([client(1), client(2)])
        const loans = (index: number, count: number) =>
          Array.from({ length: count }, (_, at) =>
            loan({ receivableId: id(1000 * index + at), clientId: clientId(index) }),
          )
        held.receivables.set(clientId(1), loans(1, 3))
        held.receivables.set(clientId(2), loans(2, 1))
        held.accounts.set(clientId(1), [
          account(1, "3000.00", "3075.00"),
          account(3, "0.00", "0.00", { paymentRails: "SEPA", clientId: null }),
          account(4, "0.00", "0.00", { paymentRails: "ACH" }),
        ])
        held.accounts.set(clientId(2), [account(2, "900.00", "925.00")])
        yield* sync(service.url, below)
        expect(yield* rows("select count(*)::int as n from mirror.receivables where current")).toEqual([
          { n: 4 },
        ])
        expect(
          yield* rows(
            "select raw ->> 'clientId' as client, count(*)::int as n from mirror.reference_items where kind = 'credit_account' and current group by 1 order by 1",
          ),
        ).toEqual([
          { client: clientId(1), n: 3 },
          { client: clientId(2), n: 1 },
        ])
        expect(yield* findings).toEqual([`credit-totals USD SWIFT ${clientId(2)}`])

        // Nothing new writes nothing, and the lists count as read to their end.
        held.accounts.set(clientId(2), [account(2, "1000.00", "1025.00")])
        lent.clock = at(6)
        yield* sync(service.url, below)
        expect(yield* findings).toEqual([])
        expect(
          yield* rows(
            "select max(version) as version from mirror.reference_items where kind = 'credit_account'",
          ),
        ).toEqual([{ version: 2 }])
        expect(
          yield* rows(
            `select stream, began_at > '${at(5)}' as now from sync.stream_reads where stream in ('receivables', 'credit_accounts') order by 1`,
          ),
        ).toEqual([
          { stream: "credit_accounts", now: true },
          { stream: "receivables", now: true },
        ])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Lists of the credit surface below clients",
  (it) => {
    it.scoped(
      "are empty lists where there is no client, and need not be there for one that cannot be read",
      () =>
        Effect.gen(function* () {
          const { asked, held, lent, service } = yield* serving([])
          yield* sync(service.url, below)
          expect(yield* findings).toEqual([])
          lent.clients = [client(1, { status: "DISABLED" })]
          // The interface does not show how it says that a client's paths are closed.
          for (const status of [404, 403, 400, 409, 410, 423]) {
            Object.assign(held, { absent: status })
            asked.length = 0
            yield* sync(service.url, below)
            expect(asked.length).toBeGreaterThan(0)
            expect(yield* findings, String(status)).toEqual([])
          }
          expect(
            yield* rows(
              "select count(*)::int as n from sync.stream_reads where stream in ('receivables', 'credit_accounts') and ended_at is not null",
            ),
          ).toEqual([{ n: 2 }])
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Lists of the credit surface below clients",
  (it) => {
    it.scoped("are not read where the list of a client that can be read is not there", () =>
      Effect.gen(function* () {
        const { held, lent, service } = yield* serving([client(1), client(2)])
        const out = move(lent, "", { type: "DEBIT", amount: 1000, on: at(2) })
        held.receivables.set(clientId(1), [loan({ disbursedTransaction: tx(out, 2) })])
        held.accounts.set(clientId(1), [account(1, "1000.00", "1025.00")])
        yield* sync(service.url, below)
        expect(yield* findings).toEqual(["stream-unread credit_accounts", "stream-unread receivables"])
        held.receivables.set(clientId(2), [])
        held.accounts.set(clientId(2), [])
        yield* sync(service.url, below)
        expect(yield* findings).toEqual([])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Lists of the credit surface below clients",
  (it) => {
    it.scoped("quarantine a row that names another client", () =>
      Effect.gen(function* () {
        const { held, service } = yield* serving([client(1)])
        held.receivables.set(clientId(1), [loan({ clientId: clientId(2) })])
        held.accounts.set(clientId(1), [])
        yield* sync(service.url, below)
        expect(
          yield* rows("select stream, path, reason from mirror.quarantine where resolved_at is null"),
        ).toEqual([
          { stream: "receivable", path: "$.clientId", reason: "is not the client that was asked for" },
        ])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Lists of the credit surface below clients",
  (it) => {
    /** Lists that were read to their end on or after a day. */
    const readSince = (day: number) =>
      Effect.map(
        rows(
          `select stream from sync.stream_reads where stream in ('receivables', 'credit_accounts') and began_at > '${at(day)}' order by 1`,
        ),
        (found) => found.map(({ stream }) => stream),
      )

    it.scoped("are not read where the list of clients moves while it is read", () =>
      Effect.gen(function* () {
        const { held, lent, service } = yield* serving([client(1)])
        let isMoving = true
        let read = 0
        const { interfere } = lent
        // Every reading shows the first client twice, and another one that no reading has shown.
        lent.interfere = (path, response) => {
          if (!isMoving || !path.startsWith("/clients?")) return interfere(path, response)
          const isFirst = !path.includes("after=")
          if (isFirst) read++
          const items = isFirst ? [client(1)] : [client(1), client(read + 1, { status: "DISABLED" })]
          const headers = { date: new Date(lent.clock).toUTCString() }
          json(response, { items, pageInfo: { hasNextPage: isFirst, endCursor: "2" } }, 200, headers)
          return true
        }
        held.receivables.set(clientId(1), [])
        held.accounts.set(clientId(1), [])
        yield* sync(service.url, below)
        expect(read).toBeGreaterThan(2)
        expect(yield* readSince(1)).toEqual([])
        isMoving = false
        lent.clock = at(6)
        yield* sync(service.url, below)
        expect(yield* readSince(5)).toEqual(["credit_accounts", "receivables"])

        // Of a client without an identifier nobody can ask.
        lent.clients = [client(1), client(2, { clientId: null })]
        lent.clock = at(8)
        yield* sync(service.url, below)
        expect(yield* readSince(7)).toEqual([])
      }),
    )
  },
)
