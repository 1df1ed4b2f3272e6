import { Effect, Either, Layer, Option, type Redacted, type Scope, Stream } from "effect"
import type postgres from "postgres"
import { firstOf } from "./Common/Effects/FirstOf.ts"
import { inSpan } from "./Common/Effects/Traced.ts"
import { assertRows, onlyRow } from "./Database/AnswerRows.ts"
import type { Orm, Sql } from "./Database/Client.ts"
import { type Columns, type RowOf, text } from "./Database/Columns.ts"
import { makeConnections } from "./Database/ConnectionPool.ts"
import type { ConnectionSettings } from "./Database/ConnectionSettings.ts"
import { cursorStream, type StreamOptions } from "./Database/Cursor.ts"
import { DatabaseConfig, type DatabaseSettings } from "./Database/DatabaseConfig.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { parseDatabaseUrl } from "./Database/DatabaseUrl.ts"
import type { EmbeddedError } from "./Database/Embedded/EmbeddedError.ts"
import { embedded } from "./Database/Embedded.ts"
import { runStatement } from "./Database/RunStatement.ts"
import { checkServer } from "./Database/ServerVersion.ts"
import { isHeld, type LockBusy, makeSessionLocks, type SessionLock } from "./Database/SessionLock.ts"
import { textArray } from "./Database/TextArray.ts"
import { makeTransactions } from "./Database/Transactions.ts"

/** Connections of this process for queries and transactions, unless the settings say otherwise. */
const defaultConnections = 10

/** Rows that a stream fetches at a time. */
const rowsPerFetch = 1_000

const connect = (url: Redacted.Redacted<string>): Effect.Effect<ConnectionSettings, DatabaseError> =>
  Effect.flatMap(
    Effect.suspend(() =>
      Either.match(parseDatabaseUrl(url), { onLeft: Effect.fail, onRight: Effect.succeed }),
    ),
    checkServer,
  )

