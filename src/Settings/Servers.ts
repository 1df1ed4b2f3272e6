/** The servers, the schedule and the alerts. */
import { isIP } from "node:net"
import { Duration, Schema } from "effect"
import { Port, Schedule, Span, Text, Wait, withDefault } from "../Common/Field.ts"
import { bankStatementsOf, formatNames } from "../Format/Formats.ts"
import { isLoopback } from "./Loopback.ts"

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** An IP address (IPv6 with or without brackets) or a host name, without a port. Digits and dots alone are no name. */
const isHost = (text: string): boolean => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (isIP(bare) !== 0) return bare === text || isIP(bare) === 6
  return text.length <= 253 && !/^[\d.]+$/.test(text) && text.split(".").every((part) => label.test(part))
}

const HostName = Schema.String.pipe(Schema.filter(isHost)).annotations({
  description: "a host name or an IP address without a port",
})

const PublicUrl = Schema.String.pipe(
  Schema.filter((text) => URL.canParse(text) && new URL(text).protocol === "https:"),
).annotations({
  description: "an address that begins with https://; {connection} stands for the connection's name",
})

export const Webhook = Schema.Struct({
  port: withDefault(Port, 8787),
  /** Where the service delivers to, as it knows it: only `tieout doctor` compares it with the subscriptions. */
  publicUrl: withDefault(Schema.NullOr(PublicUrl), null),
  /** The address to listen on: all addresses, unless a TLS proxy runs on this machine. */
  host: withDefault(HostName, "0.0.0.0"),
  path: withDefault(
    Schema.String.pipe(Schema.pattern(/^\/[^\s?#]*$/)).annotations({
      description: "a path that starts with / and has no query; {connection} stands for the name",
    }),
    "/webhooks/{connection}",
  ),
})

export const Status = Schema.Struct({
  port: withDefault(Port, 8788),
  /** The address to listen on. Any but loopback needs `TIEOUT_STATUS_TOKEN`. */
  host: withDefault(HostName, "127.0.0.1"),
  /** Whoever comes from this machine itself may see everything, exports too, without a token. */
  open: withDefault(Schema.Boolean, false),
  /** Further host names of the page: a request with an unknown Host header is refused. */
  names: withDefault(
    Schema.Array(HostName).annotations({ description: "a list of host names without ports" }),
    [],
  ),
})
export type Status = typeof Status.Type

/** Formats that `tieout export --format` takes with --since-last; not bank statements, which cover whole days. */
const nightlyNames: ReadonlyArray<string> = formatNames.filter(
  (name) => bankStatementsOf([name]).length === 0,
)

const FormatNames = Schema.NonEmptyArray(
  Schema.String.pipe(Schema.filter((name) => nightlyNames.includes(name))).annotations({
    description: `an export format: ${nightlyNames.join(", ")}`,
  }),
).annotations({ description: `a list of export formats: ${nightlyNames.join(", ")}` })

export const Nightly = Schema.Struct({
  /** In the accounting time zone; null: nothing is scheduled. */
  nightly: withDefault(Schema.NullOr(Schedule), "30 3 * * *"),
  /** Each run first waits a random part of this, so that many installations do not start in the same second. */
  jitter: withDefault(Wait, Duration.zero),
  /** Formats that are exported after each nightly sync (`--since-last`); null: none. */
  export: withDefault(Schema.NullOr(FormatNames), null),
  /** The folder of exports, from which the status page offers files. */
  out: withDefault(Text, "exports"),
})
export type Nightly = typeof Nightly.Type

const isAlertAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hostname, password, protocol, username } = new URL(text)
  if (username !== "" || password !== "") return false
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname))
}

const AlertAddress = Schema.String.pipe(Schema.filter(isAlertAddress)).annotations({
  description:
    "an address that begins with https:// (http:// only for this machine itself) and holds no password",
})

const occasions = ["failure", "findings", "staleness"] as const
export type Occasion = (typeof occasions)[number]

export const Alerts = Schema.Struct({
  /** Gets each alert as JSON by POST. Set a secret address by `TIEOUT_ALERTS_WEBHOOK`. */
  webhook: withDefault(Schema.NullOr(AlertAddress), null),
  /** A program and its arguments, started without a shell; gets each alert as JSON on its standard input. */
  command: withDefault(
    Schema.NullOr(
      Schema.NonEmptyArray(Schema.NonEmptyString).annotations({
        description:
          'a list of a program and its arguments, such as ["/usr/local/bin/page-me", "--team", "books"]',
      }),
    ),
    null,
  ),
  on: withDefault(
    Schema.Array(Schema.Literal(...occasions)).annotations({
      description: `a list of ${occasions.join(", ")}`,
    }),
    occasions,
  ),
  /** The books are stale when no sync has succeeded within this time. */
  staleAfter: withDefault(Span, Duration.hours(26)),
})
export type Alerts = typeof Alerts.Type
