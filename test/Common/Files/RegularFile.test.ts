import { execFileSync } from "node:child_process"
import { appendFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { makeFolder } from "../../../src/Common/Files/Folders.ts"
import { chunksOf, readFirst, readNamed, readRegular } from "../../../src/Common/Files/RegularFile.ts"
import { openFolder, readIfThere } from "../../../src/Export/Batch/Folder.ts"
import { program } from "../../support/Program.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const umask = process.umask()

afterEach(() => {
  process.umask(umask)
})

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe("what is written", () => {
  it("is for its owner alone, whatever the umask", async () => {
    const root = temporaryFolder()
    process.umask(0)
    await makeFolder(join(root, "a", "b"))
    const batch = join(root, "exports", "default-ORG", "all", "1")
    const written = Effect.gen(function* () {
      const folder = yield* openFolder(batch)
      const file = yield* folder.create("journal.csv")
      yield* file.write(Buffer.from("text\n"))
      yield* file.finish
      yield* folder.publish(["journal.csv"])
      yield* folder.keep
    })
    await Effect.runPromise(Effect.scoped(written))
    const modes = ["a", "a/b", "exports", "exports/default-ORG", "exports/default-ORG/all/1"].map((name) =>
      modeOf(join(root, name)),
    )
    expect(modes).toEqual(["700", "700", "700", "700", "700"])
    expect(modeOf(join(batch, "journal.csv"))).toBe("600")
  })

  it("is no link's target", async () => {
    const root = temporaryFolder()
    const secret = join(root, "secret")
    writeFileSync(secret, "untouched")
    await makeFolder(join(root, "1"))
    symlinkSync(secret, join(root, "1", "journal.csv.partial"))
    const written = Effect.flatMap(openFolder(join(root, "1")), (folder) => folder.create("journal.csv"))
    const error = await Effect.runPromise(Effect.flip(Effect.scoped(written)))
    expect(error.reason).toBe("Folder")
    expect((await readRegular(secret, 100)).toString()).toBe("untouched")
  })

  it("is for its owner alone where it is a settings file, also one that was open to others", async () => {
    const { cwd, run } = Effect.runSync(program)
    const file = join(cwd, "config", "tieout.yaml")
    await Effect.runPromise(run(["init", "--yes"]))
    expect([modeOf(join(cwd, "config")), modeOf(file)]).toEqual(["700", "600"])
    execFileSync("chmod", ["644", file])
    await Effect.runPromise(run(["init", "--yes", "--force"]))
    expect(modeOf(file)).toBe("600")
  })

  it("is no link's target where it is a settings file that is overwritten", async () => {
    const { cwd, run } = Effect.runSync(program)
    const other = join(cwd, "other")
    writeFileSync(other, "untouched")
    symlinkSync(other, join(cwd, "link.yaml"))
    const { code, error } = await Effect.runPromise(run(["init", "--yes", "--force", "--out", "link.yaml"]))
    expect(code).toBe(2)
    expect(error).toContain("link.yaml is a link, and was not written")
    expect((await readRegular(other, 100)).toString()).toBe("untouched")
  })
})

describe("a file that is read", () => {
  it("is read to its length at the time of opening, however much is added meanwhile", async () => {
    const path = join(temporaryFolder(), "growing")
    writeFileSync(path, "x".repeat(200_000))
    let read = 0
    for await (const chunk of chunksOf(path)) {
      read += chunk.length
      appendFileSync(path, "y".repeat(200_000))
    }
    expect(read).toBe(200_000)
  })

  it("is read as far as asked, and only where it is a regular one, at once as well", () => {
    const root = temporaryFolder()
    const at = (name: string) => join(root, name)
    writeFileSync(at("file"), "four and more")
    symlinkSync(at("file"), at("link"))
    execFileSync("mkfifo", [at("pipe")])
    expect(readFirst(at("file"), 4).toString()).toBe("four")
    expect(readFirst(at("file"), 100).toString()).toBe("four and more")
    expect(() => readFirst(at("link"), 4)).toThrow("is a link or no regular file, and was not opened")
    expect(() => readFirst(at("pipe"), 4)).toThrow("is no regular file, and was not opened")
    expect(() => readFirst(root, 4)).toThrow("is a folder, and was not opened")
  })

  it("is a regular one: a pipe in a manifest's place is refused, and nothing waits for it", async () => {
    const path = join(temporaryFolder(), "manifest.json")
    execFileSync("mkfifo", [path])
    const error = await Effect.runPromise(Effect.flip(readIfThere(path)))
    expect(error.message).toBe(`${path} is no regular file, and was not opened. Nothing of it was kept.`)
  })
})

describe("a file that a person or a setting names", () => {
  const root = temporaryFolder()
  const at = (name: string) => join(root, name)
  writeFileSync(at("file"), "text")
  symlinkSync(at("file"), at("link"))
  execFileSync("mkfifo", [at("pipe")])

  it("is read, through a link too, and within its bound", () => {
    expect(readNamed(at("link"), 4).toString()).toBe("text")
    expect(() => readNamed(at("file"), 3)).toThrow("has 4 bytes, and at most 3 are read")
    expect(() => readNamed(at("pipe"), 4)).toThrow("is no regular file")
    expect(() => readNamed(root, 4)).toThrow("is a folder")
  })

  it("is no pipe, which would hold up a process that hears no signal", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const authority = `postgres://jane@127.0.0.1:1/books?sslrootcert=${at("pipe")}`
      for (const [args, variables] of [
        [["accounts", "import", at("pipe")], {}],
        [["rates", "import", at("pipe")], {}],
        [["webhook", "diagnose", at("pipe")], {}],
        [["status", "--config", at("pipe")], {}],
        [["status"], { DATABASE_URL: authority }],
        [["status"], { DATABASE_URL: "", DATABASE_URL_FILE: at("pipe") }],
      ] as const) {
        const { code, error } = yield* run(args, { DATABASE_URL: url, ...variables })
        expect([args, code]).toEqual([args, 2])
        expect(error).toMatch(/is no regular file|cannot be read/)
      }
    }).pipe(Effect.provide(TestDatabase.migrated), Effect.runPromise))
})
