import { readFileSync } from "node:fs"
import { Either, Redacted } from "effect"
import type { ConnectionSettings } from "./ConnectionSettings.ts"
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

const sslOf = (mode: string | null, rootCertificate: string | null, local: boolean): Ssl | undefined => {
  switch (mode) {
    case null:
      // As libpq does: encrypted when the server can.
      return local ? false : "prefer"
    case "disable":
      return false
    case "allow":
    case "prefer":
    case "require":
      return mode
    case "verify-ca":
    case "verify-full":
      return rootCertificate === null || rootCertificate === "system"
        ? "verify-full"
        : { ca: readFileSync(rootCertificate, "utf8") }
    default:
      return undefined
  }
}

const wrong = (what: string): DatabaseError =>
  databaseError("Settings", "Database.connect", `DATABASE_URL ${what}`)

const known: ReadonlySet<string> = new Set([
  "host",
  "port",
  "sslmode",
  "sslrootcert",
  "user",
  "password",
  "dbname",
])

const pathOf = (host: string, port: number): string | undefined =>
  host.startsWith("/") ? `${host.replace(/\/+$/, "")}/.s.PGSQL.${port}` : undefined

/**
 * Reads `DATABASE_URL` as libpq would: `postgres://user:password@host:port/database?sslmode=…`, a socket's folder as a
 * percent-encoded host or as `?host=/folder`. Other parameters become session settings. The text is never put into an
 * error, because of the password in it.
 */
export const parseDatabaseUrl = (
  given: Redacted.Redacted<string>,
): Either.Either<ConnectionSettings, DatabaseError> => {
  const text = Redacted.value(given).trim()
  if (!/^postgres(ql)?:\/\//.test(text))
    return Either.left(wrong(`does not begin with postgres://, as in ${form}`))
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
  const ssl = Either.try(() =>
    sslOf(query.get("sslmode"), query.get("sslrootcert"), path !== undefined || loopback.has(host)),
  )
  if (Either.isLeft(ssl)) return Either.left(wrong("names an sslrootcert that cannot be read"))
  if (ssl.right === undefined) return Either.left(wrong("has an unknown sslmode"))
  return Either.right({
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port,
    path,
    database,
    username,
    password: password === "" ? undefined : Redacted.make(password),
    ssl: ssl.right,
    parameters: Object.fromEntries([...query].filter(([name]) => !known.has(name))),
  })
}
