import { readFileSync } from "node:fs"
import { join } from "node:path"
import { it as effectIt } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { evidenceOf } from "../../src/Serve/FindingEvidence.ts"
import { standings } from "../../src/Serve/Overview/OpenFindings.ts"
import { loginPage, messagePage } from "../../src/Serve/Page/Frame.ts"
import { statusPage } from "../../src/Serve/StatusPage.ts"
import { assignNumbers, openBook, postMonths } from "../Export/Books.ts"
import { reporting } from "../Report/Reports.ts"
import { canLook, seriousOn } from "../support/accessibility.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { at, book, connection, hour, reading, snapshot } from "./Snapshots.ts"

const run = (runId: number, state: string) => ({
  runId,
  connection: "default",
  command: "sync",
  state,
  startedAt: at - runId * hour,
  seconds: 30 + runId,
  exitCode: 0,
})

/** A page with something in every section and every tone. */
const full = statusPage(
  snapshot({
    books: [
      book({ off: 1, suspense: 2 }),
      book({ code: "C1", otherWarnings: 2, closedThrough: "2026-09" }),
      book({
        code: "C2",
        reading: reading({
          failing: 2,
          failingSince: at - 50 * hour,
          stream: "accounts",
          trouble: "Unavailable",
          status: 500,
          lag: null,
        }),
      }),
      book({ code: "C3", transit: 1, blocked: { "2026-09": 1 } }),
    ],
    balances: new Map([["ORG", [{ currency: "USD", amount: "1234567.50" }]]]),
    connections: [{ ...connection("default", 5), last: run(1, "done") }],
    runs: ["done", "failed", "stopped", "running", "abandoned"].map((state, index) => run(index + 1, state)),
    findings: standings.map((standing, index) => ({
      findingId: `F${index + 1}`,
      check: standing === "warning" ? "adjustment" : "cash-balance",
      standing,
      code: "ORG",
      message: "The ledger says one thing, the service another.",
      openedAt: at - hour,
      evidence: evidenceOf({ currency: "EUR", entries: [{ entryId: "e1", amount: "1" }] }),
      ofCheck: 7,
    })),
    findingCounts: [{ connection: "default", standing: "blocking", count: 7 }],
    quarantine: [
      {
        connection: "default",
        stream: "deposits",
        reason: "no decimal",
        path: "$.amount",
        rows: 3,
        lastSeenAt: at,
      },
    ],
    batches: (["committed", "preview", "acknowledged", "superseded"] as const).map((state, index) => ({
      code: "ORG",
      batch: index + 1,
      scope: "2026-09",
      baseCurrency: index === 1 ? "EUR" : null,
      asOf: index === 3 ? at : null,
      complete: index % 2 === 0,
      state,
      entries: 4,
      committedAt: at,
      files: [{ name: "journal.csv", bytes: 12 }],
    })),
    inbox: {
      depth: 2,
      counts: [{ connection: "default", state: "dead", events: 1 }],
      recent: ["waiting", "done", "failed", "dead", "poison"].map((state) => ({
        connection: "default",
        eventType: "deposit.completed",
        receivedAt: at,
        state,
      })),
    },
  }),
  {
    ...{ connections: ["default"], timeZone: "UTC", staleAfter: 26 * hour, nextRun: at + hour, version: "1" },
    ...{ downloads: true, session: true },
  },
)

const schemes = ["light", "dark"] as const

describe.skipIf(!canLook)("axe-core finds nothing serious", () => {
  it.each(schemes)("on the status page, the login and a message, in %s", (scheme) => {
    for (const page of [full, loginPage(true), messagePage("Not here", "There is no such page.")])
      expect(seriousOn(page, scheme)).toEqual([])
  })

  effectIt.scopedLive("on a report", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LOOKS", "33333333-0000-4000-8000-000000000009")
      yield* postMonths(bookId)
      yield* assignNumbers(bookId)
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { book: "LOOKS" })
      const page = readFileSync(join(folder, "report.html"), "utf8")
      for (const scheme of schemes) expect([scheme, seriousOn(page, scheme)]).toEqual([scheme, []])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
