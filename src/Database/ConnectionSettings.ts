import type { Redacted } from "effect"

/** What the server must be, by libpq's names. */
export type ServerDemand = "read-write" | "read-only" | "primary" | "standby"

/**
 * Certificates and keys for TLS, as PEM; `rejectUnauthorized: false` accepts any certificate. `host` is the address that the
 * certificate must name, where it is not the name of the connection.
 */
export interface Certificates {
  readonly ca?: string
  readonly host?: string
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized?: boolean
}

/** How to reach a Postgres server: the embedded one, or that of `DATABASE_URL`. */
export interface ConnectionSettings {
  readonly host: string
  readonly port: number
  /** The file of the Unix socket, if the server has one; host and port then only name it. */
  readonly path: string | undefined
  readonly database: string
  readonly username: string
  readonly password: Redacted.Redacted<string> | undefined
  /** As postgres.js expects it; an object goes to `tls.connect`. */
  readonly ssl: boolean | "require" | "prefer" | Certificates
  /** Seconds until a connection must be open; default 10. */
  readonly connectTimeout?: number | undefined
  /** What the server must be for us to use it; default: anything. */
  readonly demand?: ServerDemand | undefined
  /** Our name in the server's list of sessions; default `tieout`. */
  readonly applicationName?: string | undefined
  /** Session settings that the URL asks for, such as `work_mem`. */
  readonly parameters: Readonly<Record<string, string>>
  /**
   * A pooler such as pgbouncer stands between, and may give every transaction another session. Then nothing may rely on what a
   * session keeps: neither settings nor prepared statements.
   */
  readonly pooled?: boolean | undefined
  /** Seconds after which a peer that says nothing is dead; default 40. */
  readonly deadAfter?: number | undefined
}

/** Twice this is less than the minute within which a successor takes over. */
const defaultDeadAfter = 40

export const deadAfter = (settings: ConnectionSettings): number => settings.deadAfter ?? defaultDeadAfter

/** Those of them that a pooler such as pgbouncer keeps for each of its clients, so that they are there before a statement is read. */
export const pooledSettings = {
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  standard_conforming_strings: "on",
} as const

/**
 * What our statements mean and how answers are written depends on these. A server, a database or a role may have other defaults:
 * an older program's `bytea_output`, or an isolation level in which a posting that waited for a close would not see it.
 */
const meanings = {
  ...pooledSettings,
  bytea_output: "hex",
  array_nulls: "on",
  IntervalStyle: "postgres",
  extra_float_digits: "1",
  transform_null_equals: "off",
  // In which the server prints the rules that `Migrations/Objects.ts` compares with those that were applied.
  quote_all_identifiers: "off",
  // Our statements name every schema but this one. Whoever may create in `public`, as everybody might before Postgres 15, could
  // otherwise give them a `format(text, text)` or a `numeric - integer` of his own, which fit better than the server's. Names of ours
  // are printed with their schema, as backups and the record of our rules hold them, also for a role named `ledger`. One name: `set
  // local` takes a list as one.
  search_path: "pg_catalog",
  // Of single statements. A transaction says its own, since a pooler's sessions have begun it before they get these.
  default_transaction_isolation: "read committed",
} as const

/**
 * The settings of every session or, behind a pooler, of every transaction. A peer whose machine has vanished without a word
 * holds no row and no lock for longer than `deadAfter`: the server then ends its transaction, or the silent connection. The
 * mark `tieout.program` tells the database that it is the program that writes (`TO012` in `drizzle/rules.sql`).
 *
 * Our statements look at a book at a time and take milliseconds. To compile one, or to start processes for it, which also need more
 * of /dev/shm than containers give, takes longer than it saves; over a long history the planner expects otherwise.
 */
export const sessionSettings = (settings: ConnectionSettings): Readonly<Record<string, string>> => ({
  idle_in_transaction_session_timeout: `${deadAfter(settings)}s`,
  // Ends a session of the pool just when its next statement is on its way; a peer that has vanished is found by the next three.
  idle_session_timeout: "0",
  tcp_keepalives_idle: "20",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "2",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  // Where a policy would hide rows the server refuses the statement: books that are read in part look whole.
  row_security: "off",
  ...settings.parameters,
  ...meanings,
  // The set `Australia` has another EST. The server reads a file for it, which a pooler's client would pay for in every transaction:
  // there a book just cannot take such a zone (`ledger.refuse_zone`).
  ...(settings.pooled === true ? {} : { timezone_abbreviations: "Default" }),
  "tieout.program": "on",
})

/** The server's name in messages: never with the password. */
export const describeServer = (settings: ConnectionSettings): string =>
  settings.path === undefined
    ? `postgres://${settings.username}@${settings.host}:${settings.port}/${settings.database}`
    : `${settings.path} (database ${settings.database})`
