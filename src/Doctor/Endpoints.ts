/** The endpoints that the doctor calls, and what is known of each without the profile. Source: `docs/interface.md`. */
import { fill, forClient } from "../Partner/Address.ts"
import { ofClient } from "../Partner/Lists/ClientLists.ts"
import * as Account from "../Partner/Wire/Account.ts"
import * as Conversion from "../Partner/Wire/Conversion.ts"
import * as Credit from "../Partner/Wire/Credit.ts"
import * as Deposit from "../Partner/Wire/Deposit.ts"
import type { MoneyFields } from "../Partner/Wire/Fields.ts"
import * as ReferenceItem from "../Partner/Wire/ReferenceItem.ts"
import type { Decoder } from "../Partner/Wire/RowDecoder.ts"
import * as StatementEntry from "../Partner/Wire/StatementEntry.ts"
import * as Withdrawal from "../Partner/Wire/Withdrawal.ts"
import type { Interface, ListName } from "../Settings/Interface.ts"
import * as Rows from "./SurveyedRows.ts"

export type Surface = "organization" | "client" | "credit"

export interface Endpoint {
  readonly key: keyof Interface["paths"]
  readonly idField: string
  /** `owner`: for a statement its account, for a list below each client its client. */
  readonly decoder: (names: MoneyFields, owner: string) => Decoder<unknown>
  /** Paths to try where the interface shows none; null where it shows the path. */
  readonly guesses: ReadonlyArray<string> | null
  /** Without it a sync reads no books. */
  readonly essential: boolean
  /** The profile may say null: the service has no such thing. */
  readonly dispensable: boolean
}

/** One that lists things, page by page. */
export interface ListEndpoint extends Endpoint {
  readonly key: Endpoint["key"] & ListName
}

const make = <Key extends Endpoint["key"]>(
  key: Key,
  decoder: Endpoint["decoder"],
  more: Partial<Pick<Endpoint, "guesses" | "essential" | "dispensable">> = {},
): Endpoint & { readonly key: Key } => ({
  key,
  idField: decoder({ amountField: "amount", currencyField: "currency" }, "").idField,
  decoder,
  guesses: null,
  essential: false,
  dispensable: true,
  ...more,
})

const essential = { essential: true, dispensable: false }
const undocumented = (...guesses: ReadonlyArray<string>) => ({ guesses })

export const accounts = make("accounts", () => Account.decoder, essential)
export const clients = make("clients", () => Credit.client, essential)

export const statement = make("statement", (_, accountId) => StatementEntry.decoder(accountId), {
  ...essential,
  guesses: [
    "statement",
    "statements",
    "statement-entries",
    "statement/entries",
    "entries",
    "transactions",
    "ledger-entries",
    "ledger",
    "movements",
    "postings",
  ]
    .map((name) => `/accounts/{accountId}/${name}`)
    .concat(
      ["statement-entries", "statements", "statement", "entries", "ledger-entries"].map(
        (name) => `/${name}?accountId={accountId}`,
      ),
    ),
})

export const deposits = make("deposits", Deposit.decoder)
export const withdrawals = make("withdrawals", Withdrawal.decoder)
export const conversions = make("conversions", Conversion.decoder, undocumented("/conversions"))
export const conversionPairs = make("conversionPairs", () => ReferenceItem.conversionPair)

export const addressBook = make(
  "addressBook",
  () => ReferenceItem.destination,
  undocumented(
    "/destinations",
    "/address-book",
    "/address-book-entries",
    "/address-book/entries",
    "/address-book/destinations",
    "/addressbook",
    "/beneficiaries",
  ),
)

export const paymentRails = make("paymentRails", () => ReferenceItem.paymentRail)

/** Rows of a list of one client's, where it is one. */
const below = <A>(decoder: Decoder<A>, clientId: string): Decoder<A> =>
  clientId === "" ? decoder : ofClient(decoder, clientId)

export const receivables = make(
  "receivables",
  (_, clientId) => below(Credit.receivable, clientId),
  undocumented(
    "/receivables",
    "/funding-requests",
    "/credit/receivables",
    "/credit/funding-requests",
    "/credit-receivables",
    "/clients/{clientId}/receivables",
    "/clients/{clientId}/funding-requests",
  ),
)

export const creditAccounts = make(
  "creditAccounts",
  (_, clientId) => below(Credit.creditAccount, clientId),
  undocumented(
    "/credit-accounts",
    "/credit/accounts",
    "/creditAccounts",
    "/credit/credit-accounts",
    "/clients/{clientId}/credit-accounts",
    "/clients/{clientId}/creditAccounts",
  ),
)

export const publicKeys = make("publicKeys", () => Rows.publicKey, {
  guesses: [
    "/webhooks/public-keys",
    "/webhooks/keys",
    "/webhooks/publicKeys",
    "/webhook/public-keys",
    "/webhook-public-keys",
    "/public-keys",
  ],
  dispensable: false,
})

export const account = make("account", () => Account.decoder, essential)
export const depositInstructions = make("depositInstructions", () => Rows.depositInstructions)
export const deposit = make("deposit", Deposit.decoder, essential)
export const withdrawal = make("withdrawal", Withdrawal.decoder, essential)
export const conversion = make("conversion", Conversion.decoder, essential)

/** The paths of a surface's endpoints, by a profile. */
export interface Place {
  readonly surface: Surface
  /** The path below the base address, with `{…}` for identifiers; null: the profile says there is none. */
  readonly template: (endpoint: Endpoint) => string | null
  /** The template for a path that is not in the profile. */
  readonly below: (path: string) => string
  /** The settings key of its path. */
  readonly setting: (endpoint: Endpoint) => string
  /** A template with its identifiers filled in. */
  readonly fill: (template: string, id?: string) => string
}

const shared = (profile: Interface, surface: Surface): Place => ({
  surface,
  template: ({ key }) => profile.paths[key],
  below: (path) => path,
  setting: ({ key }) => `interface.paths.${key}`,
  fill: (template, id = "") => fill(template, id),
})

export const organization = (profile: Interface): Place => shared(profile, "organization")
/** A list below each client is tried with one client. */
export const credit = (profile: Interface): Place => ({
  ...shared(profile, "credit"),
  fill: (template, clientId = "") => forClient(template, clientId),
})

/** The list of clients is what both the client and the credit surface begin with. */
export const register = (profile: Interface, surface: Surface): Place => shared(profile, surface)

const clientPath = ({ clientPaths, paths }: Interface, key: Endpoint["key"]): string | null => {
  const own = Object.entries(clientPaths).find(([name]) => name === key)
  return own === undefined || own[1] === undefined ? paths[key] : own[1]
}

/** One client's part of the client surface. */
export const client = (profile: Interface, clientId: string): Place => {
  const { prefix } = profile.clientPaths
  return {
    surface: "client",
    template: ({ key }) => {
      const path = clientPath(profile, key)
      return path === null ? null : prefix + path
    },
    below: (path) => prefix + path,
    setting: ({ key }) => `interface.clientPaths.${key}`,
    fill: (template, id = "") =>
      fill(prefix.replaceAll("{clientId}", "{id}"), clientId) + fill(template.slice(prefix.length), id),
  }
}
