import { isIP } from "node:net"
import { Either, Redacted } from "effect"
import { largestCertificate } from "../Common/Files/RegularFile/ImportBounds.ts"
import { readNamed } from "../Common/Files/RegularFile.ts"
import type { ConnectionSettings, ServerDemand } from "./ConnectionSettings.ts"
import { type DatabaseError, databaseError } from "./DatabaseError.ts"

const form = "postgres://user:password@host:5432/database"

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"])

const parse = (text: string): URL | undefined => {
  try {
    // The parser wants a host: `postgres:///db?host=/run/postgresql` has none.
    return new URL(text.replace(/^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)(?=\/|$)/, "$1localhost"))
  } catch {
    return undefined
  }
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

type Ssl = ConnectionSettings["ssl"]

/** What a server must be (`target_session_attrs`); `any` and `prefer-standby` ask nothing of the only one that is named. */
const demands: Readonly<Record<string, ServerDemand | null>> = {
  any: null,
  "prefer-standby": null,
  "read-write": "read-write",
  "read-only": "read-only",
  primary: "primary",
  standby: "standby",
}

const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

/** Another host may be anybody's, until its certificate says whose it is; libpq's default, `prefer`, believes whoever answers. */
const modeOf = (query: URLSearchParams, local: boolean): string =>
  query.get("sslmode") ?? (local ? "disable" : "verify-full")

/**
 * `host` is whom the certificate must name; the driver tells TLS of a name but not of an address, and TLS would look for `localhost`
 * instead. Throws where a file cannot be read.
 */
const sslOf = (mode: string, host: string, query: URLSearchParams): Ssl => {
  const file = (name: string): string | undefined => {
    const path = query.get(name)
    return path === null || (name === "sslrootcert" && path === "system")
      ? undefined
      : readNamed(path, largestCertificate).toString("utf8")
  }
  const [ca, cert, key] = [file("sslrootcert"), file("sslcert"), file("sslkey")]
  const own = { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) }
  switch (mode) {
    case "disable":
      return false
    case "allow":
    case "prefer":
    case "require": {
      // As libpq does: an authority that is named is also asked.
      if (mode === "require" && query.has("sslrootcert")) break
      // With a certificate of ours, the connection is encrypted or not made.
      if (cert !== undefined) return { ...own, rejectUnauthorized: false }
      // The driver knows no `allow`, and would insist on TLS; both take what the server has.
      return mode === "require" ? "require" : "prefer"
    }
  }
  // `verify-ca` asks for the host's name as well.
  return { ...(ca === undefined ? {} : { ca }), ...own, ...(isIP(host) === 0 ? {} : { host }) }
}

const wrong = (what: string): DatabaseError =>
  databaseError("Settings", "Database.connect", `DATABASE_URL ${what}`)

/** libpq's parameters that are understood here. */
const known: ReadonlySet<string> = new Set([
  ...["host", "port", "user", "password", "dbname", "application_name", "connect_timeout"],
  ...["sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding", "target_session_attrs"],
])

/** libpq's other parameters (PostgreSQL 18, 32.1.2). Passed on they would be settings that no server knows. */
const unsupported: ReadonlySet<string> = new Set([
  ...["hostaddr", "passfile", "require_auth", "client_encoding", "options", "fallback_application_name"],
  ...["keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"],
  ...["replication", "gssencmode", "gsslib", "gssdelegation", "krbsrvname", "sslnegotiation", "requiressl"],
  ...["sslcompression", "sslpassword", "sslcertmode", "sslcrl", "sslcrldir", "sslsni", "sslkeylogfile"],
  ...["ssl_min_protocol_version", "ssl_max_protocol_version", "min_protocol_version", "max_protocol_version"],
  ...["requirepeer", "service", "servicefile", "load_balance_hosts", "scram_client_key", "scram_server_key"],
  ...["oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope"],
])

