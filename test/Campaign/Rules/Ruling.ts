/**
 * Posting rules of a history: the fields of its movements by which they match, the rules at the beginning, their changes, and when
 * they are applied to what is booked. They draw from a random sequence of their own, so that the rest of the history is unaffected.
 */
import type { Event, History, Name, Operation, RuleText, Said, Step } from "../History.ts"
import { type Random, random } from "../Random.ts"
import { destinations } from "./Destinations.ts"

const remitters = ["Acme Ltd", "Blue Ocean GmbH", "acme trading"] as const
const texts = ["Payroll June", "Invoice 2025/17", "rent (north)"] as const
const externals = ["po-1001", "po-2002", "PAY.7"] as const

const maybe = <A>(chance: Random, value: A): A | undefined => (chance.chance(0.75) ? value : undefined)

const saidOf = (chance: Random, event: Extract<Event, { what: "resource" }>): Said => {
  const remitter = maybe(chance, chance.pick(remitters))
  const text = maybe(chance, chance.pick(texts))
  const destination = maybe(chance, chance.pick(destinations))
  const externalReference = maybe(chance, chance.pick(externals))
  const external = externalReference === undefined ? {} : { externalReference }
  switch (event.content.type) {
    case "DEPOSIT":
      return { ...external, ...(remitter === undefined ? {} : { remitter }) }
    case "WITHDRAWAL":
      return {
        ...external,
        ...(text === undefined ? {} : { text }),
        ...(destination === undefined ? {} : { destination }),
      }
    case "CONVERSION":
      return external
  }
}

type Match = RuleText["match"]

/** The values that rules can match. */
interface Named {
  readonly accounts: ReadonlyArray<Name>
  readonly clients: ReadonlyArray<Name>
}

const oneOf = (chance: Random, names: ReadonlyArray<Name>): Name => {
  const [first, ...more] = names
  return first === undefined ? "nobody" : chance.pick([first, ...more])
}

/** One criterion of every kind that the settings take. */
const criteria: ReadonlyArray<(chance: Random, named: Named) => Match> = [
  (chance) => ({ type: chance.pick(["DEPOSIT", "WITHDRAWAL", "PAYOUT", "ADJUSTMENT"]) }),
  (chance) => ({ direction: chance.pick(["CREDIT", "DEBIT"]) }),
  (chance) => ({ destination: chance.pick(destinations) }),
  (chance) => ({ remitter: chance.pick(["^Acme", "[Aa]cme", "GmbH$", "^Ocean", "(?:Blue|Green) "]) }),
  (chance) => ({ counterparty: chance.pick(["North", "^North Bank", "FR\\d+$", "Acme", "^TRON", "01"]) }),
  (chance) => ({ purpose: chance.pick(["^Payroll", "\\d{4}/17", "north", "."]) }),
  (chance) => ({ reference: chance.pick(["^Payroll", "Invoice|rent", "\\(north\\)$"]) }),
  (chance) => ({ externalReference: chance.pick(["^po-", "2002$", "^PAY\\.7$", "^PAY77"]) }),
  (chance, { clients }) => ({ client: oneOf(chance, clients) }),
  (chance, { accounts }) => ({ account: oneOf(chance, accounts) }),
  (chance) => ({ currency: chance.pick(["USD", "EUR", "USDT", "JPY", "GBP", "USDC"]) }),
]

const ruleOf = (chance: Random, named: Named): RuleText => {
  const count = chance.weighted([
    [5, 1],
    [4, 2],
    [1, 3],
  ])
  const chosen = chance.shuffled(criteria).slice(0, count)
  const match = Object.assign({}, ...chosen.map((criterion) => criterion(chance, named)))
  return {
    match,
    // Persons also move lines to the last code.
    code: chance.pick(["5101", "5102", "5103", "4711"]),
    ...(chance.chance(0.2) ? { capitals: true } : {}),
  }
}

const rulesOf = (chance: Random, named: Named): ReadonlyArray<RuleText> =>
  Array.from({ length: chance.whole(1, 4) }, () => ruleOf(chance, named))

/** The share of histories with rules. */
const share = 0.6

/** Inserts operations between the steps at one time, at a place from `from` on. Answers the place after them. */
const spliced = (
  chance: Random,
  steps: Array<Step>,
  from: number,
  operations: ReadonlyArray<Operation>,
): number => {
  const place = Math.max(chance.whole(from, steps.length), chance.whole(from, steps.length))
  const at = steps[place - 1]?.at ?? steps[0]?.at
  if (at === undefined) return from
  steps.splice(place, 0, ...operations.map((operation) => ({ at, operation })))
  return place + operations.length
}

/** Somebody changes the rules, mostly after a sync, and mostly applies them to what is booked then or later. */
const changed = (chance: Random, named: Named, steps: Array<Step>, nth: number): void => {
  const rules = chance.chance(0.85) ? rulesOf(chance, named) : []
  const read: ReadonlyArray<Operation> = chance.chance(0.7) ? [{ do: "sync" }] : []
  const place = spliced(chance, steps, 0, [...read, { do: "rules", rules }])
  if (!chance.chance(0.75)) return
  const rerule = { do: "rerule" as const, nth }
  const after = chance.whole(1, 6)
  const applied = chance.weighted<Operation>([
    [8, rerule],
    [1, { do: "stopped", of: rerule, after }],
    [1, { do: "cut", of: rerule, after }],
  ])
  if (chance.chance(0.5)) spliced(chance, steps, place, [applied])
  else steps.splice(place, 0, { at: steps[place - 1]?.at ?? "", operation: applied })
}

/** Adds posting rules to some of the histories. */
export const withRules = (history: History): History => {
  const chance = random(`rules ${history.seed}`)
  if (!chance.chance(share)) return history
  const events = history.steps.flatMap((step) => ("event" in step ? [step.event] : []))
  const named: Named = {
    accounts: events.flatMap((event) => (event.what === "account" ? [event.account] : [])),
    clients: [...new Set(events.flatMap((event) => (event.what === "client" ? [event.client] : [])))],
  }
  const steps: Array<Step> = history.steps.map((step) =>
    "event" in step && step.event.what === "resource"
      ? { ...step, event: { ...step.event, said: saidOf(chance, step.event) } }
      : step,
  )
  const rules = chance.chance(0.7) ? rulesOf(chance, named) : []
  const changes = chance.whole(0, 2)
  for (let nth = 1; nth <= changes; nth++) changed(chance, named, steps, nth)
  return { ...history, settings: { ...history.settings, rules }, steps }
}
