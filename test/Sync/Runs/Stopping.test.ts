/** Which failures of clients stop a run. */
import { describe, expect, it } from "vitest"
import type { Failure } from "../../../src/Sync/Runs/RunReport.ts"
import { stopping } from "../../../src/Sync/Runs/RunTotals.ts"

const failure = (book: string, over: Partial<Failure> = {}): Failure => ({
  ...{ book, unread: { kind: "book" }, why: "", stopped: false, passing: false },
  ...over,
})

const away = (...books: ReadonlyArray<string>) => books.map((book) => failure(book, { passing: true }))

const stopped = (failures: ReadonlyArray<Failure>, clientsRead: number) =>
  failures.filter(stopping(failures, clientsRead)).map(({ book }) => book)

describe("a run", () => {
  it("is stopped by a service that asks to wait longer than it may, for whichever client", () => {
    expect(stopped([failure("A", { stopped: true }), failure("B")], 100)).toEqual(["A"])
  })

  it("is stopped by a service that is away for more than half of the clients", () => {
    expect(stopped(away("A", "B"), 2)).toEqual([])
    expect(stopped(away("A", "B", "C"), 2)).toEqual(["A", "B", "C"])
  })

  it("goes on past clients that fail for good, however many", () => {
    expect(stopped([failure("A"), failure("B"), ...away("C")], 0)).toEqual([])
  })

  it("counts a client once, however much of it failed", () => {
    expect(stopped(away("A", "A", "A"), 2)).toEqual([])
  })
})
