import { expect, it } from "@effect/vitest"
import { proofLines } from "../../src/Cli/Tables/ProofLines.ts"

const proof = (name: string, count: number) => ({
  ...{ name, proves: "", count, passedOver: [] },
  wrong: Array.from({ length: count }, () => ({ book: "all", row: "x", message: "is wrong" })),
})

const conclusion = (...proofs: ReadonlyArray<ReturnType<typeof proof>>) =>
  proofLines({ ok: false, proofs, closes: 0, batches: 0 }).at(-1)

it("asks for no backup where the rows are what was written, and only a rule or a setting is not", () => {
  expect(conclusion(proof("lines", 0), proof("rules", 1))).toBe(
    "Every row is what was written, but the rules that guard the rows are not: take back what is named above, and find out who changed it.",
  )
  expect(conclusion(proof("lines", 2), proof("rules", 1))).toMatch(
    /^The database is not what was written: 2 of 2 proofs do not hold\. Restore it from a backup/,
  )
})
