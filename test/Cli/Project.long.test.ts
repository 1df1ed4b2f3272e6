/** The working directory decides which books a command works on, and no command begins new ones unnoticed. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { describe, expect, it } from "vitest"
import { readManual } from "../../src/Cli/Commands.ts"
import { projectAbove } from "../../src/Settings/Project.ts"
import { commandLines } from "../support/commandLines.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const root = realpathSync(temporaryFolder())
const { runIn } = Effect.runSync(program)

/** Runs the program in a folder, as a person or a scheduler does, without `DATABASE_URL`. */
const tieout = (cwd: string, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  Effect.runPromise(runIn(cwd, args, { XDG_DATA_HOME: join(root, "share"), ...variables }))

const credentials = {
  TIEOUT_BASE_URL: "http://127.0.0.1:9/api/v1",
  TIEOUT_CLIENT_ID: "a",
  TIEOUT_CLIENT_SECRET: "b",
  TIEOUT_SCOPE: "c",
  TIEOUT_LIMITS_TRIES: "1",
}

const folder = (...path: ReadonlyArray<string>): string => {
  const made = join(root, ...path)
  mkdirSync(made, { recursive: true })
  for (let at = made; at !== root; at = join(at, "..")) chmodSync(at, 0o755)
  chmodSync(root, 0o755)
  return made
}

/** Makes a file that exists but cannot be looked at, like one below another user's folder; this works for root as well. */
const hidden = (file: string): void => symlinkSync(file, file)

describe("a number of partitions that cannot be", () => {
  it.each([["migrate"], ["restore", "backup.gz"]])("leaves no new database behind: %s", async (...args) => {
    const data = folder("partitions")
    const { code, error } = await tieout(data, [...args, "--partitions", "0"], { TIEOUT_DATA_DIR: data })
    expect([code, error]).toEqual([2, expect.stringContaining("--partitions: found 0")])
    expect(readdirSync(data)).toEqual([])
  })
})

describe("a settings file that is a link to nothing", () => {
  it("is not passed over, as if there were none", async () => {
    const project = folder("dangling")
    symlinkSync(join(root, "not-mounted.yaml"), join(folder("dangling", "config"), "tieout.yaml"))
    const { code, error } = await tieout(project, ["migrate"])
    expect([code, error]).toEqual([
      2,
      expect.stringContaining("config/tieout.yaml: is a link to a file that is not there"),
    ])
    expect(readdirSync(project)).toEqual(["config"])
  })
})

describe("a file that this user cannot look at", () => {
  it("makes the working directory a project, and nothing begins elsewhere", async () => {
    const project = folder("closed")
    hidden(join(folder("closed", "config"), "tieout.yaml"))
    const share = join(root, "closed-share")
    const { code, error } = await tieout(project, ["migrate"], { XDG_DATA_HOME: share })
    expect([code, error]).toEqual([2, expect.stringContaining("tieout.yaml: cannot be read [ELOOP]")])
    expect(existsSync(share)).toBe(false)
  })

  it("is not reported as missing", async () => {
    const data = folder("closed-data")
    hidden(join(data, "postgres"))
    const { code, error } = await tieout(data, ["status"], { TIEOUT_DATA_DIR: data })
    expect(error).toContain(`Whether ${join(data, "postgres")} is there cannot be told (ELOOP)`)
    expect(code).toBe(1)
  })

  it.skipIf(process.getuid?.() === 0)("says who may not read it", async () => {
    const project = folder("forbidden")
    const file = join(folder("forbidden", "config"), "tieout.yaml")
    writeFileSync(file, "")
    chmodSync(file, 0)
    const { code, error } = await tieout(project, ["status"])
    expect([code, error]).toEqual([2, expect.stringContaining("tieout.yaml: may not be read by this user")])
  })
})

describe("a server", () => {
  it.each([
    { TIEOUT_STATUS_TOKEN: "short" },
    { TIEOUT_SCHEDULE_NIGHTLY: "at night" },
    { TIEOUT_STATUS_HOST: "0.0.0.0" },
  ])("whose settings do not hold begins no database: %o", async (wrong) => {
    const project = folder("no-server")
    const data = join(project, "data")
    const variables = { ...credentials, ...wrong, TIEOUT_DATA_DIR: data }
    const { code, error } = await tieout(project, ["serve"], variables)
    expect([code, error]).toEqual([2, expect.stringContaining("nothing has been read or written")])
    expect(existsSync(data)).toBe(false)
  })
})

describe("a reader", () => {
  it("begins no database in the empty mount point of a disk", async () => {
    const data = folder("unmounted", "data")
    const home = folder("unmounted", "data", "postgres")
    const { code, error } = await tieout(data, ["status"], { TIEOUT_DATA_DIR: data })
    expect(error).toContain(`There is no database in ${home}, and nothing was made.`)
    expect([code, readdirSync(home)]).toEqual([2, []])
  })
})

describe("the settings of another user", () => {
  it.skipIf(process.getuid?.() !== 0)(
    "may not name a command that runs as us, unless a person names the file",
    async () => {
      const project = folder("others")
      const file = join(folder("others", "config"), "tieout.yaml")
      writeFileSync(file, 'alerts: { command: ["/bin/true"] }\n')
      expect((await tieout(project, ["status"])).error).not.toContain("alerts.command")
      chownSync(file, 12_345, 12_345)
      const { code, error } = await tieout(project, ["status"])
      expect([code, error]).toEqual([
        2,
        expect.stringContaining("tieout.yaml:1: alerts.command: the file belongs to the user 12345"),
      ])
      expect((await tieout(project, ["--config", file, "status"])).error).not.toContain("alerts.command")
    },
  )
})

describe("impossible settings", () => {
  it("are mistakes of the file: aliases of aliases, and keys of every object", async () => {
    const project = folder("odd")
    const file = join(folder("odd", "config"), "tieout.yaml")
    const levels = Array.from(
      { length: 9 },
      (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(", ")}]`,
    )
    writeFileSync(file, `a0: &a0 [x]\n${levels.join("\n")}\n`)
    const bomb = await tieout(project, ["status"])
    expect([bomb.code, bomb.error]).toEqual([2, expect.stringContaining("cannot be read as YAML")])
    writeFileSync(file, "")
    const section = await tieout(project, ["status"], { TIEOUT_LIMITS: "{tries: 3}" })
    expect([section.code, section.error]).toEqual([
      2,
      expect.stringContaining(
        "TIEOUT_LIMITS: is a section; each of its keys is a variable, such as TIEOUT_LIMITS_",
      ),
    ])
    writeFileSync(file, "constructor: 1\n")
    const key = await tieout(project, ["status"])
    expect(key.code).toBe(2)
    expect(key.error).not.toContain("native code")
  })
})

describe("a project", () => {
  it("is the nearest folder up that has settings, or a database", () => {
    const project = folder("found")
    folder("found", "config")
    writeFileSync(join(project, "config", "tieout.yaml"), "")
    expect(projectAbove(folder("found", "deep", "below"))).toEqual(Option.some(project))
    const inner = folder("found", "inner")
    folder("found", "inner", "data", "postgres")
    expect(projectAbove(folder("found", "inner", "below"))).toEqual(Option.some(inner))
    expect(projectAbove(folder("nothing"))).toEqual(Option.none())
  })

  it("has its books wherever below it a command runs, and readers begin none", async () => {
    const project = folder("books")
    folder("books", "config")
    writeFileSync(join(project, "config", "tieout.yaml"), "")
    const below = folder("books", "some", "where")
    const { code, error } = await tieout(below, ["status"])
    expect(code).toBe(2)
    expect(error).toContain(`There is no database in ${join(project, "data")}, and nothing was made.`)
    // A sync without credentials begins none either.
    expect((await tieout(below, ["sync"])).code).toBe(2)
    expect(existsSync(join(project, "data"))).toBe(false)

    const synced = await tieout(below, ["sync"], credentials)
    expect(synced.code).toBe(75)
    expect(synced.error).toContain(`Began a new, empty database in ${join(project, "data", "postgres")}`)
    const status = await tieout(project, ["status"])
    expect([status.code, status.out]).toEqual([
      0,
      expect.stringContaining(`Read from ${join(project, "data", "postgres", "socket")}`),
    ])
    expect(existsSync(join(below, "data"))).toBe(false)
  })

  it("gets no database from commands that only read, or only write into existing books, inside or outside of it", async () => {
    const project = folder("empty")
    folder("empty", "config")
    writeFileSync(join(project, "config", "tieout.yaml"), "")
    const { cwd, run } = Effect.runSync(program)
    const share = join(cwd, "share")
    const lines = commandLines(await readManual(), {
      ...{ cash: "1001", clearing: "1101", entry: "F1", openMonth: "2026-10", closedMonth: "2026-09" },
      ...{ batch: "ORG/1", preview: "ORG/2", row: "Q1", out: (name) => join(cwd, "out", name) },
    }).filter(({ books }) => books !== "none" && books !== "begins")
    expect(lines.length).toBeGreaterThan(35)
    for (const config of [[], ["--config", join(project, "config", "tieout.yaml")]]) {
      for (const { args } of lines) {
        const { code, error } = await Effect.runPromise(
          run([...args, ...config], { XDG_DATA_HOME: share, ...credentials }),
        )
        expect([args.join(" "), code, error]).toEqual([
          ...[args.join(" "), 2],
          expect.stringContaining("There is no database in "),
        ])
      }
    }
    expect([existsSync(share), readdirSync(cwd), readdirSync(project)]).toEqual([false, [], ["config"]])
  }, 120_000)

  it("is not needed: elsewhere a command uses the platform's own folder, whatever the working directory", async () => {
    const [one, other] = [folder("one"), folder("other")]
    expect((await tieout(one, ["status"])).error).toContain(
      `There is no database in ${join(root, "share", "tieout")}`,
    )
    expect((await tieout(one, ["migrate"])).code).toBe(0)
    expect((await tieout(other, ["status"])).out).toContain(join(root, "share", "tieout", "postgres"))
    expect([existsSync(join(one, "data")), existsSync(join(other, "data"))]).toEqual([false, false])
  })
})
