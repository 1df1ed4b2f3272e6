import { Data, Effect, Either } from "effect"
import { onlyRow } from "./AnswerRows.ts"
import { bool, int4 } from "./Columns.ts"
import { type Connection, closeConnection, openConnection } from "./ConnectionPool.ts"
import { type ConnectionSettings, describeServer, type ServerDemand } from "./ConnectionSettings.ts"
import { DatabaseError, databaseError, toDatabaseError } from "./DatabaseError.ts"

/** The oldest supported server, as `server_version_num`. */
const oldest = 150_000

/** Milliseconds in which a server must have answered its first query. */
const connectWithin = 30_000

/** Refuses a server that is too old. `version` is its `server_version_num`, such as 180004. */
export const acceptVersion = (version: number, server: string): Either.Either<void, DatabaseError> =>
  version >= oldest
    ? Either.void
    : Either.left(
        databaseError(
          "Settings",
          "Database.connect",
          `${server} is Postgres ${Math.floor(version / 10_000)}, and Tieout needs ${oldest / 10_000} or later`,
        ),
      )

const certificateCodes = /\[[A-Z_]*(?:CERT|SIGNATURE|TLS|SSL)[A-Z_]*\]/

/** What to do about a certificate; `hasAuthority`: an authority is named. */
const certificateAdvice = (message: string, hasAuthority: boolean): string => {
  if (message.includes("[ERR_TLS_CERT_ALTNAME_INVALID]"))
    return "Name the host in DATABASE_URL as its certificate does."
  if (/\[CERT_(?:HAS_EXPIRED|NOT_YET_VALID)\]/.test(message))
    return "The server needs a certificate that is valid today."
  return hasAuthority && /\[[A-Z_]*(?:UNABLE_TO|SELF_SIGNED)[A-Z_]*\]/.test(message)
    ? "What sslrootcert of DATABASE_URL names did not sign it: name the file with the authority of the server's certificate."
    : "Name the authority of its certificate by sslrootcert=FILE in DATABASE_URL."
}

/** A server without TLS drops the connection, which looks like an outage. A certificate that nobody vouches for is a mistake of settings. */
const withTlsAdvice = ({ ssl }: ConnectionSettings, error: DatabaseError): DatabaseError => {
  if (ssl === false || ssl === "prefer") return error
  const isRefused = certificateCodes.test(error.message)
  if (!isRefused && error.reason !== "Unreachable") return error
  const more = isRefused
    ? certificateAdvice(error.message, typeof ssl === "object" && ssl.ca !== undefined)
    : "TLS is asked for: where the server has none, and the network is trusted, say sslmode=disable in DATABASE_URL."
  return new DatabaseError({
    ...error,
    reason: isRefused ? "Settings" : "Unreachable",
    message: `${error.message} ${more}`,
  })
}

/** A pooler's error for session settings that it does not keep (pgbouncer, `08P01`). */
const refusedParameter = /unsupported startup parameter/

/** The driver's error; its message is examined before it becomes one of ours. */
class DriverError extends Data.TaggedError("DriverError")<{ readonly cause: unknown }> {}

/** One connection's first query. The driver's message alone names what a pooler refuses: never a value of ours. */
const ask = <A>(settings: ConnectionSettings, query: (connection: Connection) => PromiseLike<A>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    (connection) =>
      Effect.tryPromise({
        try: () => query(connection),
        catch: (cause) => new DriverError({ cause }),
      }).pipe(
        // The driver would retry for ever with a server that accepts connections and drops them.
        Effect.timeoutFail({
          duration: connectWithin,
          onTimeout: () =>
            databaseError("Unreachable", "Database.connect", `${describeServer(settings)} does not answer`),
        }),
      ),
    (connection) => {
      connection.spoilt = true
      return closeConnection(connection)
    },
  )

const serverColumns = { version: int4, pid: int4, standby: bool, readOnly: bool }

/** Which session answers: a pooler reports the number of one of its own connections. */
const identify = async ({ client }: Connection) => {
  const answer = await client`
    select current_setting('server_version_num')::int as version, pg_backend_pid() as pid, pg_is_in_recovery() as standby,
      current_setting('transaction_read_only') = 'on' as "readOnly"`
  const { pid, ...found } = onlyRow("Database.connect", serverColumns, answer)
  return { ...found, pooled: pid !== answer.state.pid }
}

