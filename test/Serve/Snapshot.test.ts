import { describe, expect, it } from "vitest"
import { evidenceOf } from "../../src/Serve/FindingEvidence.ts"
import { metricsText } from "../../src/Serve/Metrics.ts"
import type { Snapshot } from "../../src/Serve/Overview.ts"
import { statusPage } from "../../src/Serve/StatusPage.ts"
import { verdictOf } from "../../src/Serve/Verdict.ts"
import { at, book, connection, hour, reading, snapshot } from "./Snapshots.ts"

const verdict = (over: Partial<Snapshot> = {}, connections = ["default"]) => {
  const { sentence, tone } = verdictOf(snapshot(over), connections, 26 * hour)
  return [tone, sentence]
}

describe("the answer at the top", () => {
  it("says what the settings leave out, as tieout status does", () => {
    const leftOut = [{ what: "statements", count: 2, leftOut: true }]
    const clause = "left out by the settings (surfaces): 2 statements"
    expect(verdict({ leftOut })).toEqual(["late", `What was read ties out; ${clause}.`])
    expect(verdict({ leftOut, books: [book({ suspense: 1 })] })).toEqual([
      "late",
      `Cash ties out as far as it was read; 1 item stands in suspense; ${clause}.`,
    ])
    expect(verdict({ leftOut, connections: [connection("default", 72)] })).toEqual([
      "late",
      `What was read ties out; ${clause}, but the books are not current: they have not been read for 3 days.`,
    ])
  })

  it("is one sentence", () => {
    expect(verdict()).toEqual(["good", "The books are current. Everything ties out."])
    expect(verdict({ books: [] })).toEqual(["none", "Nothing has been read yet."])
    expect(
      verdict({
        books: [book(), book({ code: "C1", reading: reading({ lag: null, knownFor: 3 * 86_400 }) })],
      }),
    ).toEqual([
      "late",
      "Everything ties out, but the books are not current: book C1 has not been read whole for 3 days.",
    ])
    const failing = reading({ failing: 1, failingSince: at - 5 * hour, lag: 9 * 3_600 })
    expect(
      verdict({ books: [book({ off: 1 }), book({ reading: failing }), book({ reading: failing })] }),
    ).toEqual([
      "bad",
      "1 account does not tie out; 2 books have not been read whole, the longest for 9 hours.",
    ])
    expect(verdict({ connections: [connection("default", 72)] })).toEqual([
      "late",
      "Everything ties out, but the books are not current: they have not been read for 3 days.",
    ])
    expect(verdict({}, ["default", "acme"])).toEqual([
      "late",
      "Everything ties out, but the books are not current: connection acme has never been read to the end.",
    ])
    expect(
      verdict({ books: [book({ off: 2, quarantined: 3 }), book({ otherBlocking: 1, blockingFindings: 1 })] }),
    ).toEqual([
      "bad",
      "The books are current. 2 accounts do not tie out; 1 blocking finding is open, 3 rows are in quarantine.",
    ])
    expect(verdict({ books: [book({ suspense: 3, transit: 4, blocked: { "2026-10": 2 } })] })).toEqual([
      "late",
      "The books are current. Cash ties out; 3 items stand in suspense, 4 conversions are in transit (2 block the close of 2026-10).",
    ])
  })
})

describe("the page of two hundred clients", () => {
  it("lists the first ones, and counts how many of the others do not tie out", () => {
    const books = Array.from({ length: 200 }, (_, index) =>
      book({ code: `C-${index}`, off: index < 20 ? 1 : 0 }),
    )
    const text = statusPage(snapshot({ books }), {
      connections: ["default"],
      timeZone: "Europe/Berlin",
      staleAfter: 26 * hour,
      nextRun: Date.parse("2026-10-08T01:30:00Z"),
      version: "1",
      downloads: true,
      session: false,
    })
    expect(text.match(/class="lead">C-/g)).toHaveLength(15)
    expect(text).toContain('<td data-label="Closed">no month</td>')
    expect(text).toContain("and 185 more books, 5 of which do not tie out.")
    expect(text).toContain("<dt>Next run</dt><dd>2026-10-08 03:30</dd>")
  })
})

