/** Accounts and clients that the service stops serving: one finding with the last known state, and everything else goes on. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Explain } from "../../src/Explain.ts"
import { Status } from "../../src/Inquiry/Status.ts"
import { needsAttention, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { fact } from "../Explain/Steps.ts"
import { json } from "../Partner/Service.ts"
import { accountOf, client, clientId, lending, move } from "../Sync/Lending.ts"
import { accountId, id, partnership } from "../Sync/Partnership.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { closing, movement } from "./Months.ts"

const second = id(2)

/** Two accounts; the second can leave the list, and then be refused. */
const twoAccounts = Effect.gen(function* () {
  const one = movement(11, "10.00", "10.00", "2026-10-05")
  const { held, service } = yield* partnership({
    balance: "10.00",
    statement: [one.entry],
    deposits: [
      one.deposit,
      {
        ...movement(12, "7.00", "7.00", "2026-10-06").deposit,
        account: { accountId: second, currency: "USD", paymentRails: "SEPA" },
      },
    ],
  })
  const world = { listed: true, served: true, balance: "7.00", status: "ACTIVE" }
  const entry = { ...movement(12, "7.00", "7.00", "2026-10-06").entry, accountId: second }
  const account = (at: string, balance: string) => ({
    accountId: at,
    currency: "USD",
    paymentRails: "SEPA",
    balance,
    status: at === second ? world.status : "ACTIVE",
  })
  held.interfere = (path, response) => {
    const own = path.startsWith(`/accounts/${second}`)
    if (own && !world.served) json(response, { code: "not_found" }, 404)
    else if (path.startsWith(`/accounts/${second}/statement`))
      json(response, { items: [entry], pageInfo: { hasNextPage: false } })
    else if (path === `/accounts/${second}`) json(response, account(second, world.balance))
    else if (/^\/accounts(\?|$)/.test(path)) {
      const items = [
        account(accountId, held.balance),
        ...(world.listed ? [account(second, world.balance)] : []),
      ]
      json(response, { items, pageInfo: { hasNextPage: false } })
    } else return false
    return true
  }
  return { held, service, world }
})

const status = Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
  Effect.provide(Layer.provide(Status.Default, Settings.from({ variables: {} }))),
)

const standings = Effect.map(status, ({ accounts }) => accounts)

/** What `tieout status` says of each account that does not tie out. */
const remarks = Effect.map(
  standings,
  (accounts) => new Map(accounts.map(({ accountId: of, remark }) => [of, remark])),
)

const books = Effect.map(status, ({ tieOut }) => tieOut)

const sentence = Effect.map(books, (tieOut) => tieOutSentence(tieOut))

const gone = `account-gone: Account ${second} (USD, ACTIVE) is not in the list of accounts any more, and its statement answers 404. Its last balance is 7.00 USD, last read to its end on `

