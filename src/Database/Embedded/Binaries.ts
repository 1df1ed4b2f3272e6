import { cp, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import { Either, Schema } from "effect"
import { codeOf } from "../../Common/ErrorCode.ts"
import { type Account, run } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { dataFolder, exists, sharedRoot } from "./Place.ts"
import { notInstalled, packageFor } from "./Platform.ts"

/** Postgres programs that the server's account can run. */
export interface Binaries {
  readonly bin: string
  /** Major version, such as 18. */
  readonly major: number
}

const Links = Schema.parseJson(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
const Manifest = Schema.parseJson(Schema.Struct({ name: Schema.String, version: Schema.String }))

/** The program's file name on this platform. */
export const program = (binaries: Binaries, name: "initdb" | "postgres" | "pg_ctl"): string =>
  join(binaries.bin, process.platform === "win32" ? `${name}.exe` : name)

/**
 * npm packages cannot hold symbolic links, so the shared libraries' short names are made here; the package's own install
 * script does not run under `--ignore-scripts`. Answers false when the folder cannot be written.
 */
const completeLibraries = async (root: string): Promise<boolean> => {
  const file = join(root, "native", "pg-symlinks.json")
  if (!(await exists(file))) return true
  const links = Schema.decodeUnknownSync(Links)(await readFile(file, "utf8"))
  for (const { source, target } of links) {
    const link = join(root, target)
    if (await exists(link)) continue
    try {
      await symlink(relative(dirname(link), join(root, source)), link)
    } catch (error) {
      if (codeOf(error) === "EEXIST") continue
      return false
    }
  }
  return true
}

const runsAs = async (root: string, account: Account): Promise<boolean> =>
  run(join(root, "native", "bin", "postgres"), ["--version"], { cwd: "/", account }).then(
    ({ code }) => code === 0,
    () => false,
  )

/** Copies a package to `target`, whole or not at all: others may be doing the same. */
const copyOut = async (root: string, target: string, account: Account | undefined): Promise<void> => {
  if (await exists(target)) return
  const parent = dirname(target)
  await dataFolder(parent)
  const partial = await mkdtemp(join(parent, `.${basename(target)}-`))
  try {
    await cp(join(root, "native"), join(partial, "package", "native"), {
      recursive: true,
      verbatimSymlinks: true,
      // Archives for linking programs are never loaded.
      filter: (source) => !source.endsWith(".a"),
    })
    await completeLibraries(join(partial, "package"))
    // Installed under a strict umask, the originals may be readable for their owner only.
    if (account !== undefined) await run("chmod", ["-R", "a+rX", join(partial, "package")], { cwd: "/" })
    await rename(join(partial, "package"), target).catch((error: unknown) => {
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error
    })
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

const locate = (name: string): string => {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw notInstalled(name)
  }
}

/**
 * Finds the Postgres binaries and makes them runnable for the server's account: in place where that is possible, else
 * copied once to where it is (a shared folder for root, the data folder otherwise).
 */
export const findBinaries = async (dataDir: string, account: Account | undefined): Promise<Binaries> => {
  const name = Either.getOrThrowWith(packageFor(process.platform, process.arch), (error) => error)
  const root = locate(name)
  const manifest = Schema.decodeUnknownSync(Manifest)(await readFile(join(root, "package.json"), "utf8"))
  const major = Number.parseInt(manifest.version, 10)
  const complete = await completeLibraries(root)
  if (complete && (account === undefined || (await runsAs(root, account)))) {
    return { bin: join(root, "native", "bin"), major }
  }
  const folder = account === undefined ? join(dataDir, "binaries") : await sharedRoot(account)
  const target = join(folder, `${basename(name)}-${manifest.version}`)
  await copyOut(root, target, account)
  if (account !== undefined && !(await runsAs(target, account))) {
    throw new EmbeddedError({
      reason: "CannotRun",
      message:
        `The Postgres binaries in ${target} do not run here as the account ${account.name} ` +
        "(another C library, or a mount that forbids programs). Set DATABASE_URL to a server of your own.",
    })
  }
  return { bin: join(target, "native", "bin"), major }
}
