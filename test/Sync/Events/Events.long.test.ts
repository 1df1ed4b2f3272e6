import { expect, layer } from "@effect/vitest"
import { Duration, Effect, HashMap, Logger, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { closing } from "../../Close/Months.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accountOf, client, clientId, lending, move, orgDeposit } from "../Lending.ts"
import { at, loan, standing, surfaces, tx } from "../Loaned.ts"
import { accountId, bothSurfaces, credit, deposit, id, partnership, withdrawal } from "../Partnership.ts"
import { findings, inboxStates, journal, postings, rows, sync } from "../Runs.ts"
import { delivery, processing } from "./Processing.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("Events", (it) => {
  it.scoped("bring what they name into the books: the movement, the account, the statement's tail", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement = [credit(1, "98.00", "98.00", id(20))]
      held.deposits = [deposit(20, "100.00", { fee: { amount: "2.00", currency: "USD" } })]
      held.balance = "98.00"
      const before = service.calls.length
      const round = yield* processing(service.url, (events, inbox) =>
        Effect.zipRight(
          inbox.put([delivery("deposit.completed", { depositId: id(20), status: "COMPLETED" })]),
          events.round("default"),
        ),
      )
      expect(Option.map(round, ({ entries, failed }) => ({ entries, failed }))).toEqual(
        Option.some({ entries: 1, failed: 0 }),
      )
      expect(yield* postings).toEqual(["deposit cash 98, fees 2, deposits_clearing -100"])
      expect(yield* inboxStates).toEqual(["done 1"])
      expect(yield* findings).toEqual([])
      expect(yield* rows("select count(*)::integer as n from ledger.unnumbered")).toEqual([{ n: 0 }])
      // Nothing but what the event concerns: no lists.
      const asked = service.calls.slice(before).map(({ path }) => path.split("?")[0])
      expect(asked).not.toContain("/deposits")
      expect(asked).not.toContain("/accounts")
    }),
  )

  it.scoped("are processed together in one round, which reads an account once [W12]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement = Array.from({ length: 50 }, (_, index) => credit(index + 1, "1.00", `${index + 1}.00`))
      held.balance = "50.00"
      const asked = service.count(`/accounts/${accountId}/statement`)
      const deliveries = Array.from({ length: 2_000 }, (_, index) =>
        delivery("account.credited", { accountId, amount: "1.00", currency: "USD", n: index }),
      )
      const round = yield* processing(service.url, (events, inbox) =>
        Effect.zipRight(inbox.put(deliveries), events.round("default")),
      )
      expect(Option.getOrThrow(round)).toMatchObject({ events: 2_000, failed: 0, entries: 50 })
      expect(service.count(`/accounts/${accountId}/statement`) - asked).toBeLessThanOrEqual(2)
      expect(yield* inboxStates).toEqual(["done 2000"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that name nothing known trigger a general sync of the book and say so [W11]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      const said: Array<string> = []
      const logger = Logger.make(({ annotations, message }) => {
        said.push(`${message} run ${Option.getOrUndefined(HashMap.get(annotations, "run"))}`)
      })
      const first = delivery("moon.risen", {})
      const nameless = delivery("account.credited", { accountId: "the first", amount: "5.00" })
      const listed = yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          yield* inbox.put([first])
          yield* inbox.put([
            delivery("moon.risen", { full: true }),
            nameless,
            delivery("account.credited", { accountId, amount: "5.00", currency: "USD" }),
          ])
          yield* events.round("default").pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
          return yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
        }),
      )
      expect(yield* postings).toEqual(["adjustment cash 5, suspense -5"])
      expect(said).toEqual([
        `Event ${first.eventId} of type moon.risen and 1 more like it: unknown type: everything new of book ORG was looked at. run 1`,
        `Event ${nameless.eventId} of type account.credited: no accountId that can be read: everything new of book ORG was looked at. run 1`,
      ])
      expect(
        listed.map(({ error, note, state, type }) => `${type} ${state}, ${error}, ${note}`).sort(),
      ).toEqual([
        "account.credited done, null, no accountId that can be read: everything new of book ORG was looked at",
        "account.credited done, null, null",
        "moon.risen done, null, unknown type: everything new of book ORG was looked at",
        "moon.risen done, null, unknown type: everything new of book ORG was looked at",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  for (const surfaces of ["[organization, client]", "[client]"]) {
    it.scoped(`that name no client belong to the client whose account they name: ${surfaces}`, () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [client(1), client(2)] })
        const variables = { TIEOUT_CONNECTIONS: `{default: {surfaces: ${surfaces}}}` }
        yield* sync(service.url, variables)
        move(held, clientId(2), { type: "CREDIT", amount: 7 })
        const event = delivery("account.credited", { accountId: accountOf(clientId(2)), amount: "7" })
        yield* processing(
          service.url,
          (events, inbox) => Effect.zipRight(inbox.put([event]), events.round("default")),
          variables,
        )
        expect(yield* postings).toEqual(["adjustment cash 7, suspense -7"])
        expect(yield* inboxStates).toEqual(["done 1"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }

  it.scoped("that name no client are left to the next sync where the organization is not read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      yield* sync(service.url, variables)
      move(held, "", { type: "CREDIT", amount: 5 })
      const before = service.calls.length
      const listed = yield* processing(
        service.url,
        (events, inbox) =>
          Effect.gen(function* () {
            yield* inbox.put([
              delivery("client.activated", {}),
              delivery("account.credited", { accountId: accountOf("") }),
              delivery("deposit.completed", { depositId: id(20) }),
            ])
            yield* events.round("default")
            return yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
          }),
        variables,
      )
      expect(listed.map(({ error, note, state }) => `${state}, ${error}, ${note}`)).toEqual(
        Array.from(
          { length: 3 },
          () => "done, null, it names no client, and the organization is not read: left to the next sync",
        ),
      )
      expect(service.calls.slice(before).map(({ path }) => path)).toEqual([])
      expect(yield* postings).toEqual([])
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of a client are processed in that client's book, even if the client was not known before", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      yield* sync(service.url, bothSurfaces)
      held.clients.push(client(2))
      move(held, clientId(2), { type: "CREDIT", amount: 7 })
      move(held, clientId(1), { type: "CREDIT", amount: 3 })
      const event = (index: number) =>
        delivery("account.credited", {
          accountId: accountOf(clientId(index)),
          amount: "1",
          currency: "USD",
          clientId: clientId(index),
        })
      yield* processing(
        service.url,
        (events, inbox) =>
          Effect.zipRight(inbox.put([event(2), event(1), event(1)]), events.round("default")),
        bothSurfaces,
      )
      expect(
        yield* rows(`
          select b.code, trim_scale(sum(t.debit - t.credit))::text as cash from ledger.balances t
          join ledger.accounts a using (book_id, account_id) join mirror.books b on b.book_id = t.book_id
          where a.role = 'cash' group by 1 order by 1`),
      ).toEqual([
        { code: "C1", cash: "3" },
        { code: "C2", cash: "7" },
      ])
      expect(yield* inboxStates).toEqual(["done 3"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that name nothing known say which book was looked at, each for itself", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      yield* sync(service.url, bothSurfaces)
      move(held, clientId(1), { type: "CREDIT", amount: 3 })
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      const ofOrganization = delivery("moon.risen", {})
      const ofClient = delivery("moon.risen", { clientId: clientId(1) })
      yield* processing(
        service.url,
        (events, inbox) =>
          Effect.zipRight(
            inbox.put([ofOrganization, ofClient, delivery("moon.risen", { clientId: clientId(1), n: 2 })]),
            events.round("default").pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger))),
          ),
        bothSurfaces,
      )
      expect(said.filter((line) => line.startsWith("Event "))).toEqual([
        `Event ${ofOrganization.eventId} of type moon.risen: unknown type: everything new of book ORG was looked at.`,
        `Event ${ofClient.eventId} of type moon.risen and 1 more like it: unknown type: everything new of book C1 was looked at.`,
      ])
      expect(yield* postings).toEqual(["adjustment cash 3, suspense -3"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "of a client that cannot be looked up hold up no others: the list of clients is not answered [W14]",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [client(1)] })
        yield* sync(service.url, bothSurfaces)
        move(held, "", { type: "CREDIT", amount: 5 })
        move(held, clientId(1), { type: "CREDIT", amount: 3 })
        held.interfere = (path, response) => {
          if (!/^\/clients(\?|$)/.test(path)) return false
          response.writeHead(403, { "content-type": "application/json" }).end("{}")
          return true
        }
        const listed = yield* processing(
          service.url,
          (events, inbox) =>
            Effect.gen(function* () {
              yield* inbox.put([
                delivery("account.credited", { accountId: accountOf("") }),
                delivery("account.credited", { accountId: accountOf(clientId(1)), clientId: clientId(1) }),
                delivery("account.debited", { accountId: accountOf(clientId(2)), clientId: clientId(2) }),
              ])
              yield* events.round("default")
              return yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
            }),
          bothSurfaces,
        )
        expect(
          listed.map(({ error, state, type }) => `${type} ${state}, ${error?.split(":")[0]}`).sort(),
        ).toEqual([
          "account.credited done, undefined",
          "account.credited done, undefined",
          "account.debited failed, GET /clients answered 403",
        ])
        expect(yield* postings).toEqual(["adjustment cash 5, suspense -5", "adjustment cash 3, suspense -3"])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of a client are left where the connection reads no clients", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      yield* sync(service.url)
      move(held, "", { type: "CREDIT", amount: 5 })
      move(held, clientId(1), { type: "CREDIT", amount: 3 })
      const before = service.calls.length
      yield* processing(service.url, (events, inbox) =>
        Effect.zipRight(
          inbox.put([
            delivery("account.credited", { accountId: accountOf("") }),
            delivery("account.credited", { accountId: accountOf(clientId(1)), clientId: clientId(1) }),
          ]),
          events.round("default"),
        ),
      )
      expect(yield* inboxStates).toEqual(["done 2"])
      expect(yield* postings).toEqual(["adjustment cash 5, suspense -5"])
      expect(service.calls.slice(before).filter(({ path }) => path.startsWith("/clients"))).toEqual([])
      expect(yield* rows("select code from mirror.books order by 1")).toEqual([{ code: "ORG" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of onboarding and availability are no failures where their client cannot be read", () =>
    Effect.gen(function* () {
      const disabled = { ...client(2), status: "DISABLED" }
      const { held, service } = yield* lending({ clients: [client(1), client(2), client(4)] })
      yield* sync(service.url, bothSurfaces)
      held.clients.splice(1, 2, disabled, { ...client(5), status: "ONBOARDING" })
      held.interfere = (path, response) => {
        const isDeleted = path.startsWith(`/clients/${clientId(4)}/`)
        if (!isDeleted && !path.startsWith(`/clients/${clientId(2)}/`)) return false
        response.writeHead(isDeleted ? 404 : 403, { "content-type": "application/json" }).end("{}")
        return true
      }
      const listed = yield* processing(
        service.url,
        (events, inbox) =>
          Effect.gen(function* () {
            yield* inbox.put([
              delivery("client.disabled", { clientId: clientId(2), status: "DISABLED" }),
              delivery("account.credited", { accountId: accountOf(clientId(2)), clientId: clientId(2) }),
              delivery("client.deleted", { clientId: clientId(4) }),
              // One of a client that no sync has read yet, since the list says that it cannot be.
              delivery("onboarding.submitted", { clientId: clientId(5) }),
              // Rejected clients never come into the list.
              delivery("onboarding.rejected", { clientId: clientId(3), status: "REJECTED" }),
            ])
            for (let tries = 1; tries <= 8; tries++) {
              yield* events.round("default")
              yield* rows("update webhook.inbox set next_try_at = now() where state = 'failed' returning 1")
            }
            return yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
          }),
        bothSurfaces,
      )
      expect(
        listed.map(({ error, note, state, type }) => `${type} ${state}, ${error}, ${note}`).sort(),
      ).toEqual([
        `account.credited dead, the service lists the client as DISABLED, null`,
        expect.stringMatching(
          /^client\.deleted done, null, unknown type: GET \S+ answered 404: .*; left to the next sync$/,
        ),
        "client.disabled done, null, unknown type: the service lists the client as DISABLED; left to the next sync",
        `onboarding.rejected done, null, unknown type: the service lists no client ${clientId(3)}; left to the next sync`,
        "onboarding.submitted done, null, unknown type: the service lists the client as ONBOARDING; left to the next sync",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("ask once for the list of clients, of however many clients they cannot be read [W12]", () =>
    Effect.gen(function* () {
      const indexes = [1, 2, 3, 4]
      const { service } = yield* lending({ clients: indexes.map((index) => client(index)) })
      yield* sync(service.url, bothSurfaces)
      const asked = () => service.calls.filter(({ path }) => /^\/clients(\?|$)/.test(path)).length
      const before = asked()
      const round = yield* processing(
        service.url,
        (events, inbox) =>
          Effect.gen(function* () {
            // Nobody can read these deposits yet.
            yield* inbox.put(
              indexes.map((index) =>
                delivery("deposit.created", {
                  depositId: id(700 + index),
                  status: "PENDING",
                  clientId: clientId(index),
                }),
              ),
            )
            return yield* events.round("default")
          }),
        bothSurfaces,
      )
      expect(Option.map(round, ({ failed }) => failed)).toEqual(Option.some(4))
      expect(asked() - before).toBe(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that come before the service knows what they name are tried again [W13]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          // The other event triggers a general sync, which must not hide that.
          for (const others of [[], [delivery("client.available", {})]]) {
            const early = delivery("deposit.completed", { depositId: id(20), status: "COMPLETED" })
            yield* inbox.put([early, ...others])
            expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 1, entries: 0 })
          }
          expect(yield* inboxStates).toEqual(["done 1", "failed 2"])
          expect(yield* rows("select distinct error from webhook.inbox where state = 'failed'")).toEqual([
            { error: `the service does not know the deposit ${id(20)} (yet)` },
          ])
          held.statement = [credit(1, "100.00", "100.00", id(20))]
          held.deposits = [deposit(20, "100.00")]
          held.balance = "100.00"
          yield* rows("update webhook.inbox set next_try_at = now() returning 1")
          expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 0, entries: 1 })
          expect(yield* inboxStates).toEqual(["done 3"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that name an account which cannot be read yet are tried again [W14]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      const entry = { ...credit(1, "5.00", "5.00"), accountId: id(77) }
      const listOf = { items: [entry], pageInfo: { hasNextPage: false } }
      const row = (balance: unknown) => ({
        accountId: id(77),
        currency: "USD",
        paymentRails: "SEPA",
        balance,
        status: "ACTIVE",
      })
      let account: object | null = null
      held.interfere = (path, response) => {
        const [route] = path.split("?")
        if (account === null || !String(route).startsWith(`/accounts/${id(77)}`)) return false
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(String(route).endsWith("/statement") ? listOf : account))
        return true
      }
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          const again = Effect.zipRight(
            rows("update webhook.inbox set next_try_at = now() returning 1"),
            events.round("default"),
          ).pipe(Effect.map(Option.getOrThrow))
          const error = Effect.map(rows("select error from webhook.inbox where state = 'failed'"), (found) =>
            found.map((one) => one.error),
          )
          const unknown = `the service does not know the account ${id(77)} (yet)`
          const early = delivery("account.credited", { accountId: id(77), amount: "5.00", currency: "USD" })
          // The other event triggers a general sync, which must not hide that.
          yield* inbox.put([early, delivery("client.available", {})])
          expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 1 })
          expect(yield* error).toEqual([unknown])
          expect(yield* again).toMatchObject({ events: 1, failed: 1, entries: 0 })
          expect(yield* error).toEqual([unknown])
          account = row(5)
          expect(yield* again).toMatchObject({ failed: 1, entries: 0 })
          expect(yield* error).toEqual([
            `the service's answer for the account ${id(77)} cannot be understood`,
          ])
          account = row("5.00")
          expect(yield* again).toMatchObject({ failed: 0, entries: 1 })
          expect(yield* inboxStates).toEqual(["done 2"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of a movement whose account's statement cannot be read are tried again [W14]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement = [credit(1, "100.00", "100.00", id(20))]
      held.deposits = [deposit(20, "100.00")]
      held.balance = "100.00"
      held.interfere = (path, response) => {
        if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
        response.writeHead(500, { "content-type": "application/json" }).end("{}")
        return true
      }
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          // The other event triggers a general sync, which must not hide that.
          for (const others of [[], [delivery("client.available", {})]]) {
            yield* inbox.put([
              delivery("deposit.completed", { depositId: id(20), status: "COMPLETED" }),
              ...others,
            ])
            expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({
              failed: 1 + others.length,
              entries: 0,
            })
          }
          held.interfere = () => false
          yield* rows("update webhook.inbox set next_try_at = now() returning 1")
          expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 0, entries: 1 })
          expect(yield* inboxStates).toEqual(["done 3"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that bring a receivable's cash, or take it back, bring what was paid up to date", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const lent = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(lent, 2) })]
      yield* sync(service.url, surfaces)
      held.clock = "2026-11-02T00:00:00Z"
      const part = {
        currentPrincipal: "600.00",
        repaymentAmount: "620.00",
        repaymentTransactions: [tx(id(701), 20)],
      }
      held.receivables = [loan({ disbursedTransaction: tx(lent, 2), ...part })]
      yield* sync(service.url, surfaces)
      expect(yield* findings).toContain("loan-in-transit warning")
      const book = (type: string, over: { type: "CREDIT" | "DEBIT"; amount: number; on: string }) =>
        processing(
          service.url,
          (events, inbox) =>
            Effect.suspend(() => {
              move(held, "", { ...over, relatedType: "DEPOSIT", relatedId: id(701) })
              const data = { accountId: accountOf(""), amount: `${over.amount}.00`, currency: "USD" }
              return Effect.zipRight(inbox.put([delivery(type, data)]), events.round("default"))
            }),
          surfaces,
        )
      held.deposits = [orgDeposit(701, "405.00")]
      yield* book("account.credited", { type: "CREDIT", amount: 405, on: at(20) })
      const paid = ["cash -595", "interest_income -25", "receivable_interest 20", "receivable_principal 600"]
      expect(yield* standing).toEqual(paid)
      expect(yield* findings).toEqual([])
      yield* book("account.debited", { type: "DEBIT", amount: 405, on: at(31) })
      // A month that closes now must not have interest that nobody paid, nor cash that nobody misses.
      const back = [
        "cash -1000",
        "interest_income -20",
        "loan_clearing 400",
        "receivable_interest 20",
        "receivable_principal 600",
      ]
      expect(yield* standing).toEqual(back)
      expect(yield* findings).toEqual(["loan-clearing blocking"])
      const [closed] = yield* closing("2026-10", { variables: surfaces, dryRun: true })
      expect(closed?.blockers).toHaveLength(1)
      const before = yield* journal
      yield* sync(service.url, surfaces, true)
      expect(yield* journal).toEqual(before)
      expect(yield* findings).toEqual(["loan-clearing blocking"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that keep failing are given up after some tries; the others go on [W14]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      held.interfere = (path, response) => {
        if (!path.startsWith(`/withdrawals/${id(66)}`)) return false
        response.writeHead(400, { "content-type": "application/json" }).end("{}")
        return true
      }
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          yield* inbox.put([
            delivery("withdrawal.completed", { withdrawalId: id(66), status: "COMPLETED" }),
            delivery("account.credited", { accountId, amount: "5.00", currency: "USD" }),
          ])
          expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 1, entries: 1 })
          expect(yield* inboxStates).toEqual(["done 1", "failed 1"])
          for (let tries = 2; tries <= 8; tries++) {
            yield* rows("update webhook.inbox set next_try_at = now() where state = 'failed' returning 1")
            yield* events.round("default")
          }
          expect(yield* inboxStates).toEqual(["dead 1", "done 1"])
          held.interfere = () => false
          held.withdrawals = [withdrawal(66, "5.00", "0.00")]
          yield* inbox.replay("dead")
          expect(Option.getOrThrow(yield* events.round("default"))).toMatchObject({ failed: 0 })
          expect(yield* inboxStates).toEqual(["done 2"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each(["everything", "the statement", "the credentials"])(
    "are not given up while the service is away, or refuses the credentials, for a day: %s [W14]",
    (away) =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        yield* sync(service.url)
        held.deposits = [deposit(20, "5.00")]
        held.statement = [credit(1, "5.00", "5.00", id(20))]
        held.balance = "5.00"
        held.credentials = away !== "the credentials"
        held.interfere = (path, response) => {
          if (away === "the credentials") return false
          if (away === "the statement" && !path.includes("/statement")) return false
          response.writeHead(503, { "content-type": "application/json" }).end("{}")
          return true
        }
        const tryAgain = (tries: number) =>
          rows(
            `update webhook.inbox set next_try_at = now(), tries = ${tries} where state = 'failed' returning 1`,
          )
        const round = processing(service.url, (events) => Effect.ignore(events.round("default")))
        yield* processing(service.url, (_, inbox) =>
          inbox.put([
            delivery("deposit.completed", { depositId: id(20), status: "COMPLETED" }),
            delivery("account.credited", { accountId, amount: "5.00", currency: "USD" }),
          ]),
        )
        yield* round
        for (const tries of [7, 8, 100]) {
          expect(yield* inboxStates).toEqual(["failed 2"])
          yield* tryAgain(tries)
          yield* round
        }
        expect(yield* inboxStates).toEqual(["failed 2"])
        held.interfere = () => false
        held.credentials = true
        yield* tryAgain(101)
        yield* round
        expect(yield* inboxStates).toEqual(["done 2"])
        expect(yield* postings).toHaveLength(1)
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each(["53100", "25006"])(
    "are not given up while the database cannot be written to, for a day: SQLSTATE %s [W14]",
    (sqlstate) =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        yield* sync(service.url)
        held.statement = [credit(1, "5.00", "5.00")]
        held.balance = "5.00"
        yield* rows(`create function sync.no_room() returns trigger language plpgsql as $$
          begin raise exception 'not now' using errcode = '${sqlstate}'; end $$`)
        yield* rows(
          "create trigger no_room before insert on mirror.statement_entries for each statement execute function sync.no_room()",
        )
        const round = processing(service.url, (events) => Effect.ignore(events.round("default")))
        yield* processing(service.url, (_, inbox) =>
          inbox.put([delivery("account.credited", { accountId, amount: "5.00", currency: "USD" })]),
        )
        yield* round
        for (const tries of [7, 8, 100]) {
          yield* rows(`update webhook.inbox set next_try_at = now(), tries = ${tries} returning 1`)
          yield* round
          expect(yield* inboxStates).toEqual(["failed 1"])
        }
        yield* rows("drop trigger no_room on mirror.statement_entries")
        yield* rows("update webhook.inbox set next_try_at = now() returning 1")
        yield* round
        expect(yield* inboxStates).toEqual(["done 1"])
        expect(yield* postings).toHaveLength(1)
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are not held up by times that the database's clock made while it was ahead", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership()
      yield* sync(service.url)
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          const credited = { accountId, amount: "5.00", currency: "USD" }
          yield* inbox.put([1, 2, 3].map((n) => delivery("account.credited", { ...credited, n })))
          // One that was received then, one that failed then, and one that waits for its next try.
          yield* rows(`
            update webhook.inbox i set state = t.state, next_try_at = now() + t.ahead::interval
            from (select event_id, row_number() over (order by event_id) as n from webhook.inbox) o
            join (values (1, 'waiting', '1 hour'), (2, 'failed', '1 year'), (3, 'failed', '10 minutes'))
              as t (n, state, ahead) on t.n = o.n
            where i.event_id = o.event_id returning 1`)
          yield* events.round("default")
          expect(yield* inboxStates).toEqual(["done 2", "failed 1"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("wait for a running sync, and none is lost [W12]", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      const database = yield* Database
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          yield* inbox.put([delivery("account.credited", { accountId, amount: "5.00", currency: "USD" })])
          const waiting = yield* Effect.scoped(
            Effect.gen(function* () {
              yield* database.tryLock("sync:default")
              const fiber = yield* Effect.fork(events.round("default"))
              yield* Effect.sleep(Duration.millis(600))
              expect(yield* inboxStates).toEqual(["waiting 1"])
              return fiber
            }),
          )
          expect(Option.getOrThrow(yield* waiting)).toMatchObject({ entries: 1 })
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "that come with another body are a finding until a full sync has read everything since [W10]",
    () =>
      Effect.gen(function* () {
        const { service } = yield* partnership()
        yield* sync(service.url)
        const data = { accountId, amount: "5.00", currency: "USD", reference: "Jane" }
        const first = delivery("account.credited", data)
        const again = (amount: string) => ({
          ...delivery("account.credited", { ...data, amount }),
          eventId: first.eventId,
        })
        const second = again("6.00")
        const open = rows(`
        select check_name, severity, message, evidence from reconcile.findings f
        join mirror.books b using (book_id) where closed_at is null and b.code = 'ORG'`)
        const received = (one: ReturnType<typeof delivery>) =>
          processing(service.url, (events, inbox) =>
            Effect.zipRight(inbox.put([one]), events.round("default")),
          )

        yield* received(first)
        expect(yield* open).toEqual([])
        yield* received(second)
        const bodies = [first, second].map(({ digest }) => ({ digest, receivedAt: expect.any(String) }))
        const [finding, ...none] = yield* open
        expect(none).toEqual([])
        expect(finding).toEqual({
          check_name: "event-conflict",
          severity: "warning",
          message: `1 webhook event came with several bodies; the last: ${first.eventId}. Both are kept. A sync --full settles it.`,
          evidence: {
            count: "1",
            events: [{ eventId: first.eventId, type: "account.credited", bodies }],
          },
        })
        expect(JSON.stringify(finding)).not.toContain("Jane")

        yield* sync(service.url)
        expect(yield* findings).toEqual(["event-conflict warning"])
        yield* sync(service.url, {}, true)
        expect(yield* findings).toEqual([])
        yield* sync(service.url)
        expect(yield* findings).toEqual([])
        yield* received(again("7.00"))
        expect(yield* findings).toEqual(["event-conflict warning"])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("of a client that come with another body are found in the organization's book", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      yield* sync(service.url, bothSurfaces)
      move(held, clientId(1), { type: "CREDIT", amount: 3 })
      const event = (amount: string) => ({
        ...delivery("account.credited", {
          accountId: accountOf(clientId(1)),
          amount,
          currency: "USD",
          clientId: clientId(1),
        }),
        eventId: id(4_999),
      })
      yield* processing(
        service.url,
        (events, inbox) => Effect.zipRight(inbox.put([event("1"), event("2")]), events.round("default")),
        bothSurfaces,
      )
      expect(
        yield* rows(`
          select b.code, f.check_name from reconcile.findings f join mirror.books b using (book_id)
          where f.closed_at is null and f.check_name <> 'adjustment'`),
      ).toEqual([{ code: "ORG", check_name: "event-conflict" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are processed on after something unforeseen, as while their table was another one", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      held.statement.push(credit(1, "5.00", "5.00"))
      held.balance = "5.00"
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          yield* rows("alter table webhook.inbox alter column tries type bigint")
          yield* inbox.put([delivery("account.credited", { accountId, amount: "5.00", currency: "USD" })])
          yield* events
            .follow("default", () => Effect.void)
            .pipe(Effect.forkScoped, Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
          yield* Effect.repeat(Effect.sleep("20 millis"), {
            until: () => said.some((text) => text.startsWith("Events of default wait: Webhook.Inbox.take: ")),
          })
          yield* rows("alter table webhook.inbox alter column tries type integer")
          yield* Effect.repeat(Effect.delay(inboxStates, "50 millis"), {
            until: ([state]) => state === "done 1",
          })
        }).pipe(Effect.scoped),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are processed as they come, and the log of a round names its run", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.make(({ annotations, message }) => {
        const run = Option.getOrElse(HashMap.get(annotations, "run"), () => "none")
        if (String(message).startsWith("Round")) said.push(`${message} run ${run}`)
      })
      const { held, service } = yield* partnership()
      yield* sync(service.url)
      yield* processing(service.url, (events, inbox) =>
        Effect.gen(function* () {
          yield* events
            .follow("default", (round) => Effect.logInfo(`Round of ${round.entries}:`))
            .pipe(Effect.forkScoped, Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
          for (const index of [1, 2, 3]) {
            held.statement.push(credit(index, "5.00", `${index * 5}.00`))
            held.balance = `${index * 5}.00`
            yield* inbox.put([delivery("account.credited", { accountId, amount: "5.00", currency: "USD" })])
            const booked = yield* rows("select count(*)::integer as n from ledger.journal_entries").pipe(
              Effect.delay("50 millis"),
              Effect.repeat({ until: ([row]) => row?.n === index }),
            )
            expect(booked).toEqual([{ n: index }])
          }
          yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => said.length >= 3 })
          const runs = yield* rows("select run_id as n from sync.runs where command = 'events' order by 1")
          expect(said).toEqual(runs.map(({ n }) => `Round of 1: run ${n}`))
        }).pipe(Effect.scoped),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
