import type { Redacted } from "effect"

/** What TLS is spoken with, as PEM; `rejectUnauthorized: false` believes any certificate. */
export interface Certificates {
  readonly ca?: string
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
  readonly ssl: boolean | "require" | "allow" | "prefer" | "verify-full" | Certificates
  /** Seconds until a connection must be open; default 10. */
  readonly connectTimeout?: number | undefined
  /** Session settings that the URL asks for, such as `search_path`. */
  readonly parameters: Readonly<Record<string, string>>
}

/** The server's name in messages: never with the password. */
export const describeServer = (settings: ConnectionSettings): string =>
  settings.path === undefined
    ? `postgres://${settings.username}@${settings.host}:${settings.port}/${settings.database}`
    : `${settings.path} (database ${settings.database})`
