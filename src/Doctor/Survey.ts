/** Looks for the lists of a surface at the paths of the profile and, where the interface shows none, at guessed paths. */
import { Effect, Either } from "effect"
import { isBelowClients } from "../Partner/Lists/ClientLists.ts"
import { areShownById } from "../Partner/PublicKeys.ts"
import { isFields } from "../Partner/Wire/Fields.ts"
import type { Interface } from "../Settings/Interface.ts"
import { type Ask, outcomeText } from "./Ask.ts"
import type { Endpoint, ListEndpoint, Place, Surface } from "./Endpoints.ts"
import * as Endpoints from "./Endpoints.ts"
import { activeClient, likelyAccounts, textAt } from "./Examine.ts"
import * as Shape from "./Shape.ts"

/** A list's first page, requested without parameters, since their names are unknown. */
export interface Sample {
  readonly endpoint: ListEndpoint
  readonly path: string
  readonly rows: ReadonlyArray<unknown>
  /** Whether the rows have the expected identifier. */
  readonly known: boolean
  /** Candidate fields of its items, and of its PageInfo. */
  readonly itemsFields: ReadonlyArray<string>
  readonly pageInfoFields: ReadonlyArray<string>
  readonly hasNextPage: boolean
}

export interface Undetermined {
  readonly setting: string
  readonly reason: string
  /** Whether a sync cannot work before this is known. */
  readonly blocking: boolean
}

/** A path below the surface's prefix; null: none was found, and the profile should say null. */
interface FoundPath {
  readonly surface: Surface
  readonly key: Endpoint["key"]
  readonly path: string | null
}

export interface Survey {
  readonly samples: ReadonlyArray<Sample>
  readonly paths: ReadonlyArray<FoundPath>
  readonly undetermined: ReadonlyArray<Undetermined>
  /** Single resources to read for Money objects where no list has any. */
  readonly resources: ReadonlyArray<{ readonly endpoint: Endpoint; readonly path: string }>
}

interface Findings {
  readonly samples: Array<Sample>
  readonly paths: Array<FoundPath>
  readonly undetermined: Array<Undetermined>
  readonly resources: Array<{ readonly endpoint: Endpoint; readonly path: string }>
}

const sampleOf = (endpoint: ListEndpoint, path: string, answer: unknown): Sample | undefined => {
  const lists = Shape.lists(answer, endpoint.idField)
  const [first] = lists
  if (first === undefined) return undefined
  const pageInfoFields = Shape.pageInfos(answer)
  const hasNextPage = pageInfoFields.some((field) => {
    const info = Shape.at(answer, field)
    return isFields(info) && info.hasNextPage === true
  })
  const itemsFields = lists.map((list) => list.path)
  return { endpoint, path, rows: first.rows, known: first.known, itemsFields, pageInfoFields, hasNextPage }
}

interface Found {
  readonly template: string
  readonly sample: Sample
}

type Sought =
  | { readonly found: Found }
  | { readonly found: undefined; readonly absent: boolean; readonly reason: string }

/** The first path that answers with rows of the right kind, else the first that answers with an empty list. */
const seek = Effect.fn("Doctor.seek")(function* (
  ask: Ask,
  place: Place,
  endpoint: ListEndpoint,
  identifier = "",
) {
  const configured = place.template(endpoint)
  const guesses = (endpoint.guesses ?? []).map(place.below)
  const all = configured === null ? guesses : [configured, ...guesses]
  // A list below each client needs a client to try it with.
  const untried = (path: string) => place.surface === "credit" && identifier === "" && isBelowClients(path)
  const templates = new Set(all.filter((path) => !untried(path)))
  let empty: Found | undefined
  let refusal: string | undefined
  for (const template of templates) {
    const path = place.fill(template, identifier)
    const answer = yield* ask(endpoint.key, path)
    if (Either.isLeft(answer)) {
      if (answer.left.status !== 404 && answer.left.status !== 405)
        refusal ??= `${template} ${outcomeText(answer.left)}`
      continue
    }
    const sample = sampleOf(endpoint, path, answer.right.value)
    // The rows of a guessed path must prove it right; a configured path needs no proof.
    if (sample === undefined) {
      refusal ??= `${template} answers without a list: ${Shape.describe(answer.right.value)}`
    } else if (sample.known || (template === configured && sample.rows.length > 0)) {
      return { found: { template, sample } } satisfies Sought
    } else if (sample.rows.length === 0) empty ??= { template, sample }
  }
  if (empty !== undefined) return { found: empty } satisfies Sought
  const tried = [...templates].join(", ")
  return {
    found: undefined,
    absent: refusal === undefined,
    reason: refusal ?? `there is nothing at ${tried}`,
  } satisfies Sought
})

