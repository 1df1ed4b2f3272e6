import { existsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { makeFolder } from "../../../src/Common/Files/Folders.ts"
import { findPlace } from "../../../src/Database/Embedded/Place.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const root = temporaryFolder()

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "made",
    (cause: unknown) => (cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)),
  )

describe("a folder", () => {
  it("is made with those above it, and the outermost that was made is told", async () => {
    expect(await makeFolder(join(root, "a", "b", "c"))).toBe(join(root, "a"))
    expect(await makeFolder(join(root, "a", "b", "d"))).toBe(join(root, "a", "b", "d"))
    expect(await makeFolder(join(root, "a", "b"))).toBeUndefined()
    expect(statSync(join(root, "a", "b", "c")).isDirectory()).toBe(true)
  })

  it("may be made by many at once", async () => {
    const path = join(root, "many", "at", "once")
    const firsts = await Promise.all(Array.from({ length: 50 }, () => makeFolder(path)))
    expect(statSync(path).isDirectory()).toBe(true)
    expect(firsts).toContain(join(root, "many"))
  })

  it("is refused where a file stands in its way", async () => {
    writeFileSync(join(root, "file"), "")
    expect(await refusal(makeFolder(join(root, "file")))).toBe("EEXIST")
    expect(await refusal(makeFolder(join(root, "file", "below")))).toBe("ENOTDIR")
  })

  // The recursive mkdir of Node never ends there.
  it.skipIf(!existsSync("/proc/self"))(
    "is refused at once where none can be made, as below /proc",
    async () => {
      expect(await refusal(makeFolder("/proc/tieout"))).toBe("ENOENT")
      expect(await refusal(makeFolder("/proc/tieout/exports/default-ORG"))).toBe("ENOENT")
      await expect(findPlace("/proc/tieout/data", undefined)).rejects.toMatchObject({
        _tag: "EmbeddedError",
        reason: "Folder",
        message:
          "The folder /proc/tieout/data cannot be made or written (ENOENT). Make it writable, or set TIEOUT_DATA_DIR to a folder that is.",
      })
    },
  )
})
