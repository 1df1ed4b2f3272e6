/** The bundle as it is installed: V8's compiled code is kept for the user alone, and nothing depends on it. */

import { execFile } from "node:child_process"
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { cacheFile, readCache, writeCache } from "../../src/Cli/Bundled/CodeCache.ts"
import { commonVariables, compiled } from "../support/Compiled.ts"

const bundle = Buffer.from("the bundle")
const code = Buffer.from("compiled code")

let base = ""
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "tieout-cache-"))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const fileIn = (folder: string): string => {
  const file = cacheFile(bundle, { XDG_CACHE_HOME: folder })
  if (file === undefined) throw new Error("there is no place for the cache")
  return file
}

describe("the code cache", () => {
  it("is read as it was written, by this user alone", () => {
    const file = fileIn(base)
    expect(readCache(file)).toBeUndefined()
    writeCache(file, code)
    expect(readCache(file)).toEqual(code)
    expect(statSync(join(base, "tieout")).mode & 0o777).toBe(0o700)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it("has no place where the system makes no folder, which is found out at once", () => {
    expect(cacheFile(bundle, { XDG_CACHE_HOME: "/proc" })).toBeUndefined()
  })

  it("is separate for each bundle", () => {
    expect(cacheFile(Buffer.from("another"), { XDG_CACHE_HOME: base })).not.toBe(fileIn(base))
  })

  it("is not used where it was damaged, truncated, linked or is no file", () => {
    const file = fileIn(base)
    for (const change of [
      (bytes: Buffer) => bytes.subarray(0, bytes.length - 1),
      (bytes: Buffer) => bytes.subarray(0, 10),
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from("!")]),
    ]) {
      writeCache(file, code)
      const changed = change(readFileSync(file))
      writeFileSync(file, changed)
      expect(readCache(file)).toBeUndefined()
      rmSync(file)
    }
    writeCache(`${file}.elsewhere`, code)
    symlinkSync(`${file}.elsewhere`, file)
    expect(readCache(file)).toBeUndefined()
    rmSync(file)
    linkSync(`${file}.elsewhere`, file)
    expect(readCache(file)).toBeUndefined()
    rmSync(file)
    mkdirSync(file)
    expect(readCache(file)).toBeUndefined()
  })

  it("is not kept in a folder that others can write to, or that is a link", () => {
    mkdirSync(join(base, "tieout"))
    chmodSync(join(base, "tieout"), 0o777)
    expect(cacheFile(bundle, { XDG_CACHE_HOME: base })).toBeUndefined()
    rmSync(join(base, "tieout"), { recursive: true })
    mkdirSync(join(base, "elsewhere"), { mode: 0o700 })
    symlinkSync(join(base, "elsewhere"), join(base, "tieout"))
    expect(cacheFile(bundle, { XDG_CACHE_HOME: base })).toBeUndefined()
  })

  it("is not kept where there is no folder, and Node's own switch turns it off", () => {
    expect(cacheFile(bundle, { XDG_CACHE_HOME: join(base, "missing") })).toBeUndefined()
    expect(cacheFile(bundle, { XDG_CACHE_HOME: base, NODE_DISABLE_COMPILE_CACHE: "1" })).toBeUndefined()
  })

  it("removes files that were not used for a month when it writes", () => {
    const file = fileIn(base)
    const old = join(base, "tieout", "0123-v18.code")
    writeFileSync(old, "x")
    const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000)
    utimesSync(old, longAgo, longAgo)
    writeCache(file, code)
    expect(readdirSync(join(base, "tieout"))).toHaveLength(1)
  })
})

describe("the installed program", () => {
  const start = (folder: string) =>
    promisify(execFile)(process.execPath, [compiled("bin/tieout.js"), "completions", "bash"], {
      env: { ...commonVariables(), XDG_CACHE_HOME: folder },
    })
  const kept = (folder: string) =>
    readdirSync(join(folder, "tieout")).filter((name) => name.endsWith(".code"))

  it("keeps its compiled code at the end, and answers the same from it and from a wrong one", async () => {
    const first = await start(base)
    expect(first).toMatchObject({ stdout: expect.stringContaining("tieout"), stderr: "" })
    const [name = ""] = kept(base)
    const file = join(base, "tieout", name)
    const written = readFileSync(file)
    expect(await start(base)).toEqual(first)
    expect(readFileSync(file).equals(written)).toBe(true)
    // The digest is right, but the content is not V8's code.
    rmSync(file)
    writeCache(file, code)
    expect(await start(base)).toEqual(first)
    expect(readFileSync(file).length).toBeGreaterThan(1_000_000)
  })

  it("does not keep the code of a usage error, which every later command would get", async () => {
    const failed = promisify(execFile)(process.execPath, [compiled("bin/tieout.js"), "completions", "none"], {
      env: { ...commonVariables(), XDG_CACHE_HOME: base },
    })
    await expect(failed).rejects.toMatchObject({ code: 2 })
    expect(existsSync(join(base, "tieout")) ? kept(base) : []).toEqual([])
  })

  it("answers the same without a place for the cache", async () => {
    expect(await start(join(base, "missing"))).toEqual(await start(base))
  })
})
