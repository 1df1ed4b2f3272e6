import { createHash } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { acceptance } from "../../src/Cli/Commands/Closing/CloseCommand.ts"
import { Database } from "../../src/Database.ts"
import { accountId, credit, id, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { bridging, checking, closing, movement, reopening, threeMonths } from "./Months.ts"

const field = (text: string | null) => (text === null ? "-" : `${Buffer.byteLength(text)}:${text}`)

const periods = rows(
  `select to_char(period, 'YYYY-MM') || ' ' || status as period from ledger.periods order by 1`,
)

const mischief = (statement: string) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.zipRight(
        database.query("Test.replica", (sql) => sql`set local session_replication_role = replica`),
        database.query("Test.mischief", (sql) => sql.unsafe(statement)),
      ),
    ),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("closing", (it) => {
  it.scoped("locks months in order, keeps balances and a chained hash, and reopens the latest only", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)

      expect(yield* messageOf(closing("2026-09"))).toBe(
        "2026-09 of book ORG cannot be closed while 2026-08 is open: months close in order. First: tieout close 2026-08 --book ORG",
      )
      const [preview] = yield* closing("2026-08", { dryRun: true })
      expect(preview?.state).toBe("closable")
      expect(preview?.blockers).toEqual([])
      expect((yield* periods).map(({ period }) => period)).toEqual([
        "2026-08 open",
        "2026-09 open",
        "2026-10 open",
      ])

      const [august] = yield* closing("2026-08")
      expect(august?.state).toBe("closed")
      expect(august?.previousHash).toBeNull()
      expect(august?.entries).toBe(1n)
      expect(yield* messageOf(closing("2026-08"))).toBe(
        "2026-08 of book ORG is closed already; the book is closed through 2026-08. See whether it still agrees: tieout close 2026-08 --book ORG --check",
      )
      const [september] = yield* closing("2026-09")
      expect(september?.previousHash).toBe(august?.hash)
      expect(
        yield* rows(`select sequence, code, debit, credit, balance from ledger.close_balances
          where sequence = 2 order by account_id`),
      ).toEqual([
        { sequence: 2, code: expect.any(String), debit: "50.00", credit: "0", balance: "150.00" },
        { sequence: 2, code: expect.any(String), debit: "0", credit: "50.00", balance: "-150.00" },
      ])
      expect(yield* checking("2026-08")).toEqual([])
      expect(yield* checking("2026-09")).toEqual([])

      // An entry that is found later for a closed month is dated to the first open day and shown in the bridge.
      const late = movement(14, "7.00", "182.00", "2026-09-30")
      held.statement.push(late.entry)
      held.deposits.push(late.deposit)
      held.balance = "182.00"
      yield* sync(service.url)
      const [bridge] = yield* bridging("2026-09")
      expect(bridge?.accounts[0]).toEqual({
        accountId,
        currency: "USD",
        entries: 2,
        opening: "100.00",
        movements: "57.00",
        closing: "157.00",
        lateElsewhere: "7.00",
        lateHere: "0.00",
        openingBooked: "0.00",
        carried: "0.00",
        booksOpening: "100.00",
        booksMovements: "50.00",
        booksClosing: "150.00",
        difference: "0.00",
        closingDifference: "0.00",
      })
      expect(bridge?.lateElsewhere).toEqual([
        expect.objectContaining({
          number: "ORG-2026-10-000002",
          amount: "7.00",
          effectiveDate: "2026-10-01",
          lateFor: "2026-09",
        }),
      ])
      const [october] = yield* bridging("2026-10")
      expect(october?.accounts[0]?.lateHere).toBe("7.00")
      expect(october?.accounts[0]?.difference).toBe("0.00")
      expect(yield* checking("2026-09")).toEqual([])

      expect(yield* messageOf(reopening("2026-08"))).toBe(
        "2026-08 cannot be reopened: ORG is closed through 2026-09, and only the latest closed month can be.",
      )
      expect(yield* messageOf(reopening("2026-10"))).toContain("2026-10 is not closed in ORG")
      yield* reopening("2026-09")
      expect(yield* messageOf(closing("2026-10"))).toContain("while 2026-09 is open")
      const [again] = yield* closing("2026-09")
      expect(again?.hash).not.toBe(september?.hash)
      expect(again?.previousHash).toBe(september?.hash)
      expect(
        yield* rows(`select sequence, action, to_char(period, 'YYYY-MM') as period, who, reason from ledger.closes
          order by sequence`),
      ).toEqual([
        { sequence: 1, action: "close", period: "2026-08", who: "controller", reason: null },
        { sequence: 2, action: "close", period: "2026-09", who: "controller", reason: null },
        { sequence: 3, action: "reopen", period: "2026-09", who: "controller", reason: "a late invoice" },
        { sequence: 4, action: "close", period: "2026-09", who: "controller", reason: null },
      ])
      for (const table of ["closes", "close_balances"]) {
        const refused = yield* Effect.flip(
          Effect.flatMap(Database, (database) =>
            database.query("Test.change", (sql) => sql.unsafe(`update ledger.${table} set sequence = 9`)),
          ),
        )
        expect(refused.sqlstate).toBe("TO004")
      }
    }),
  )

  it.scoped("says where a closed month has been changed since", () =>
    Effect.gen(function* () {
      expect(yield* checking("2026-09")).toEqual([])
      yield* mischief(`update ledger.postings p set amount = p.amount * 2 from ledger.journal_entries j
        where j.book_id = p.book_id and j.entry_id = p.entry_id and j.period = '2026-09-01'`)
      const differences = yield* checking("2026-09")
      expect(differences[0]).toMatch(/^The journal's hash is [0-9a-f]{64}; the close kept [0-9a-f]{64}\.$/)
      expect(differences.slice(1)).toEqual([
        expect.stringContaining("closed with debit 50.00, credit 0.00, balance 150.00; now debit 100.00"),
        expect.stringContaining(
          "closed with debit 0.00, credit 50.00, balance -150.00; now debit 0.00, credit 100.00",
        ),
      ])
    }),
  )

  it.scoped("refuses an unknown book, and a month that is not over", () =>
    Effect.gen(function* () {
      expect(yield* messageOf(closing("2026-10", { book: "nobody" }))).toBe(
        "There is no book nobody: known are ORG.",
      )
      expect(yield* messageOf(closing("2190-01"))).toContain("is not over before 2190-02-01T00:00:00Z (UTC)")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the gate", (it) => {
  it.scoped("names every blocker, and lets the month close once a person accepts them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00")],
      })
      yield* sync(service.url)
      const [blocked] = yield* closing("2026-10")
      expect(blocked?.state).toBe("blocked")
      expect(blocked?.blockers).toEqual([
        {
          id: expect.stringMatching(/^F\d+$/),
          check: "adjustment",
          what: "adjustment: Adjustment without a resource: CREDIT of 10.00 USD stands in suspense until it is reclassified.",
          hint: expect.stringMatching(/^tieout explain F\d+$/),
        },
      ])
      expect((yield* periods).map(({ period }) => period)).toEqual(["2026-10 open"])

      const finding = blocked?.blockers[0]?.id ?? ""
      held.balance = "11.00"
      yield* sync(service.url)
      const [worse] = yield* closing("2026-10", { accept: [{ id: finding, reason: "known" }] })
      expect(worse?.blockers.map(({ what }) => what.split(":")[0])).toEqual(["cash-balance"])
      expect(worse?.accepted).toHaveLength(1)
      held.balance = "10.00"
      yield* sync(service.url)
      const [closed] = yield* closing("2026-10", {
        accept: [{ id: finding.toLowerCase(), reason: "Bank confirmed" }],
      })
      expect(closed?.state).toBe("closed")
      expect(yield* rows("select accepted from ledger.closes")).toEqual([
        {
          accepted: [
            {
              ...{ id: finding, what: expect.stringContaining("adjustment"), reason: "Bank confirmed" },
              ...{ subject: expect.any(String), date: "2026-10-01", currency: "USD", amount: "10.00" },
            },
          ],
        },
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the hash", (it) => {
  it.scoped("can be computed again by anyone from the journal", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      const [closed] = yield* closing("2026-08")
      const text = [
        ...["tieout-close-1", null, "ORG", "2026-08"],
        ...["1", "2026-08-10", "2026-08-10T12:00:00.000000Z", null, "deposit", "Deposit", "statement_entry"],
        ...[id(11), "0", accountId, "1", "DEPOSIT", id(111), null, null, null, "2"],
        ...["1", "cash", "USD", accountId, "", "100"],
        ...["2", "deposits_clearing", "USD", null, "", "-100"],
      ]
      const hash = createHash("sha256").update(text.map(field).join("")).digest("hex")
      expect(closed?.hash).toBe(hash)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("--accept and --reason", (it) => {
  it.effect("belong together: one reason for each, or one for all", () =>
    Effect.gen(function* () {
      expect(yield* acceptance(["F1", "F2"], ["a", "b"])).toEqual({
        accept: [
          { id: "F1", reason: "a" },
          { id: "F2", reason: "b" },
        ],
        reason: null,
      })
      expect((yield* acceptance(["F1", "F2"], ["a"])).accept.map(({ reason }) => reason)).toEqual(["a", "a"])
      // Several at once, with a reason for each --accept.
      expect(yield* acceptance(["F1,F2", " F3 "], ["a", "b"])).toEqual({
        accept: [
          { id: "F1", reason: "a" },
          { id: "F2", reason: "a" },
          { id: "F3", reason: "b" },
        ],
        reason: null,
      })
      // From one to another.
      expect((yield* acceptance(["F9,f2-F4"], ["a"])).accept.map(({ id }) => id)).toEqual([
        ...["F9", "F2", "F3", "F4"],
      ])
      for (const [accept, reasons] of [
        [["F1,"], ["a"]],
        [["F3-F1"], ["a"]],
        [["F1-F100001"], ["a"]],
        [["F1-F60000,F60001-F100001"], ["a"]],
        [["F1"], []],
        [
          ["F1", "F2", "F3"],
          ["a", "b"],
        ],
        [["F1"], [" "]],
      ] as const) {
        yield* Effect.flip(acceptance(accept, reasons))
      }
    }),
  )
})
