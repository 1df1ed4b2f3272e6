/** Paths below the base path; `{accountId}` and the like stand for the identifier. */
export interface WirePaths {
  readonly token: string
  readonly accounts: string
  readonly account: string
  readonly depositInstructions: string
  readonly statement: string
  readonly deposits: string
  readonly deposit: string
  readonly withdrawals: string
  readonly withdrawal: string
  readonly conversion: string
  readonly conversionPairs: string
  readonly destinations: string
  readonly subscriptions: string
}

/** An operation of the service. */
export type Endpoint = keyof WirePaths

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
  },
}

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

/** Finds the endpoint and the identifier that a path below the base path means. */
export const router = (paths: WirePaths) => {
  const fixed = new Map<string, Endpoint>()
  const patterns: Array<{ endpoint: Endpoint; prefix: string; suffix: string }> = []
  const add = (endpoint: Endpoint) => {
    const [prefix = "", suffix] = paths[endpoint].split(/\{\w+\}/)
    if (suffix === undefined) fixed.set(prefix, endpoint)
    else patterns.push({ endpoint, prefix, suffix })
  }
  for (const endpoint of Object.keys(defaultWire.paths)) if (isEndpoint(endpoint)) add(endpoint)
  return (path: string): { endpoint: Endpoint; id: string } | undefined => {
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

const isEndpoint = (name: string): name is Endpoint => Object.hasOwn(defaultWire.paths, name)
