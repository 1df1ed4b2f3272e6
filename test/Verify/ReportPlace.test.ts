/** A report in a folder with the name of another month or book was renamed or copied there, whatever its files say. */
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { writeEmptyReport } from "./EmptyReport.ts"

const acme = { code: "ACME", name: "Acme", clientId: null }

const said = Effect.fnUntraced(function* (book: string, month: string, asOf: string | null = null) {
  const folder = join(temporaryFolder(), book, month)
  writeEmptyReport(folder, { book: acme, asOf })
  const { notes, problems } = yield* run(folder)
  return [...problems.map(({ message }) => message), ...notes]
})

it.effect("a report is that of its folder's month and book", () =>
  Effect.gen(function* () {
    expect(yield* said("default-ACME", "2026-10")).toEqual([])
    const then = "2026-11-05T12:00:00.000Z"
    expect(yield* said("default-ACME", "2026-10@20261105T120000Z", then)).toEqual([])
    expect(yield* said("default-ACME", "2026-10", then)).toEqual([
      "is of the month 2026-10@20261105T120000Z, but stands in the folder 2026-10",
    ])
    expect(yield* said("default-ACME", "2026-09")).toEqual([
      "is of the month 2026-10, but stands in the folder 2026-09",
    ])
    for (const other of ["default-ORG", "other-ACME"]) {
      expect(yield* said(other, "2026-10")).toEqual([
        `is of the book default-ACME, but stands in the folder ${other}`,
      ])
    }
    // Older versions wrote theirs there.
    expect(yield* said("default-org", "2026-10")).toEqual([])
    expect(yield* said("for the auditor", "2026-10")).toEqual([])
    expect(yield* said("default-ORG", "october")).toEqual([
      "The folder's name says nothing of what it holds: by its manifest it is the report of ACME 2026-10.",
    ])
  }),
)
