/** `exports/README.md` lists the values that the cells of `native_movements.csv` can have. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import type { Basis } from "../../src/Valuation/Base.ts"

/** The compiler asks for each of them, and for no other. */
const bases: Readonly<Record<Basis, true>> = {
  face: true,
  rate: true,
  price: true,
  cost: true,
  carrying: true,
  proportion: true,
}

it("the README of the exports lists every way in which a line is valued", () => {
  const text = readFileSync("exports/README.md", "utf8")
  const [, list = ""] = /how it was valued\s+\(([^)]*)\)/.exec(text) ?? []
  expect([...list.matchAll(/`([a-z]+)`:/g)].map(([, basis]) => basis)).toEqual(Object.keys(bases))
})
