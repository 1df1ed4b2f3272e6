/** A deposit, withdrawal or conversion in all its versions, each as the service sent it. */
import { and, desc, eq, type SQL, sql } from "drizzle-orm"
import { Effect } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { asText, isoText, isoTextOrNull } from "../Database/Tables/ColumnTypes.ts"
import { missingResources, resources, resourceVersions } from "../Database/Tables/Resources.ts"
import { runs } from "../Database/Tables/Sync.ts"
import { Database } from "../Database.ts"
import { factsIfKnown, runColumns, runText, type Step } from "./Step.ts"

const optionalSum = (amount: string | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : printedSum(amount, currency)

/** The status as it was sent: the column of old versions is empty. */
const sentStatus: SQL<string | null> = sql`${resourceVersions.raw} ->> 'status'`.mapWith(String)

const earlier = Effect.fn("Explain.resourceVersions")(function* (
  name: string,
  bookId: number,
  type: string,
  id: string,
) {
  const database = yield* Database
  const versions = yield* database.orm("Explain.resourceVersions", (orm) =>
    orm
      .select({
        version: resourceVersions.version,
        status: sentStatus,
        changedAt: isoText(resourceVersions.changedAt),
        supersededAt: isoText(resourceVersions.supersededAt),
        raw: asText(resourceVersions.raw),
      })
      .from(resourceVersions)
      .where(
        and(
          eq(resourceVersions.bookId, bookId),
          eq(resourceVersions.resourceId, id),
          eq(resourceVersions.resourceType, type),
        ),
      )
      .orderBy(desc(resourceVersions.version)),
  )
  return versions.map(
    ({ changedAt, raw, status, supersededAt, version }): Step => ({
      title: `${name}, version ${version}`,
      facts: [
        ...factsIfKnown("status", status),
        ["read", `${changedAt} to ${supersededAt}`],
        ["as sent", raw],
      ],
    }),
  )
})

const missing = Effect.fn("Explain.missingResource")(function* (bookId: number, type: string, id: string) {
  const database = yield* Database
  const rows = yield* database.orm("Explain.missingResource", (orm) =>
    orm
      .select({ tries: missingResources.tries, since: isoText(missingResources.firstMissedAt) })
      .from(missingResources)
      .where(
        and(
          eq(missingResources.bookId, bookId),
          eq(missingResources.resourceId, id),
          eq(missingResources.resourceType, type),
        ),
      ),
  )
  return rows.map(
    ({ since, tries }): Step => ({
      title: `${type.toLowerCase()} ${id}`,
      facts: [
        [
          "status",
          "not known: the service answers that there is none, or what it sent could not be understood",
        ],
        ["asked", tries === 1 ? "once" : `${tries} times`],
        ["since", since],
      ],
    }),
  )
})

/** The resource as it is now, then its earlier versions, newest first; or that it is missing. `type` in upper case. */
export const resource = Effect.fn("Explain.resource")(function* (bookId: number, type: string, id: string) {
  const database = yield* Database
  const name = `${type.toLowerCase()} ${id}`
  const [row] = yield* database.orm("Explain.resource", (orm) =>
    orm
      .select({
        status: resources.status,
        reasonCode: resources.reasonCode,
        accountId: resources.accountId,
        currency: resources.currency,
        amount: resources.amount,
        fee: resources.fee,
        feeCurrency: resources.feeCurrency,
        buyAccountId: resources.buyAccountId,
        buyCurrency: resources.buyCurrency,
        buyAmount: resources.buyAmount,
        rate: resources.rate,
        externalReference: resources.externalReference,
        createdAt: isoText(resources.createdAt),
        completedAt: isoTextOrNull(resources.completedAt),
        version: resources.version,
        changedAt: isoText(resources.changedAt),
        readAt: isoText(resources.readAt),
        raw: asText(resources.raw),
        runId: resources.runId,
        ...runColumns,
      })
      .from(resources)
      .leftJoin(runs, eq(runs.runId, resources.runId))
      .where(
        and(eq(resources.bookId, bookId), eq(resources.resourceId, id), eq(resources.resourceType, type)),
      ),
  )
  if (row === undefined) return yield* missing(bookId, type, id)
  const current: Step = {
    title: name,
    facts: [
      ["status", row.reasonCode === null ? row.status : `${row.status} (${row.reasonCode})`],
      ["amount", printedSum(row.amount, row.currency)],
      ...factsIfKnown("fee", optionalSum(row.fee, row.feeCurrency)),
      ["account", row.accountId],
      ...factsIfKnown("buys", optionalSum(row.buyAmount, row.buyCurrency)),
      ...factsIfKnown("for account", row.buyAccountId),
      ...factsIfKnown("rate", row.rate),
      ...factsIfKnown("external reference", row.externalReference),
      ["created", `${row.createdAt} (the service's time)`],
      ...factsIfKnown("completed", row.completedAt),
      ["version", `${row.version}, first read ${row.changedAt}`],
      ["last read", row.readAt],
      ...factsIfKnown("read by", runText(row)),
      ["as sent", row.raw],
    ],
  }
  return [current, ...(yield* earlier(name, bookId, type, id))]
})
