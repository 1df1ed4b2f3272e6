/** The faults with their default rates: a percentage of requests; for `limit`, requests per second. */
const usual = {
  limit: 20,
  unavailable: 2,
  reset: 2,
  truncate: 2,
  slow: 5,
  "expire-token": 1,
  "expire-cursor": 5,
  repeat: 10,
  change: 10,
  redirect: 1,
} as const

export type FaultName = keyof typeof usual

export const faultNames = Object.keys(usual)

const isFault = (name: string): name is FaultName => Object.hasOwn(usual, name)

/** Rates by fault; what is missing does not happen. */
export type FaultPlan = ReadonlyMap<FaultName, number>

/** All transient faults: they meet about five requests in a hundred. */
const wild: FaultPlan = new Map([
  ["unavailable", 1],
  ["reset", 0.8],
  ["truncate", 0.8],
  ["slow", 0.9],
  ["expire-token", 0.2],
  ["expire-cursor", 0.3],
  ["repeat", 0.5],
  ["change", 0.5],
])

const expected = `expected none, or some of wild, ${faultNames.join(", ")}, separated by commas, each with :rate if need be`

/** Parses `none`, `wild` or `name[:rate][,…]`; later entries override earlier ones. A text result is an error message. */
export const readFaults = (text: string): FaultPlan | string => {
  const plan = new Map<FaultName, number>()
  if (text === "none" || text === "") return plan
  for (const part of text.split(",")) {
    const [name = "", rate, ...more] = part.trim().split(":")
    const refused = `found ${JSON.stringify(part)}, ${expected}`
    if (more.length > 0) return refused
    if (name === "wild" && rate === undefined) for (const [fault, often] of wild) plan.set(fault, often)
    else if (isFault(name)) {
      const often = rate === undefined ? usual[name] : /^\d{1,6}(\.\d{1,4})?$/.test(rate) ? Number(rate) : -1
      const most = name === "limit" ? 100_000 : 100
      if (often <= 0 || often > most) return `found ${JSON.stringify(part)}, expected a rate up to ${most}`
      plan.set(name, often)
    } else return refused
  }
  return plan
}

/** A plan as `readFaults` reads it. */
export const printFaults = (plan: FaultPlan): string =>
  plan.size === 0 ? "none" : [...plan].map(([name, rate]) => `${name}:${rate}`).join(",")
