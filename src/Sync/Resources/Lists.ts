/**
 * Reads what is new in lists since the last run, however a list turns out to be ordered. An oldest-first list goes on from its
 * last page, which is read again: where cursors are numbers of pages, the one behind it passes over what that page has gained.
 * If it begins with another item than before, the pages before it have changed, and the list is read whole. A newest-first one is read
 * from the start until a page holds nothing new; an unordered one is read whole. A list whose ordering cannot be told yet is
 * short: it is read whole too.
 */
import { Effect, Option, Stream } from "effect"
import type { Book } from "../../Book.ts"
import { ArchivedResources } from "../../Mirror/ArchivedResources.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { isCursorExpired } from "../../Partner/PartnerError.ts"
import {
  type Instant,
  malformedRows,
  type Pages as PageStream,
  Partner,
  type ReferenceItem,
  type Resource,
  understoodRows,
} from "../../Partner.ts"
import { nowIso, Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { noPath, noteReads, noteTrouble } from "../Runs/Evidence.ts"
import { beginning, type Checkpoint, saveCheckpoint } from "../Statements/Checkpoint.ts"
import { FloodGate, Pages } from "../Statements/StatementPage.ts"
import { type Group, grouped } from "./Grouped.ts"
import { lastPageOf, leadsElsewhere, type Place } from "./LastPage.ts"
import { orderingOf } from "./Ordering.ts"

/** How a list is read on. */
interface ListPlan {
  /** Rows of the list are in quarantine and may be readable now. */
  readonly waits: boolean
  /** Read to the end, even if rows are known already. */
  readonly whole: boolean
  /** It was read before, so that most rows are known. */
  readonly rereads: boolean
  /** Whether this reading ends at the end of the list. */
  readonly last: boolean
  readonly begins: Begins
}

/** How far it has been read. */
interface ListProgress {
  checkpoint: Checkpoint
  lastCreatedAt: Option.Option<string>
  /** The last page with items. */
  lastPage: Place
  /** Nothing new can follow this page. */
  reachedKnown: boolean
  /** The page that was the last one does not begin as it did. */
  isElsewhere: boolean
}

/** The service's clock at the first page that this run asked for, once there is one. */
interface Begins {
  at: Option.Option<Instant> | undefined
}

const isOldestFirst = ({ ordering }: Checkpoint): boolean => Option.contains(ordering, "oldest-first")

/** Where this run starts in a list: see the head of this file. */
const startOf = (checkpoint: Checkpoint): Checkpoint => {
  if (!checkpoint.complete || isOldestFirst(checkpoint)) return checkpoint
  return { ...checkpoint, cursor: Option.none(), complete: false }
}

export class Lists extends Effect.Service<Lists>()("tieout/Sync/Lists", {
  effect: Effect.gen(function* () {
    const partner = yield* Partner
    const resources = yield* Resources
    const archived = yield* ArchivedResources
    const reference = yield* ReferenceItems
    const accounts = yield* MirrorAccounts
    const quarantine = yield* Quarantine
    const pages = yield* Pages
    const flood = yield* FloodGate
    const settings = yield* Settings

    const takeResources = Effect.fn("Sync.Lists.takeResources")(function* (
      book: Book,
      stream: string,
      { begins, last, rereads, waits, whole }: ListPlan,
      progress: ListProgress,
      page: Group<Resource>,
    ) {
      const run = yield* Run
      const read = understoodRows(page)
      const malformed = malformedRows(page)
      yield* flood.pass(stream, page.rows.length, malformed)
      const stop = !whole && Option.contains(progress.checkpoint.ordering, "newest-first")
      const ids = read.map((item) => item.id)
      const mirrored = stop ? yield* resources.find(book, ids, run.startedAt) : []
      const known = mirrored.length + (stop ? (yield* archived.among(book, ids)).size : 0)
      progress.reachedKnown = stop && read.length > 0 && malformed.length === 0 && known >= read.length
      const created = read.map((item) => item.createdAt)
      const complete = !page.hasNextPage || progress.reachedKnown
      const lastPage = lastPageOf(page, progress.lastPage)
      const next = Option.orElse(page.endCursor, () => progress.checkpoint.cursor)
      const checkpoint: Checkpoint = {
        ...(complete ? lastPage : { cursor: next, leadsTo: Option.none() }),
        ordering: orderingOf(progress.checkpoint.ordering, progress.lastCreatedAt, created),
        complete,
      }
      const ends = last && checkpoint.complete
      const withPage = Effect.gen(function* () {
        yield* quarantine.put(book, run.runId, stream, malformed)
        if (waits) {
          yield* quarantine.resolveItems(book, stream, ids)
        }
        yield* saveCheckpoint(book, stream, checkpoint)
        if (ends) yield* noteReads(book, [{ stream, beganAt: begins.at ?? Option.none() }])
      })
      const news = rereads ? yield* resources.news(book, read) : read
      yield* pages.absorbResources(book, news, [], withPage)
      run.counters.quarantined += malformed.length
      progress.checkpoint = checkpoint
      progress.lastPage = lastPage
      progress.lastCreatedAt = Option.orElse(
        Option.fromNullable(created.at(-1)),
        () => progress.lastCreatedAt,
      )
    })

    const follow = (
      book: Book,
      stream: string,
      list: PageStream<Resource>,
      start: Checkpoint,
      plan: ListPlan,
    ) =>
      Effect.suspend(() => {
        const progress: ListProgress = {
          checkpoint: start,
          lastCreatedAt: Option.none(),
          lastPage: { cursor: Option.none(), leadsTo: Option.none() },
          reachedKnown: false,
          isElsewhere: false,
        }
        // A newest-first list may end on any page.
        const newestFirst = Option.contains(start.ordering, "newest-first")
        const ahead = () => plan.whole || !newestFirst
        return list(start.cursor, ahead).pipe(
          grouped(newestFirst ? 1 : settings.limits.pagesPerTransaction),
          Stream.tap((page) => {
            plan.begins.at ??= page.servedAt
            progress.isElsewhere = leadsElsewhere(start, page)
            return progress.isElsewhere ? Effect.void : takeResources(book, stream, plan, progress, page)
          }),
          Stream.takeUntil(() => progress.reachedKnown || progress.isElsewhere),
          Stream.runDrain,
          Effect.map(() => progress.isElsewhere),
        )
      })

    /**
     * Reads what is new in a list of resources, or all of it. A cursor that is refused or leads elsewhere starts the list over,
     * once.
     */
    const readResources = Effect.fn("Sync.Lists.readResources")(function* (
      book: Book,
      stream: string,
      list: PageStream<Resource> | null,
      checkpoint: Checkpoint,
      { full, waits }: { readonly full: boolean; readonly waits: boolean },
    ) {
      if (list === null) return
      const begins: Begins = { at: undefined }
      // Rows that were added on top while a newest-first list was read from the middle to its end are still to be read.
      const twice =
        !full && !checkpoint.complete && Option.isSome(checkpoint.cursor) && !isOldestFirst(checkpoint)
      const plan = { waits, whole: full, rereads: !full && checkpoint.complete, last: !twice, begins }
      const over = follow(book, stream, list, beginning, plan)
      if (full) {
        yield* over
        return
      }
      const isElsewhere = yield* follow(book, stream, list, startOf(checkpoint), plan).pipe(
        Effect.catchIf(isCursorExpired, () => over),
      )
      if (isElsewhere) yield* over
      if (!twice) return
      const again = { ...checkpoint, cursor: Option.none(), complete: false }
      yield* follow(book, stream, list, again, { ...plan, last: true })
    })

    /** The settings leave the list out, though the interface has it. */
    const leaveOut = Effect.fn("Sync.Lists.leaveOut")(function* (book: Book, stream: string) {
      yield* (yield* Run).commit(noteTrouble(book, stream, noPath))
    })

    /**
     * Reads a list of reference data whole, each run: it is small and its items change in place. `waits`: rows of it may be in
     * quarantine.
     */
    const readReference = Effect.fn("Sync.Lists.readReference")(function* (
      book: Book,
      kind: string,
      list: PageStream<ReferenceItem> | null,
      waits = true,
    ) {
      if (list === null) return
      const run = yield* Run
      yield* list(Option.none()).pipe(
        Stream.runForEach((page) =>
          Effect.gen(function* () {
            const malformed = malformedRows(page)
            yield* flood.pass(kind, page.rows.length, malformed)
            const news = yield* reference.news(book, kind, understoodRows(page))
            if (news.length === 0 && malformed.length === 0 && !waits) return
            const ids = understoodRows(page).map((item) => item.id)
            yield* run.commit(
              Effect.gen(function* () {
                yield* reference.put(book, run.runId, kind, nowIso(page.requestedAt), news)
                yield* quarantine.put(book, run.runId, kind, malformed)
                yield* quarantine.resolveItems(book, kind, ids)
              }),
            )
            run.counters.quarantined += malformed.length
          }),
        ),
      )
    })

    /**
     * Reads the whole list of accounts, with their balances, and marks accounts that it no longer shows. `waiting`: the streams
     * with rows in quarantine.
     */
    const readAccounts = Effect.fn("Sync.Lists.readAccounts")(function* (
      book: Book,
      waiting: ReadonlySet<string>,
    ) {
      const run = yield* Run
      const begins: Begins = { at: undefined }
      const listed = new Set<string>()
      yield* partner.accounts(Option.none()).pipe(
        Stream.runForEach((page) =>
          Effect.gen(function* () {
            const malformed = malformedRows(page)
            begins.at ??= page.servedAt
            yield* flood.pass("accounts", page.rows.length, malformed)
            const read = understoodRows(page)
            for (const { accountId } of read) listed.add(accountId)
            for (const { id } of malformed) if (Option.isSome(id)) listed.add(id.value)
            yield* run.commit(
              Effect.gen(function* () {
                yield* accounts.put(book, run.runId, nowIso(page.requestedAt), read)
                yield* quarantine.put(book, run.runId, "accounts", malformed)
                if (waiting.has("accounts")) {
                  yield* quarantine.resolveItems(
                    book,
                    "accounts",
                    read.map((account) => account.accountId),
                  )
                }
                if (page.hasNextPage) return
                yield* accounts.listed(book, listed)
                yield* noteReads(book, [{ stream: "accounts", beganAt: begins.at ?? Option.none() }])
              }),
            )
            run.counters.quarantined += malformed.length
          }),
        ),
      )
    })

    return { readResources, leaveOut, readReference, readAccounts }
  }),
}) {}
