/** Collects, book by book, the result of a history that the oracle is given. */
import { Effect, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { timeOf } from "./Calendar.ts"
import { decimal } from "./Decimals.ts"
import type {
  AccountFact,
  BookFacts,
  EntryFact,
  MoneyFact,
  ReceivableFact,
  ReceivableVersionFact,
  ResourceFact,
  SaidFact,
} from "./Facts.ts"
import type { BookName } from "./History.ts"
import { isJson, type Json, textAt } from "./Json.ts"
import { hasChanged, type Mirrored, type MirroredResource, mirrored, mirroredResources } from "./Mirrored.ts"
import { destinationOf } from "./Rules/Destinations.ts"
import type { Site } from "./Site.ts"
import { balances, type World, type WorldAccount, type WorldResource } from "./World.ts"

const accountFact = (
  world: World,
  account: WorldAccount,
  /** What the mirror has of an account that can no longer be read; null for one that is read to the end. */
  mirror: Mirrored | null,
): AccountFact => {
  const after = balances(account)
  return {
    accountId: account.id,
    currency: account.currency,
    rail: account.rail,
    entries: account.entries.flatMap((entry, index) => {
      const now = entry.related && { type: entry.related.type, id: world.idOf(entry.related.of) }
      const related = mirror === null ? now : mirror.get(entry.id)
      if (related === undefined) return []
      const fact: EntryFact = {
        entryId: entry.id,
        type: entry.type,
        amount: decimal(entry.amount, account.currency),
        balanceAfter: decimal(after[index] ?? 0n, account.currency),
        related,
        occurredAt: entry.occurredAt,
      }
      return [fact]
    }),
  }
}

const saidFact = (world: World, { content, said }: WorldResource): SaidFact => {
  const shown = content.type === "WITHDRAWAL" ? destinationOf(said.destination, world.idOf) : {}
  const { accountNumber, bankName, destinationId = null, network, walletAddress } = shown
  return {
    remitter: said.remitter ?? null,
    text: said.text ?? null,
    destinationId,
    destination: [bankName, accountNumber, network, walletAddress].filter((part) => part !== undefined),
    externalReference: said.externalReference ?? null,
  }
}

const resourceFact = (world: World, resource: WorldResource): ResourceFact => {
  const { book, content, id, status, transactionHash } = resource
  const accountOf = (name: string) => ({
    id: world.accounts.get(name)?.id ?? "",
    currency: world.accounts.get(name)?.currency ?? "",
  })
  if (content.type === "CONVERSION") {
    const sell = accountOf(content.sell)
    const buy = accountOf(content.buy)
    return {
      ...{ type: "CONVERSION", id, status, sellAccountId: sell.id, buyAccountId: buy.id },
      sell: { amount: content.sold, currency: sell.currency },
      buy: { amount: content.bought, currency: buy.currency },
      fee: content.fee,
    }
  }
  const account = accountOf(content.account)
  const money = (amount: string): MoneyFact => ({ amount, currency: account.currency })
  const common = {
    ...{ id, status, accountId: account.id, transactionHash, amount: money(content.amount) },
    fee: content.fee === null ? null : money(content.fee),
    said: saidFact(world, resource),
  }
  return content.type === "DEPOSIT"
    ? { type: "DEPOSIT", ...common }
    : { type: "WITHDRAWAL", form: book === "org" ? "money" : "flat", ...common }
}

const transaction = (json: Json) => ({ txId: textAt(json, "txId"), txTimestamp: textAt(json, "txTimestamp") })
const statuses = ["PENDING", "ACTIVE", "PAID", "CANCELED"] as const

const versionFact = (json: Json, at: number): ReceivableVersionFact => {
  const { disbursedTransaction: disbursed, repaymentTransactions: repayments } = json
  return {
    servedAt: timeOf(at),
    status: statuses.find((status) => status === json.status) ?? "PENDING",
    currentPrincipal: textAt(json, "currentPrincipal"),
    repaymentAmount: textAt(json, "repaymentAmount"),
    disbursed: isJson(disbursed) ? transaction(disbursed) : null,
    repayments: Array.isArray(repayments) ? repayments.filter(isJson).map(transaction) : [],
  }
}

/** The receivables that were committed, each with the time of its read: an interrupted read leaves some of them. */
const keptReads = (organization: Book) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.receivables",
      (sql) => sql<Array<{ readonly receivable: string; readonly served: string }>>`
        select receivable_id as receivable, to_char(served_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as served
        from mirror.receivables where book_id = ${organization.bookId}`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ receivable, served }) => `${receivable} ${served}`))),
  )

