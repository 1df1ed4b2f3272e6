/**
 * The statements, entry by entry: cash, opening balances and the counter line of every entry before anything is said of loans
 * or of what a person moved.
 *
 * Reading: the opening balance is what the oldest known entry shows before it; an entry of zero is passed over, yet may be
 * that oldest one. A payout has no resource to be missing. A related type that the interface does not name, and a resource
 * that cannot be read, leave the entry in suspense.
 */
import type { AccountFact, BookFacts, EntryFact, ResourceFact } from "../Facts.ts"
import { type Account, account, byText } from "./Balances.ts"
import { conversionParts } from "./Conversion.ts"
import { amountOf, total } from "./Decimal.ts"
import type { Ruled } from "./Rules.ts"
import { depositParts, type Part, withdrawalParts } from "./Shape.ts"

/** The journal entry of one statement entry: cash + counter + fee = 0. */
export interface Posted extends Part {
  readonly entryId: string
  readonly accountId: string
  readonly currency: string
  readonly counterAccount: Account
  /** The names by which a receivable's transaction may refer to it. A leg of a conversion has none. */
  readonly names: ReadonlyArray<string>
  readonly conversionId: string | null
  /** The same for the entries of one movement on one account, and their order there. */
  readonly movement: string
  readonly position: number
  readonly of: Omit<Ruled, "clientId">
}

type ConversionFact = Extract<ResourceFact, { type: "CONVERSION" }>

export interface ConversionPosted {
  readonly conversion: ConversionFact
  /** Ordered by (occurredAt, accountId, position). */
  readonly entries: ReadonlyArray<Posted>
}

export interface Statements {
  readonly opening: ReadonlyArray<{ readonly account: AccountFact; readonly amount: bigint }>
  readonly posted: ReadonlyArray<Posted>
  readonly conversions: ReadonlyArray<ConversionPosted>
}

interface Row {
  readonly account: AccountFact
  readonly entry: EntryFact
  readonly position: number
  readonly cash: bigint
}

const signed = (entry: EntryFact): bigint => amountOf(entry.amount) * (entry.type === "CREDIT" ? 1n : -1n)

/** The running balances of the facts must chain, or the oracle would prove nothing. */
const chained = ({ accountId, entries }: AccountFact): void => {
  entries.slice(1).forEach((entry, index) => {
    const before = amountOf(entries[index]?.balanceAfter ?? "")
    if (before + signed(entry) !== amountOf(entry.balanceAfter))
      throw new Error(`the facts of account ${accountId} do not chain at entry ${entry.entryId}`)
  })
}

export const grouped = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string,
): ReadonlyArray<ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return [...groups.values()]
}

const movementOf = ({ account, entry: { entryId, related } }: Row) =>
  related === null ? entryId : `${account.accountId}|${related.type}|${related.id}`

const post = (
  row: Row,
  resource: ResourceFact | undefined,
  part: Part,
  role: string,
  names: ReadonlyArray<string>,
): Posted => ({
  ...part,
  entryId: row.entry.entryId,
  accountId: row.account.accountId,
  currency: row.account.currency,
  counterAccount: account(role, row.account.currency),
  names,
  conversionId: null,
  movement: movementOf(row),
  position: row.position,
  of: {
    entry: row.entry,
    accountId: row.account.accountId,
    currency: row.account.currency,
    resource,
  },
})

/** The entries of one account that name one movement. */
const movement = (
  rows: ReadonlyArray<Row>,
  resource: ResourceFact | undefined,
  facts: BookFacts,
): ReadonlyArray<Posted> => {
  const [first] = rows
  if (first === undefined) return []
  const cash = rows.map((row) => row.cash)
  const bare = cash.map((amount) => ({ cash: amount, counter: -amount, fee: 0n }))
  const { currency } = first.account
  const related = first.entry.related
  const names = rows
    .map((row) => row.entry.entryId)
    .concat(related?.id ?? [], (resource && "transactionHash" in resource && resource.transactionHash) || [])
  const with_ = (parts: ReadonlyArray<Part>, role: string) =>
    rows.map((row, index) =>
      post(row, resource, parts[index] ?? { cash: 0n, counter: 0n, fee: 0n }, role, names),
    )
  if (resource?.type === "DEPOSIT") return with_(depositParts(cash, resource, currency), "deposits_clearing")
  if (resource?.type === "WITHDRAWAL")
    return with_(withdrawalParts(cash, resource, currency, facts.settings), "withdrawals_clearing")
  return with_(bare, related?.type === "PAYOUT" ? "payouts_clearing" : "suspense")
}

const legs = (rows: ReadonlyArray<Row>, conversion: ConversionFact): ReadonlyArray<Posted> => {
  const ordered = [...rows].sort(
    (a, b) =>
      Date.parse(a.entry.occurredAt) - Date.parse(b.entry.occurredAt) ||
      byText(a.entry.occurredAt, b.entry.occurredAt) ||
      byText(a.account.accountId, b.account.accountId) ||
      a.position - b.position,
  )
  const parts = conversionParts(
    conversion,
    ordered.map(({ account: { accountId, currency }, entry: { entryId }, cash }) => ({
      entryId,
      accountId,
      currency,
      cash,
    })),
  )
  return ordered.map((row, index) => ({
    ...post(
      row,
      conversion,
      parts[index] ?? { cash: 0n, counter: 0n, fee: 0n },
      "conversions_in_transit",
      [],
    ),
    conversionId: conversion.id,
  }))
}

export const statements = (facts: BookFacts): Statements => {
  facts.accounts.forEach(chained)
  const opening = facts.accounts.flatMap((account) =>
    account.entries
      .slice(0, 1)
      .map((entry) => ({ account, amount: amountOf(entry.balanceAfter) - signed(entry) })),
  )
  const rows = facts.accounts.flatMap((account) =>
    account.entries
      .map((entry, position) => ({ account, entry, position, cash: signed(entry) }))
      .filter(({ cash }) => cash !== 0n),
  )
  const resources = new Map(facts.resources.map((resource) => [`${resource.type}|${resource.id}`, resource]))
  const resourceOf = ({ entry: { related } }: Row) =>
    related === null ? undefined : resources.get(`${related.type}|${related.id}`)
  const posted: Array<Posted> = []
  const conversions: Array<ConversionPosted> = []
  const isLeg = (row: Row) => resourceOf(row)?.type === "CONVERSION"
  for (const group of grouped(
    rows.filter((row) => !isLeg(row)),
    movementOf,
  ))
    posted.push(...movement(group, group[0] && resourceOf(group[0]), facts))
  for (const group of grouped(rows.filter(isLeg), ({ entry }) => entry.related?.id ?? "")) {
    const conversion = group[0] && resourceOf(group[0])
    if (conversion?.type !== "CONVERSION") continue
    const entries = legs(group, conversion)
    posted.push(...entries)
    conversions.push({ conversion, entries })
  }
  return { opening, posted, conversions }
}

/** The amount that these entries put on their counter-account. */
export const counterOf = (entries: ReadonlyArray<Posted>): bigint =>
  total(entries.map(({ counter }) => counter))
