/** What is asked of a server that has said nothing for a while: only who is silent, or gone, has vanished. */
import dns from "node:dns"
import { createServer } from "node:net"
import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { vi } from "vitest"
import { closeConnection, openConnection } from "../../src/Database/ConnectionPool.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { Database } from "../../src/Database.ts"
import { rows } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { listenOn } from "../support/Loopback.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const answers = (url: string) =>
  Effect.gen(function* () {
    const settings = yield* parseDatabaseUrl(Redacted.make(url))
    const connection = yield* Effect.acquireRelease(
      Effect.sync(() => openConnection(settings)),
      closeConnection,
    )
    return yield* Effect.promise(connection.serverAnswers)
  })

/** Has every name fail to resolve, as where the name server is away, while the test runs. */
const withoutNames = (code: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      vi.spyOn(dns, "lookup").mockImplementation((...args: ReadonlyArray<unknown>) => {
        const answer = args.at(-1)
        if (typeof answer === "function")
          process.nextTick(() => answer(Object.assign(new Error(`getaddrinfo ${code}`), { code })))
      }),
    ),
    (spy) => Effect.sync(() => spy.mockRestore()),
  )

it.scopedLive("a server answers that lets a session in, and keeps none of it", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    expect(yield* answers(url)).toBe(true)
    const sessions = rows(
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    ).pipe(Effect.provide(Database.layer({ ...settingsFor(url), connections: 1 })))
    yield* Effect.repeat(sessions, { until: (found) => found.length === 0 })
  }).pipe(Effect.provide(TestDatabase.migrated)),
)

it.scopedLive("a server answers that lets nobody in, and says so", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    expect(yield* answers(url.replace(/\/\/[^@]*@/, "//nobody:wrong@"))).toBe(true)
  }).pipe(Effect.provide(TestDatabase.migrated)),
)

it.scopedLive("a name that fails to resolve says nothing of a server that was reached by it before", () =>
  Effect.gen(function* () {
    for (const code of ["ENOTFOUND", "EAI_AGAIN"]) {
      const asked = yield* Effect.scoped(
        Effect.zipRight(
          withoutNames(code),
          answers("postgres://tieout@books.example.com/tieout?sslmode=disable"),
        ),
      )
      expect([code, asked]).toEqual([code, true])
    }
  }),
)

it.scopedLive(
  "nobody answers at a port that refuses, nor where a server takes connections and closes them, resets them or says nothing",
  () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(listenOn(createServer()))
      expect(yield* answers(`postgres://tieout@127.0.0.1:${port}/tieout`)).toBe(false)
      const closing = yield* listenOn(createServer((socket) => socket.end()))
      expect(yield* answers(`postgres://tieout@127.0.0.1:${closing}/tieout?connect_timeout=1`)).toBe(false)
      // As a balancer does that has no server behind it.
      const resetting = yield* listenOn(createServer((socket) => socket.resetAndDestroy()))
      expect(yield* answers(`postgres://tieout@127.0.0.1:${resetting}/tieout?connect_timeout=1`)).toBe(false)
      const silent = yield* listenOn(createServer(() => undefined))
      expect(yield* answers(`postgres://tieout@127.0.0.1:${silent}/tieout?connect_timeout=1`)).toBe(false)
    }),
)
