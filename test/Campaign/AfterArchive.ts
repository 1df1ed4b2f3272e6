/**
 * Life after an archive: the service goes on to speak of movements that have left the database. Their cash must be booked to the
 * cent, each late entry must stand somewhere that says why, and a movement with other figures must be a finding.
 */
import { Effect, Layer } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { idsOf } from "./BookIds.ts"
import { day } from "./Calendar.ts"
import { decimal, plain } from "./Decimals.ts"
import type { Event, Operation } from "./History.ts"
import { operate } from "./Operations.ts"
import { random } from "./Random.ts"
import type { Site } from "./Site.ts"
import { balanceOf, type WorldResource } from "./World.ts"

interface Late {
  readonly event: Event
  readonly resource: WorldResource
}

const archivedIds = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.archivedIds",
      (sql) => sql<Array<{ readonly id: string }>>`
        select distinct resource_id::text as id from mirror.archived_resources
        where book_id = any (${idsOf(all)}::integer[]) order by 1`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ id }) => id))),
  )

/** What comes late of movements that are archived: one each of another entry, another fee, another status. */
const lateEvents = (site: Site, gone: ReadonlySet<string>): ReadonlyArray<Late> => {
  const { world } = site
  const chance = random(`${site.history.seed} late`)
  const served = (resource: WorldResource): boolean => {
    const { content } = resource
    const account = world.accounts.get(content.type === "CONVERSION" ? content.sell : content.account)
    const client = world.clients.get(resource.book)
    const isReadable = client === undefined || (client.access === "served" && client.status === "ACTIVE")
    return account?.access === "served" && isReadable && !resource.hidden
  }
  const archived = [...world.resources.values()].filter((one) => gone.has(one.id) && served(one))
  const picked = archived
    .map((resource) => ({ resource, place: chance.whole(0, 1_000_000) }))
    .sort((one, other) => one.place - other.place)
    .slice(0, 4)
  return picked.map(({ resource }, at): Late => {
    const { content, name } = resource
    const listed = resource.book === "org" && content.type !== "CONVERSION"
    if (at === 1 && listed) {
      const { currency } = world.accounts.get(content.account) ?? { currency: "USD" }
      return { resource, event: { what: "fee", resource: name, fee: decimal(7n, currency) } }
    }
    if (at === 2 && listed) return { resource, event: { what: "status", resource: name, status: "REJECTED" } }
    const [account, amount, type] =
      content.type === "CONVERSION"
        ? [content.sell, content.sold, "CREDIT" as const]
        : [
            content.account,
            content.amount,
            content.type === "DEPOSIT" ? ("DEBIT" as const) : ("CREDIT" as const),
          ]
    const related = { type: content.type, of: name }
    return { resource, event: { what: "entry", entry: `late${at}`, account, type, amount, related } }
  })
}

/** The cash of every account that the service shows, as the books have it. */
const cashProblems = (site: Site, all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.cashByAccount",
      (sql) => sql<Array<{ readonly account: string; readonly balance: string }>>`
        select a.partner_account_id as account, coalesce(sum(b.debit - b.credit), 0)::text as balance
        from ledger.accounts a left join ledger.balances b on b.book_id = a.book_id and b.account_id = a.account_id
        where a.book_id = any (${idsOf(all)}::integer[]) and a.role = 'cash' group by 1`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const cash = new Map(rows.map(({ account, balance }) => [account, plain(balance)]))
      return [...site.world.accounts.values()].flatMap((account) => {
        const client = site.world.clients.get(account.book)
        const isRead = client === undefined || (client.access === "served" && client.status === "ACTIVE")
        // What an account without entries has, nothing has brought.
        if (account.access !== "served" || !isRead || account.entries.length === 0) return []
        const [has, ought] = [
          cash.get(account.id) ?? "0",
          plain(decimal(balanceOf(account), account.currency)),
        ]
        return has === ought ? [] : [`cash of account ${account.name} is ${has}, and ought to be ${ought}`]
      })
    }),
  )

