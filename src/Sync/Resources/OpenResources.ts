/**
 * Reads by id the resources that may have changed: those not in a final state, those that do not fit their entries, those that
 * the service did not have, and those whose row could not be understood. A resource that has long been open is read less and
 * less often, but once after every month's end, because a close requires that.
 */
import { Array as Arr, Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { mostLag } from "../../Common/ServiceLag.ts"
import { nowByUs } from "../../Common/Time.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import { bool, nullable, oneOf, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { type ResourceType, resourceTypes } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { aloneOfEach, isAskedToWait, type StreamError } from "../Runs/Failures.ts"
import { Pages } from "../Statements/StatementPage.ts"
import { Hydration, ResourceKey, streamOf } from "./Hydration.ts"

/** Resources per transaction. */
const batchSize = 100

/** So many that cannot be read are more likely the service's trouble than theirs. */
const mostFailed = 10

/** How often a movement is asked for again that the service did not have yet, and how long before the second and the third time. */
const rounds = 3
const pauses = ["1 second", "2 seconds"] as const

const quarantineTypes: ReadonlyMap<string, ResourceType> = new Map(
  resourceTypes.map((type) => [streamOf(type), type]),
)

const made = Effect.gen(function* () {
  const database = yield* Database
  const quarantine = yield* Quarantine
  const hydration = yield* Hydration
  const pages = yield* Pages
  const { accounting } = yield* Settings

  /**
   * Everything that is due, the conversions of the client's own reads included: what is mirrored, and apart from it what is missing or
   * waits in quarantine.
   */
  const due = traced("Sync.OpenResources.due")(function* (book: Book) {
    const { startedAt } = yield* Run
    const now = yield* nowByUs
    const rows = yield* database.rows(
      "Sync.OpenResources.due",
      { type: nullable(oneOf(...resourceTypes)), id: text, stream: nullable(text), waits: bool },
      (sql) => sql`
          select resource_type as type, resource_id::text as id, null as stream, false as waits from mirror.resources r
          where book_id = ${book.bookId} and not final
            -- What had ended by the answer before is asked for once more: this run's answer may be from before that.
            and (read_at not between ${startedAt} and ${now} or exists (
              select from mirror.resource_versions v
              where v.book_id = r.book_id and v.resource_id = r.resource_id and v.resource_type = r.resource_type
                and v.version = r.version - 1 and v.final))
            -- That it was read at a time to come says nothing: the clock has been set back.
            and (read_at > ${now} or changed_at > ${startedAt}::timestamptz - interval '35 days'
              or read_at < ${startedAt}::timestamptz - (${startedAt}::timestamptz - changed_at) / 10
              or read_at < date_trunc('month', ${startedAt}::timestamptz, ${accounting.timeZone}))
          union
          select resource_type, resource_id::text, null, true from mirror.missing_resources where book_id = ${book.bookId}
          union
          select r.resource_type, r.resource_id::text, null, false from reconcile.open_findings f
          join mirror.resources r on r.book_id = f.book_id and r.resource_id = f.subject_id::uuid
            and mirror.lower_ascii(r.resource_type) = f.subject_type
          where f.book_id = ${book.bookId} and f.check_name = 'movement-entries'
          union
          select null, item_id, stream, true from mirror.quarantine
          where book_id = ${book.bookId} and resolved_at is null and item_id is not null
          order by 1, 2`,
    )
    const keys = new Map<string, { readonly key: ResourceKey; waits: boolean }>()
    for (const { id, stream, type: known, waits } of rows) {
      const type = known ?? quarantineTypes.get(stream ?? "")
      if (type === undefined || !isUuidInAnyCase(id)) continue
      const key = new ResourceKey({ type, id })
      const name = `${key.type}|${key.id}`
      keys.set(name, { key, waits: waits || keys.get(name)?.waits === true })
    }
    const of = (waiting: boolean) =>
      [...keys.values()].flatMap(({ key, waits }) => (waits === waiting ? [key] : []))
    return { mirrored: of(false), waiting: of(true) }
  })

  const readBatch = (book: Book, keys: ReadonlyArray<ResourceKey>, areMirrored: boolean) =>
    Effect.gen(function* () {
      const run = yield* Run
      const { malformed, missing, read } = yield* hydration.readAll(keys)
      for (const { key, row } of malformed) {
        const more = yield* quarantine.more(book, streamOf(key.type), [row])
        run.counters.quarantined += more
      }
      const withPage = Effect.gen(function* () {
        for (const { key, row } of malformed) {
          yield* quarantine.put(book, run.runId, streamOf(key.type), [row])
        }
        if (areMirrored) return
        yield* quarantine.resolveEach(
          book,
          read.map(({ id, resourceType }) => ({ stream: streamOf(resourceType), id })),
        )
      })
      yield* pages.absorbResources(book, read, missing, withPage, areMirrored)
    })

  /** Reads resources by id, in batches of one transaction each. `areMirrored`: none is missing or in quarantine. */
  const readKeys = (book: Book, keys: ReadonlyArray<ResourceKey>, areMirrored = false) =>
    Effect.forEach(Arr.chunksOf(keys, batchSize), (batch) => readBatch(book, batch, areMirrored), {
      discard: true,
    })

  /**
   * The same; what could not be read. Where a batch fails it is read one by one, so that a resource that the service fails to show keeps
   * no other from being read. Where the service is away, or fails for many, the others are left to the next run.
   */
  const readEach = traced("Sync.OpenResources.readEach")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
    areMirrored: boolean,
  ) {
    const failed: Array<StreamError> = []
    const alone = aloneOfEach()
    const isOver = () => failed.length >= mostFailed || failed.some(isAskedToWait)
    for (const batch of Arr.chunksOf(keys, batchSize)) {
      const whole = yield* readBatch(book, batch, areMirrored).pipe(
        Effect.as(Option.none<StreamError>()),
        alone(Option.some),
      )
      if (Option.isNone(whole)) continue
      if (batch.length === 1 || isAskedToWait(whole.value)) failed.push(whole.value)
      else
        yield* Effect.forEach(
          batch,
          (key) =>
            Effect.suspend(() => (isOver() ? Effect.void : readBatch(book, [key], areMirrored))).pipe(
              alone((error): void => void failed.push(error)),
            ),
          { concurrency: 4, discard: true },
        )
      if (isOver()) break
    }
    return failed
  })

  /** Reads all that are due: how many were asked for, and what could not be read. */
  const read = traced("Sync.OpenResources.read")(function* (book: Book) {
    const { mirrored, waiting } = yield* due(book)
    const failed = yield* readEach(book, mirrored, true)
    const asked = mirrored.length + waiting.length
    if (failed.some(isAskedToWait)) return { asked, failed }
    return { asked, failed: [...failed, ...(yield* readEach(book, waiting, false))] }
  })

  /** What the service did not have when an entry of that minute named it. */
  const late = traced("Sync.OpenResources.late")(function* (book: Book) {
    const rows = yield* database.rows(
      "Sync.OpenResources.late",
      { type: oneOf(...resourceTypes), id: uuid },
      (sql) => sql`
          select m.resource_type as type, m.resource_id as id from mirror.missing_resources m
          where m.book_id = ${book.bookId} and m.tries <= ${rounds} and exists (
            select from mirror.statement_entries e
            where e.book_id = m.book_id and e.related_id = m.resource_id and e.related_type = m.resource_type and not e.held
              and abs(extract(epoch from e.occurred_at - m.first_missed_at)) <= ${mostLag})
          order by 1, 2`,
    )
    return rows.map(({ id, type }) => new ResourceKey({ type, id }))
  })

  /**
   * Asks again, a few times, for movements that may come some moments after the entries that name them. Where that fails they stay
   * missing, as they were: it is no failure of its own.
   */
  const readLate = traced("Sync.OpenResources.readLate")(function* (book: Book) {
    for (let round = 1; round <= rounds; round++) {
      const keys = yield* late(book)
      if (keys.length === 0) return
      const pause = pauses[round - 2]
      if (pause !== undefined) yield* Effect.sleep(pause)
      hydration.forget(keys)
      if ((yield* readEach(book, keys, false)).some(isAskedToWait)) return
    }
  })

  return { read, readKeys, readEach, readLate }
})

export class OpenResources extends Effect.Service<OpenResources>()("tieout/Sync/OpenResources", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new OpenResources(parts))
}
