/** What listens, what runs by itself and whom it tells. */
import { Duration, Schema } from "effect"
import { Port, Schedule, Span, Text, Wait, withDefault } from "../Common/Field.ts"
import { formatNames, isFormatName } from "../Format/Formats.ts"
import { isHost } from "./Host.ts"
import { isLoopback } from "./Loopback.ts"

const HostName = Schema.String.pipe(Schema.filter(isHost)).annotations({
  description: "a host name or an IP address without a port",
})

export const Webhook = Schema.Struct({
  port: withDefault(Port, 8787),
  /** The address to listen on: all of them, unless a proxy with TLS stands on this machine. */
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
  /** The address to listen on. Elsewhere than on this machine itself it needs `TIEOUT_STATUS_TOKEN`. */
  host: withDefault(HostName, "127.0.0.1"),
  /** Further names by which the page may be reached: a Host header that is not known is refused. */
  names: withDefault(
    Schema.Array(HostName).annotations({ description: "a list of host names without ports" }),
    [],
  ),
})
export type Status = typeof Status.Type

/** Formats as `tieout export --format` takes them. */
const FormatNames = Schema.NonEmptyArray(
  Schema.String.pipe(Schema.filter(isFormatName)).annotations({
    description: `an export format: ${formatNames.join(", ")}`,
  }),
).annotations({ description: `a list of export formats: ${formatNames.join(", ")}` })

export const Nightly = Schema.Struct({
  /** In the accounting time zone; null: nothing runs by itself. */
  nightly: withDefault(Schema.NullOr(Schedule), "30 3 * * *"),
  /** Each run waits a random part of this first, so that many installations do not call at the same second. */
  jitter: withDefault(Wait, Duration.zero),
  /** Formats that are exported after each nightly sync (`--since-last`); null: none. */
  export: withDefault(Schema.NullOr(FormatNames), null),
  /** Where exports go, and where the status page takes the files from that it offers. */
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
  /** Gets each alert as JSON by POST. Where the address is a secret itself: `TIEOUT_ALERTS_WEBHOOK`. */
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
  /** The books are stale when no sync has succeeded for so long. */
  staleAfter: withDefault(Span, Duration.hours(26)),
})
export type Alerts = typeof Alerts.Type
