/** Which folder of `src` may import which: one way, from what the service says to what a person reads. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { arrows, circle, contributing, drawn, importsOf, sources, withMap } from "../support/folderMap.ts"

/** What every folder may import. */
const ground = ["Common", "Settings", "Database"]

/** By folder, what it may import beside the ground: a new arrow is a decision, taken here. */
const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  Common: [],
  Format: ["Common"],
  Settings: ["Common", "Format"],
  Database: ["Common"],
  Terminal: ["Common"],
  Book: ground,
  Run: [...ground, "Book"],
  Partner: ground,
  Webhook: [...ground, "Partner"],
  Mirror: [...ground, "Book", "Partner"],
  Ledger: [...ground, "Book", "Run", "Partner", "Mirror"],
  Reconcile: [...ground, "Format", "Book", "Run", "Ledger"],
  Sync: [...ground, "Book", "Run", "Partner", "Webhook", "Mirror", "Ledger", "Reconcile"],
  Jobs: [...ground, "Book", "Run", "Partner", "Sync"],
  Inquiry: [...ground, "Book", "Run", "Reconcile"],
  Reclassify: [...ground, "Format", "Book", "Run", "Mirror", "Ledger", "Reconcile", "Sync", "Inquiry"],
  Valuation: [...ground, "Book", "Ledger", "Reconcile"],
  Close: [...ground, "Format", "Book", "Ledger", "Reconcile", "Valuation"],
  Export: [...ground, "Format", "Book", "Ledger", "Reconcile", "Valuation"],
  Rates: [...ground, "Book", "Valuation", "Export"],
  Verify: ["Common", "Format", "Export"],
  Proof: [...ground, "Book", "Reconcile", "Close", "Export", "Valuation"],
  Report: [...ground, "Format", "Book", "Ledger", "Reconcile", "Close", "Inquiry", "Export", "Valuation"],
  Explain: [...ground, "Format", "Ledger", "Reconcile", "Inquiry", "Export"],
  Doctor: [...ground, "Partner"],
  Backup: ["Common", "Database"],
  Archive: [...ground, "Book", "Backup", "Close", "Run", "Sync"],
  Init: ground,
  Sandbox: [],
  Serve: [...ground, "Book", "Run", "Partner", "Webhook", "Reconcile", "Sync", "Export"],
}

/** What starts the program puts everything together. */
const composing = new Set(["Cli", "main"])

describe("the folders of src", () => {
  const all = arrows()

  it("import each other one way", () => {
    expect(circle(all)).toBeUndefined()
  })

  it("have files that import each other one way", () => {
    expect(circle(new Map(sources().map((file) => [file, new Set(importsOf(file))])))).toBeUndefined()
  })

  it("import only what they may", () => {
    const others = [...all].flatMap(([from, to]) =>
      composing.has(from)
        ? []
        : [...to].filter((one) => !(allowed[from] ?? []).includes(one)).map((one) => `${from} → ${one}`),
    )
    expect(others).toEqual([])
  })

  it("are all in the table, and the table allows nothing that nobody needs", () => {
    expect(Object.keys(allowed).filter((folder) => !all.has(folder))).toEqual([])
    const unused = Object.entries(allowed).flatMap(([from, to]) =>
      to.filter((one) => !ground.includes(one) && !all.get(from)?.has(one)).map((one) => `${from} → ${one}`),
    )
    expect(unused).toEqual([])
  })

  it("are drawn in CONTRIBUTING.md as they are: npm run map", () => {
    const text = readFileSync(contributing, "utf8")
    expect(text).toBe(withMap(text, drawn(all)))
  })

  it("a circle is found", () => {
    const circular = new Map([
      ["A", new Set(["B"])],
      ["B", new Set(["C"])],
      ["C", new Set(["B"])],
    ])
    expect(circle(circular)).toEqual(["B", "C", "B"])
  })
})

describe("tieout verify", () => {
  /** Every file that is loaded with one, itself included. */
  const loadedWith = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (!seen.has(file)) {
      seen.add(file)
      for (const next of importsOf(file)) loadedWith(next, seen)
    }
    return seen
  }
  const verify = sources().find((file) => file.endsWith("/src/Verify.ts")) ?? ""

  it("reads files alone: nothing of the database is loaded with it", () => {
    const loaded = [...loadedWith(verify)]
    expect(loaded.length).toBeGreaterThan(20)
    expect(loaded.filter((file) => /\/src\/Database(?:\.ts|\/)/.test(file))).toEqual([])
  })
})