layer(TestDatabase.layer, { excludeTestServices: true })("an account that leaves the list", (it) => {
  it.scoped("is read on while its statement can be read, and is one finding when it cannot", () =>
    Effect.gen(function* () {
      const { held, service, world } = yield* twoAccounts
      yield* sync(service.url)
      world.listed = false
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      expect(service.count(`/accounts/${second}/statement`)).toBe(2)

      world.served = false
      const late = movement(13, "5.00", "15.00", "2026-10-07")
      held.statement.push(late.entry)
      held.deposits.push(late.deposit)
      held.balance = "15.00"
      const report = yield* sync(service.url)
      expect([report.numbered, report.blockingFindings]).toEqual([1, 1])
      expect(yield* findings).toEqual(["account-gone blocking"])
      expect((yield* remarks).get(second)).toMatch(
        /^last read \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: the service does not find its statement \(404\)$/,
      )
      const [blocked] = yield* closing("2026-10")
      expect(blocked?.blockers.map(({ what }) => what)).toEqual([expect.stringContaining(gone)])

      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "Closed at the bank" }]
      expect((yield* closing("2026-10", { accept }))[0]?.state).toBe("closed")

      // The account comes back.
      world.listed = true
      world.served = true
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a closed account", (it) => {
  it.scoped("whose statement was never served is one finding, and holds nothing else back", () =>
    Effect.gen(function* () {
      const { service, world } = yield* twoAccounts
      world.status = "CLOSED"
      world.served = false
      world.balance = "0.00"
      const report = yield* sync(service.url)
      expect([report.numbered, report.blockingFindings]).toEqual([1, 1])
      expect(yield* findings).toEqual(["account-gone blocking"])
      const [blocked] = yield* closing("2026-10")
      expect(blocked?.blockers.map(({ what }) => what)).toContain(
        `account-gone: Account ${second} (USD, CLOSED) is closed, and its statement answers 404. Its last balance is 0.00 USD, never read to its end.`,
      )
      const accept = (blocked?.blockers ?? []).map(({ id }) => ({
        id: id ?? "",
        reason: "Closed before we came",
      }))
      expect((yield* closing("2026-10", { accept }))[0]?.state).toBe("closed")
      world.served = true
      world.balance = "7.00"
      expect((yield* sync(service.url)).numbered).toBe(1)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an account that is gone", (it) => {
  it.scoped("stays accepted for later months, until its evidence changes", () =>
    Effect.gen(function* () {
      const { held, service, world } = yield* twoAccounts
      const september = movement(11, "10.00", "10.00", "2026-09-05")
      held.statement[0] = september.entry
      held.deposits[0] = september.deposit
      // It never comes, and cannot be asked for any more when its account is gone.
      const account = { accountId: second, currency: "USD", paymentRails: "SEPA" }
      held.deposits.push({
        ...movement(14, "9.00", "9.00", "2026-09-06").deposit,
        status: "PENDING",
        account,
      })
      yield* sync(service.url)
      held.deposits.pop()
      yield* rows("update mirror.resources set read_at = '2026-09-30' where status = 'PENDING' returning 1")
      world.listed = false
      world.served = false
      yield* sync(service.url)
      const [blocked] = yield* closing("2026-09")
      expect(blocked?.blockers.map(({ what }) => what)).toEqual([expect.stringContaining("account-gone: ")])
      const finding = blocked?.blockers[0]?.id ?? ""
      const before = yield* sync(service.url)
      expect([before.blockingFindings, (yield* books).off]).toEqual([1, 1])
      yield* closing("2026-09", { accept: [{ id: finding, reason: "Closed at the bank" }] })
      // Nobody has to act: the night ends with 0, and no alert is sent.
      const report = yield* sync(service.url)
      expect([report.blockingFindings, yield* findings]).toEqual([0, ["account-gone blocking"]])
      expect(yield* sentence).toBe("Cash ties out; 1 accepted finding is open")
      expect(needsAttention(yield* books)).toBe(false)
      expect((yield* standings).map(({ acceptedAt, tiesOut }) => [acceptedAt, tiesOut])).toEqual([
        [null, true],
        ["2026-09", false],
      ])
      // What was accepted is that it is gone, and not that its figures differ.
      const setBalance = (to: string) =>
        rows(`update mirror.accounts set balance = ${to} where account_id = '${second}' returning 1`)
      yield* setBalance("8.00")
      expect((yield* books).off).toBe(1)
      yield* setBalance("7.00")
      expect((yield* books).off).toBe(0)
      // Nor that anything else about it is wrong.
      yield* unruled(`
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
        select book_id, 'running-balance', 'blocking', 'account', '${second}', 'broken', '{}' from mirror.accounts
        where account_id = '${second}'`)
      expect((yield* books).off).toBe(1)
      yield* unruled("delete from reconcile.findings where message = 'broken'")
      expect((yield* books).off).toBe(0)
      const [preview] = yield* closing("2026-10", { dryRun: true })
      expect(preview?.accepted.map(({ id: of, reason }) => [of, reason])).toEqual([
        [finding, "Closed at the bank"],
      ])
      yield* rows(`update mirror.accounts set status = 'CLOSED' where account_id = '${second}'`)
      const [again] = yield* closing("2026-10", { dryRun: true })
      expect(again?.blockers.map(({ id: of }) => of)).toEqual([finding])
      const changed = yield* books
      expect([changed.accepted, changed.blockingFindings, needsAttention(changed)]).toEqual([0, 1, true])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an account whose statement is refused", (it) => {
  it.scoped("is a finding that also says what a read without a date proves", () =>
    Effect.gen(function* () {
      const { held, service } = yield* twoAccounts
      let refused = false
      const usual = held.interfere
      held.interfere = (path, response) => {
        response.sendDate = false
        if (!refused || !path.startsWith(`/accounts/${second}/statement`)) return usual(path, response)
        json(response, { code: "forbidden" }, 403)
        return true
      }
      yield* sync(service.url)
      expect((yield* remarks).get(second)).toBe(null)
      refused = true
      yield* Effect.ignore(sync(service.url))
      expect((yield* remarks).get(second)).toBe(
        "read to its end, but the service sends no date (no Date header), so that it is no evidence: its statement is refused (403)",
      )
      const [blocked] = yield* closing("2026-10", { dryRun: true })
      expect(blocked?.blockers.map(({ what }) => what)).toContainEqual(
        expect.stringMatching(
          /^stream-unread: The statement of account \S+ answers 403 since .*; it was read to its end by run 1, but the service did not say when \(no Date header\)\.$/,
        ),
      )
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a client that stops being readable", (it) => {
  it.scoped("is one finding, whether by its status or by what its paths answer; the others go on", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({
        clients: [client(1), client(2), client(3, { status: "ONBOARDING" })],
        clock: "2026-11-02T00:00:00Z",
      })
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      move(held, clientId(2), { type: "CREDIT", amount: 20 })
      yield* sync(service.url, variables)

      held.clients = [client(1), client(2, { status: "DISABLED" })]
      yield* sync(service.url, variables)
      const news = rows(`select b.code || ' ' || f.check_name || ': ' || f.message as line
        from reconcile.findings f join mirror.books b using (book_id)
        where f.closed_at is null and f.check_name in ('client-gone', 'account-gone', 'stream-unread') order by 1`).pipe(
        Effect.map((found) => found.map(({ line }) => line)),
      )
      expect(yield* news).toEqual([
        "C2 client-gone: The client cannot be read any more: the service lists the client as DISABLED. The last balances of its accounts: 20.00 USD.",
      ])

      held.clients = [client(1), client(2)]
      held.interfere = (path, response) => {
        if (!path.startsWith(`/clients/${clientId(2)}/`)) return false
        json(response, { code: "forbidden" }, 403)
        return true
      }
      move(held, clientId(1), { type: "CREDIT", amount: 5 })
      const report = yield* sync(service.url, variables)
      expect([report.clientFailures.length, report.numbered]).toEqual([1, 1])
      expect(yield* news).toEqual([
        "C2 client-gone: The client cannot be read any more: its list of accounts answers 403. The last balances of its accounts: 20.00 USD.",
      ])
      expect((yield* remarks).get(accountOf(clientId(2)))).toMatch(
        /^last read .*Z: the list of accounts of its client is refused \(403\)$/,
      )
      expect(
        (yield* rows(`select count(*)::integer as open from mirror.accounts
        where account_id = '${accountOf(clientId(2))}' and unlisted_since is not null`))[0],
      ).toEqual({ open: 0 })

      // A close accepts for good that two of them are gone: it is noted, and no run fails for it any more.
      held.clients.push(client(4))
      move(held, clientId(4), { type: "CREDIT", amount: 40 })
      yield* sync(service.url, variables)
      held.interfere = (path, response) => {
        if (![2, 4].some((of) => path.startsWith(`/clients/${clientId(of)}/`))) return false
        json(response, { code: "forbidden" }, 403)
        return true
      }
      expect((yield* sync(service.url, variables)).clientFailures.length).toBe(2)
      const open = (yield* closing("2026-10", { variables, dryRun: true })).flatMap(
        ({ blockers }) => blockers,
      )
      const gone = open.find(({ check }) => check === "client-gone")
      const accept = open.map(({ id }) => ({ id: id ?? "", reason: "Has left" }))
      yield* closing("2026-10", { variables, accept })
      const later = yield* sync(service.url, variables)
      expect([later.clientFailures, later.blockingFindings, later.notices]).toEqual([
        [],
        0,
        [2, 4].map((of) => `Client C${of} cannot be read any more, as the close of 2026-10 accepted.`),
      ])
      const { steps } = yield* Effect.flatMap(Explain, ({ explain }) => explain(gone?.id ?? "")).pipe(
        Effect.provide(Layer.provide(Explain.Default, Settings.from({ variables }))),
      )
      expect(fact(steps, "finding", "accepted")).toEqual(["at the close of 2026-10"])

      held.interfere = () => false
      yield* sync(service.url, variables)
      expect(yield* news).toEqual([])
    }),
  )
})
