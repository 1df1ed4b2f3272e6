import { Data } from "effect"
import { isOfGivenNumbers } from "./GivenNumbers.ts"
import { withoutPartition } from "./Migrations/PartitionNames.ts"

export type DatabaseReason =
  /** The server cannot be reached, is starting or stopping, or dropped the connection. The work may be tried again. */
  | "Unreachable"
  /** `DATABASE_URL` is wrong: malformed, wrong password, no such database, server too old. */
  | "Settings"
  /** The database refused the data: a constraint, or one of our triggers (SQLSTATE class 23 or `TO…`). */
  | "Refused"
  /** A serialization failure, a deadlock, a lock that was not to be had in time; the transaction may be tried again. */
  | "Conflict"
  /** The server's disk is full. */
  | "DiskFull"
  | "Other"

/**
 * The one error of the database layer. The message says what happened, where and what to do. It never contains a query
 * parameter, a row's values or a password; the driver's error, which may, is dropped.
 */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly reason: DatabaseReason
  /** The caller's name for the operation, such as `Ledger.post`. */
  readonly operation: string
  readonly message: string
  /** The five characters of SQLSTATE, where the server said something. */
  readonly sqlstate: string | undefined
  readonly constraint: string | undefined
  readonly table: string | undefined
}> {}

/** All connections that the server, the database or the role may have are taken. */
const tooMany = "53300"

const unreachableCodes: ReadonlySet<string> = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH"],
  ...["ENETUNREACH", "ECONNABORTED", "EACCES", "57P01", "57P02", "57P03", "57P05", tooMany],
])

const conflictCodes: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"])
const settingsCodes: ReadonlySet<string> = new Set(["28P01", "28000", "3D000"])
/** A transaction that may not write: a standby, a role's setting. */
export const onlyReads = "25006"
/** A missing privilege. */
export const lacksRight = "42501"
/** What the server answers to a parameter of `DATABASE_URL` that it does not know, or whose value it does not take. */
const parameterCodes: ReadonlySet<string> = new Set(["42704", "22023"])
const sqlstatePattern = /^[0-9A-Z]{5}$/

const reasonOf = (code: string | undefined): DatabaseReason => {
  if (code === undefined) return "Other"
  if (unreachableCodes.has(code) || code.startsWith("08")) return "Unreachable"
  if (conflictCodes.has(code)) return "Conflict"
  if (settingsCodes.has(code) || code === onlyReads || code === lacksRight) return "Settings"
  if (code === "53100") return "DiskFull"
  return code.startsWith("23") || code.startsWith("TO") ? "Refused" : "Other"
}

const textOf = (value: unknown, key: string): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const found: unknown = Reflect.get(value, key)
  return typeof found === "string" && found !== "" ? found : undefined
}

/** drizzle wraps the driver's error in one whose message holds every parameter; the cause is the one to read. */
const unwrap = (error: unknown): unknown => {
  let current = error
  for (let depth = 0; depth < 5; depth++) {
    if (textOf(current, "code") !== undefined) return current
    const cause: unknown =
      typeof current === "object" && current !== null ? Reflect.get(current, "cause") : undefined
    if (cause === undefined || cause === null) return current
    current = cause
  }
  return current
}

/** The server's message, unless it may quote a row's value: class 22 (data exceptions), and errors without a code. */
const serverText = (error: unknown, code: string | undefined, isParameter: boolean): string => {
  if (code === undefined) {
    const name = error instanceof Error ? error.name : typeof error
    return `an error without a code (${name})`
  }
  if (code.startsWith("22") && !isParameter) return "a value that the column's type cannot hold"
  return (textOf(error, "message") ?? code).split("\n", 1)[0] ?? code
}

const advice: Readonly<Record<DatabaseReason, string>> = {
  Unreachable:
    "Check that the server runs and can be reached; nothing half-done was kept, run the command again.",
  Settings: "Check DATABASE_URL.",
  Refused: "Nothing of this transaction was kept.",
  Conflict: "Another transaction was in the way; run the command again.",
  DiskFull:
    "The database's disk is full: nothing of this transaction was kept. Free some space and run it again.",
  Other: "Nothing of this transaction was kept.",
}

/** What was asked of a database that was reached says itself what to do; `DATABASE_URL` may not even be set. */
const adviceFor = (reason: DatabaseReason, operation: string): string =>
  reason === "Settings" && operation !== "Database.connect" ? "" : ` ${advice[reason]}`

const adviceToReaders =
  "Run it on the primary server, with the role that writes. Where it is, the database, that role or the server has default_transaction_read_only=on: turn it off there."

/** A statement that was cancelled: by this setting of the server, the database or the role, or else by a person. */
const cancelled = "57014"

/** A number that a sequence gave, and that a row has already. */
const givenAgain = {
  what: "",
  advice: `${advice.Refused} The sequence that gives these numbers was set back, or was not copied with the tables: tieout verify --database says how to set it.`,
}

