import { Data } from "effect"
import { type FaultPlan, readFaults } from "./Http/FaultPlan.ts"
import { defaultWire, renamed, type Wire, type WireOptions } from "./Http/Wire.ts"
import { wireNamed } from "./Http/WireNames.ts"
import { type SigningAlgorithm, signingAlgorithms } from "./Webhook/SigningKeys.ts"
import type { WebhookTarget } from "./Webhooks.ts"
import type { WorldData } from "./World/World.ts"

/** Why a sandbox could not start. `Options`: `problems` names each bad value; `Listen`: the port could not be opened. */
export class SandboxError extends Data.TaggedError("SandboxError")<{
  readonly reason: "Options" | "Listen"
  readonly message: string
  readonly problems: ReadonlyArray<string>
}> {}

/** What holds where an option is left out. */
export const defaults = {
  seed: 1,
  accounts: 12,
  entries: 2000,
  clients: 0,
  accountsPerClient: 4,
  receivables: 0,
  from: "2026-09-01",
  to: "2026-10-31",
  faults: "none",
  names: "plain",
  webhookAlgorithm: "ES256",
  rate: 0,
  latency: 0,
} as const

/** What to serve and where. Everything may be left out. */
export interface SandboxOptions {
  /** 0 lets the system choose. Default 0. */
  readonly port?: number | undefined
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** The same seed gives the same bytes. 0 .. 2^32 - 1. */
  readonly seed?: number | undefined
  /** How many accounts, 1 .. 100,000. Six or more have all currencies; twelve or more also closed ones. */
  readonly accounts?: number | undefined
  /** How many statement entries over all accounts together, exactly; 0 .. 20,000,000. */
  readonly entries?: number | undefined
  /** How many represented clients, 0 .. 10,000. Of ten or more, one in ten is not active. */
  readonly clients?: number | undefined
  /** How many accounts each active client has, 1 .. 100. */
  readonly accountsPerClient?: number | undefined
  /** How many statement entries over all clients together, exactly; 0 .. 20,000,000, default 20 for each account. */
  readonly clientEntries?: number | undefined
  /** How many receivables, 0 .. 100,000; eight or more show every status. */
  readonly receivables?: number | undefined
  /** First day with movements, YYYY-MM-DD in UTC. */
  readonly from?: string | undefined
  /** Last day with movements, included, YYYY-MM-DD in UTC. */
  readonly to?: string | undefined
  /** Default `sandbox-client`. */
  readonly clientId?: string | undefined
  /** Default `sandbox-secret`. */
  readonly clientSecret?: string | undefined
  /** Lifetime of a token in seconds, default 3600. */
  readonly expiresIn?: number | undefined
  /** What goes wrong: `none`, `wild`, or `name[:rate]` of FaultPlan.ts, separated by commas. */
  readonly faults?: string | undefined
  /** Which names and paths the wire has where the interface leaves them open: `plain` or `odd`. */
  readonly names?: string | undefined
  /** Where signed events go for what happens from the start on. Default: nowhere. */
  readonly webhook?: string | undefined
  /** ES256, ES384, EdDSA, RS256, RS512, PS256 or PS512. */
  readonly webhookAlgorithm?: string | undefined
  /** Movements of the organization that happen by themselves every second, 0 .. 1000. */
  readonly rate?: number | undefined
  /** Milliseconds that every answer takes, 0 .. 60,000. */
  readonly latency?: number | undefined
  /** Some of these names one by one. */
  readonly wire?: WireOptions | undefined
  /** The clock that tokens live by, in milliseconds since 1970; the data never depends on it. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** What decides the data: the organization's, and what its clients have. */
export interface SandboxData extends WorldData {
  readonly clients: number
  readonly accountsPerClient: number
  /** Undefined: in proportion to their accounts. */
  readonly clientEntries: number | undefined
  readonly receivables: number
}

/** What decides how it is served. */
export interface SandboxService {
  readonly port: number
  readonly host: string
  readonly clientId: string
  readonly clientSecret: string
  readonly expiresIn: number
  readonly faults: FaultPlan
  readonly wire: Wire
  readonly now: () => number
  readonly webhook: WebhookTarget
  readonly rate: number
  readonly latency: number
}

const day = 86_400_000

const checkOptions = (problems: Array<string>) => {
  const integer = (name: string, value: number | undefined, low: number, high: number, otherwise: number) => {
    if (value === undefined) return otherwise
    if (Number.isInteger(value) && value >= low && value <= high) return value
    problems.push(`${name}: found ${value}, expected a whole number from ${low} to ${high}`)
    return otherwise
  }
  const date = (name: string, value: string) => {
    const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00.000Z`) : Number.NaN
    // Some engines roll 2026-02-30 over to March: only a date that prints as itself exists.
    if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(value)) return time
    problems.push(`${name}: found ${JSON.stringify(value)}, expected a calendar date as YYYY-MM-DD`)
    return Number.NaN
  }
  const text = (name: string, value: string | undefined, otherwise: string) => {
    if (value === "") problems.push(`${name}: found an empty text, expected at least one character`)
    return value ?? otherwise
  }
  const address = (name: string, value: string | undefined) => {
    if (value === undefined || /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ""))
      return value
    problems.push(
      `${name}: found ${JSON.stringify(value)}, expected an address that begins with http:// or https://`,
    )
    return undefined
  }
  const algorithm = (value: string): SigningAlgorithm => {
    const known = signingAlgorithms.find((name) => name === value)
    if (known !== undefined) return known
    problems.push(
      `webhookAlgorithm: found ${JSON.stringify(value)}, expected ${signingAlgorithms.join(", ")}`,
    )
    return "ES256"
  }
  return { integer, date, text, address, algorithm }
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws SandboxError with reason `Options`, naming all bad values at once.
 */
export const readOptions = (options: SandboxOptions): { data: SandboxData; service: SandboxService } => {
  const problems: Array<string> = []
  const { integer, date, text, address, algorithm } = checkOptions(problems)
  const start = date("from", options.from ?? defaults.from)
  const last = date("to", options.to ?? defaults.to)
  if (start > last) problems.push(`to: found ${options.to ?? defaults.to}, expected a day not before from`)
  const data = {
    seed: integer("seed", options.seed, 0, 0xffffffff, defaults.seed),
    accounts: integer("accounts", options.accounts, 1, 100_000, defaults.accounts),
    entries: integer("entries", options.entries, 0, 20_000_000, defaults.entries),
    clients: integer("clients", options.clients, 0, 10_000, defaults.clients),
    accountsPerClient: integer(
      "accountsPerClient",
      options.accountsPerClient,
      1,
      100,
      defaults.accountsPerClient,
    ),
    clientEntries:
      options.clientEntries === undefined
        ? undefined
        : integer("clientEntries", options.clientEntries, 0, 20_000_000, 0),
    receivables: integer("receivables", options.receivables, 0, 100_000, defaults.receivables),
    start,
    end: last + day - 1,
  }
  const faults = readFaults(options.faults ?? defaults.faults)
  if (typeof faults === "string") problems.push(`faults: ${faults}`)
  const named = wireNamed(options.names ?? defaults.names)
  if (typeof named === "string") problems.push(`names: ${named}`)
  const service = {
    port: integer("port", options.port, 0, 65_535, 0),
    host: text("host", options.host, "127.0.0.1"),
    clientId: text("clientId", options.clientId, "sandbox-client"),
    clientSecret: text("clientSecret", options.clientSecret, "sandbox-secret"),
    expiresIn: integer("expiresIn", options.expiresIn, 1, 31_536_000, 3600),
    faults: typeof faults === "string" ? new Map() : faults,
    wire: renamed(typeof named === "string" ? defaultWire : named, options.wire),
    now: options.now ?? Date.now,
    webhook: {
      url: address("webhook", options.webhook),
      algorithm: algorithm(options.webhookAlgorithm ?? defaults.webhookAlgorithm),
    },
    rate: integer("rate", options.rate, 0, 1000, defaults.rate),
    latency: integer("latency", options.latency, 0, 60_000, defaults.latency),
  }
  if (problems.length > 0) {
    const message = `the sandbox cannot start: ${problems.join("; ")}`
    throw new SandboxError({ reason: "Options", message, problems })
  }
  return { data, service }
}
