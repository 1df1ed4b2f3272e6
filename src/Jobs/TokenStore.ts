/**
 * Keeps a connection's token in the database, sealed, for all processes that read from it: one asks the service for it, and all
 * use it.
 */
import { Effect, Option, Redacted } from "effect"
import { bytes, float8 } from "../Database/Columns.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Database } from "../Database.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import type { Asking, Lasting, TokenStore } from "../Partner/Token.ts"
import { type IssuedTo, type Key, open, seal } from "./SealedToken.ts"

/** The wait between two looks at the database while another process asks for the token. */
const lookAgain = "100 millis"

export const keeping = (database: Database, key: Key, to: IssuedTo): TokenStore => {
  /** The shared token, unless it has expired, is sealed with another key, or is the one that was refused. */
  const usable = (refused: Option.Option<Redacted.Redacted>) =>
    Effect.map(
      database.rows(
        "Jobs.token",
        { sealed: bytes, left: float8 },
        (sql) => sql`
          select sealed, extract(epoch from refresh_at - clock_timestamp())::float8 as left
          from sync.tokens where connection = ${to.name} and refresh_at > clock_timestamp()`,
      ),
      ([row]) =>
        Option.fromNullable(row).pipe(
          Option.flatMap(({ left, sealed }) =>
            Option.map(open(key, to, sealed), (token): Lasting => ({ token, seconds: left })),
          ),
          Option.filter(
            ({ token }) => !Option.exists(refused, (one) => Redacted.value(one) === Redacted.value(token)),
          ),
        ),
    )

  const keep = ({ seconds, token }: Lasting) =>
    database.execute(
      "Jobs.keepToken",
      (sql) => sql`
        insert into sync.tokens (connection, sealed, refresh_at)
        values (${to.name}, ${seal(key, to, token)}, clock_timestamp() + make_interval(secs => ${seconds}::float8))
        on conflict (connection) do update set sealed = excluded.sealed, refresh_at = excluded.refresh_at`,
    )

  /** Returns none while another process asks for one. */
  const renewed = (ask: Asking, refused: Option.Option<Redacted.Redacted>) =>
    Effect.scoped(
      Effect.gen(function* () {
        yield* database.tryLock(`token:${to.name}`)
        const found = yield* usable(refused)
        if (Option.isSome(found)) return found
        const lasting = yield* ask
        yield* keep(lasting)
        return Option.some(lasting)
      }),
    ).pipe(Effect.catchTag("LockBusy", () => Effect.succeedNone))

  const shared = (
    ask: Asking,
    refused: Option.Option<Redacted.Redacted>,
  ): Effect.Effect<Lasting, PartnerError | DatabaseError> =>
    Effect.gen(function* () {
      for (;;) {
        const found = yield* usable(refused)
        if (Option.isSome(found)) return found.value
        const own = yield* renewed(ask, refused)
        if (Option.isSome(own)) return own.value
        yield* Effect.sleep(lookAgain)
      }
    })

  // If the database does not answer, nothing that was read can be kept either; the run will notice that by itself.
  return (ask, refused) => Effect.catchTag(shared(ask, refused), "DatabaseError", () => ask)
}
