import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Sandbox } from "../../src/Sandbox.ts"
import { roundTrip } from "../Export/RoundTrip.ts"
import { minor, reporting, sheet } from "../Report/Reports.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { bridging, checking, closing, reopening } from "./Months.ts"

const sandbox = runningSandbox({ entries: 900, from: "2026-08-01", to: "2026-10-31", accounts: 8 })

const control = (of: Sandbox, path: string) =>
  Effect.promise(() => fetch(`${of.origin}/control/${path}`, { method: "POST" }))

/** Closes a month as a controller does: looks at the blockers, accepts them, and closes. */
const settle = Effect.fnUntraced(function* (period: string) {
  const [dry] = yield* closing(period, { dryRun: true })
  const accept = (dry?.blockers ?? []).flatMap(({ id }) => (id === null ? [] : [{ id, reason: "looked at" }]))
  const [done] = yield* closing(period, { accept })
  return done
})

/** For each account the provider's opening and movements, with the entries that are dated elsewhere, must give the books without a rest. */
const tied = Effect.fnUntraced(function* (period: string) {
  const [bridge] = yield* bridging(period)
  expect(bridge?.accounts.length).toBeGreaterThan(4)
  for (const account of bridge?.accounts ?? []) {
    const { accountId, difference, closingDifference } = account
    expect([period, accountId, Number(difference), Number(closingDifference)]).toEqual([
      period,
      accountId,
      0,
      0,
    ])
    expect([period, accountId, minor(account.closing) - minor(account.lateElsewhere)]).toEqual([
      period,
      accountId,
      minor(account.booksClosing) + minor(account.carried),
    ])
  }
  return bridge
})

/**
 * The close package of a closed month: no draft, and each account ends where the provider says, to the last digit, with the
 * figures of the bridge.
 */
const reported = Effect.fnUntraced(function* (period: string) {
  const { folder, manifest } = yield* reporting(period, temporaryFolder())
  expect([manifest.draft, manifest.reasons]).toEqual([false, []])
  const lines = sheet(folder, "account-reconciliation.csv")
  const differences = lines.filter(({ line }) => line === "difference")
  expect(differences.length).toBeGreaterThan(4)
  for (const { amount, provider_account } of differences)
    expect([provider_account, minor(amount)]).toEqual([provider_account, 0n])
  const [bridge] = yield* bridging(period)
  for (const account of bridge?.accounts ?? []) {
    const told = (line: string) =>
      minor(lines.find((row) => row.provider_account === account.accountId && row.line === line)?.amount)
    expect([
      ...[account.accountId, told("opening per books"), told("of which of earlier months, dated here")],
      ...[told("closing per books"), told("dated later by the books")],
      ...[told("of earlier months, dated later by the books"), told("provider's balance")],
    ]).toEqual([
      ...[account.accountId, minor(account.booksOpening), minor(account.lateHere)],
      ...[minor(account.booksClosing), minor(account.lateElsewhere)],
      ...[minor(account.carried), minor(account.closing)],
    ])
  }
  return lines.filter(
    ({ amount, line }) => line === "of later months, standing before it" && minor(amount) !== 0n,
  )
})

/** The provider's own last balance of each account up to the end of a month, and the books' cash by what occurred until then. */
const cashByOccurrence = (until: string) =>
  rows(`
  select s.account_id as id, trim_scale(s.balance_after)::text as provider,
    trim_scale((select sum(p.amount) from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where a.partner_account_id = s.account_id and a.role = 'cash'
        and (j.source_type = 'opening' or j.position <= s.position)))::text as books
  from (select distinct on (account_id) account_id, position, balance_after from mirror.statement_entries
    where occurred_at < '${until}' order by account_id, position desc) s order by 1`)

layer(TestDatabase.layer, { excludeTestServices: true })("three months", (it) => {
  it.scoped(
    "are closed one after another while syncs go on, with late entries, a reopened month and corrections",
    () =>
      Effect.gen(function* () {
        const service = yield* sandbox
        yield* sync(service.url)

        // August closes while a sync reads what is new.
        yield* control(service, "advance?movements=30")
        const running = yield* Effect.fork(sync(service.url))
        expect((yield* settle("2026-08"))?.state).toMatch(/closed|blocked/)
        yield* Fiber.join(running)
        const august = yield* settle("2026-08").pipe(
          Effect.catchTag("CloseError", ({ reason }) => Effect.succeed({ state: reason })),
        )
        expect(["closed", "AlreadyClosed"]).toContain(august?.state)
        yield* tied("2026-08")

        // An entry that is late for August: it is dated to September, which is closed next.
        yield* control(service, "advance?movements=15&late=85")
        yield* sync(service.url)
        const [late] = yield* rows(`select count(*)::integer as entries, min(effective_date)::text as dated
          from ledger.journal_entries where late_for = '2026-08-01' and source_type = 'statement_entry'`)
        expect(late?.entries).toBeGreaterThan(5)
        expect(late?.dated).toBe("2026-09-01")
        expect((yield* settle("2026-09"))?.state).toBe("closed")
        const september = yield* tied("2026-09")
        expect(september?.lateHere.length).toBeGreaterThan(5)
        expect((yield* tied("2026-08"))?.lateElsewhere.length).toBe(september?.lateHere.length)

        // September is reopened, another entry comes for it, and it closes again under another hash.
        const [before] = yield* rows("select hash from ledger.closes order by sequence desc limit 1")
        yield* reopening("2026-09")
        yield* control(service, "advance?movements=10&late=50")
        yield* sync(service.url)
        const again = yield* settle("2026-09")
        expect(again?.state).toBe("closed")
        expect(again?.hash).not.toBe(before?.hash)
        expect(again?.previousHash).toBe(before?.hash)
        expect((yield* settle("2026-10"))?.state).toBe("closed")

        for (const period of ["2026-08", "2026-09", "2026-10"]) {
          expect(yield* checking(period)).toEqual([])
          yield* tied(period)
          const early = yield* reported(period)
          if (period === "2026-08") expect(early.length).toBeGreaterThan(0)
          for (const mode of ["detail", "summary"] as const) {
            const made = yield* roundTrip({ kind: "period", period }, mode)
            expect(made.map(({ manifest }) => manifest.lineage?.closes.map((close) => close.period))).toEqual(
              [[period], [period], [period]],
            )
          }
        }
        for (const { books, id, provider } of yield* cashByOccurrence("2027-01-01"))
          expect([id, books]).toEqual([id, provider])

        // A posting that was changed past the rules is found, with its month.
        yield* rows("alter table ledger.postings disable trigger all")
        yield* rows(`update ledger.postings p set amount = amount * 2 from ledger.journal_entries j
          where j.book_id = p.book_id and j.entry_id = p.entry_id and j.entry_id = (
            select entry_id from ledger.journal_entries where period = '2026-09-01' and kind = 'deposit' limit 1)`)
        yield* rows("alter table ledger.postings enable trigger all")
        expect(yield* checking("2026-08")).toEqual([])
        expect((yield* checking("2026-09")).length).toBeGreaterThan(0)
      }),
  )
})