const make = Effect.gen(function* () {
  const config: DatabaseSettings = yield* DatabaseConfig
  const found: ConnectionSettings = yield* Option.match(config.url, {
    onNone: (): Effect.Effect<ConnectionSettings, EmbeddedError | DatabaseError, Scope.Scope> =>
      embedded({
        ...{ dataDir: config.dataDir, create: config.create ?? true },
        role: config.asOwner === true ? "owner" : "runtime",
      }),
    onSome: connect,
  })
  const isEmbedded = Option.isNone(config.url)
  const settings: ConnectionSettings = {
    ...found,
    parameters: { ...found.parameters, ...config.session },
    ...(config.deadAfter === undefined ? {} : { deadAfter: config.deadAfter }),
  }
  const connections = yield* makeConnections(settings, config.connections ?? defaultConnections)
  const { announce, tryLocks, tryLocksOfReader } = yield* makeSessionLocks(settings)
  const tryLock = (lock: string) => tryLocks({ lock, shared: false })
  const { forCursor, noteConflict, onConnection, transaction } = makeTransactions(
    connections,
    settings.pooled === true,
  )

  const query = <Rows extends readonly (object | undefined)[]>(
    operation: string,
    statement: (sql: Sql) => postgres.PendingQuery<Rows>,
  ): Effect.Effect<postgres.RowList<Rows>, DatabaseError> =>
    onConnection((lent) => runStatement(lent, operation, () => statement(lent.client))).pipe(
      Effect.tapError(noteConflict),
      inSpan(operation),
    )

  const rows = <C extends Columns>(
    operation: string,
    columns: C,
    statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
  ): Effect.Effect<ReadonlyArray<RowOf<C>>, DatabaseError> =>
    Effect.map(query(operation, statement), (answer) => {
      assertRows(operation, columns, answer)
      return answer
    })

  const row = <C extends Columns>(
    operation: string,
    columns: C,
    statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
  ): Effect.Effect<RowOf<C>, DatabaseError> =>
    Effect.map(query(operation, statement), (answer) => onlyRow(operation, columns, answer))

  const execute = (
    operation: string,
    statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
  ): Effect.Effect<number, DatabaseError> => Effect.map(query(operation, statement), ({ count }) => count)

  const orm = <A>(
    operation: string,
    statement: (orm: Orm) => PromiseLike<A>,
  ): Effect.Effect<A, DatabaseError> =>
    // drizzle runs a statement each time that it is waited for; a promise runs it once.
    onConnection((lent) => runStatement(lent, operation, () => Promise.resolve(statement(lent.orm)))).pipe(
      Effect.tapError(noteConflict),
      inSpan(operation),
    )

  const rowStream = <C extends Columns>(
    operation: string,
    columns: C,
    statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
    { planner = {}, size = rowsPerFetch }: Partial<StreamOptions> = {},
  ): Stream.Stream<RowOf<C>, DatabaseError> =>
    cursorStream(forCursor, operation, columns, statement, { planner, size }).pipe(
      Stream.tapError(noteConflict),
    )

  const withSessionLock = <A, E, R>(
    lock: string,
    effect: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | LockBusy | DatabaseError, R> =>
    tryLock(lock).pipe(
      Effect.flatMap((held) => firstOf(effect, held.lost)),
      Effect.scoped,
    )

  const heldAmong = (locks: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>, DatabaseError> =>
    Effect.map(
      rows(
        "Database.heldAmong",
        { lock: text },
        (sql) => sql`select t.lock from unnest(${textArray(sql, locks)}) as t (lock) where ${isHeld(sql)}`,
      ),
      (held) => new Set(held.map(({ lock }) => lock)),
    )

  return {
    /** How the server is reached; the password is redacted. */
    settings,
    /** Whether the server is the embedded one, whose roles are ours to make. */
    isEmbedded,
    /** The same database as its owner, where that is another role of ours; see `asOwner`. */
    owner:
      isEmbedded && config.asOwner !== true
        ? Option.some<DatabaseSettings>({ ...config, asOwner: true })
        : Option.none<DatabaseSettings>(),
    /**
     * The rows of one SQL statement, run in the current transaction, or by itself when there is none. `operation` names it
     * in errors and traces. Every answer is compared with `columns`: names, Postgres types, nulls, members of unions. One
     * that differs is a defect (`UnexpectedAnswer`), so that a row is what its type says. JSON is passed as a value or as text.
     */
    rows,
    /** As `rows`, for a statement that always has exactly one row: another number is a defect. */
    row,
    /**
     * Streams the rows with flat memory, in the current transaction or in one of its own. In a transaction other statements
     * may run while it is read, and other streams, but none of the same operation.
     */
    rowStream,
    /** Runs one SQL statement as `rows` does, without reading rows; returns how many it touched. */
    execute,
    /** As `rows`, without comparing the answer: for tests alone, which know what they wrote. */
    query,
    /** Runs one drizzle statement as `rows` does; its rows have the tables' types (`Database/Tables`). */
    orm,
    /**
     * Runs an effect in a transaction: committed when it succeeds, rolled back when it fails, dies or is interrupted
     * (after its running statement has ended). A nested one is a savepoint. After a serialization failure or deadlock
     * the outermost effect is run again, up to five times, so what it does outside the database must bear repeating.
     */
    transaction,
    /**
     * Takes a lock shared by all processes and holds it while the scope lives; fails with `LockBusy` at once when it is
     * taken.
     */
    tryLock: (lock: string): Effect.Effect<SessionLock, LockBusy | DatabaseError, Scope.Scope> =>
      tryLock(lock),
    /** As `tryLock`, several at once, of which some may be shared. */
    tryLocks,
    tryLocksOfReader,
    announce,
    /** Those of some locks that a process of this database holds now. */
    heldAmong,
    /** Runs an effect while holding a lock; interrupts it and fails as `Unreachable` when the lock is lost. */
    withSessionLock,
  }
})

/** The Postgres database: the embedded one, or that of `DATABASE_URL`. */
export class Database extends Effect.Service<Database>()("Database", {
  scoped: make,
  dependencies: [DatabaseConfig.Default],
}) {
  /** The database of given settings, instead of the environment's. */
  static readonly layer = (
    settings: DatabaseSettings,
  ): Layer.Layer<Database, DatabaseError | EmbeddedError> =>
    Layer.provide(Database.DefaultWithoutDependencies, Layer.succeed(DatabaseConfig, settings))
}
