import { expect, it } from "@effect/vitest"
import { proofLines } from "../../src/Cli/Tables/ProofLines.ts"

const proof = (name: string, count: number) => ({
  ...{ name, proves: "", count, passedOver: [] },
  wrong: Array.from({ length: count }, () => ({ book: "all", row: "x", message: "is wrong" })),
})

const conclusion = (...proofs: ReadonlyArray<ReturnType<typeof proof>>) =>
  proofLines({ ok: false, proofs, closes: 0, batches: 0 }).at(-1)

it("asks for no backup where only a rule or a setting is not ours, and does not say that the rows are proved", () => {
  expect(conclusion(proof("lines", 0), proof("rules", 1))).toBe(
    "No row was found wrong, but the database's rules are not ours, and the other proofs rest on them: take back what is named above, run this again, and find out who changed it.",
  )
  expect(conclusion(proof("lines", 2), proof("rules", 1))).toMatch(
    /^The database is not what was written: 2 of 2 proofs do not hold\. Its rules are among them, .* run this again\./,
  )
  expect(conclusion(proof("lines", 2), proof("rules", 0))).toMatch(
    /^The database is not what was written: 1 of 2 proofs does not hold\. Restore it from a backup/,
  )
})
