/**
 * Two servers of the embedded binaries: a primary, and a standby that streams from it. The standby begins as a copy of the
 * primary's files from before its first start, so that no `pg_basebackup` is needed, which the binaries lack.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFile, chmod, cp, mkdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { makeClient } from "../../src/Database/Client.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { findBinaries, program } from "../../src/Database/Embedded/Binaries.ts"
import { type Account, environment, identity, run } from "../../src/Database/Embedded/Command.ts"
import { serverAccount } from "../../src/Database/Embedded/ServerAccount.ts"
import { withDatabase } from "./DatabaseAddress.ts"
import { freePort } from "./Loopback.ts"
import { makeRunFolder } from "./TestServer.ts"

const owner = "tieout"

const settings = [
  ...["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"],
  ...["shared_buffers=32MB", "wal_level=replica", "wal_keep_size=256MB"],
]

/** The rows of a statement on one of the servers. */
const asked = (url: string, statement: string) =>
  Effect.acquireUseRelease(
    Effect.orDie(
      Effect.map(parseDatabaseUrl(Redacted.make(url)), (found) => makeClient(found, { connections: 1 })),
    ),
    (client) => Effect.tryPromise(() => client.unsafe(statement)),
    (client) => Effect.promise(() => client.end({ timeout: 2 })),
  )

/** Runs a server until the scope closes. */
const started = (binary: string, folder: string, port: number, account: Account | undefined, url: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(binary, ["-D", folder, ...[...settings, `port=${port}`].flatMap((setting) => ["-c", setting])], {
        cwd: folder,
        env: environment(),
        stdio: "ignore",
        ...identity(account),
      }),
    ),
    (child) =>
      Effect.async<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("close", () => resume(Effect.void))
        child.kill("SIGQUIT")
      }),
  ).pipe(
    Effect.zipRight(Effect.retry(Effect.delay(asked(url, "select 1"), "50 millis"), { times: 400 })),
    Effect.orDie,
  )

/** Databases of the same name on both servers, for as long as the scope lives. */
export const replicated = Effect.gen(function* () {
  const account = yield* Effect.promise(async () => (await serverAccount())?.account)
  const parent = yield* Effect.acquireRelease(
    Effect.promise(() => makeRunFolder(tmpdir())),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const [primaryPort, standbyPort] = [yield* freePort, yield* freePort]
  const password = randomBytes(12).toString("hex")
  const [primary, standby] = [join(parent, "primary"), join(parent, "standby")]
  const postgres = yield* Effect.promise(async () => {
    const binaries = await findBinaries(parent, account)
    const secret = join(parent, "password")
    await writeFile(secret, password, { mode: 0o644 })
    await mkdir(primary, { mode: 0o700 })
    const own = async (path: string) =>
      account === undefined ? undefined : await run("chown", ["-R", `${account.uid}`, path], { cwd: "/" })
    await own(primary)
    const made = await run(
      program(binaries, "initdb"),
      [
        ...[
          "-D",
          primary,
          "-U",
          owner,
          "-A",
          "scram-sha-256",
          `--pwfile=${secret}`,
          "--no-sync",
          "-E",
          "UTF8",
        ],
        ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
      ],
      { cwd: parent, account },
    )
    if (made.code !== 0) throw new Error(`initdb: ${made.output}`)
    await appendFile(join(primary, "pg_hba.conf"), "host replication all 127.0.0.1/32 scram-sha-256\n")
    await cp(primary, standby, { recursive: true })
    await writeFile(join(standby, "standby.signal"), "")
    await appendFile(
      join(standby, "postgresql.conf"),
      `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=${owner} password=${password}'\n`,
    )
    await chmod(standby, 0o700)
    await own(standby)
    return program(binaries, "postgres")
  })
  const url = (port: number) => `postgres://${owner}:${password}@127.0.0.1:${port}/postgres`
  yield* started(postgres, primary, primaryPort, account, url(primaryPort))
  yield* started(postgres, standby, standbyPort, account, url(standbyPort))
  yield* Effect.orDie(asked(url(primaryPort), "create database books template template0"))
  /** Waits until the standby has all that the primary has now. */
  const caughtUp = Effect.gen(function* () {
    const [now] = yield* asked(url(primaryPort), "select pg_current_wal_flush_lsn()::text as at")
    yield* asked(url(standbyPort), `select pg_last_wal_replay_lsn() >= '${now?.at}'::pg_lsn as done`).pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: ([row]) => row?.done === true }),
    )
  }).pipe(Effect.orDie)
  return {
    primary: withDatabase(url(primaryPort), "books"),
    standby: withDatabase(url(standbyPort), "books"),
    caughtUp,
  }
})