interface ServerKind {
  readonly standby: boolean
  readonly readOnly: boolean
}

/** What each demand of `target_session_attrs` asks for. */
const meets: Readonly<Record<ServerDemand, (server: ServerKind) => boolean>> = {
  "read-write": ({ readOnly }) => !readOnly,
  "read-only": ({ readOnly }) => readOnly,
  primary: ({ standby }) => !standby,
  standby: ({ standby }) => standby,
}

/** Refuses a server that is not what `DATABASE_URL` demands, as libpq does; during a failover it may be so a little later. */
const acceptKind = (
  { demand }: ConnectionSettings,
  kind: ServerKind,
  server: string,
): Either.Either<void, DatabaseError> =>
  demand === undefined || meets[demand](kind)
    ? Either.void
    : Either.left(
        databaseError(
          "Unreachable",
          "Database.connect",
          `${server} is ${kind.standby ? "a standby" : kind.readOnly ? "a server that may only be read" : "a primary that may be written to"}, and DATABASE_URL asks for target_session_attrs=${demand}`,
        ),
      )

/** The first server that can bound how long a transaction lasts, as `server_version_num`. */
const boundsTransactions = 170_000

/**
 * A server may end every transaction after some time, and with it the session, without a word that reaches us: an export, a backup or
 * a proof reads one snapshot for as long as it takes. What `DATABASE_URL` asks for comes first.
 */
const withoutBound = (settings: ConnectionSettings, version: number): ConnectionSettings =>
  version < boundsTransactions
    ? settings
    : { ...settings, parameters: { transaction_timeout: "0", ...settings.parameters } }

/** A transaction must have one session; a pooler that gives one to each statement (pgbouncer's mode `statement`) is of no use. */
const keepsTransactions = async ({ client, locals }: Connection) => {
  await client.unsafe(`begin${locals}`)
  const answer =
    await client`select current_setting('tieout.program', true) is not distinct from 'on' as kept`
  await client.unsafe("rollback")
  return onlyRow("Database.connect", { kept: bool }, answer).kept
}

/**
 * Connects once, so that a problem with the server is reported clearly at the start, and finds out whether a pooler stands
 * between (`ConnectionSettings.pooled`).
 */
export const checkServer = (
  settings: ConnectionSettings,
): Effect.Effect<ConnectionSettings, DatabaseError> => {
  const server = describeServer(settings)
  const failed = (error: DriverError | DatabaseError) =>
    withTlsAdvice(
      settings,
      toDatabaseError("Database.connect", error instanceof DriverError ? error.cause : error, server),
    )
  const behindPooler: ConnectionSettings = { ...settings, pooled: true }
  return ask(settings, identify).pipe(
    Effect.catchIf(
      (error) =>
        error instanceof DriverError &&
        error.cause instanceof Error &&
        refusedParameter.test(error.cause.message),
      () => Effect.map(ask(behindPooler, identify), (found) => ({ ...found, pooled: true })),
    ),
    Effect.mapError(failed),
    Effect.tap(({ version }) => acceptVersion(version, server)),
    Effect.tap((kind) => acceptKind(settings, kind, server)),
    Effect.flatMap(({ pooled, version }) =>
      (pooled
        ? ask(behindPooler, keepsTransactions).pipe(
            // pgbouncer then ends the connection; so does an outage, after which nothing answers any more.
            Effect.catchAll(() => Effect.as(ask(behindPooler, identify), false)),
            Effect.mapError(failed),
            Effect.filterOrFail(
              (kept) => kept,
              () => unfit(server),
            ),
            Effect.as(behindPooler),
          )
        : Effect.succeed(settings)
      ).pipe(Effect.map((accepted) => withoutBound(accepted, version))),
    ),
  )
}

const unfit = (server: string): DatabaseError =>
  databaseError(
    "Settings",
    "Database.connect",
    `${server} is a pooler that keeps no session for a transaction, which Tieout needs: set it to pool by transaction or session ` +
      "(pgbouncer: pool_mode = transaction), or name the server itself",
  )
