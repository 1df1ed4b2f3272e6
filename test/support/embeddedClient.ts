import { Effect, Layer } from "effect"
import { asOwner } from "../../src/Database/AsOwner.ts"
import { DatabaseConfig } from "../../src/Database/DatabaseConfig.ts"
import { Database } from "../../src/Database.ts"

/**
 * A process of its own that uses the embedded database of `TIEOUT_DATA_DIR`: adds a row, prints what it sees as one line
 * of JSON, and leaves when its input ends. Killed before that, it leaves nothing behind but a dead connection.
 */
const program = Effect.gen(function* () {
  const began = performance.now()
  const database = yield* Database
  const { dataDir } = yield* DatabaseConfig
  const [there] = yield* database.query(
    "Client.look",
    (sql) => sql<[{ made: boolean }]>`select to_regclass('public.visit') is not null as made`,
  )
  if (!there.made) {
    yield* Effect.flatMap(Database, (owned) =>
      owned.query("Client.make", (sql) =>
        sql`
          begin;
          select pg_advisory_xact_lock(1);
          create table if not exists public.visit (id int generated always as identity, pid int);
          grant select, insert on public.visit to tieout_runtime;
          commit`.simple(),
      ),
    ).pipe(asOwner)
  }
  yield* database.query("Client.visit", (sql) => sql`insert into public.visit (pid) values (${process.pid})`)
  const [seen] = yield* database.query(
    "Client.see",
    (sql) => sql<[{ visits: number; version: string; fsync: string; user: string }]>`
      select count(*)::int as visits, current_setting('server_version') as version, current_setting('fsync') as fsync,
             session_user as user
      from public.visit`,
  )
  const milliseconds = Math.round(performance.now() - began)
  console.log(JSON.stringify({ ...seen, dataDir, path: database.settings.path, milliseconds }))
  yield* Effect.async<void>((resume) => {
    process.stdin.on("end", () => resume(Effect.void)).resume()
  })
}).pipe(Effect.provide(Layer.merge(Database.Default, DatabaseConfig.Default)))

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})