/** What a message says before and after the server's own words, for codes whose reason alone says too little. */
const ofCode = (
  code: string | undefined,
  said: string,
): { readonly what: string; readonly advice: string } | undefined => {
  // A server that speaks another language (lc_messages) does not say in words that we know who cancelled it.
  if (code === cancelled && !said.includes("user request"))
    return {
      what: "",
      advice: `${advice.Other} Unless somebody cancelled it, the database or the role has a statement_timeout that is too short: raise it for Tieout's role, or add statement_timeout=0 to the parameters of DATABASE_URL (?statement_timeout=0).`,
    }
  // The driver drops the words with which the server, or a pooler, ends a session that a statement waits in.
  if (code === "CONNECTION_CLOSED")
    return {
      what: "the connection to the database was lost: ",
      advice:
        "The log of the server, or of the pooler before it, says who ended it (pgbouncer's query_wait_timeout: its pool is too small); nothing half-done was kept, run the command again.",
    }
  if (code === tooMany)
    return {
      what: "the database takes no more connections: ",
      advice:
        "Each process of Tieout opens up to ten and a few for locks: raise max_connections, or the limit of the role or the database, or let less run at once; nothing half-done was kept, run the command again.",
    }
  if (code === onlyReads) return { what: "the database may only be read here: ", advice: adviceToReaders }
  if (code === lacksRight && said.includes("row-level security"))
    return {
      what: "",
      advice:
        "Row security would hide rows from this role, and books that are read in part look whole: as the owner, `alter table … disable row level security` (tieout verify --database names the tables), or give the role bypassrls. Where it is meant to see a part, add ?row_security=on to DATABASE_URL.",
    }
  if (code === lacksRight)
    return {
      what: "the role that DATABASE_URL names lacks a right: ",
      advice:
        "To write it must be tieout_runtime or a member of it. Where it is, run tieout migrate --roles as the owner of the tables, who gives the right anew.",
    }
  return undefined
}

/** Whether the same work may well succeed later, without anything being mended. */
export const isPassing = ({ reason }: DatabaseError): boolean =>
  reason === "Unreachable" || reason === "Conflict"

/** Builds an error with the advice for its reason, which `what` gives itself where a reached database is not fit. */
export const databaseError = (reason: DatabaseReason, operation: string, what: string): DatabaseError =>
  new DatabaseError({
    reason,
    operation,
    message: `${operation}: ${what}.${adviceFor(reason, operation)}`,
    sqlstate: undefined,
    constraint: undefined,
    table: undefined,
  })

/**
 * For work that could write when it began: a database that turns read-only meanwhile counts as an outage, as during a failover.
 */
export const changedOver = <E>(error: E): E | DatabaseError =>
  error instanceof DatabaseError && error.sqlstate === onlyReads
    ? new DatabaseError({
        ...error,
        reason: "Unreachable",
        message: `${error.operation}: the database could be written to, and may only be read now, as while another server takes over. ${advice.Unreachable}`,
      })
    : error

/** For what is left once the work itself is committed, when the same command would be refused: what to do in its place. */
export const goesOn =
  (advice: string) =>
  <E>(error: E): E | DatabaseError =>
    error instanceof DatabaseError
      ? new DatabaseError({
          ...error,
          message: error.message.replace(/(nothing half-done was kept, )?run the command again/, advice),
        })
      : error

/** For work that writes: it must not begin on a database that can only be read. */
export const readOnlyError = (operation: string): DatabaseError =>
  new DatabaseError({
    ...databaseError("Settings", operation, ""),
    message: `${operation}: the database may only be read here. ${adviceToReaders}`,
  })

/** The table by the name that code and messages use: a partition's refusal is reported as its table's. */
const tableOrRule = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : withoutPartition(name)

/**
 * Turns an error of the driver or of drizzle into a `DatabaseError`. `server` names the server while it is being connected to,
 * where the error does not.
 */
export const toDatabaseError = (operation: string, thrown: unknown, server?: string): DatabaseError => {
  if (thrown instanceof DatabaseError) return thrown
  const error = unwrap(thrown)
  const code = textOf(error, "code")
  const isParameter = server !== undefined && code !== undefined && parameterCodes.has(code)
  const reason = isParameter ? "Settings" : reasonOf(code)
  const constraint = tableOrRule(textOf(error, "constraint_name"))
  const table = tableOrRule(textOf(error, "table_name"))
  const schema = textOf(error, "schema_name")
  const at =
    server !== undefined && (reason === "Unreachable" || reason === "Settings") ? ` at ${server}` : ""
  const named = table === undefined || schema === undefined ? table : `${schema}.${table}`
  const known =
    code === "23505" && isOfGivenNumbers(named, constraint)
      ? givenAgain
      : ofCode(code, textOf(error, "message") ?? "")
  const what =
    known !== undefined
      ? known.what
      : reason === "Unreachable"
        ? `the database${at} cannot be reached: `
        : reason === "Settings"
          ? `${server ?? "the server"}: `
          : ""
  return new DatabaseError({
    reason,
    operation,
    message: `${operation}: ${what}${serverText(error, code, isParameter)}${code === undefined ? "" : ` [${code}]`}. ${known?.advice ?? advice[reason]}`,
    sqlstate: code !== undefined && sqlstatePattern.test(code) ? code : undefined,
    constraint,
    table: named,
  })
}