const record = (findings: Findings, place: Place, endpoint: ListEndpoint, sought: Sought): void => {
  const configured = place.template(endpoint)
  if (sought.found !== undefined) {
    const { sample, template } = sought.found
    findings.samples.push(sample)
    if (template !== configured) {
      const path = template.slice(place.below("").length)
      findings.paths.push({ surface: place.surface, key: endpoint.key, path })
    }
    return
  }
  // The profile says there is none, and none was found.
  if (configured === null) return
  const setting = place.setting(endpoint)
  const { absent, reason } = sought
  if (endpoint.guesses === null) {
    const advice = absent
      ? "; this path is documented, another one cannot be guessed: ask the partner for it"
      : ""
    findings.undetermined.push({ setting, reason: reason + advice, blocking: endpoint.essential })
    return
  }
  // Never null: that would leave out for good what the surface has. Only a person can know that there is no such list.
  if (absent && endpoint.dispensable) {
    const note = `${reason}; ask the partner for its path, and set null only where there is no such list`
    findings.undetermined.push({ setting, reason: note, blocking: false })
  } else findings.undetermined.push({ setting, reason, blocking: endpoint.essential })
}

const survey = Effect.fn("Doctor.survey")(function* (
  ask: Ask,
  findings: Findings,
  place: Place,
  endpoint: ListEndpoint,
  identifier?: string,
) {
  const configured = place.template(endpoint)
  if (configured === null && endpoint.guesses === null) return []
  const sought = yield* seek(ask, place, endpoint, identifier)
  record(findings, place, endpoint, sought)
  return sought.found?.sample.rows ?? []
})

/** Statements of some accounts: one with entries shows the path, and a long one the paging parameters. */
const statements = Effect.fn("Doctor.surveyStatements")(function* (
  ask: Ask,
  findings: Findings,
  place: Place,
  accounts: ReadonlyArray<string>,
) {
  const setting = place.setting(Endpoints.statement)
  if (accounts.length === 0) {
    findings.undetermined.push({
      setting,
      reason: "there is no account whose statement to ask for",
      blocking: false,
    })
    return []
  }
  const rows: Array<unknown> = []
  let best: Sought | undefined
  for (const accountId of accounts) {
    if (best?.found?.sample.known === true) {
      const path = place.fill(best.found.template, accountId)
      const answer = yield* ask("statement", path)
      const sample = Either.isRight(answer) && sampleOf(Endpoints.statement, path, answer.right.value)
      if (sample) findings.samples.push(sample)
      if (sample) rows.push(...sample.rows)
    } else {
      const sought = yield* seek(ask, place, Endpoints.statement, accountId)
      if (best === undefined || sought.found?.sample.known === true) best = sought
      rows.push(...(sought.found?.sample.rows ?? []))
    }
  }
  if (best !== undefined) record(findings, place, Endpoints.statement, best)
  return rows
})

const related = [
  ["DEPOSIT", Endpoints.deposit],
  ["WITHDRAWAL", Endpoints.withdrawal],
  ["CONVERSION", Endpoints.conversion],
] as const

const book = Effect.fn("Doctor.surveyBook")(function* (ask: Ask, findings: Findings, place: Place) {
  const accounts = likelyAccounts(yield* survey(ask, findings, place, Endpoints.accounts))
  const entries = yield* statements(ask, findings, place, accounts)
  for (const [type, endpoint] of related) {
    const entry = entries.find((row) => textAt(row, "relatedResourceType") === type)
    const id = textAt(entry, "relatedResourceId")
    const template = place.template(endpoint)
    if (id !== undefined && template !== null)
      findings.resources.push({ endpoint, path: place.fill(template, id) })
  }
  const { addressBook, conversionPairs, conversions, deposits, withdrawals } = Endpoints
  for (const endpoint of [deposits, withdrawals, conversions, conversionPairs, addressBook]) {
    yield* survey(ask, findings, place, endpoint)
  }
})

/** Every list of the surfaces that could be found. */
export const surveyAll = Effect.fn("Doctor.surveyAll")(function* (
  ask: Ask,
  profile: Interface,
  surfaces: ReadonlyArray<Surface>,
) {
  const findings: Findings = { samples: [], paths: [], undetermined: [], resources: [] }
  if (surfaces.includes("organization")) yield* book(ask, findings, Endpoints.organization(profile))
  if (surfaces.includes("client")) {
    const register = Endpoints.register(profile, "client")
    const clientId = activeClient(yield* survey(ask, findings, register, Endpoints.clients))
    if (clientId === undefined) {
      const reason =
        "no client on the page that was read is ACTIVE, so that the paths below it cannot be tried"
      findings.undetermined.push({ setting: "interface.clientPaths", reason, blocking: false })
    } else yield* book(ask, findings, Endpoints.client(profile, clientId))
  }
  const shared = Endpoints.credit(profile)
  if (surfaces.includes("credit")) {
    const { clients, creditAccounts, paymentRails, receivables } = Endpoints
    const clientId = activeClient(yield* survey(ask, findings, shared, clients))
    yield* survey(ask, findings, shared, paymentRails)
    for (const endpoint of [receivables, creditAccounts]) {
      yield* survey(ask, findings, shared, endpoint, clientId)
    }
  }
  if (areShownById(profile.paths.publicKeys)) {
    const reason =
      "keys are asked for by the identifier that a delivery names, so that this path cannot be tried"
    findings.undetermined.push({ setting: "interface.paths.publicKeys", reason, blocking: false })
  } else yield* survey(ask, findings, shared, Endpoints.publicKeys)
  return findings satisfies Survey
})
