import { Effect, Either } from "effect"
import { int4 } from "./Columns.ts"
import { type ConnectionSettings, describeServer } from "./ConnectionSettings.ts"
import { closeConnection, openConnection } from "./Connections.ts"
import { DatabaseError, databaseError, toDatabaseError } from "./DatabaseError.ts"
import { onlyRow } from "./Rows.ts"

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

/** A server without TLS ends the attempt at it, which looks like an outage; one whose certificate nobody vouches for is none. */
const withTlsAdvice = ({ ssl }: ConnectionSettings, error: DatabaseError): DatabaseError => {
  if (ssl === false || ssl === "prefer" || ssl === "allow") return error
  const isRefused = certificateCodes.test(error.message)
  if (!isRefused && error.reason !== "Unreachable") return error
  const more = isRefused
    ? "Name the authority of its certificate by sslrootcert=FILE in DATABASE_URL."
    : "TLS is asked for: where the server has none, and the network is trusted, say sslmode=disable in DATABASE_URL."
  return new DatabaseError({
    ...error,
    reason: isRefused ? "Settings" : "Unreachable",
    message: `${error.message} ${more}`,
  })
}

/** Connects once, so that a problem with the server is reported clearly at the start. */
export const checkServer = (settings: ConnectionSettings): Effect.Effect<void, DatabaseError> => {
  const server = describeServer(settings)
  return Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    ({ client }) =>
      Effect.tryPromise({
        try: () => client`select current_setting('server_version_num')::int as version`,
        catch: (error) => withTlsAdvice(settings, toDatabaseError("Database.connect", error, server)),
      }).pipe(
        // The driver would retry for ever with a server that accepts connections and drops them.
        Effect.timeoutFail({
          duration: connectWithin,
          onTimeout: () => databaseError("Unreachable", "Database.connect", `${server} does not answer`),
        }),
        Effect.flatMap((answer) => {
          const { version } = onlyRow("Database.connect", { version: int4 }, answer)
          return Either.match(acceptVersion(version, server), {
            onLeft: Effect.fail,
            onRight: () => Effect.void,
          })
        }),
      ),
    (connection) => {
      connection.spoilt = true
      return closeConnection(connection)
    },
  )
}
