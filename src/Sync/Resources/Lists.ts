/**
 * Reads what is new in lists since the last run, however a list turns out to be ordered. An oldest-first list goes on from its
 * last page, which is read again: where cursors are numbers of pages, the one behind it passes over what that page has gained.
 * If it begins with another item than before, the pages before it have changed, and the list is read whole. A newest-first one is read
 * from the start to the item that was its newest one, and on until a page holds nothing new; an unordered one is read whole. A
 * list whose ordering cannot be told yet is short: it is read whole too.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { isoOf } from "../../Common/Time.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { malformedRows, type Pages as PagesOf, Shown, understoodRows } from "../../Partner/Lists/Page.ts"
import { forEachPageUntil } from "../../Partner/Lists/Walk.ts"
import { readWhole } from "../../Partner/Lists/WholeList.ts"
import { isCursorExpired } from "../../Partner/PartnerError.ts"
import { type Account, Partner, type ReferenceItem, type Resource } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { noPath, noteReads, noteTrouble } from "../Runs/Evidence.ts"
import { FloodGate } from "../Runs/FloodGate.ts"
import { beginning, type Checkpoint, saveCheckpoint } from "../Statements/Checkpoint.ts"
import { Pages } from "../Statements/StatementPage.ts"
import { type Group, grouped } from "./Grouped.ts"
import { lastPageOf, leadsElsewhere, type Place } from "./LastPage.ts"
import {
  type Begins,
  isOldestFirst,
  type ListPlan,
  type ListProgress,
  progressFrom,
  startOf,
} from "./ListPlan.ts"
import { type Newest, NewestItems } from "./Newest.ts"
import { orderingOf } from "./Ordering.ts"

const made = Effect.gen(function* () {
  const partner = yield* Partner
  const resources = yield* Resources
  const newestItems = yield* NewestItems
  const reference = yield* ReferenceItems
  const accounts = yield* MirrorAccounts
  const quarantine = yield* Quarantine
  const pages = yield* Pages
  const flood = yield* FloodGate
  const settings = yield* Settings

  const takeResources = Effect.fn("Sync.Lists.takeResources")(function* (
    book: Book,
    stream: string,
    { begins, last, rereads, until, waits }: ListPlan,
    progress: ListProgress,
    page: Group<Resource>,
  ) {
    const run = yield* Run
    const read = understoodRows(page)
    const malformed = malformedRows(page)
    // The last page is read every night: what is in quarantine already is no flood.
    yield* flood.pass(stream, page.rows.length, yield* quarantine.unknown(book, stream, malformed))
    const ids = read.map((item) => item.id)
    const created = read.map((item) => item.createdAt)
    const ordering = orderingOf(progress.checkpoint.ordering, progress.lastCreatedAt, created)
    if (Option.isSome(until)) progress.isReached ||= newestItems.isReached(until.value, page)
    const stop = progress.isReached && Option.contains(ordering, "newest-first")
    progress.reachedKnown = stop && (yield* newestItems.isKnown(book, page))
    const complete = !page.hasNextPage || progress.reachedKnown
    const lastPage = lastPageOf(page, ({ id }) => id) ?? progress.lastPage
    progress.newest = Option.orElse(progress.newest, () => Option.fromNullable(ids[0]))
    const fromNewest: Place = { cursor: Option.none(), leadsTo: progress.newest }
    const checkpoint: Checkpoint = {
      ...(complete && Option.contains(ordering, "newest-first") ? fromNewest : lastPage),
      ordering,
      complete,
    }
    const ends = last && checkpoint.complete
    const withPage = Effect.gen(function* () {
      yield* quarantine.put(book, run.runId, stream, malformed)
      if (waits) {
        yield* quarantine.resolveItems(book, stream, ids)
      }
      if (Option.isNone(until) || complete) yield* saveCheckpoint(book, stream, checkpoint)
      if (waits && progress.isFromStart && !page.hasNextPage) {
        yield* quarantine.resolveStream(book, stream, run.runId, true)
      }
      if (ends) yield* noteReads(book, [{ stream, beganAt: begins.at ?? Option.none() }])
    })
    const news = rereads ? yield* resources.news(book, read) : read
    const more = yield* quarantine.more(book, stream, malformed)
    yield* pages.absorbResources(book, news, [], withPage)
    run.counters.quarantined += more
    progress.checkpoint = checkpoint
    progress.lastPage = lastPage
    progress.lastCreatedAt = Option.orElse(Option.fromNullable(created.at(-1)), () => progress.lastCreatedAt)
  })

  const follow = (book: Book, stream: string, list: PagesOf<Resource>, start: Checkpoint, plan: ListPlan) =>
    Effect.suspend(() => {
      const progress = progressFrom(start)
      // It may end on any page.
      const mayEnd = Option.isSome(plan.until)
      const groups = grouped(mayEnd ? 1 : settings.limits.pagesPerTransaction)
      const read = forEachPageUntil(groups(list(start.cursor, () => !mayEnd)), (page) => {
        plan.begins.at ??= page.askedAt
        progress.isElsewhere = leadsElsewhere(start, page)
        return progress.isElsewhere
          ? Effect.succeed(true)
          : Effect.map(takeResources(book, stream, plan, progress, page), () => progress.reachedKnown)
      })
      return Effect.as(read, progress)
    })

  /**
   * Reads what is new in a list of resources, or all of it. A cursor that is refused or leads elsewhere starts the list over,
   * once.
   */
  const readResources = traced("Sync.Lists.readResources")(function* (
    book: Book,
    stream: string,
    list: PagesOf<Resource> | null,
    checkpoint: Checkpoint,
    { full, waits }: { readonly full: boolean; readonly waits: boolean },
  ) {
    if (list === null) return
    const begins: Begins = { at: undefined }
    // Rows that were added while such a list was read from the middle to its end are still to be read.
    const twice =
      !full && !checkpoint.complete && Option.isSome(checkpoint.cursor) && !isOldestFirst(checkpoint)
    const until = full ? Option.none<Newest>() : yield* newestItems.of(book, checkpoint)
    const plan = { waits, until, rereads: !full && checkpoint.complete, last: !twice, begins }
    // Of one that was never read to its end, what is known says nothing of the rest.
    const anew = Option.isSome(until) ? startOf(checkpoint) : beginning
    const over = follow(book, stream, list, anew, { ...plan, last: true })
    if (full) {
      yield* Effect.catchIf(over, isCursorExpired, () => over)
      return
    }
    const read = yield* follow(book, stream, list, startOf(checkpoint), plan).pipe(
      Effect.asSome,
      Effect.catchIf(isCursorExpired, () => Effect.succeedNone),
    )
    if (!Option.exists(read, ({ isElsewhere }) => !isElsewhere)) {
      yield* over
      return
    }
    if (!twice || Option.isNone(read)) return
    const reached = read.value.checkpoint
    yield* follow(
      book,
      stream,
      list,
      { ...reached, cursor: Option.none(), complete: false },
      { ...plan, until: yield* newestItems.of(book, reached), last: true },
    )
  })

  /** The settings leave the list out, though the interface has it. */
  const leaveOut = Effect.fn("Sync.Lists.leaveOut")(function* (book: Book, stream: string) {
    yield* (yield* Run).commit(noteTrouble(book, stream, noPath))
  })

  /**
   * Reads a list of reference data whole, each run: it is small and its items change in place. `waits`: rows of it may be in
   * quarantine.
   */
  const readReference = traced("Sync.Lists.readReference")(function* (
    book: Book,
    kind: string,
    list: PagesOf<ReferenceItem> | null,
    waits = true,
  ) {
    if (list === null) return
    const run = yield* Run
    yield* readWhole(
      list,
      ({ id }) => id,
      (page, isWhole) =>
        Effect.gen(function* () {
          const malformed = malformedRows(page)
          yield* flood.pass(kind, page.rows.length, malformed)
          const news = yield* reference.news(book, kind, understoodRows(page))
          if (news.length === 0 && malformed.length === 0 && !waits) return
          const ids = understoodRows(page).map((item) => item.id)
          const more = yield* quarantine.more(book, kind, malformed)
          yield* run.commit(
            Effect.gen(function* () {
              yield* reference.put(book, run.runId, kind, isoOf(page.requestedAt), news)
              yield* quarantine.put(book, run.runId, kind, malformed)
              yield* quarantine.resolveItems(book, kind, ids)
              if (isWhole && waits) yield* quarantine.resolveStream(book, kind, run.runId)
            }),
          )
          run.counters.quarantined += more
        }),
    )
  })

  /**
   * Reads the whole list of accounts, with their balances, and marks accounts that it no longer shows. `waiting`: the streams
   * with rows in quarantine.
   */
  const readAccounts = traced("Sync.Lists.readAccounts")(function* (
    book: Book,
    waiting: ReadonlySet<string>,
  ) {
    const run = yield* Run
    const begins: Begins = { at: undefined }
    const shown = new Shown<Account>(({ accountId }) => accountId)
    yield* readWhole(
      partner.accounts,
      ({ accountId }) => accountId,
      (page, isWhole) =>
        Effect.gen(function* () {
          const malformed = malformedRows(page)
          begins.at ??= page.askedAt
          yield* flood.pass("accounts", page.rows.length, malformed)
          const read = understoodRows(page)
          shown.take(page)
          const more = yield* quarantine.more(book, "accounts", malformed)
          yield* run.commit(
            Effect.gen(function* () {
              yield* accounts.put(book, run.runId, isoOf(page.requestedAt), read)
              yield* quarantine.put(book, run.runId, "accounts", malformed)
              if (waiting.has("accounts")) {
                yield* quarantine.resolveItems(
                  book,
                  "accounts",
                  read.map((account) => account.accountId),
                )
              }
              if (!isWhole) return
              if (waiting.has("accounts")) yield* quarantine.resolveStream(book, "accounts", run.runId)
              yield* Effect.transposeMapOption(shown.all, (listed) => accounts.listed(book, listed))
              yield* noteReads(book, [{ stream: "accounts", beganAt: begins.at ?? Option.none() }])
            }),
          )
          run.counters.quarantined += more
        }),
    )
  })

  return { readResources, leaveOut, readReference, readAccounts }
})

export class Lists extends Effect.Service<Lists>()("tieout/Sync/Lists", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Lists(parts))
}
