import { join, resolve } from "node:path"
import { Effect, Redacted, Schedule, type Scope } from "effect"
import type { ConnectionSettings } from "./ConnectionSettings.ts"
import { findBinaries } from "./Embedded/Binaries.ts"
import { type Cluster, ensureCluster, noDatabase } from "./Embedded/Cluster.ts"
import { asEmbeddedError, type EmbeddedError } from "./Embedded/EmbeddedError.ts"
import { fullDisk, isFullDisk, ofLittleRoom } from "./Embedded/FullDisk.ts"
import { findPlace, hasData } from "./Embedded/Place.ts"
import { type EmbeddedRole, nameOf } from "./Embedded/RuntimeRole.ts"
import { stopServer } from "./Embedded/Server.ts"
import { accountName, serverAccount } from "./Embedded/ServerAccount.ts"
import { addressOf, databaseName, joinServer, type Presence } from "./Embedded/SharedServer.ts"

export interface EmbeddedOptions {
  /** The data folder, such as `./data`. Made when missing. */
  readonly dataDir: string
  /** Whether a database is made where there is none; default true. Else `NoDatabase`. */
  readonly create?: boolean
  /** Who uses it; by default the role that can change no table. */
  readonly role?: EmbeddedRole
  /** Server settings on top of the durable ones; for tests only, such as `{ fsync: "off" }`. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

const prepare = async (options: EmbeddedOptions) => {
  if (options.create === false && !(await hasData(options.dataDir))) {
    throw noDatabase(resolve(options.dataDir))
  }
  const found = await serverAccount()
  const account = found?.account
  const place = await findPlace(options.dataDir, account)
  const binaries = await findBinaries(place.dataDir, account)
  const cluster: Cluster = {
    place,
    binaries,
    account,
    folder: join(place.home, "cluster"),
    log: join(place.home, "server.log"),
    settings: options.settings ?? {},
  }
  const made = await ensureCluster(cluster, options.create !== false)
  return { cluster, made, accountMade: found?.made ?? false }
}

/**
 * Ends the server that a killed process has left on data which are about to be removed. It would write into their folder meanwhile, and
 * at its end, within a minute, take the socket of the next server away.
 */
export const endServer = (dataDir: string): Effect.Effect<void, EmbeddedError> =>
  Effect.tryPromise({
    try: async () => {
      if (await hasData(dataDir)) await stopServer((await prepare({ dataDir, create: false })).cluster)
    },
    catch: (error) => asEmbeddedError(error, "StartFailed", "Ending the embedded Postgres"),
  })

const settingsOf = ({ server, password }: Presence, role: EmbeddedRole): ConnectionSettings => ({
  host: "127.0.0.1",
  port: server.port,
  path: undefined,
  ...addressOf(server),
  database: databaseName,
  username: nameOf(role),
  password: Redacted.make(password),
  ssl: false,
  parameters: {},
})

/**
 * Uses the embedded Postgres of a data folder for as long as the scope lives: starts it if it does not run, shares it
 * with every other process that uses it, and stops it when the last one leaves. When the server is killed meanwhile, it
 * is started again.
 */
export const embedded = Effect.fn("Embedded.use")(function* (
  options: EmbeddedOptions,
): Effect.fn.Return<ConnectionSettings, EmbeddedError, Scope.Scope> {
  const { accountMade, cluster, made } = yield* Effect.tryPromise({
    try: () => prepare(options),
    catch: (error) => {
      if (isFullDisk(error)) return fullDisk(resolve(options.dataDir), "Postgres could not be prepared")
      return asEmbeddedError(error, "StartFailed", "Preparing the embedded Postgres")
    },
  })
  if (accountMade) {
    yield* Effect.logWarning(`Postgres does not run as root: added the system user ${accountName} to run it`)
  }
  if (made) yield* Effect.logInfo(`Began a new, empty database in ${cluster.place.home}`)
  if (cluster.place.moved !== "no") {
    const where =
      `The database of ${cluster.place.dataDir} is kept in ${cluster.place.home}: ` +
      `the account ${cluster.account?.name ?? "that runs it"} cannot enter the data folder, or could change what lies there.`
    yield* cluster.place.moved === "now" ? Effect.logWarning(where) : Effect.logDebug(where)
  }
  const role = options.role ?? "runtime"
  const entering = Effect.tryPromise({
    try: () => joinServer(cluster, role),
    catch: (error) => {
      if (isFullDisk(error)) return fullDisk(cluster.folder, "Postgres could not be started")
      return asEmbeddedError(error, "StartFailed", "Starting the embedded Postgres")
    },
  })
  const present: { now: Presence | undefined } = { now: undefined }
  const enter = Effect.tap(entering, (entered) =>
    Effect.sync(() => {
      present.now = entered
    }),
  )
  const leaving = Effect.tryPromise(async () => present.now?.leave()).pipe(
    Effect.catchAll((error) => Effect.logDebug(`Leaving the embedded Postgres: ${error.message}`)),
  )
  const first = yield* Effect.acquireRelease(enter, () => leaving)
  const rejoin = Effect.gen(function* () {
    yield* Effect.promise(() => present.now?.lost ?? Promise.resolve())
    yield* Effect.logWarning(
      `The embedded Postgres went away, and is started again${ofLittleRoom(cluster.folder)}`,
    )
    yield* Effect.uninterruptible(enter).pipe(
      Effect.tapError((error) => Effect.logError(error.message)),
      Effect.retry({ schedule: Schedule.spaced("10 seconds") }),
    )
  })
  yield* Effect.forkScoped(Effect.forever(rejoin))
  return settingsOf(first, role)
})