/** The names of parameters that ask for something that Tieout cannot do; undefined where there are none. */
const refusedIn = (query: URLSearchParams): string | undefined => {
  const asked = [...query.keys()].find((name) => unsupported.has(name))
  if (asked !== undefined) return `has ${asked}, which Tieout does not support: leave it out`
  if (query.get("channel_binding") === "require") {
    return "has channel_binding=require, which Tieout does not support: leave it out, sslmode=verify-full proves the server"
  }
  if (!Object.hasOwn(demands, query.get("target_session_attrs") ?? "any")) {
    return `has an unknown target_session_attrs: ${Object.keys(demands).join(", ")} are the known ones`
  }
  if (!/^\d{1,3}$/.test(query.get("connect_timeout") ?? "0"))
    return "has a connect_timeout that is no number of seconds"
  return modes.includes(query.get("sslmode") ?? "disable") ? undefined : "has an unknown sslmode"
}

/** Several hosts are no URL for the parser; commas elsewhere are fine. */
const namesHosts = (text: string): boolean => /^[a-z]+:\/\/(?:[^@/]*@)?[^/?]*,/.test(text)

const pathOf = (host: string, port: number): string | undefined =>
  host.startsWith("/") ? `${host.replace(/\/+$/, "")}/.s.PGSQL.${port}` : undefined

/**
 * Reads `DATABASE_URL` as libpq would: `postgres://user:password@host:port/database?sslmode=…`, a socket's folder as a
 * percent-encoded host or as `?host=/folder`. Of libpq's other parameters some are refused by name; what is none of them
 * becomes a session setting. The text is never put into an
 * error, because of the password in it.
 */
export const parseDatabaseUrl = (
  given: Redacted.Redacted<string>,
): Either.Either<ConnectionSettings, DatabaseError> => {
  const text = Redacted.value(given).trim()
  if (!/^postgres(ql)?:\/\//.test(text))
    return Either.left(wrong(`does not begin with postgres://, as in ${form}`))
  if (namesHosts(text)) {
    return Either.left(wrong("names several hosts: name one, such as the address that a failover moves"))
  }
  const url = parse(text)
  if (url === undefined) {
    return Either.left(wrong(`is not a valid URL, as in ${form} (percent-encode special characters)`))
  }
  const query = url.searchParams
  const username = decode(url.username) || query.get("user")
  const password = url.password === "" ? (query.get("password") ?? "") : decode(url.password)
  const host = query.get("host") ?? decode(url.hostname)
  const database = decode(url.pathname.slice(1)) || query.get("dbname") || username
  const port = Number.parseInt(url.port || (query.get("port") ?? "5432"), 10)
  if (
    password === undefined ||
    host === undefined ||
    !username ||
    !database ||
    !(port > 0 && port < 65_536)
  ) {
    return Either.left(
      wrong(`lacks a user, a host or a database, or has an invalid port or encoding: ${form}`),
    )
  }
  const path = pathOf(host, port)
  const refused = host.includes(",") ? "names several hosts: name one" : refusedIn(query)
  if (refused !== undefined) return Either.left(wrong(refused))
  const mode = modeOf(query, path !== undefined || loopback.has(host))
  const address = host.replace(/^\[(.*)\]$/, "$1")
  // As libpq does: what never leaves the machine needs no TLS.
  const ssl = Either.try(() => (path === undefined ? sslOf(mode, address, query) : false))
  if (Either.isLeft(ssl)) {
    return Either.left(wrong("names an sslrootcert, sslcert or sslkey that cannot be read"))
  }
  const demand = demands[query.get("target_session_attrs") ?? "any"] ?? null
  const name = query.get("application_name")
  const timeout = Number(query.get("connect_timeout") ?? "0")
  return Either.right({
    host: address,
    port,
    path,
    database,
    username,
    password: password === "" ? undefined : Redacted.make(password),
    ssl: ssl.right,
    ...(demand === null ? {} : { demand }),
    ...(name === null || name === "" ? {} : { applicationName: name }),
    ...(timeout === 0 ? {} : { connectTimeout: timeout }),
    parameters: Object.fromEntries([...query].filter(([name]) => !known.has(name))),
  })
}
