/** A loan that was first read months after it was issued: each month says which interest it cannot know. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, receivable } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { id } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet, textOf } from "./Reports.ts"

const tx = (txId: string, day: string) => ({ txId, txTimestamp: `${day}T12:00:00Z` })

layer(TestDatabase.layer, { excludeTestServices: true })("a loan that was first read in November", (it) => {
  it.scoped("has no interest before November, and says so", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clock: "2026-11-21T12:00:00Z" })
      held.receivables = [
        receivable({
          status: "ACTIVE",
          issueDate: "2026-08-10T00:00:00Z",
          disbursedTransaction: tx("D-1", "2026-08-10"),
          repaymentAmount: "1050.00",
        }),
        receivable({
          receivableId: id(901),
          status: "ACTIVE",
          issueDate: "2026-08-15T00:00:00Z",
          disbursedTransaction: tx("D-2", "2026-08-15"),
          initialPrincipal: "500.00",
          currentPrincipal: "300.00",
          repaymentAmount: "310.00",
          repaymentTransactions: [tx("R-2", "2026-09-05")],
        }),
      ]
      yield* sync(service.url, surfaces)
      const said = (period: string, asOf?: string) =>
        Effect.gen(function* () {
          const { folder } = yield* reporting(period, temporaryFolder(), asOf === undefined ? {} : { asOf })
          const ageing = sheet(folder, "receivables-ageing.csv")
          const lines = sheet(folder, "exceptions.csv").filter(
            ({ what }) => what === "interest of receivables",
          )
          for (const { message = "" } of lines) expect(textOf(folder, "report.html")).toContain(message)
          return {
            ageing: ageing.map((row) => [row.receivable?.slice(-3), row.principal, row.interest, row.remark]),
            exceptions: lines.map((row) => [row.severity, row.currency, row.amount, row.message]),
          }
        })
      const late = "interest is known from 2026-11-21 on"
      const sentence =
        "The interest of 2 receivables became known after the month and is dated when it did: 60.00 USD from 2026-11-21 on. The service does not say what part of it belongs to the month."
      const estimate = "The repayments of 1 receivable are split into principal and interest by estimate."
      expect(yield* said("2026-07")).toEqual({ ageing: [], exceptions: [] })
      expect(yield* said("2026-08")).toEqual({
        ageing: [
          ["900", "1000.00", "0.00", late],
          ["901", "500.00", "0.00", late],
        ],
        exceptions: [["warning", "USD", "60.00", sentence]],
      })
      expect(yield* said("2026-10")).toEqual({
        ageing: [
          ["900", "1000.00", "0.00", late],
          ["901", "300.00", "0.00", `${late}; repayment split estimated`],
        ],
        exceptions: [["warning", "USD", "60.00", `${sentence} ${estimate}`]],
      })
      expect(yield* said("2026-11")).toEqual({
        ageing: [
          ["900", "1000.00", "50.00", ""],
          ["901", "300.00", "10.00", "repayment split estimated"],
        ],
        exceptions: [["warning", "", "", estimate]],
      })

      // What accrues once interest is known needs no remark: it is dated day by day.
      const [then] = yield* rows(
        `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      )
      held.clock = "2026-12-02T12:00:00Z"
      held.receivables = held.receivables.map((one, index) =>
        index === 0 ? { ...one, repaymentAmount: "1055.00" } : one,
      )
      const before = yield* said("2026-11", String(then?.now))
      yield* sync(service.url, surfaces)
      expect(yield* said("2026-11")).toEqual(before)
      expect((yield* said("2026-12")).ageing[0]).toEqual(["900", "1000.00", "55.00", ""])
      // What became known after October is what accrued first, and the status is the first that was read after it.
      expect((yield* said("2026-10")).exceptions[0]?.[2]).toBe("60.00")
      const toldAt = (period: string) =>
        Effect.map(reporting(period, temporaryFolder()), ({ folder }) =>
          sheet(folder, "receivables-ageing.csv").map((row) => row.status_told_at),
        )
      const [november, december] = ["2026-11-21T12:00:00.000000Z", "2026-12-02T12:00:00.000000Z"]
      expect(yield* toldAt("2026-10")).toEqual([november, november])
      expect(yield* toldAt("2026-11")).toEqual([november, november])
      expect(yield* toldAt("2026-12")).toEqual([december, november])
    }),
  )

  it.scoped("names its client as the list of clients does, or by the identifier that it states", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clock: "2026-11-21T12:00:00Z" })
      const { clients } = held
      held.clients = []
      held.receivables = [
        receivable({
          status: "ACTIVE",
          disbursedTransaction: tx("D-1", "2026-08-10"),
          repaymentAmount: "1050.00",
        }),
      ]
      const named = Effect.map(reporting("2026-11", temporaryFolder()), ({ folder }) =>
        sheet(folder, "receivables-ageing.csv").map(({ client }) => client),
      )
      yield* sync(service.url, surfaces)
      expect(yield* named).toEqual([held.receivables[0]?.clientId])
      held.clients = clients
      yield* sync(service.url, surfaces)
      expect(yield* named).toEqual(["Client 1 Ltd"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
