/** Calls each endpoint of a connection's surfaces through its profile. */
import { Array as Arr, Effect, Either } from "effect"
import { isBelowClients } from "../Partner/Lists/ClientLists.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import { isFields } from "../Partner/Wire/Fields.ts"
import { hasOwnParameters, type Interface, pagingOf, pagingSetting } from "../Settings/Interface.ts"
import { type Ask, queryOf, sized } from "./Ask.ts"
import type { Endpoint, ListEndpoint, Place, Surface } from "./Endpoints.ts"
import * as Endpoints from "./Endpoints.ts"
import { type Finding, untried } from "./Finding.ts"
import * as Judge from "./Judge.ts"
import { type Listed, shorten, turn } from "./Turn.ts"

export interface EndpointReport extends Finding {
  readonly surface: Surface | null
  readonly endpoint: string
  /** The path of the profile, `{…}` for identifiers; null where the profile has none. */
  readonly path: string | null
}

/** The most statements read in search of entries, and of one that names a conversion. */
const accountsRead = 5

export const textAt = (row: unknown, key: string): string | undefined => {
  const value = isFields(row) ? row[key] : undefined
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Accounts that probably have a history come first. */
export const likelyAccounts = (rows: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const weight = (row: unknown) =>
    Number(textAt(row, "status") === "ACTIVE") + Number(/[1-9]/.test(textAt(row, "balance") ?? "")) * 2
  return [...rows]
    .sort((a, b) => weight(b) - weight(a))
    .flatMap((row) => textAt(row, "accountId") ?? [])
    .slice(0, accountsRead)
}

/** Only active clients may be used ("only `ACTIVE` clients can use client-scoped operations"). */
export const activeClient = (rows: ReadonlyArray<unknown>): string | undefined =>
  rows.filter((row) => textAt(row, "status") === "ACTIVE").flatMap((row) => textAt(row, "clientId") ?? [])[0]

/** The state of an examination. */
interface Visit {
  readonly ask: Ask
  readonly profile: Interface
  readonly reports: Array<EndpointReport>
  /** Lists that could be opened, of which one serves to test paging. */
  readonly lists: Array<Listed>
}

const note = (visit: Visit, place: Place, endpoint: Endpoint, finding: Finding): void => {
  const path = place.template(endpoint)
  visit.reports.push({ surface: place.surface, endpoint: endpoint.key, path, ...finding })
}

/** A list may be refused because of its page size: asks again without a size, and with a small one. */
const refused = Effect.fn("Doctor.refused")(function* (
  { ask, profile }: Visit,
  error: PartnerError,
  endpoint: ListEndpoint,
  path: string,
  setting: string,
) {
  const paging = pagingOf(profile, endpoint.key)
  const plain = Judge.ofError(error, endpoint, setting)
  if (error.reason !== "Rejected" || paging.sizeParam === null) return plain
  if (Either.isLeft(yield* ask(endpoint.key, path))) return plain
  const small = Either.isRight(yield* ask(endpoint.key, path, queryOf(sized(paging, 1))))
  const key = pagingSetting(profile, endpoint.key, small ? "size" : "sizeParam")
  const advice = small
    ? `A page of 1 is given, one of ${paging.size} is not: set ${key} to less.`
    : `Without the parameter ${paging.sizeParam} it is answered: set ${key} to the right one, or to null.`
  return { ...plain, settings: [key], advice }
})

/**
 * Reads one page of a list; returns its rows where it could be opened. `owner`: for a statement its account, for a list below each
 * client its client.
 */
const read = Effect.fn("Doctor.read")(function* (
  visit: Visit,
  place: Place,
  endpoint: ListEndpoint,
  owner = "",
) {
  const { ask, lists, profile } = visit
  const paging = pagingOf(profile, endpoint.key)
  const template = place.template(endpoint)
  const setting = place.setting(endpoint)
  if (template === null) {
    return {
      finding: untried(`${setting} is null: there is no such list`, [setting]),
      page: undefined,
      rows: [],
    }
  }
  const path = place.fill(template, owner)
  const answer = yield* ask(endpoint.key, path, queryOf(sized(paging, paging.size)))
  if (Either.isLeft(answer)) {
    return { finding: yield* refused(visit, answer.left, endpoint, path, setting), page: undefined, rows: [] }
  }
  const judged = Judge.ofList(answer.right, endpoint, profile, setting, owner)
  if (judged.page !== undefined) lists.push({ endpoint, path, page: judged.page })
  return judged
})

const list = Effect.fn("Doctor.list")(function* (visit: Visit, place: Place, endpoint: ListEndpoint) {
  const { finding, rows } = yield* read(visit, place, endpoint)
  note(visit, place, endpoint, finding)
  return rows
})

/** Reads one object by its identifier; `why`: the reason where there is no identifier to try. */
const single = Effect.fn("Doctor.single")(function* (
  visit: Visit,
  place: Place,
  endpoint: Endpoint,
  id: string | undefined,
  why: string,
) {
  const template = place.template(endpoint)
  const setting = place.setting(endpoint)
  if (template === null) return note(visit, place, endpoint, untried(`${setting} is null`, [setting]))
  if (id === undefined) return note(visit, place, endpoint, untried(why))
  const answer = yield* visit.ask(endpoint.key, place.fill(template, id))
  const finding = Either.isLeft(answer)
    ? Judge.ofError(answer.left, endpoint, setting)
    : Judge.ofObject(answer.right, endpoint, visit.profile, setting, id)
  note(visit, place, endpoint, finding)
})

/** The path is not to blame for accounts that answer 404 while others have a statement. */
const besides = (found: Finding, asked: number, absent: number): Finding => ({
  ...found,
  verdict: "wrong",
  severity: "error",
  detail: `${absent} of the ${asked} accounts that were asked for ${absent === 1 ? "answers" : "answer"} 404; others: ${found.detail}`,
  advice:
    "The path is right. Ask the partner why these accounts have no statement; until they have one, each is a finding that a close can accept.",
})

/** Reads statements until one names a conversion; reports the first statement that has entries. */
const statements = Effect.fn("Doctor.statements")(function* (
  visit: Visit,
  place: Place,
  accounts: ReadonlyArray<string>,
) {
  let reported: { readonly finding: Finding; readonly rows: number } | undefined
  let absent: Finding | undefined
  let [asked, without] = [0, 0]
  const related = new Map<string, string>()
  for (const accountId of accounts) {
    const { finding, page, rows } = yield* read(visit, place, Endpoints.statement, accountId)
    asked += 1
    if (finding.verdict === "notThere") {
      absent ??= finding
      without += 1
      continue
    }
    for (const row of rows) {
      const type = textAt(row, "relatedResourceType")
      const id = textAt(row, "relatedResourceId")
      if (type !== undefined && id !== undefined && !related.has(type)) related.set(type, id)
    }
    // The first statement with entries says most, unless a later one cannot be read.
    if (reported === undefined || reported.rows === 0 || finding.severity === "error")
      reported = { finding, rows: rows.length }
    if (page === undefined || related.has("CONVERSION")) break
  }
  const found = reported?.finding ?? absent ?? untried("there is no account to ask for")
  const isMixed = reported?.finding.verdict === "ok" && without > 0
  note(visit, place, Endpoints.statement, isMixed ? besides(found, asked, without) : found)
  return related
})

const firstId = (rows: ReadonlyArray<unknown>, idField: string): string | undefined =>
  rows.flatMap((row) => textAt(row, idField) ?? [])[0]

/** The endpoints that the organization surface and each client share. */
const book = Effect.fn("Doctor.book")(function* (visit: Visit, place: Place) {
  const accounts = likelyAccounts(yield* list(visit, place, Endpoints.accounts))
  const noAccount = "there is no account to ask for"
  yield* single(visit, place, Endpoints.account, accounts[0], noAccount)
  yield* single(visit, place, Endpoints.depositInstructions, accounts[0], noAccount)
  const related = yield* statements(visit, place, accounts)
  const named = (what: string) => `neither a list nor a statement entry that was read names a ${what}`
  const deposits = yield* list(visit, place, Endpoints.deposits)
  const depositId = firstId(deposits, "depositId") ?? related.get("DEPOSIT")
  yield* single(visit, place, Endpoints.deposit, depositId, named("deposit"))
  const withdrawals = yield* list(visit, place, Endpoints.withdrawals)
  const withdrawalId = firstId(withdrawals, "withdrawalId") ?? related.get("WITHDRAWAL")
  yield* single(visit, place, Endpoints.withdrawal, withdrawalId, named("withdrawal"))
  const conversions = yield* list(visit, place, Endpoints.conversions)
  const conversionId = firstId(conversions, "conversionId") ?? related.get("CONVERSION")
  yield* single(visit, place, Endpoints.conversion, conversionId, named("conversion"))
  yield* list(visit, place, Endpoints.conversionPairs)
  yield* list(visit, place, Endpoints.addressBook)
})

const noActiveClient = "no client on the page that was read is ACTIVE"

const client = Effect.fn("Doctor.client")(function* (visit: Visit) {
  const register = Endpoints.register(visit.profile, "client")
  const clientId = activeClient(yield* list(visit, register, Endpoints.clients))
  if (clientId !== undefined) return yield* book(visit, Endpoints.client(visit.profile, clientId))
  const place = Endpoints.client(visit.profile, "")
  note(visit, place, Endpoints.accounts, untried(noActiveClient))
})

const credit = Effect.fn("Doctor.credit")(function* (visit: Visit) {
  const place = Endpoints.credit(visit.profile)
  const clientId = activeClient(yield* list(visit, place, Endpoints.clients))
  yield* list(visit, place, Endpoints.paymentRails)
  for (const endpoint of [Endpoints.receivables, Endpoints.creditAccounts]) {
    if (!isBelowClients(place.template(endpoint) ?? "")) yield* list(visit, place, endpoint)
    else if (clientId === undefined) note(visit, place, endpoint, untried(noActiveClient))
    else note(visit, place, endpoint, (yield* read(visit, place, endpoint, clientId)).finding)
  }
})

/** Two reports on paging: with the common parameters, and with those of each kind of list that has its own. */
const pagings = Effect.fn("Doctor.pagings")(function* ({ ask, lists, profile, reports }: Visit) {
  const own = (list: Listed) => hasOwnParameters(profile, list.endpoint.key)
  const apart = Arr.groupBy(lists.filter(own), ({ endpoint }) => endpoint.key)
  const common = lists.filter((list) => !own(list))
  const groups = Object.values(apart)
  for (const group of common.length === 0 && groups.length > 0 ? groups : [common, ...groups]) {
    const size = yield* shorten(ask, group, profile)
    const paging = yield* turn(ask, group, profile)
    reports.push({ surface: null, endpoint: "pageSize", path: null, ...size })
    reports.push({ surface: null, endpoint: "paging", path: null, ...paging })
  }
})

/** One report per endpoint, in the order in which they were called, and those on paging. */
export const examine = Effect.fn("Doctor.examine")(function* (
  ask: Ask,
  profile: Interface,
  surfaces: ReadonlyArray<Surface>,
) {
  const visit: Visit = { ask, profile, reports: [], lists: [] }
  if (surfaces.includes("organization")) yield* book(visit, Endpoints.organization(profile))
  if (surfaces.includes("client")) yield* client(visit)
  if (surfaces.includes("credit")) yield* credit(visit)
  yield* pagings(visit)
  return visit.reports
})