describe("metrics", () => {
  const lines = (found: Snapshot | undefined, connections = ["default"]) =>
    metricsText(found, { connections, uptime: 1.5, counted: [] }).split("\n")

  it("are in the text format: HELP and TYPE once before the samples of each, label values escaped", () => {
    const found = lines(snapshot({ books: [book({ code: 'A"\\\nB', reading: reading({ lag: 1.25 }) })] }))
    expect(found.at(-1)).toBe("")
    for (const line of found.slice(0, -1))
      expect(line).toMatch(
        /^(?:# HELP [a-z_]+ .+|# TYPE [a-z_]+ (?:gauge|counter)|[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})? [-+0-9.eInf]+)$/,
      )
    const types = found.filter((line) => line.startsWith("# TYPE "))
    expect(new Set(types).size).toBe(types.length)
    expect(found).toContain('tieout_stream_lag_seconds{connection="default",book="A\\"\\\\\\nB"} 1.25')
    expect(found).toContain(
      `tieout_last_success_timestamp_seconds{connection="default"} ${(at - 5 * hour) / 1_000}`,
    )
  })

  it("show a connection that was never read completely, and do not wait for one that the settings no longer have", () => {
    const all = snapshot({
      books: [
        book(),
        book({ connection: "gone", reading: reading({ lag: 9_000_000, failing: 1, failingSince: 0 }) }),
      ],
      connections: [connection("default", 5), connection("gone", 9_000), connection("new", null)],
    })
    const found = lines(all, ["default", "new", "unknown"])
    expect(found.filter((line) => line.startsWith("tieout_never_read"))).toEqual([
      'tieout_never_read{connection="default"} 0',
      'tieout_never_read{connection="new"} 1',
      'tieout_never_read{connection="unknown"} 1',
    ])
    const late = /^tieout_(?:last_success|runs_last|lag|stream|streams|book|books)_/
    expect(found.filter((line) => late.test(line) && line.includes("gone"))).toEqual([])
    // Problems of its books are still counted.
    expect(found).toContain('tieout_accounts_off{connection="gone"} 0')
  })

  it("report that the database is gone", () => {
    expect(lines(undefined)).toContain("tieout_database_up 0")
    expect(lines(undefined)).toContain("tieout_uptime_seconds 1.5")
  })
})

describe("evidence", () => {
  it("shows only fields that a check may show, and counts the others", () => {
    expect(
      evidenceOf({
        currency: "EUR",
        entries: [{ entryId: "e1", amount: "1", remitterName: "Jane" }],
        kept: { amount: "2" },
        content: { iban: "DE00" },
        missing: null,
      }),
    ).toEqual({
      lines: [
        { depth: 0, name: "currency", value: "EUR" },
        { depth: 0, name: "entries 1", value: "" },
        { depth: 1, name: "entryId", value: "e1" },
        { depth: 1, name: "amount", value: "1" },
        { depth: 0, name: "kept", value: "" },
        { depth: 1, name: "amount", value: "2" },
      ],
      withheld: 2,
    })
  })

  it("shows where a value or a list is cut, and never a part of an identifier as if it were one", () => {
    const id = (digit: number) => `${digit}`.repeat(36)
    const { lines } = evidenceOf({ reason: "x".repeat(300), missing: [1, 2, 3, 4, 5, 6, 7, 8].map(id) })
    expect(lines.map(({ value }) => value)).toEqual([
      `${"x".repeat(199)}…`,
      `${[1, 2, 3, 4, 5].map(id).join(", ")} and 3 more`,
    ])
    expect(evidenceOf({ missing: ["y".repeat(300), "z"] }).lines.map(({ value }) => value)).toEqual([
      `${"y".repeat(199)}… and 1 more`,
    ])
  })
})
