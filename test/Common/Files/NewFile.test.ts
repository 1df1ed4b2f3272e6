/** A new file is there whole, or not at all. */
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { unwritten } from "../../../src/Backup/BackupError.ts"
import { unwritable } from "../../../src/Common/Files/CsvFile.ts"
import { NewFile, replaceFile, writeNewFile, writeWholeFile } from "../../../src/Common/Files/NewFile.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })

/** What a disk takes that fills up in the middle. */
async function* untilFull() {
  yield Buffer.from("half of it")
  throw full
}

describe("a new file", () => {
  it("is for its owner alone, and takes the place of none that is there", async () => {
    const file = join(temporaryFolder(), "rates.csv")
    await writeNewFile(file, "all of it")
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["all of it", 0o600])
    await expect(writeNewFile(file, "another")).rejects.toMatchObject({ code: "EEXIST" })
    expect(readFileSync(file, "utf8")).toBe("all of it")
  })

  it("has its own name only once it is whole", async () => {
    const folder = temporaryFolder()
    const file = join(folder, "rates.csv")
    const create = vi.spyOn(NewFile, "create")
    await writeWholeFile(file, "all of it")
    await expect(writeWholeFile(file, "another")).rejects.toMatchObject({ code: "EEXIST" })
    await replaceFile(file, "another")
    expect(create.mock.calls.flat().filter((path) => path === file)).toEqual([])
    create.mockRestore()
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["another", 0o600])
    expect(readdirSync(folder)).toEqual(["rates.csv"])
    await expect(writeWholeFile(join(folder, "none", "rates.csv"), "")).rejects.toMatchObject({
      code: "ENOENT",
    })
  })

  it("has its bytes in their order, many or few at a time", async () => {
    const path = join(temporaryFolder(), "journal.csv")
    const pieces = [1, 64 * 1024, 64 * 1024 + 1, 300_000].map((bytes) => randomBytes(bytes))
    const file = await NewFile.create(path)
    for (const piece of pieces) await file.write(piece)
    await file.finish()
    expect(readFileSync(path).equals(Buffer.concat(pieces))).toBe(true)
  })

  it("is closed once: its number may be another file's by then", async () => {
    const folder = temporaryFolder()
    const file = await NewFile.create(join(folder, "first"))
    file.abandon()
    const second = await NewFile.create(join(folder, "second"))
    file.abandon()
    await second.write(Buffer.from("text"))
    await second.finish()
    expect(readFileSync(join(folder, "second"), "utf8")).toBe("text")
  })

  it("is gone where the disk was full, and the advice is to free some space", async () => {
    const folder = temporaryFolder()
    const file = join(folder, "rates.csv")
    await expect(writeNewFile(file, untilFull())).rejects.toBe(full)
    expect(readdirSync(folder)).toEqual([])
    expect(unwritable(file, full)).toMatchObject({
      reason: "Unwritable",
      message: expect.stringMatching(
        /^(?!.*--out).*nothing of it was kept: free some space and run it again/s,
      ),
    })
  })

  it("that is a backup has the same advice", () => {
    expect(unwritten("/mnt/tieout.gz", full).message).toBe(
      "/mnt/tieout.gz cannot be written: ENOSPC: no space left on device, write. The disk is full, or over its quota, and nothing of it was kept: free some space and run it again.",
    )
    expect(unwritten("/mnt/tieout.gz", new Error("EIO")).message).toBe(
      "/mnt/tieout.gz cannot be written: EIO. Nothing of it is left.",
    )
  })

  it.each([
    ["ENOENT", "NoFolder", "There is no folder /mnt/ledger: make it, or name another file with --out."],
    ["ENOTDIR", "NoFolder", "There is no folder /mnt/ledger: make it, or name another file with --out."],
    [
      "EACCES",
      "Unwritable",
      "/mnt/ledger/rates.csv may not be written by this user. Choose the name of a new file with --out.",
    ],
    [
      "EIO",
      "Unwritable",
      "/mnt/ledger/rates.csv cannot be written [EIO]. Choose the name of a new file with --out.",
    ],
  ])("says of %s what to do, in words", (code, reason, message) => {
    const cause = Object.assign(new Error(`${code}: open '/mnt/ledger/rates.csv'`), { code })
    expect(unwritable("/mnt/ledger/rates.csv", cause)).toEqual({ reason, message })
  })
})
