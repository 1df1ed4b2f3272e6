/** Debian's pgbouncer in front of the test server, on a port of loopback. */
import { spawn, spawnSync } from "node:child_process"
import { chmod, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { inject } from "vitest"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { isInstalled } from "./Installed.ts"
import { freePort } from "./Loopback.ts"
import { temporaryFolder } from "./TemporaryFolder.ts"

/** Tests that need it are skipped where it is missing, with a message. */
export const hasPgbouncer = isInstalled("pgbouncer", "the tests behind it are skipped")

const answers = (port: number): Effect.Effect<void, Error> =>
  Effect.async((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.void)).once("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  })

/** Starts a pooler that runs until the scope closes. Answers the URL of a database behind it. */
export const pgbouncer = (database: string, mode: "transaction" | "session" | "statement", more = "") =>
  Effect.gen(function* () {
    const server = yield* Effect.orDie(parseDatabaseUrl(Redacted.make(inject("testServerUrl"))))
    const password = server.password === undefined ? "" : Redacted.value(server.password)
    const folder = temporaryFolder()
    yield* Effect.promise(() => chmod(folder, 0o755))
    const port = yield* freePort
    const host = server.path === undefined ? server.host : server.path.replace(/\/\.s\.PGSQL\.\d+$/, "")
    yield* Effect.promise(async () => {
      await writeFile(join(folder, "users.txt"), `"${server.username}" "${password}"\n`, { mode: 0o644 })
      await writeFile(
        join(folder, "pgbouncer.ini"),
        `[databases]
* = host=${host} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, "users.txt")}
pool_mode = ${mode}
default_pool_size = 8
server_round_robin = 1
${more}
`,
        { mode: 0o644 },
      )
    })
    // It refuses to run as root, and the server's socket is open to the server's own user and to root alone.
    const account = process.getuid?.() === 0 ? ["-u", host.startsWith("/") ? serverUser(host) : "nobody"] : []
    yield* Effect.acquireRelease(
      Effect.sync(() => spawn("pgbouncer", [...account, join(folder, "pgbouncer.ini")], { stdio: "ignore" })),
      (child) =>
        Effect.async<void>((resume) => {
          child.once("close", () => resume(Effect.void))
          child.kill("SIGKILL")
        }),
    )
    yield* Effect.retry(Effect.delay(answers(port), "50 millis"), { times: 200 })
    return `postgres://${server.username}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
  })

const serverUser = (folder: string): string =>
  spawnSync("stat", ["-c", "%U", folder], { encoding: "utf8" }).stdout.trim()
