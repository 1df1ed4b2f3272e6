/**
 * Compares a part of a statement that was read again with the mirror: which entries are known, new in between, or gone, and
 * whether the running balance leads from the opening to the closing balance.
 */
import { Either, Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { isEnriched, sameContent } from "../../Mirror/EntryContent.ts"
import { signedAmount } from "../../Mirror/EntryRow.ts"
import type { KnownEntry, PlacedEntry } from "../../Mirror/StatementEntries.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Malformed, Row } from "../../Partner/Lists/Page.ts"
import type { StatementEntry } from "../../Partner.ts"
import { continues, misstated } from "../Statements/Chain.ts"
import type { Window } from "./Window.ts"

export interface Comparison {
  /** Rows that were read, understood or not. */
  rows: number
  /** Entries in the window. */
  entries: number
  /** The balance of what occurred before the window; none where nothing is known before it. `closing`: by its end. */
  opening: Option.Option<Amount>
  closing: Option.Option<Amount>
  /** The first entry that does not continue the balance of the one before it. */
  breakAt: Option.Option<string>
  /** Posted entries that read differently now. */
  readonly changed: Array<StatementEntry>
  /** Posted entries that now name their resource and did not before. */
  readonly enriched: Array<PlacedEntry>
  /** Entries between posted ones that the mirror does not have. */
  readonly missing: Array<StatementEntry>
  /** Entries before the first mirrored one. */
  readonly older: Array<StatementEntry>
  /** Entries after the last mirrored one, which the next sync will read. */
  newer: number
  /**
   * Places of posted entries that were passed over. Before the first entry that was met, the service may keep no history:
   * there it is only those `within` the window. `isEnd`: the statement ended before they came.
   */
  readonly gone: Array<{
    readonly after: bigint
    readonly before: bigint
    readonly within?: Window
    readonly isEnd: boolean
  }>
  /** Entries that an earlier reading said were gone. */
  readonly back: Array<KnownEntry>
  /** When its first page was asked for (`Page.askedAt`), once there is one. */
  askedAt: Option.Option<Instant> | undefined
  readonly malformed: Array<Malformed>
  /** The first posted entry that was met. */
  firstKnown: Option.Option<KnownEntry>
}

/** Whether a reading met what the mirror has and nothing else. */
export const isAsMirrored = (found: Comparison): boolean =>
  Option.isNone(found.breakAt) &&
  found.newer === 0 &&
  [found.changed, found.missing, found.older, found.gone, found.malformed].every(({ length }) => length === 0)

/**
 * Whether a reading did not go on where it began, right behind `place`. Its cursor may lead elsewhere by now, as the number of a
 * page does that has grown since: what such a reading did not meet is no evidence, nor is a reading that met nothing at all.
 */
export const leadsElsewhere = (found: Comparison, place: Option.Option<bigint>): boolean =>
  found.gone.some(({ after }) => Option.contains(place, after)) ||
  (Option.isNone(found.firstKnown) && (Option.isSome(found.breakAt) || isAsMirrored(found)))

/** Where a reading begins: `position` and `balance` of the entry before, if known, and `late` as in `Start`. */
interface Place {
  readonly position: Option.Option<bigint>
  readonly balance: Option.Option<Amount>
  readonly late: Option.Option<Amount>
}

export class WindowReading {
  readonly found: Comparison
  private readonly window: Window
  private readonly tail: bigint
  private readonly head: bigint
  private balance: Option.Option<Amount>
  private last: Option.Option<bigint>
  /** What was met of the window, and of what lies behind it: it stands before what comes late of earlier days. */
  private within: Amount = Money.zero
  private later: Amount = Money.zero
  /** The balance that the reading begins with. */
  private base: Option.Option<Amount>
  private readonly late: Option.Option<Amount>
  /** Whether a row that says not even which entry it is was met since the last posted one: it may be any that was passed over. */
  private hasNameless = false
  /** Entries that no posted one has been met behind, by identifier, in the order of the statement. */
  private readonly waiting = new Map<string, StatementEntry>()

  /** `mirrored`: the first and the last mirrored place, of what is read. */
  constructor(
    window: Window,
    mirrored: { readonly first: bigint; readonly last: bigint },
    { balance, late, position }: Place,
  ) {
    this.window = window
    this.tail = mirrored.first
    this.head = mirrored.last
    this.last = position
    this.balance = balance
    this.base = balance
    this.late = late
    this.found = {
      rows: 0,
      entries: 0,
      opening: balance,
      closing: balance,
      breakAt: Option.none(),
      changed: [],
      enriched: [],
      missing: [],
      older: [],
      newer: 0,
      gone: [],
      back: [],
      askedAt: undefined,
      malformed: [],
      firstKnown: Option.none(),
    }
  }

  take(rows: ReadonlyArray<Row<StatementEntry>>, known: ReadonlyMap<string, KnownEntry>): void {
    this.found.rows += rows.length
    for (const row of rows) {
      if (Either.isLeft(row)) {
        this.hasNameless ||= Option.isNone(row.left.id)
        this.garbled(row.left, known.get(Option.getOrElse(row.left.id, () => "")))
      } else this.one(row.right, known.get(row.right.entryId))
    }
  }

  /** `atEnd`: the statement itself ends here, not only the reading. */
  finish(atEnd: boolean): Comparison {
    const behindHead = Option.getOrElse(this.last, () => 0n) >= this.head
    if (behindHead) this.found.newer += this.waiting.size
    else this.placeWaiting(this.found.missing)
    this.waiting.clear()
    if (atEnd && !behindHead) this.passedOver(this.head + 1n, true)
    if (Option.isSome(this.late)) {
      const late = this.late.value
      this.found.opening = Option.map(this.base, (balance) => Money.add(balance, late))
      this.found.closing = Option.map(this.found.opening, (opening) => Money.add(opening, this.within))
    }
    return this.found
  }

  /** The balances are those of everything that had occurred by then, wherever the statement has it. */
  private count(entry: StatementEntry, before: Amount): void {
    const { end, start } = this.window
    this.base = Option.orElseSome(this.base, () => before)
    if (entry.occurredAt >= end) {
      this.later = Money.add(this.later, signedAmount(entry))
      return
    }
    const closing = Money.subtract(entry.balanceAfter, this.later)
    if (entry.occurredAt < start) this.found.opening = Option.some(Money.subtract(closing, this.within))
    else {
      if (this.found.entries === 0) this.found.opening = Option.some(Money.subtract(before, this.later))
      this.found.entries += 1
      this.within = Money.add(this.within, signedAmount(entry))
    }
    this.found.closing = Option.some(closing)
  }

  /** A row that cannot be understood. A posted entry is not gone if its row is there, and counts as it was posted. */
  private garbled(row: Malformed, known: KnownEntry | undefined): void {
    this.found.malformed.push(row)
    if (known !== undefined && !known.held) this.one(known.entry, known)
    else this.balance = Option.none()
  }

  private one(entry: StatementEntry, known: KnownEntry | undefined): void {
    const isPassed =
      known !== undefined && !known.held && Option.exists(this.last, (place) => known.position <= place)
    if (this.waiting.has(entry.entryId)) return
    if (known?.gone === true) this.found.back.push(known)
    if (isPassed) {
      this.compare(entry, known)
      return
    }
    const wrong = misstated(this.balance, entry)
    if (Option.isSome(wrong)) {
      this.garbled(wrong.value, known)
      return
    }
    if (Option.isNone(this.found.breakAt) && !continues(this.balance, entry)) {
      this.found.breakAt = Option.some(entry.entryId)
    }
    const before = Option.getOrElse(this.balance, () =>
      Money.subtract(entry.balanceAfter, signedAmount(entry)),
    )
    this.balance = Option.some(entry.balanceAfter)
    this.count(entry, before)
    if (known === undefined || known.held) this.waiting.set(entry.entryId, entry)
    else this.posted(entry, known)
  }

  private compare(entry: StatementEntry, { entry: before, position }: KnownEntry): void {
    if (isEnriched(before, entry)) this.found.enriched.push({ entry, position })
    else if (!sameContent(before, entry)) this.found.changed.push(entry)
  }

  private posted(entry: StatementEntry, known: KnownEntry): void {
    this.compare(entry, known)
    const { position } = known
    if (Option.isNone(this.found.firstKnown)) this.found.firstKnown = Option.some(known)
    this.placeWaiting(position === this.tail ? this.found.older : this.found.missing)
    this.passedOver(position)
    this.last = Option.some(position)
  }

  /** One by one: there may be more than a call takes arguments. */
  private placeWaiting(among: Array<StatementEntry>): void {
    for (const entry of this.waiting.values()) among.push(entry)
    this.waiting.clear()
  }

  private passedOver(before: bigint, isEnd = false): void {
    const after = Option.getOrElse(this.last, () => this.tail - 1n)
    const hasNameless = this.hasNameless
    this.hasNameless = false
    if (hasNameless || before <= after + 1n) return
    this.found.gone.push({
      after,
      before,
      isEnd,
      ...(Option.isNone(this.last) ? { within: this.window } : {}),
    })
  }
}
