import { Cause, FiberId } from "effect"
import { describe, expect, it } from "vitest"
import { worst } from "../../src/Cli/ExitCode.ts"
import { failuresOf, UsageError } from "../../src/Cli/Failure.ts"
import { codeOf, documentText, failureDocument, failureText } from "../../src/Cli/FailureDocument.ts"
import { closeError } from "../../src/Close/CloseError.ts"
import { databaseError } from "../../src/Database/DatabaseError.ts"
import { exportError } from "../../src/Export/ExportError.ts"
import { AsOfError } from "../../src/Ledger/AsOf.ts"
import { PartnerError, type PartnerReason } from "../../src/Partner/PartnerError.ts"
import { reclassifyError } from "../../src/Reclassify/ReclassifyError.ts"
import { LeaseLost } from "../../src/Run/Lease.ts"
import { SettingsError } from "../../src/Settings.ts"
import { SyncBusy } from "../../src/Sync/Runs/RunReport.ts"
import { valuationError } from "../../src/Valuation/ValuationError.ts"

const partner = (reason: PartnerReason) =>
  new PartnerError({
    reason,
    operation: "GET /accounts",
    status: 401,
    detail: "it said no",
    advice: "Ask again",
  })

describe("the exit code", () => {
  it.each([
    [2, new UsageError({ detail: "No", advice: "" })],
    [2, new SettingsError({ reason: "Invalid", mistakes: ["a"], advice: "b" })],
    [2, databaseError("Settings", "x", "y")],
    [2, exportError("Usage", "no such book")],
    [2, closeError("AlreadyClosed", "closed already")],
    [2, closeError("OutOfOrder", "an earlier month is open")],
    [2, closeError("NotClosed", "not closed")],
    [2, closeError("Archived", "archived")],
    [2, reclassifyError("NothingThere", "nothing to move")],
    [2, valuationError("Closed", "closed in another base currency")],
    [2, valuationError("Archived", "archived")],
    [1, valuationError("Disagrees", "does not add up")],
    [2, exportError("State", "superseded")],
    [75, databaseError("Unreachable", "x", "y")],
    [75, databaseError("Conflict", "x", "y")],
    [1, exportError("Folder", "read-only")],
    [1, partner("Unauthorized")],
    [1, partner("Untrusted")],
    [1, partner("BadResponse")],
    [75, partner("RateLimited")],
    [75, partner("Unavailable")],
    [75, partner("Unreachable")],
    [75, partner("Timeout")],
    [4, new SyncBusy({ connection: "default" })],
    [4, new LeaseLost({ connection: "default", runId: 1 })],
    [4, exportError("Busy", "another export runs")],
    [4, new AsOfError({ reason: "Busy", message: "a transaction runs" })],
    [1, new Error("anything else")],
  ])("is %i for %o", (code, error) => {
    expect(codeOf(failuresOf(Cause.fail(error), false))).toBe(code)
  })

  it("of several outcomes is the worst: 1 beats 75 beats 3", () => {
    expect(worst([3, 75, 1, 0])).toBe(1)
    expect(worst([0, 75, 3])).toBe(75)
    expect(worst([0, 3])).toBe(3)
    expect(worst([])).toBe(0)
  })
})

describe("the message of a failure", () => {
  it("is the error's own sentence, once", () => {
    const error = partner("Unauthorized")
    const failures = failuresOf(Cause.parallel(Cause.fail(error), Cause.fail(error)), false)
    expect(failures.map(({ message }) => message)).toEqual([
      "GET /accounts answered 401: it said no. Ask again",
    ])
    expect(failureDocument(failures)).toEqual({
      exitCode: 1,
      errors: [
        {
          error: "PartnerError",
          reason: "Unauthorized",
          message: "GET /accounts answered 401: it said no. Ask again",
        },
      ],
    })
  })

  it("of an interrupt says that the work can be resumed", () => {
    expect(failuresOf(Cause.interrupt(FiberId.none), false)).toMatchObject([
      { code: 75, error: "Interrupted" },
    ])
  })

  it("of a defect is short, with a stack only when asked for", () => {
    const cause = Cause.die(new TypeError("x is not a function"))
    const [brief] = failuresOf(cause, false)
    expect(brief?.message).toBe(
      "Something went wrong inside Tieout: x is not a function\nNothing that was committed is lost.\nRun it again with TIEOUT_LOG_LEVEL=debug to see where.",
    )
    expect(failuresOf(cause, true)[0]?.message).toContain("Failure.test.ts")
  })

  it("begins with the error that decides the exit code", () => {
    const cause = Cause.sequential(
      Cause.fail(partner("RateLimited")),
      Cause.fail(exportError("Folder", "full")),
    )
    expect(failuresOf(cause, false).map(({ code }) => code)).toEqual([1, 75])
  })
})

describe("a document", () => {
  it("holds no control characters, and parses to the same values", () => {
    const text = "a\u001b[31mb\u009b31mc\u007f\u202ed\u2028e\u2066f"
    const written = documentText({ text })
    expect(written).toMatch(/^[\n\x20-\x7e]*$/)
    expect(JSON.parse(written)).toEqual({ schema: 1, text })
  })

  it("of a failure is one line where the log is JSON, and the sentence for a person", () => {
    const failure = { code: 2, error: "UsageError", reason: null, message: "No.\nAsk again." } as const
    const now = new Date("2026-11-01T00:00:00Z")
    expect(failureText(failure, false, now)).toBe("No.\nAsk again.\n")
    const line = failureText(failure, true, now)
    expect(line.indexOf("\n")).toBe(line.length - 1)
    expect(JSON.parse(line)).toEqual({
      time: "2026-11-01T00:00:00.000Z",
      level: "ERROR",
      message: "No.\nAsk again.",
      error: "UsageError",
      reason: null,
    })
  })
})
