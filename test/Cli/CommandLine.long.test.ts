import { type ChildProcess, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { type Finished, program as makeProgram, type Program } from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

interface World {
  readonly program: Program
  readonly sandbox: Sandbox
  readonly databaseUrl: string
}

const scope = Effect.runSync(Scope.make())
let world: World | undefined

const here = (): World => {
  if (world === undefined) throw new Error("the world has not been set up")
  return world
}

const tieout = (args: ReadonlyArray<string>, variables: Record<string, string> = {}): Promise<Finished> => {
  const { databaseUrl, program } = here()
  return Effect.runPromise(program.run(args, { DATABASE_URL: databaseUrl, ...variables }))
}

/** Runs the program as a process of its own, to test its streams, signals and end. */
const start = (
  args: ReadonlyArray<string>,
  variables: Record<string, string> = {},
  began: (child: ChildProcess) => void = () => {},
): Promise<Finished> => {
  const { databaseUrl, program } = here()
  return Effect.runPromise(program.start(args, { DATABASE_URL: databaseUrl, ...variables }, began))
}

const credentials = () => ({
  TIEOUT_BASE_URL: here().sandbox.url,
  TIEOUT_CLIENT_ID: "sandbox-client",
  TIEOUT_CLIENT_SECRET: "sandbox-secret",
  TIEOUT_SCOPE: "sandbox",
})

beforeAll(async () => {
  const sandbox = await startSandbox({ entries: 150, accounts: 4 })
  const context = await Effect.runPromise(Layer.buildWithScope(TestDatabase.blank, scope))
  const program = await Effect.runPromise(makeProgram)
  world = { program, sandbox, databaseUrl: Context.get(context, TestDatabase).url }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await world?.sandbox.close()
})

const nothingYet = "Nothing has been read yet. Run: tieout sync\n"

describe("the command line", () => {
  it("answers --version and --help on stdout, and no command with the help on stderr", async () => {
    expect(await start(["--version"])).toEqual({ code: 0, out: "9.8.7\n", error: "" })
    const help = await start(["sync", "--help"])
    expect(help.code).toBe(0)
    expect(help.out).toContain("tieout sync [--connection NAME] [--surface NAME]")
    expect(help.error).toBe("")
    const nothing = await start([])
    expect([nothing.code, nothing.out]).toEqual([2, ""])
    expect(nothing.error).toContain("Usage:")
  })

  it("keeps its exit code where nobody reads its answer", async () => {
    const unread = (args: ReadonlyArray<string>) => start(args, {}, (child) => child.stdout?.destroy())
    expect((await unread(["status", "--bogus", "--json"])).code).toBe(2)
    expect((await unread(["status", "--json", "--config", "absent.yaml"])).code).toBe(2)
    expect((await unread(["--help"])).code).toBe(0)
  })

  it.runIf(existsSync("/dev/full"))("says so where its answer cannot be written", async () => {
    const full = await Effect.runPromise(here().program.start(["--version"], {}, () => {}, "/dev/full"))
    expect(full).toEqual({
      code: 1,
      out: "",
      error:
        "The answer could not be written to standard output: ENOSPC: no space left on device, write. What the command did stays done.\n",
    })
  })

  it.skipIf(process.platform === "win32")("ends with 2 where its working folder is gone", () => {
    const script = 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"'
    const at = (...args: ReadonlyArray<string>) =>
      spawnSync("sh", ["-c", script, "sh", process.execPath, here().program.main, ...args], {
        encoding: "utf8",
      })
    const { status, stderr } = at("status")
    expect([status, stderr.slice(stderr.indexOf("The folder"))]).toEqual([
      2,
      "The folder that this command was started in is no longer there.\nGo to another one, and start it again.\n",
    ])
    expect(at("--version").status).toBe(0)
  })

  it("reports wrong usage once, on stderr and in the document, and ends with 2", async () => {
    const { code, error, out } = await start(["export", "--all", "--json"])
    const message = "--format is missing.\nRun tieout export --help to see what it takes."
    expect(code).toBe(2)
    expect(JSON.parse(error)).toMatchObject({ level: "ERROR", message })
    expect(JSON.parse(out)).toEqual({
      schema: 1,
      exitCode: 2,
      errors: [{ error: "UsageError", reason: null, message }],
    })
  })

  it("does not restore a damaged file, and begins no database for it", async () => {
    const { cwd } = here().program
    await writeFile(join(cwd, "damaged.gz"), "no backup")
    const { code, error } = await Effect.runPromise(
      here().program.run(["restore", "damaged.gz"], { TIEOUT_DATA_DIR: "of-a-damaged-file" }),
    )
    expect([code, existsSync(join(cwd, "of-a-damaged-file"))]).toEqual([1, false])
    expect(error).toMatch(/damaged.gz cannot be read as a backup: .*: use another one\./)
    expect(error).not.toContain("Began a new, empty database")
  })

  it("reports the mistakes of a settings file that is named before the command", async () => {
    await writeFile(
      join(here().program.cwd, "bad.yaml"),
      "accounting: { timeZone: Mars/Phobos }\nlimits: { tries: 0 }\n",
    )
    const { code, error } = await tieout(["--config", "bad.yaml", "status"])
    expect(code).toBe(2)
    expect(error.split("\n").slice(0, 2)).toEqual([
      'bad.yaml:1: accounting.timeZone: found "Mars/Phobos", expected an IANA time zone such as Europe/Berlin or UTC',
      "bad.yaml:2: limits.tries: found 0, expected a whole number of at least 1",
    ])
  })

  it("reads no database of another version; only a command that writes brings it up to date", async () => {
    const status = await tieout(["status"])
    expect([status.code, status.out]).toEqual([2, ""])
    expect(status.error).toMatch(
      /the database is older than this version \(it lacks .*rules\): run tieout migrate/,
    )
    // One that says too little changes nothing.
    const unsaid = await tieout(["reclassify", "F1"])
    expect([unsaid.code, unsaid.error]).toEqual([2, expect.stringContaining("--to is missing")])
    expect((await tieout(["status"])).error).toBe(status.error)
    expect((await tieout(["migrate"])).code).toBe(0)
  })

  it("takes the database's address from a file, and starts no other database where the file cannot be read", async () => {
    const { databaseUrl, program } = here()
    await writeFile(join(program.cwd, "url"), `${databaseUrl}\n`)
    const found = await tieout(["status"], { DATABASE_URL: "", DATABASE_URL_FILE: "url" })
    expect([found.code, found.out]).toEqual([0, expect.stringContaining(nothingYet)])
    const missing = await tieout(["status"], { DATABASE_URL: "", DATABASE_URL_FILE: "nowhere/url" })
    expect([missing.code, missing.out]).toEqual([2, ""])
    expect(missing.error).toContain("DATABASE_URL_FILE: nowhere/url: there is no such file")
  })

  it("needs credentials only for sync, which names all four variables", async () => {
    const status = await tieout(["status"])
    expect([status.code, status.out]).toEqual([0, expect.stringContaining(nothingYet)])
    expect(status.out).toMatch(/^Read from .*tieout/)
    const reconcile = await tieout(["reconcile"])
    expect([reconcile.code, reconcile.error]).toEqual([2, expect.stringContaining("There are no books yet")])
    const sync = await tieout(["sync"])
    expect(sync.code).toBe(2)
    expect(sync.error.match(/TIEOUT_[A-Z_]+/g)).toEqual([
      "TIEOUT_BASE_URL",
      "TIEOUT_CLIENT_ID",
      "TIEOUT_CLIENT_SECRET",
      "TIEOUT_SCOPE",
    ])
  })

  it("refuses wrong credentials without repeating them", async () => {
    const { code, error } = await tieout(["sync"], { ...credentials(), TIEOUT_CLIENT_SECRET: "hunter2" })
    expect(code).toBe(1)
    expect(error).toContain("Check TIEOUT_CLIENT_ID, TIEOUT_CLIENT_SECRET and TIEOUT_SCOPE")
    expect(error).not.toContain("hunter2")
  })

  it("goes the whole way: sync, status, reconcile, export, verify, explain", async () => {
    const sync = await start(["sync", "--json"], credentials())
    expect(sync.code).toBe(0)
    const read = JSON.parse(sync.out)
    expect(read.runs[0].counters.entries).toBe(150)
    expect(read.accounts.map((account: { tiesOut: boolean }) => account.tiesOut)).toEqual([
      true,
      true,
      true,
      true,
    ])
    for (const line of sync.error.split("\n").filter((text) => text !== ""))
      expect(JSON.parse(line)).toHaveProperty("level")

    const status = await tieout(["status"])
    expect(status.code).toBe(0)
    // The made-up statement has adjustments, and conversions with one leg beyond its end.
    expect(status.out).toMatch(
      /^Cash ties out; 2 items stand in suspense, \d conversions are in transit \(.* the close of 2026-\d\d.*\)\. /m,
    )
    expect((await tieout(["reconcile", "--period", "2026-10"])).code).toBe(0)

    const exported = await tieout(["export", "--format", "journal,trial-balance", "--all", "--json"])
    expect(exported.code).toBe(0)
    const { batches } = JSON.parse(exported.out)
    // A batch for each format.
    expect(batches).toHaveLength(2)
    const [batch] = batches
    expect(batch.folder).toBe("exports/default-ORG/all/1")
    expect(batch.reasons).toEqual([])

    const verified = await tieout(["verify", batch.folder])
    expect([verified.code, verified.out]).toEqual([
      0,
      `exports/default-ORG/all/1 is whole: 2 files, ${batch.entries} entries; checksums, totals and balances agree.\n`,
    ])
    const all = await tieout(["verify", "exports", "--json"])
    expect([all.code, JSON.parse(all.out)]).toMatchObject([0, { ok: true, problemCount: 0 }])
    expect(JSON.parse(all.out).folders).toHaveLength(2)
    await writeFile(join(here().program.cwd, batch.folder, "journal.csv"), "x")
    expect((await tieout(["verify", batch.folder])).code).toBe(1)
    const changed = await tieout(["verify", "exports"])
    expect(changed.code).toBe(1)
    expect(changed.out).toContain("exports/default-ORG/all/1/journal.csv")
    expect(changed.out).toMatch(/\n1 of 2 folders is not what was written: see above\.\n$/)

    const explained = await tieout(["explain", batch.firstNumber])
    expect(explained.code).toBe(0)
    expect(explained.out.split("\n")[0]).toBe(`journal entry ${batch.firstNumber}`)
    const unknown = await tieout(["explain", "ORG-2026-10-999999999"])
    expect(unknown.code).toBe(2)
  })

  it("runs every connection, even where another one fails", async () => {
    await writeFile(join(here().program.cwd, "two.yaml"), "connections: { default: {}, other: {} }\n")
    const { code, out } = await tieout(["sync", "--config", "two.yaml", "--json"], credentials())
    expect(code).toBe(2)
    const { runs } = JSON.parse(out)
    expect(runs[0]).toMatchObject({ connection: "default", counters: { entries: 0 } })
    expect(runs[1]).toMatchObject({ connection: "other", exitCode: 2 })
  })

  it("serves the sandbox until it is interrupted, and ends with 0", async () => {
    const { code, out } = await start(["sandbox", "--entries", "10", "--json"], {}, (child) => {
      child.stdout?.on("data", (text: string) => {
        if (text.endsWith("}\n")) child.kill("SIGTERM")
      })
    })
    expect(code).toBe(0)
    expect(Object.keys(JSON.parse(out).variables)).toEqual(Object.keys(credentials()))
  })

  it("ends with 75 at the deadline of the run", async () => {
    const { code, error } = await tieout(["sync"], { ...credentials(), TIEOUT_LIMITS_RUN_DEADLINE: "1 ms" })
    expect(code).toBe(75)
    expect(error).toContain("limits.runDeadline (1ms)")
  })

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "ends with 75 on %s, and the next run continues",
    async (signal) => {
      // This service answers nothing: the sync waits for its token until the signal comes.
      let interrupt: () => void = () => {}
      const silent = createServer(() => interrupt())
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
      const address = silent.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const silentUrl = `http://127.0.0.1:${port}/api/v1`
      const { code, error } = await start(
        ["sync"],
        { ...credentials(), TIEOUT_BASE_URL: silentUrl },
        (child) => {
          interrupt = () => child.kill(signal)
        },
      )
      silent.close()
      expect(code).toBe(75)
      expect(error).toContain("run the same command again. A sync goes on from there.")
      expect((await tieout(["sync"], credentials())).code).toBe(0)
    },
  )
})
