import { Option, Redacted } from "effect"
import type { ConnectionSettings } from "../../src/Database/ConnectionSettings.ts"
import type { DatabaseSettings } from "../../src/Database/DatabaseConfig.ts"

/** Connection settings as a URL that `DATABASE_URL` takes. It contains the password. */
export const urlOf = (settings: ConnectionSettings, database: string): string => {
  const password =
    settings.password === undefined ? "" : `:${encodeURIComponent(Redacted.value(settings.password))}`
  const host =
    settings.path === undefined
      ? settings.host
      : encodeURIComponent(settings.path.replace(/\/\.s\.PGSQL\.\d+$/, ""))
  return `postgres://${encodeURIComponent(settings.username)}${password}@${host}:${settings.port}/${database}`
}

/** A server's URL with another database in it. */
export const withDatabase = (url: string, database: string): string =>
  url.replace(/\/[^/?]*(\?|$)/, `/${database}$1`)

/** Settings for `Database.layer`, with few connections: many test files share one server. */
export const settingsFor = (url: string): DatabaseSettings => ({
  url: Option.some(Redacted.make(url)),
  dataDir: "unused",
  connections: 5,
})

/** The number of partitions of each large table in the tests' databases: `TEST_PARTITIONS=4 npm test` runs everything with four. */
export const testPartitions = Number(process.env.TEST_PARTITIONS ?? 1)