interface Standing {
  readonly roles: string
  readonly findings: string
}

/** Where the late entry of a movement stands, and the findings that name it or the movement. */
const standingOf = (site: Site, all: ReadonlyArray<Book>, { event, resource }: Late) =>
  Effect.flatMap(Database, (database) =>
    database.query("Campaign.lateStanding", (sql) => {
      const entry = event.what === "entry" ? site.idOf(event.entry) : resource.id
      const ids = idsOf(all)
      return sql<Array<Standing>>`
        select coalesce((
          select string_agg(a.role, ' ' order by a.role) from ledger.journal_entries e
          join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          where e.book_id = any (${ids}::integer[]) and e.source_id = ${entry}::text::uuid), '') as roles,
        coalesce((
          select string_agg(distinct f.check_name, ' ' order by f.check_name) from reconcile.findings f
          where f.book_id = any (${ids}::integer[]) and f.closed_at is null and f.severity = 'blocking'
            and (f.subject_id like '%' || ${entry}::text || '%' or f.subject_id like '%' || ${resource.id}::text || '%')), '') as findings`
    }),
  ).pipe(
    Effect.orDie,
    Effect.map(([row]) => row ?? { roles: "", findings: "" }),
  )

const lateProblems = (site: Site, all: ReadonlyArray<Book>, late: Late) =>
  Effect.map(standingOf(site, all, late), ({ findings, roles }) => {
    const { event, resource } = late
    const what = `${event.what} of archived ${resource.name} (${resource.content.type})`
    if (event.what !== "entry") {
      return findings.includes("contradiction") ? [] : [`${what}: no contradiction, but "${findings}"`]
    }
    return roles === "cash suspense" && findings.includes("missing-resource")
      ? []
      : [`${what} stands in "${roles}", with the findings "${findings}"`]
  })

/** Each operation must come to its end. */
const done = (site: Site, overHttp: boolean, operations: ReadonlyArray<Operation>) =>
  Effect.map(
    Effect.forEach(operations, (operation) => operate(site, overHttp, operation)),
    (outcomes) =>
      outcomes.flatMap((outcome, at) =>
        outcome.done ? [] : [`${operations[at]?.do} after the archive failed: ${outcome.told}`],
      ),
  )

export const afterArchive = (
  site: Site,
  overHttp: boolean,
  {
    all,
    told,
    year,
  }: { readonly all: ReadonlyArray<Book>; readonly told: Array<string>; readonly year: number },
) =>
  Effect.gen(function* () {
    const { world } = site
    const gone = yield* archivedIds(all)
    const late = lateEvents(site, gone)
    for (const { event } of late) world.apply(event, new Date(world.now + day).toISOString())
    world.apply({ what: "expired" }, new Date(world.now + day).toISOString())
    told.push(`late: ${late.map(({ event, resource }) => `${event.what} of ${resource.name}`).join(", ")}`)
    const failed = yield* done(site, overHttp, [{ do: "sync" }, { do: "sync", full: true }])
    const problems = [
      ...failed,
      ...(yield* cashProblems(site, all)),
      ...(yield* Effect.forEach(late, (one) => lateProblems(site, all, one))).flat(),
    ]
    if (problems.length > 0) return problems
    // Moved by a person, who may name the account otherwise than a rule does, and read again from the beginning: the cash stays as it is.
    yield* operate(site, overHttp, { do: "reclassify", nth: 0, code: "4711", from: "suspense" })
    // A month of a history that lies ahead of the real clock is not over.
    yield* operate(site, overHttp, { do: "close", accept: true })
    const more = yield* done(site, overHttp, [
      { do: "backfill", from: `${year}-01-01`, to: `${year}-12-31` },
      {
        ...{ do: "export", kind: "native", format: "journal" },
        days: { from: `${year + 1}-01-01`, to: `${year + 1}-12-31` },
      },
      { do: "sync", full: true },
    ])
    return [...more, ...(yield* cashProblems(site, all))]
  }).pipe(Effect.provide(Layer.merge(site.services, site.settings)))
