/** Makes histories by seed: books with their movements, faults of the service, and the operations of Tieout between them. */
import { day, monthStart, timeOf } from "./Calendar.ts"
import { conversion, convertible } from "./Conversions.ts"
import { withDeliveries } from "./Deliveries.ts"
import { type AccountOf, type Features, Maker, type Span, type Timed } from "./Flow.ts"
import type { Event, History, HistorySettings, Name, Spoiled, Step } from "./History.ts"
import { loans } from "./Loans.ts"
import * as Movements from "./Movements.ts"
import { withPageSizes } from "./PageSizes.ts"
import { type Random, random } from "./Random.ts"
import { withRules } from "./Rules/Ruling.ts"
import { busier, script } from "./Script.ts"
import { withUpkeep } from "./Upkeep.ts"

const zones = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kolkata"] as const
/** Where November 2026 begins twice: at one the clocks are put back to midnight. */
const twice = { timeZone: "America/Havana", first: 20 } as const
const currencies = ["USD", "EUR", "USDT", "JPY", "GBP", "USDC"] as const

export interface Shape {
  readonly features: Features
  /** The most books that a history has: the organization's, and those of clients. */
  readonly books: number
  /** How many more operations than usual a history has. */
  readonly busier?: number
}

/** Whether a history lies around the turn of a year, and its first year is archived in the end. */
export const turnsTheYear = (seed: string): boolean => random(`${seed} turn`).chance(1 / 12)

/**
 * The zone, and the first month of the span. Of a chance of its own, one of twelve times over a month that begins twice, and one of
 * twelve times over the turn of a year.
 */
const whenOf = (seed: string, timeZone: string, first: number) =>
  random(`${seed} twice`).chance(1 / 12) ? twice : { timeZone, first: turnsTheYear(seed) ? 11 : first }

const settingsOf = (chance: Random, clients: number, features: Features): HistorySettings => ({
  timeZone: chance.pick(zones),
  surfaces: [
    "organization",
    ...(clients > 0 ? (["client"] as const) : []),
    ...(features.loans && clients > 0 && chance.chance(0.5) ? (["credit"] as const) : []),
  ],
  view: chance.chance(0.7) ? "lender" : "borrower",
  repaymentAmount: chance.chance(0.8) ? "outstanding" : "original",
  interest: chance.chance(0.6) ? "as_stated" : "when_paid",
  interestBetweenReads: chance.chance(0.7) ? "0" : chance.pick(["0.05", "1", "0.0333"]),
  flatWithdrawalFee: chance.pick(["inside", "none"]),
  method: chance.pick(["average", "fifo"]),
  pageSize: chance.weighted([
    [2, 2],
    [2, 3],
    [3, 10],
  ]),
  newestFirst: chance.chance(0.5),
  endCursorOnLastPage: chance.chance(0.7),
  numberedPages: chance.chance(0.4),
})

const accountsOf = (maker: Maker): ReadonlyArray<AccountOf> => {
  const { random: chance, span } = maker
  const chosen = chance.shuffled(currencies).slice(0, chance.whole(1, 3))
  return chosen.map((currency) => {
    const account = { name: maker.name("a"), currency }
    const opening = chance.chance(0.6)
      ? 0n
      : chance.chance(0.8)
        ? maker.amount(currency)
        : -maker.amount(currency)
    // Some accounts are opened later.
    const from = monthStart(span.timeZone, span.first)
    const at = chance.chance(0.8) ? from : maker.later(from)
    maker.put(at, {
      ...{ what: "account", account: account.name, book: maker.book, currency },
      opening: maker.text(opening, currency),
    })
    return account
  })
}

/** Makes one movement of the book. */
const movement = (maker: Maker, accounts: ReadonlyArray<AccountOf>): void => {
  const { book, features, random: chance } = maker
  const [first, second] = chance.shuffled(accounts)
  if (first === undefined) return
  chance.weighted<() => void>([
    [5, () => void Movements.deposit(maker, first)],
    [5, () => void Movements.withdrawal(maker, first)],
    [book === "org" ? 1 : 0, () => Movements.payout(maker, first)],
    [1, () => Movements.adjustment(maker, first)],
    [0.4, () => Movements.older(maker, first)],
    [features.zeroRows ? 0.5 : 0, () => Movements.zero(maker, first)],
    [features.enriched ? 0.6 : 0, () => Movements.enriched(maker, first)],
    [
      features.conversions && second !== undefined && convertible(first, second) ? 5 : 0,
      () => {
        if (second !== undefined) conversion(maker, first, second)
      },
    ],
  ])()
}

