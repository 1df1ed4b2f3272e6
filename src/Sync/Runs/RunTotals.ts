/** What a run over a connection has read so far, and its result. */
import { Option } from "effect"
import type { Book } from "../../Book.ts"
import { withoutUuids } from "../../Common/Uuid.ts"
import type { BookOutcome } from "./BookReader.ts"
import type { Failure } from "./RunReport.ts"
import { nothingProved, type Proved } from "./WorkerTotals.ts"

export interface RunOutcome {
  /** Books that were read to their end, and those of which nothing was to be read. */
  readonly complete: ReadonlyArray<Book>
  /** Those of which a job that was given up has left nothing unread any more. */
  readonly read: ReadonlyArray<Book>
  /** Books that were not, though the run tried. */
  readonly hindered: ReadonlyArray<Book>
  readonly newEntries: ReadonlyMap<string, number>
  readonly openResources: number
  readonly clientsRead: number
  /** Clients that are not to be read, in words. */
  readonly skipped: ReadonlyArray<string>
  readonly failures: ReadonlyArray<Failure>
  readonly clientFailures: ReadonlyArray<Failure>
  readonly notices: ReadonlyArray<string>
  /** What other processes have numbered and proved of it. */
  readonly elsewhere: Proved
  /** Later runs may have proved books of this one meanwhile, without what it had yet to read. */
  readonly isShared: boolean
}

/** A notice that many clients cause is given once, with their number. */
const noticesOf = (notices: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  [...notices].map(([text, times]) => (times > 1 ? `${text} (${times} times)` : text))

const booksOf = (failures: ReadonlyArray<Failure>): number => new Set(failures.map(({ book }) => book)).size

/**
 * Which failures of clients stop the run: the service asked, on any client's path, for a longer wait than a run may make, or it
 * was away for most clients. A service that fails for only a few has a problem with these.
 */
export const stopping = (
  failures: ReadonlyArray<Failure>,
  clientsRead: number,
): ((failure: Failure) => boolean) => {
  const mostAreAway =
    booksOf(failures.filter(({ passing }) => passing)) > (clientsRead + booksOf(failures)) / 2
  return ({ passing, stopped }) => stopped || (mostAreAway && passing)
}

export class RunTotals {
  readonly complete = new Map<number, Book>()
  readonly read = new Map<number, Book>()
  readonly hindered = new Map<number, Book>()
  readonly failures: Array<Failure> = []
  readonly elsewhere = nothingProved()
  private readonly clientFailures: Array<Failure> = []
  private readonly newEntries = new Map<string, number>()
  private readonly notices = new Map<string, number>()
  private openResources = 0
  private clientsRead = 0

  /** What was read of a book. */
  take(book: Book, outcome: Pick<BookOutcome, "newEntries" | "notices" | "openResources">): void {
    for (const [account, entries] of outcome.newEntries) this.newEntries.set(account, entries)
    for (const notice of outcome.notices) {
      const text = Option.isSome(book.clientId) ? withoutUuids(notice) : notice
      this.notices.set(text, (this.notices.get(text) ?? 0) + 1)
    }
    this.openResources += outcome.openResources
  }

  /** A notice that is given once. */
  notice(text: string): void {
    this.notices.set(text, 1)
  }

  /** A client was read, or could not be. */
  clientDone(book: Book, failures: ReadonlyArray<Failure>): void {
    if (failures.length === 0) this.clientsRead += 1
    this.clientFailed(book, failures)
  }

  /** A failure for a client that was not to be read. */
  clientFailed({ code }: Book, failures: ReadonlyArray<Failure>): void {
    this.clientFailures.push(...failures.map((failure) => ({ ...failure, book: code })))
  }

  outcome(more: Pick<RunOutcome, "isShared" | "skipped">): RunOutcome {
    const stops = stopping(this.clientFailures, this.clientsRead)
    return {
      complete: [...this.complete.values()],
      read: [...this.read.values()].filter(({ bookId }) => this.complete.has(bookId)),
      hindered: [...this.hindered.values()].filter(({ bookId }) => !this.complete.has(bookId)),
      newEntries: this.newEntries,
      openResources: this.openResources,
      clientsRead: this.clientsRead,
      failures: [...this.failures, ...this.clientFailures.filter(stops)],
      clientFailures: this.clientFailures.filter((failure) => !stops(failure)),
      notices: noticesOf(this.notices),
      elsewhere: this.elsewhere,
      ...more,
    }
  }
}
