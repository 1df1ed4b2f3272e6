const endpointNames = [
  "token",
  "accounts",
  "account",
  "depositInstructions",
  "statement",
  "deposits",
  "deposit",
  "withdrawals",
  "withdrawal",
  "conversion",
  "conversionPairs",
  "destinations",
  "subscriptions",
  "publicKeys",
  "clients",
  "paymentRails",
  "receivables",
  "creditAccounts",
] as const

/** An operation of the organization and credit surfaces. */
export type Endpoint = (typeof endpointNames)[number]

/** Paths below the base path; `{accountId}` and the like stand for the identifier. */
export type WirePaths = Readonly<Record<Endpoint, string>>

const clientEndpointNames = [
  "accounts",
  "account",
  "depositInstructions",
  "statement",
  "deposits",
  "deposit",
  "withdrawals",
  "withdrawal",
  "conversions",
  "conversion",
  "conversionPairs",
  "destinations",
] as const

/** An operation of the client surface. */
export type ClientEndpoint = (typeof clientEndpointNames)[number]

/** Paths below `prefix`: null is not served, and what does not stand here is as on the organization surface. */
export type ClientPaths = { readonly prefix: string } & {
  readonly [endpoint in ClientEndpoint]?: string | null
}

/** All names that the interface description leaves open: served exactly as they stand here. */
export interface Wire {
  readonly basePath: string
  readonly cursorParam: string
  readonly sizeParam: string
  /** Where a list answer holds its items; dots lead into nested objects. */
  readonly itemsField: string
  /** Where a list answer holds its PageInfo; dots lead into nested objects. */
  readonly pageInfoField: string
  readonly amountField: string
  readonly currencyField: string
  readonly paths: WirePaths
  readonly clientPaths: ClientPaths
}

/** A wire with some of its names left out. */
export type WireOptions = Partial<Omit<Wire, "paths" | "clientPaths">> & {
  readonly paths?: Partial<WirePaths>
  readonly clientPaths?: Partial<ClientPaths>
}

export const defaultWire: Wire = {
  basePath: "/api/v1",
  cursorParam: "after",
  sizeParam: "first",
  itemsField: "items",
  pageInfoField: "pageInfo",
  amountField: "amount",
  currencyField: "currency",
  paths: {
    token: "/oauth/token",
    accounts: "/accounts",
    account: "/accounts/{accountId}",
    depositInstructions: "/accounts/{accountId}/deposit-instructions",
    statement: "/accounts/{accountId}/statement",
    deposits: "/deposits",
    deposit: "/deposits/{depositId}",
    withdrawals: "/withdrawals",
    withdrawal: "/withdrawals/{withdrawalId}",
    conversion: "/conversions/{conversionId}",
    conversionPairs: "/conversion-pairs",
    destinations: "/destinations",
    subscriptions: "/webhooks/subscriptions",
    publicKeys: "/webhooks/public-keys",
    clients: "/clients",
    paymentRails: "/settings/payment-rails",
    receivables: "/receivables",
    creditAccounts: "/credit-accounts",
  },
  // The interface shows no lists of these there.
  clientPaths: { prefix: "/clients/{clientId}", deposits: null, withdrawals: null, conversions: null },
}

/** Puts names in place of those of another wire. */
export const renamed = (wire: Wire, names: WireOptions = {}): Wire => ({
  ...wire,
  ...names,
  paths: { ...wire.paths, ...names.paths },
  clientPaths: { ...wire.clientPaths, ...names.clientPaths },
})

interface Nested {
  [name: string]: Nested | string
}

const place = (target: Nested, path: string, value: string): void => {
  const names = path.split(".")
  const last = names.pop() ?? path
  let at = target
  for (const name of names) {
    const inner = at[name]
    if (typeof inner === "object") at = inner
    else {
      const made: Nested = {}
      at[name] = made
      at = made
    }
  }
  at[last] = value
}

/** Makes the function that wraps rendered items and a rendered PageInfo into a list answer. */
export const envelope = (wire: Wire): ((items: string, pageInfo: string) => string) => {
  const shape: Nested = {}
  place(shape, wire.itemsField, "ITEMS")
  place(shape, wire.pageInfoField, "PAGE")
  const [head = "", rest = ""] = JSON.stringify(shape).split('"ITEMS"')
  const [middle = "", tail = ""] = rest.split('"PAGE"')
  return (items, pageInfo) => `${head}[${items}]${middle}${pageInfo}${tail}`
}

/** Finds the one of some paths that a path means, and the identifier in it. */
const matcher = <E extends string>(paths: ReadonlyArray<readonly [endpoint: E, path: string]>) => {
  const fixed = new Map<string, E>()
  const patterns: Array<{ endpoint: E; prefix: string; suffix: string }> = []
  for (const [endpoint, path] of paths) {
    const [prefix = "", suffix] = path.split(/\{\w+\}/)
    if (suffix === undefined) fixed.set(prefix, endpoint)
    else patterns.push({ endpoint, prefix, suffix })
  }
  return (path: string): { endpoint: E; id: string } | undefined => {
    const exact = fixed.get(path)
    if (exact !== undefined) return { endpoint: exact, id: "" }
    for (const { endpoint, prefix, suffix } of patterns) {
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue
      const id = path.slice(prefix.length, path.length - suffix.length)
      if (id !== "" && !id.includes("/")) return { endpoint, id }
    }
    return undefined
  }
}

/** Asks for something of the organization, or for something of one of its clients. */
export type ResourceRoute =
  | { readonly client: undefined; readonly endpoint: Exclude<Endpoint, "token">; readonly id: string }
  | { readonly client: string; readonly endpoint: ClientEndpoint; readonly id: string }

/** What a path asks for. */
export type Route = { readonly client: undefined; readonly endpoint: "token" } | ResourceRoute

/** Makes the function that finds what a path below the base path asks for. */
export const router = ({ paths, clientPaths }: Wire): ((path: string) => Route | undefined) => {
  const ofOrganization = matcher(endpointNames.map((name) => [name, paths[name]] as const))
  const ofClient = matcher(
    clientEndpointNames.flatMap((name) => {
      const own = clientPaths[name]
      const path = own === undefined && name !== "conversions" ? paths[name] : own
      return path === null || path === undefined ? [] : [[name, path] as const]
    }),
  )
  const [before = "", after = ""] = clientPaths.prefix.split(/\{\w+\}/)
  return (path) => {
    const { endpoint, id = "" } = ofOrganization(path) ?? {}
    if (endpoint === "token") return { client: undefined, endpoint }
    if (endpoint !== undefined) return { client: undefined, endpoint, id }
    if (!path.startsWith(before)) return undefined
    const slash = path.indexOf("/", before.length)
    if (slash < 0 || !path.startsWith(after, slash)) return undefined
    const below = ofClient(path.slice(slash + after.length))
    return below === undefined ? undefined : { client: path.slice(before.length, slash), ...below }
  }
}
