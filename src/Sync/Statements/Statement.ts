/**
 * Reads one account's statement on from its checkpoint: its last page, which is read again, since where cursors are numbers of
 * pages the one behind it passes over what that page has gained. A page's entries must continue the running balance. At a break it is
 * read again, from further and further back while the break stays; entries behind a break that remains are mirrored and held.
 */
import { Data, Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import * as Money from "../../Common/Money.ts"
import { subjectsOf } from "../../Ledger/Subjects.ts"
import { wereGone } from "../../Mirror/GoneEntries.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { heldFrom, isKnownMeanwhile, StatementEntries } from "../../Mirror/StatementEntries.ts"
import { forEachPage } from "../../Partner/Lists/Walk.ts"
import { isCursorExpired, PartnerError } from "../../Partner/PartnerError.ts"
import { Partner, type StatementEntry } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { type Group, grouped } from "../Resources/Grouped.ts"
import { Hydration, streamOf } from "../Resources/Hydration.ts"
import { FloodGate } from "../Runs/FloodGate.ts"
import { inCurrency } from "./AccountCurrency.ts"
import { runsBackwards, type Walked, walk } from "./Chain.ts"
import { type Checkpoint, newestBoundaries, saveStatementProgress, statementStream } from "./Checkpoint.ts"
import { knownRows } from "./KnownRows.ts"
import { movesTo, note, passesOver, type Reading, readingFrom } from "./Reading.ts"
import { outcomeOf } from "./StatementOutcome.ts"
import { Pages } from "./StatementPage.ts"

/** The running balance did not continue: the statement is read again, once. */
class ChainBroken extends Data.TaggedError("ChainBroken")<{ readonly accountId: string }> {}

/** A cursor leads behind entries that were never read: the statement is read from further back. */
class PassedOver extends Data.TaggedError("PassedOver")<{ readonly accountId: string }> {}

/** Older page boundaries that are tried, newest first, when the stored cursor is refused, before the very beginning. */
const boundariesTried = 5

const made = Effect.gen(function* () {
  const partner = yield* Partner
  const entries = yield* StatementEntries
  const knownAmong = yield* knownRows
  const quarantine = yield* Quarantine
  const hydration = yield* Hydration
  const pages = yield* Pages
  const flood = yield* FloodGate
  const settings = yield* Settings

  /** Part of the page's transaction: everything but the resources and the postings. */
  const alongside = (
    book: Book,
    account: MirroredAccount,
    walked: Walked,
    reading: Reading,
    page: Group<StatementEntry>,
    areNew: boolean,
  ) =>
    Effect.gen(function* () {
      const { runId } = yield* Run
      const stream = statementStream(account.accountId)
      yield* areNew ? entries.add(book, runId, walked.good) : entries.put(book, runId, walked.good, false)
      const behind = walked.behind.map((entry, at) => ({
        entry,
        position: heldFrom + reading.heldNext + BigInt(at) + 1n,
      }))
      yield* entries.put(book, runId, behind, true)
      yield* entries.enrich(book, runId, walked.enriched)
      yield* entries.contradict(book, runId, walked.contradictions)
      yield* quarantine.put(book, runId, stream, walked.malformed)
      const last = walked.good.at(-1)
      const place = movesTo(reading, walked, page)
      if (last === undefined && place === null) return
      yield* saveStatementProgress(book, account.accountId, {
        place,
        boundary: walked.state.broken ? null : Option.getOrNull(page.endCursor),
        head:
          last === undefined
            ? null
            : {
                position: last.position,
                balance: Money.toText(last.entry.balanceAfter),
                entryId: last.entry.entryId,
                occurredAt: last.entry.occurredAt,
              },
      })
    })

  const takePage = traced("Sync.Statements.takePage")(function* (
    book: Book,
    account: MirroredAccount,
    reading: Reading,
    page: Group<StatementEntry>,
    tolerant: boolean,
  ) {
    const run = yield* Run
    const rows = page.rows.map(inCurrency(account.currency))
    const known = yield* knownAmong(book, account.accountId, rows)
    if (passesOver(reading, page, rows, known)) return yield* new PassedOver({ accountId: account.accountId })
    const walked = walk(reading.chain, rows, known)
    const opens = reading.chain.position === 0n && Option.isNone(reading.chain.balance)
    if (opens && walked.breaks && runsBackwards(rows)) {
      return yield* new PartnerError({
        reason: "BadResponse",
        operation: `GET statement of ${account.accountId}`,
        detail: "the statement begins with its newest entry; entries are expected in posting order",
        advice:
          "Nothing of it was booked. The interface promises posting order; ask the operators of the service",
      })
    }
    const stream = statementStream(account.accountId)
    const unknown = yield* quarantine.unknown(book, stream, walked.malformed)
    // A break that stays may be a last row alone, which is in quarantine already and holds nothing.
    const isKnown = account.held === 0n && walked.behind.length === 0 && unknown.length === 0
    if (walked.breaks && !tolerant && !isKnown)
      return yield* new ChainBroken({ accountId: account.accountId })
    // The last page is read every night: what is in quarantine already is no flood.
    yield* flood.pass(stream, page.rows.length, unknown)
    const news =
      walked.good.length +
      walked.behind.length +
      walked.malformed.length +
      walked.enriched.length +
      walked.contradictions.length +
      wereGone(known.values()).length
    const more = yield* quarantine.more(book, stream, walked.malformed)
    if (news > 0 || movesTo(reading, walked, page) !== null) {
      const naming = [...walked.enriched, ...walked.good]
      const named = naming.flatMap(({ entry }) => Option.toArray(entry.relatedResourceId))
      const booked = yield* subjectsOf(book, [...new Set(named)])
      const hydrated = yield* hydration.hydrate(book, naming, booked)
      const also = (areNew: boolean) =>
        Effect.zipRight(
          Effect.zipRight(
            entries.shown(book, run.runId, known.values()),
            alongside(book, account, walked, reading, page, areNew),
          ),
          Effect.forEach(
            hydrated.malformed,
            ({ key, row }) => quarantine.put(book, run.runId, streamOf(key.type), [row]),
            { discard: true },
          ),
        )
      const missing = [...hydrated.missing, ...hydrated.malformed.map(({ key }) => key)]
      const absorbed = {
        fresh: walked.good,
        enriched: walked.enriched,
        opens,
        booked: walked.enriched.length > 0 ? undefined : booked,
        reread: hydrated.reread,
        hydrated: { ...hydrated, missing },
      }
      for (const { key, row } of hydrated.malformed) {
        const more = yield* quarantine.more(book, streamOf(key.type), [row])
        run.counters.quarantined += more
      }
      const areNew = !walked.good.some(({ entry }) => known.has(entry.entryId))
      yield* pages
        .absorb(book, absorbed, also(areNew))
        .pipe(Effect.catchIf(isKnownMeanwhile, () => pages.absorb(book, absorbed, also(false))))
    }
    note(reading, walked, page, known)
    run.counters.held += walked.behind.length
    run.counters.quarantined += more
    run.counters.contradictions += walked.contradictions.length
  })

  const readOn = (book: Book, account: MirroredAccount, reading: Reading, tolerant: boolean) =>
    forEachPage(
      grouped(settings.limits.pagesPerTransaction)(partner.statement(account.accountId)(reading.from)),
      (page) => {
        reading.beganAt ??= page.askedAt
        return takePage(book, account, reading, page, tolerant)
      },
    )

  /**
   * Reads from the newest page boundary that works, else from the start: because the stored cursor was refused, or because it
   * leads past entries or to nothing. A boundary that leads to nothing proves nothing: what is behind it may have moved before it. In the
   * second case `tolerant` is false and a break leads further back; one that remains from the start on is real.
   */
  const fromOlder = Effect.fn("Sync.Statements.fromOlder")(function* (
    book: Book,
    account: MirroredAccount,
    reading: Reading,
    tolerant: boolean,
  ) {
    const boundaries = yield* newestBoundaries(book, account.accountId, {
      count: boundariesTried,
      // Behind the last entry nothing shows whether it leads on.
      before: reading.lastFilled === undefined ? Option.some(account.entries) : Option.none(),
      tried: reading.from,
    })
    const cursors = [...boundaries.map(({ cursor }) => Option.some(cursor)), Option.none<string>()]
    for (const [at, cursor] of cursors.entries()) {
      const isLast = at === cursors.length - 1
      reading.from = cursor
      reading.meets = !tolerant
      reading.lastFilled = undefined
      const done = yield* readOn(book, account, reading, tolerant || isLast).pipe(
        Effect.map(() => isLast || reading.lastFilled !== undefined),
        Effect.catchIf(
          (error) =>
            !isLast &&
            (isCursorExpired(error) || error._tag === "ChainBroken" || error._tag === "PassedOver"),
          () => Effect.succeed(false),
        ),
      )
      if (done) return
    }
  })

  /** Reads a statement to its end. */
  const read = traced("Sync.Statements.read")(function* (
    book: Book,
    account: MirroredAccount,
    checkpoint: Checkpoint,
  ) {
    const reading = readingFrom(account, checkpoint)
    const attempt = Effect.suspend(() => readOn(book, account, reading, false)).pipe(
      // It led to the last page, unless it is of an earlier version or what it led to is gone.
      Effect.filterOrFail(
        () => reading.lastFilled !== undefined || account.entries === 0n || Option.isNone(reading.from),
        () => new PassedOver({ accountId: account.accountId }),
      ),
      // Only a new break leads back to the start: one that stays would cause the whole statement to be read every night.
      Effect.catchTag("ChainBroken", () =>
        account.held === 0n ? fromOlder(book, account, reading, false) : readOn(book, account, reading, true),
      ),
      Effect.catchTag("PassedOver", () => fromOlder(book, account, reading, false)),
      Effect.catchIf(isCursorExpired, () => fromOlder(book, account, reading, true)),
      Effect.catchTags({
        ChainBroken: () => Effect.dieMessage("a tolerant read takes breaks as they are"),
        PassedOver: () => Effect.dieMessage("nothing is passed over from the start on"),
      }),
    )
    yield* attempt
    return outcomeOf(account.accountId, reading)
  })

  return { read }
})

export class Statements extends Effect.Service<Statements>()("tieout/Sync/Statements", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Statements(parts))
}