/**
 * The receivables as they were served, page by page. A page counts where its read came to its end. Where the read was interrupted,
 * the mirror shows whether the page was committed, which happens to all of a page or to nothing of it.
 */
const receivableFacts = (world: World, organization: Book) =>
  Effect.map(keptReads(organization), (kept) => {
    const found = new Map<
      string,
      { fact: ReceivableFact; versions: Array<ReceivableVersionFact>; last: string }
    >()
    for (const { at, items, kept: isKept } of world.lent) {
      const wasKept = items.some((json) => kept.has(`${textAt(json, "receivableId")} ${timeOf(at)}`))
      if (isKept !== true && !wasKept) continue
      for (const json of items) {
        const id = textAt(json, "receivableId")
        const content = JSON.stringify(json)
        const known = found.get(id)
        const versions = known?.versions ?? []
        if (known?.last === content) continue
        versions.push(versionFact(json, at))
        const fact: ReceivableFact = {
          ...{ receivableId: id, clientId: textAt(json, "clientId"), currency: textAt(json, "currency") },
          ...{ rail: textAt(json, "paymentRails"), issueDate: textAt(json, "issueDate") },
          ...{ initialPrincipal: textAt(json, "initialPrincipal"), versions },
        }
        found.set(id, { fact, versions, last: content })
      }
    }
    return [...found.values()].map(({ fact }) => fact)
  })

/** The world's name of a book. */
export const nameOf = (world: World, book: Book): BookName | undefined =>
  Option.match(book.clientId, {
    onNone: () => "org",
    onSome: (id) => [...world.clients.values()].find((client) => client.id === id)?.name,
  })

/** Whether the account is read for certain. One that is no longer listed is read only where Tieout knew it before. */
const isRead = ({ access }: { readonly access: string }): boolean => access === "served"

/** The facts of every book that exists at the end. */
export const factsOf = (site: Site, books: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const { world } = site
    const { flatWithdrawalFee, interest, interestBetweenReads, repaymentAmount, timeZone, view } =
      world.settings
    const organization = books.find(({ clientId }) => Option.isNone(clientId))
    const lent =
      organization === undefined || !world.settings.surfaces.includes("credit")
        ? []
        : yield* receivableFacts(world, organization)
    const all = [...world.accounts.values(), ...world.clients.values()]
    const known: Mirrored = all.every(isRead) ? new Map() : yield* mirrored(books)
    const knownResources = all.every(isRead)
      ? new Map<string, MirroredResource>()
      : yield* mirroredResources(books)
    return books.flatMap((book) => {
      const name = nameOf(world, book)
      if (name === undefined || (name !== "org" && world.clients.get(name)?.status !== "ACTIVE")) return []
      const client = world.clients.get(name)
      const isServed = client === undefined || isRead(client)
      const own = [...world.resources.values()].filter((resource) => resource.book === name)
      if (!isServed && own.some((resource) => hasChanged(resource, knownResources))) return []
      const facts: BookFacts = {
        settings: { timeZone, flatWithdrawalFee, view, repaymentAmount, interest, interestBetweenReads },
        accounts: [...world.accounts.values()]
          .filter((account) => account.book === name)
          .map((account) => accountFact(world, account, isRead(account) && isServed ? null : known))
          .filter(({ entries }) => entries.length > 0),
        resources: own
          .filter((resource) => !resource.hidden && (isServed || knownResources.has(resource.id)))
          .map((resource) => resourceFact(world, resource)),
        receivables:
          view === "lender"
            ? name === "org"
              ? lent
              : []
            : lent.filter(({ clientId }) => clientId === Option.getOrNull(book.clientId)),
        reclassified: site.reclassified.filter(({ bookId }) => bookId === book.bookId),
        clientId: Option.getOrNull(book.clientId),
        ruled: site.ruled.filter(({ bookId }) => bookId === book.bookId),
        rules: site.rules,
      }
      return [{ book, facts }]
    })
  })
