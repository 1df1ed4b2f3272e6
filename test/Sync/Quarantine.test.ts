import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { organizationBook } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Quarantine } from "../../src/Mirror/Quarantine.ts"
import { quarantineNumber } from "../../src/Mirror/QuarantinedRow.ts"
import { Settings } from "../../src/Settings.ts"
import { unfinishedReplays } from "../../src/Sync/Replay/Unfinished.ts"
import { QuarantineReplay } from "../../src/Sync/Replay.ts"
import type { ReplayReport } from "../../src/Sync/Runs/ReplayResult.ts"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { accountId, credit, deposit, id, partnership, threeDeposits } from "./Partnership.ts"
import { findings, journal, postings, rows, sync, variablesFor } from "./Runs.ts"

/** One `tieout quarantine replay`. */
const replay = (url: string, variables: Record<string, string> = {}, numbers: ReadonlyArray<bigint> = []) =>
  Effect.flatMap(QuarantineReplay, (service) => service.run({ connection: "default", rows: numbers })).pipe(
    Effect.provide(
      QuarantineReplay.Default.pipe(
        Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
      ),
    ),
  )

const unfinished = Effect.provide(unfinishedReplays(Option.none()), Settings.from({ variables: {} }))

const told = ({ tried }: ReplayReport) =>
  tried.map(
    ({ row, waits }) =>
      `${quarantineNumber(row)} ${row.stream}: ${waits === null ? "replayed" : `${waits.path} ${waits.reason}`}`,
  )

const open = rows(
  "select stream from mirror.quarantine where resolved_at is null order by quarantine_id",
).pipe(Effect.map((found) => found.map(({ stream }) => stream)))

/** Leaves rows in quarantine that today's decoders understand, as an earlier version might have. */
const leave = (stream: string, itemId: string | null, row: object | string) =>
  Effect.gen(function* () {
    const quarantine = yield* Quarantine
    const database = yield* Database
    const book = yield* organizationBook("default")
    const raw = typeof row === "string" ? row : JSON.stringify(row)
    yield* database.query(
      "Test.leave",
      (sql) => sql`
        insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
        values (${book.bookId}, ${stream}, ${itemId}, ${raw}, 'is not known to this version', '$', ${raw}, 0)`,
    )
    return quarantine
  }).pipe(Effect.provide(Quarantine.Default))

/** Lists that the partnership does not have. */
const absent = ["/clients", "/receivables", "/credit-accounts", "/settings/payment-rails"]