/** Makes loans in the book that has their cash: the organization's, or the client's in the borrower's view. */
const lending = (
  maker: Maker,
  [account, ...others]: ReadonlyArray<AccountOf>,
  clients: ReadonlyArray<Name>,
  settings: HistorySettings,
): void => {
  const lender = settings.view === "lender"
  const [first, ...more] = lender ? clients : [maker.book]
  if (account === undefined || first === undefined || lender !== (maker.book === "org")) return
  if (!settings.surfaces.includes("credit") || !(lender || maker.random.chance(0.3))) return
  const lent = maker.random.whole(1, 2)
  for (let index = 0; index < lent; index++)
    loans(maker, { account, others, clients: [first, ...more], settings })
}

/** Makes an account or a client go away, for a while or for good. */
const absences = (maker: Maker, names: ReadonlyArray<Name>): void => {
  const { features, random: chance } = maker
  for (const of of names) {
    if (!chance.chance(0.04)) continue
    const access = chance.pick(["unlisted", "gone", "forbidden"] as const)
    const at = maker.time()
    maker.put(at, { what: "access", of, access })
    if (!features.goneAccounts || chance.chance(0.8)) {
      maker.put(maker.later(at), { what: "access", of, access: "served" })
    }
  }
}

/** Resources that are sent malformed or with an unknown status for a while. */
const spoiled = (maker: Maker): void => {
  const { random: chance, steps } = maker
  for (const { at, event } of [...steps]) {
    if (event.what !== "resource" || !chance.chance(0.05)) continue
    const how = chance.pick<Spoiled>(["amount", "missing", "status"])
    const { resource } = event
    const from = chance.chance(0.6) ? Date.parse(at) : maker.later(Date.parse(at))
    maker.put(from, { what: "spoiled", resource, how })
    if (chance.chance(0.8)) maker.put(maker.later(from), { what: "restored", resource })
  }
}

/** An entry that is sent under the identifier of an entry on another account, which a sync has read before. */
const misnamed = (maker: Maker): ReadonlyArray<Timed> => {
  const entries = maker.steps.flatMap(({ at, event }) => (event.what === "entry" ? [{ at, ...event }] : []))
  const { random: chance } = maker
  for (const one of entries) {
    if (!chance.chance(0.05)) continue
    const others = entries.filter(({ account, at }) => account !== one.account && at < one.at)
    const [first, ...more] = others
    if (first === undefined) continue
    const at = Date.parse(one.at)
    maker.put(at, { what: "misnamed", entry: one.entry, as: chance.pick([first, ...more]).entry })
    if (chance.chance(0.8)) maker.put(maker.later(at), { what: "mended", entry: one.entry })
  }
  return maker.steps
}

const inOrder = (steps: ReadonlyArray<Timed>): ReadonlyArray<Timed> =>
  // The sort is stable: steps of one flow at the same time keep their order.
  [...steps].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))

/** Makes the history of a seed. */
export const generate = (seed: string, { books, busier: more = 0, features }: Shape): History => {
  const chance = random(seed)
  const clients = Array.from({ length: chance.whole(0, books - 1) }, (_, index): Name => `k${index + 1}`)
  const chosen = settingsOf(chance, clients.length, features)
  const { first, timeZone } = whenOf(seed, chosen.timeZone, chance.whole(0, 11))
  const settings: HistorySettings = { ...chosen, timeZone }
  const span: Span = { timeZone, first, last: first + chance.whole(1, 2) }
  const started = monthStart(span.timeZone, first) - day
  const organization = new Maker(chance, "org", span, features)
  const steps: Array<Timed> = []
  for (const client of clients) {
    const event = (status: string): Event => ({ what: "client", client, status })
    const late = chance.chance(0.15)
    steps.push({ at: timeOf(started), event: event(late ? "ONBOARDING" : "ACTIVE") })
    if (late) steps.push({ at: timeOf(organization.time()), event: event("ACTIVE") })
  }
  for (const book of ["org", ...clients]) {
    const maker = book === "org" ? organization : new Maker(chance, book, span, features)
    const accounts = accountsOf(maker)
    const movements = chance.whole(1, 5)
    for (let index = 0; index < movements; index++) movement(maker, accounts)
    lending(maker, accounts, clients, settings)
    absences(maker, [...accounts.map(({ name }) => name), ...(book === "org" ? [] : [book])])
    spoiled(maker)
    steps.push(...misnamed(maker))
  }
  const end = monthStart(span.timeZone, span.last + 1) + day
  const happened: ReadonlyArray<Step> = inOrder(steps)
  const played = script(chance, span, happened)
  const history = { seed, settings, end: timeOf(end), steps: busier(chance, span, played, more) }
  return withUpkeep(withDeliveries(withPageSizes(withRules(history)), span))
}
