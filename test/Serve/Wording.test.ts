import { describe, expect, it } from "vitest"
import { type ExportReason, exportError } from "../../src/Export/ExportError.ts"
import { failureOf } from "../../src/Serve/Nightly/Wording.ts"

describe("the alert of an export that failed", () => {
  it.each<readonly [ExportReason, string]>([
    ["Refused", "a format cannot hold the books, or lacks a setting"],
    ["Folder", "its folder cannot be written"],
    ["FolderTaken", "its folder holds what is not ours"],
    ["Busy", "another export of a book runs"],
    ["Usage", "what schedule.export names does not go with the settings, or with batches that are there"],
    ["Disagrees", "the files would not have the ledger's figures"],
    ["Missing", "the export was refused (Missing)"],
  ])("says of %s that %s, and quotes nothing of it", (reason, why) => {
    const { text } = failureOf("export", "default", exportError(reason, "Assets:Cash:Mayer of book ORG"))
    expect(text).toBe(
      `The export of connection default failed (${why}). What was committed stays; the log says more.`,
    )
  })
})