layer(TestDatabase.layer, { excludeTestServices: true })("a row that its list no longer shows", (it) => {
  it.scoped.each([
    "/accounts",
    "/destinations",
    "/conversion-pairs",
    "/clients",
    "/receivables",
    "/deposits",
  ])("is settled once the list is read whole without it: %s", (list) =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(threeDeposits)
      let odd: ReadonlyArray<unknown> = [null]
      held.interfere = (path, response) => {
        const [route = ""] = path.split("?")
        if (route !== list && !absent.includes(route)) return false
        const items = [...(route === "/deposits" ? held.deposits : []), ...(route === list ? odd : [])]
        json(response, { items, pageInfo: { hasNextPage: false } })
        return true
      }
      const surfaces = {
        TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client, credit]}}",
      }
      yield* sync(service.url, surfaces)
      expect(yield* open).toHaveLength(1)
      yield* sync(service.url, surfaces)
      expect(yield* open).toHaveLength(1)
      odd = []
      yield* sync(service.url, surfaces)
      expect(yield* open).toEqual([])
      // It came back.
      odd = [null]
      yield* sync(service.url, surfaces)
      expect(yield* open).toHaveLength(1)
    }).pipe(inOwnDatabase),
  )

  it.scoped("is settled, where it can be asked for, once the service answers that there is none", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ deposits: [deposit(11, "1", { createdAt: "odd" })] })
      yield* sync(service.url)
      held.deposits = []
      const byIdentifier = held.interfere
      held.interfere = (path, response) => {
        if (!path.startsWith("/deposits/")) return false
        json(response, deposit(11, "1", { createdAt: "odd" }))
        return true
      }
      yield* sync(service.url)
      yield* sync(service.url)
      expect(yield* open).toEqual(["deposits"])
      held.interfere = byIdentifier
      yield* sync(service.url)
      yield* sync(service.url)
      expect(yield* open).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("stays where a reading goes on behind its page", () =>
    Effect.gen(function* () {
      const some = [...Array(6).keys()].map((index) => deposit(50 - index, "1"))
      const { held, service } = yield* partnership({
        deposits: [{ amount: "odd" }, ...some],
        pageSize: 2,
      })
      held.interfere = (path, response) => {
        if (!path.startsWith("/deposits?") || !path.includes("after=4")) return false
        json(response, {}, 500)
        return true
      }
      const small = { TIEOUT_LIMITS_TRIES: "1", TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" }
      yield* Effect.flip(sync(service.url, small))
      expect(yield* open).toEqual(["deposits"])
      held.interfere = (path, response) => {
        // Only what lies behind the first page is read: the row is there, and is not seen.
        if (!path.startsWith("/deposits?") || path.includes("after=")) return false
        json(response, {}, 500)
        return true
      }
      yield* Effect.either(sync(service.url, small))
      expect(yield* rows("select count(*)::integer as n from mirror.resources")).toEqual([{ n: 6 }])
      expect(yield* open).toEqual(["deposits"])
    }).pipe(inOwnDatabase),
  )

  it.scoped("stays where a reading came to its end by a page that is known already", () =>
    Effect.gen(function* () {
      const many = [...Array(30).keys()].map((index) => deposit(50 - index, "1"))
      const { held, service } = yield* partnership({ deposits: many, pageSize: 10 })
      held.deposits = [...many.slice(0, 25), { amount: "odd" }, ...many.slice(25)]
      yield* sync(service.url)
      expect(yield* open).toEqual(["deposits"])
      held.deposits = many
      yield* sync(service.url)
      expect(yield* open).toEqual(["deposits"])
      yield* sync(service.url, {}, true)
      expect(yield* open).toEqual([])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a replay of the quarantine", (it) => {
  it.scoped("books rows that corrected settings make readable, without asking the service for them", () =>
    Effect.gen(function* () {
      const named = deposit(11, "10", { amount: { value: "10", currency: "USD" } })
      const { held: service, service: at } = yield* partnership({
        balance: "10",
        deposits: [named],
        statement: [credit(21, "10", "10", id(11))],
      })
      yield* sync(at.url)
      expect(yield* postings).toEqual(["unidentified cash 10, suspense -10"])
      expect(yield* open).toEqual(["deposits"])
      expect(yield* findings).toEqual(["missing-resource blocking", "quarantine blocking"])

      service.interfere = (_, response) => {
        json(response, {}, 500)
        return true
      }
      const asked = at.calls.length
      const mended = yield* replay(at.url, { TIEOUT_INTERFACE_MONEY_AMOUNT_FIELD: "value" })
      expect(told(mended)).toEqual(["Q1 deposits: replayed"])
      expect(mended).toMatchObject({ reclassifications: 1, numbered: 1 })
      expect(at.calls.length).toBe(asked)
      expect(yield* open).toEqual([])
      expect(yield* postings).toEqual([
        "unidentified cash 10, suspense -10",
        "reclassification suspense 10, deposits_clearing -10",
      ])
      expect(yield* findings).toEqual([])

      const books = yield* journal
      const again = yield* replay(at.url)
      expect(told(again)).toEqual([])
      expect(yield* journal).toEqual(books)
    }).pipe(inOwnDatabase),
  )

  it.scoped("finishes by the next one what one that was cut off had settled", () =>
    Effect.gen(function* () {
      const named = deposit(11, "10", { amount: { value: "10", currency: "USD" } })
      const { service } = yield* partnership({
        balance: "10",
        deposits: [named],
        statement: [credit(21, "10", "10", id(11))],
      })
      yield* sync(service.url)
      yield* rows("alter table ledger.journal_numbers add constraint away check (false) not valid")
      yield* Effect.flip(replay(service.url, { TIEOUT_INTERFACE_MONEY_AMOUNT_FIELD: "value" }))
      yield* rows("alter table ledger.journal_numbers drop constraint away")
      expect(yield* open).toEqual([])
      expect(yield* findings).toEqual(["missing-resource blocking", "quarantine blocking"])
      yield* rows(`
        with run as (
          insert into sync.runs (connection, command, state, ended_at) values ('former', 'replay', 'failed', now())
          returning run_id)
        insert into sync.leases (connection, epoch, run_id) select 'former', 1, run_id from run`)
      expect(yield* unfinished, "without one that the settings no longer have").toEqual(["default"])

      expect(yield* replay(service.url)).toMatchObject({ tried: [], numbered: 1, findingsClosed: 2 })
      expect(yield* findings).toEqual([])
      expect(yield* unfinished).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("reads a statement on from the last good entry, and books what was held behind the row", () =>
    Effect.gen(function* () {
      const { statement: good } = threeDeposits
      const { held: service, service: at } = yield* partnership({ ...threeDeposits, statement: [] })
      service.statement = good.map((entry, index) => (index === 1 ? { ...entry, currency: "USDX" } : entry))
      yield* sync(at.url)
      expect(yield* postings).toHaveLength(1)
      // Today's decoders say the same of the row as before.
      expect(told(yield* replay(at.url))).toEqual([
        `Q1 statement:${accountId}: $.currency is not a known upper-case currency code`,
      ])
      // A well-formed row stands for one that an upgraded decoder understands.
      yield* unruled(`update mirror.quarantine set raw = replace(raw, 'USDX', 'USD')`)

      service.interfere = (_, response) => {
        response.destroy()
        return true
      }
      const unreachable = yield* replay(at.url, { TIEOUT_LIMITS_TRIES: "1" })
      expect(told(unreachable)[0]).toContain(
        "can be understood now, but its statement could not be read again: GET /accounts/",
      )
      expect(yield* postings).toHaveLength(1)

      service.interfere = () => false
      service.statement = good
      const mended = yield* replay(at.url)
      expect(told(mended)).toEqual([`Q1 statement:${accountId}: replayed`])
      expect(mended).toMatchObject({ entries: 2, journalEntries: 2, numbered: 2 })
      expect(yield* open).toEqual([])
      expect(yield* findings).toEqual([])
      expect(yield* postings).toEqual([
        "deposit cash 10, deposits_clearing -10",
        "deposit cash 5, deposits_clearing -5",
        "deposit cash 1, deposits_clearing -1",
      ])
    }).pipe(inOwnDatabase),
  )

  it.scoped("reads a statement on where only the service has mended its row", () =>
    Effect.gen(function* () {
      const { statement: good } = threeDeposits
      const { held: service, service: at } = yield* partnership({ ...threeDeposits, statement: [] })
      service.statement = good.map((entry, index) => (index === 1 ? { ...entry, amount: "five" } : entry))
      yield* sync(at.url)
      const still = `Q1 statement:${accountId}: $.amount is not a plain decimal number (-?digits[.digits])`
      service.interfere = (_, response) => {
        response.destroy()
        return true
      }
      expect(told(yield* replay(at.url, { TIEOUT_LIMITS_TRIES: "1" }))).toEqual([
        expect.stringContaining(`${still}; and it could not be asked for again: GET /accounts/`),
      ])
      service.interfere = () => false
      expect(told(yield* replay(at.url))).toEqual([still])
      service.statement = good
      expect(told(yield* replay(at.url))).toEqual([`Q1 statement:${accountId}: replayed`])
      expect(yield* postings).toHaveLength(3)
      expect(yield* open).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("settles the rows of a statement up to its next gap", () =>
    Effect.gen(function* () {
      const good = [credit(21, "10", "10"), credit(22, "5", "15"), credit(23, "1", "16")]
      const { held: service, service: at } = yield* partnership({ balance: "16" })
      service.statement = good.map((entry, index) => (index > 0 ? { ...entry, type: "OTHER" } : entry))
      yield* sync(at.url)
      expect(yield* open).toHaveLength(2)
      yield* unruled(
        `update mirror.quarantine set raw = replace(raw, 'OTHER', 'CREDIT') where item_id = '${id(22)}'`,
      )
      service.statement = good.map((entry, index) => (index > 1 ? { ...entry, type: "OTHER" } : entry))
      expect(told(yield* replay(at.url))).toEqual([
        `Q1 statement:${accountId}: replayed`,
        `Q2 statement:${accountId}: $.type is neither CREDIT nor DEBIT`,
      ])
      expect(yield* postings).toHaveLength(2)
    }).pipe(inOwnDatabase),
  )

  it.scoped("asks by identifier for a row that is still malformed, and reports the result", () =>
    Effect.gen(function* () {
      const bad = [11, 12, 13].map((index) => deposit(index, "1", { createdAt: "yesterday" }))
      const { held: service, service: at } = yield* partnership({ deposits: bad })
      yield* sync(at.url)
      service.deposits = [deposit(11, "1"), deposit(12, "1", { createdAt: "today" })]
      const first = yield* replay(at.url, {}, [1n, 2n])
      expect(told(first)).toEqual([
        "Q1 deposits: replayed",
        expect.stringContaining("Q2 deposits: $.createdAt "),
      ])
      expect(told(yield* replay(at.url, {}, [3n]))).toEqual([
        expect.stringContaining("; and the service finds no deposit with this identifier now"),
      ])
      expect(yield* rows("select resource_id from mirror.resources")).toEqual([{ resource_id: id(11) }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("keeps accounts and reference data, but never overwrites what was read since", () =>
    Effect.gen(function* () {
      const { service: at } = yield* partnership()
      yield* sync(at.url)
      const account = {
        accountId: id(2),
        currency: "USD",
        paymentRails: "SEPA",
        balance: "7",
        status: "ACTIVE",
      }
      yield* leave("accounts", id(2), account)
      yield* leave("destination", id(31), { destinationId: id(31), accountNumber: "DE1", bankName: "Bank" })
      yield* leave("conversion_pair", id(32), { pairId: id(32), pair: "USD/EUR" })
      yield* leave("payment_rail", "sepa", { code: "SEPA", description: "Euro" })
      yield* leave("client", id(33), {
        clientId: id(33),
        code: "ACME",
        legalEntityName: "Acme",
        status: "NEW",
      })
      yield* leave("deposit_instruction", accountId, { accountNumber: "DE2" })
      yield* leave("receivable", id(34), { receivableId: id(34) })
      yield* leave("destination", null, "{ not JSON")
      const first = yield* replay(at.url)
      expect(told(first)).toEqual([
        "Q1 accounts: replayed",
        "Q2 destination: replayed",
        "Q3 conversion_pair: replayed",
        "Q4 payment_rail: replayed",
        "Q5 client: replayed",
        "Q6 deposit_instruction: replayed",
        "Q7 receivable: $.currency expected a string, found nothing",
        "Q8 destination: $ is not whole JSON",
      ])
      expect(yield* rows("select kind, label from mirror.reference_items order by 1")).toEqual([
        { kind: "client", label: "Acme" },
        { kind: "conversion_pair", label: "USD/EUR" },
        { kind: "deposit_instruction", label: null },
        { kind: "destination", label: "Bank, DE1" },
        { kind: "payment_rail", label: "Euro" },
      ])
      expect(yield* rows(`select balance from mirror.accounts where account_id = '${id(2)}'`)).toEqual([
        { balance: "7" },
      ])

      yield* leave("accounts", accountId, { ...account, accountId, balance: "99" })
      yield* rows(
        "update mirror.quarantine set last_seen_at = now() - interval '1 day' where resolved_at is null",
      )
      expect(told(yield* replay(at.url))[2]).toBe("Q9 accounts: replayed")
      expect(yield* rows(`select balance from mirror.accounts where account_id = '${accountId}'`)).toEqual([
        { balance: "0" },
      ])
    }).pipe(inOwnDatabase),
  )

  it.scoped("tries the last row of an item, and settles the older ones with it", () =>
    Effect.gen(function* () {
      const { service: at } = yield* partnership()
      yield* sync(at.url)
      yield* leave("deposits", id(11), deposit(11, "10", { status: "PENDING" }))
      yield* leave("deposits", id(11), deposit(11, "10"))
      yield* rows(
        "update mirror.quarantine set last_seen_at = now() - interval '1 day' where quarantine_id = 1",
      )
      expect(told(yield* replay(at.url, {}, [1n]))).toEqual(["Q1 deposits: replayed"])
      expect(yield* open).toEqual([])
      expect(yield* rows("select status from mirror.resources")).toEqual([{ status: "COMPLETED" }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("does not wait for a running sync, and writes nothing beside one", () =>
    Effect.gen(function* () {
      const { service: at } = yield* partnership({ deposits: [deposit(11, "1", { createdAt: "x" })] })
      yield* sync(at.url)
      const database = yield* Database
      const busy = yield* database.withSessionLock("sync:default", Effect.flip(replay(at.url)))
      expect(busy).toMatchObject({ _tag: "SyncBusy", connection: "default" })
      expect(busy.message).toBe(
        "A sync of connection default, or a command that changes its books, is running: no row of it was tried. Run it again when that has ended. See: tieout status",
      )
      expect(yield* open).toEqual(["deposits"])
      expect(yield* rows("select command from sync.runs order by run_id")).toEqual([{ command: "sync" }])
    }).pipe(inOwnDatabase),
  )
})
