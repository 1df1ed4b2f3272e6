/** The result of a run. */
import { Data } from "effect"
import type { Counters } from "../../Run/Counters.ts"

/** What a run may fail to read of a book. */
export type Unread =
  | { readonly kind: "book" }
  | { readonly kind: "list"; readonly name: string }
  /** `isApart`: its book can be numbered and proved without it. */
  | { readonly kind: "statement"; readonly accountId: string; readonly isApart: boolean }
  /** Whether statements end at their accounts' balances. */
  | { readonly kind: "balances" }
  /** Movements that are asked for by identifier: those that were open, or those of a backfill's window. */
  | { readonly kind: "movements"; readonly which: "open" | "window" }

/** Something that this run could not read. */
export interface Failure {
  /** The code of the client's book that could not be read. */
  readonly book?: string
  readonly unread: Unread
  readonly why: string
  /** The service asked to wait longer than a run may: the next run reads it. */
  readonly stopped: boolean
  /** It passes by itself: the service was away, or asked to wait. */
  readonly passing: boolean
}

/** Lists that lead to no movement: the interface documents no path of theirs, or the books only take names from them. */
const referenceLists: ReadonlySet<string> = new Set(["address book", "conversion pairs", "payment rails"])

/** Whether a book cannot be numbered and proved without it, since it may have movements that are not in the books. */
export const hinders = ({ unread }: Pick<Failure, "unread">): boolean => {
  if (unread.kind === "statement") return !unread.isApart
  return unread.kind !== "list" || !referenceLists.has(unread.name)
}

const partText = (unread: Unread): string => {
  switch (unread.kind) {
    case "book":
      return ""
    case "list":
      return unread.name
    case "statement":
      return `statement ${unread.accountId}`
    case "balances":
      return "account balances"
    case "movements":
      return unread.which === "open" ? "open resources" : "movements of the window"
  }
}

/** What could not be read, in words for a person: `statement 0f3c…`, `client ACME, deposits`. */
export const unreadText = ({ book, unread }: Pick<Failure, "book" | "unread">): string =>
  [...(book === undefined ? [] : [`client ${book}`]), partText(unread)]
    .filter((text) => text !== "")
    .join(", ")

export interface SyncReport {
  readonly connection: string
  readonly runId: number
  readonly seconds: number
  readonly counters: Counters
  /** Requests sent, retries included, by kind of endpoint. */
  readonly requests: Readonly<Record<string, number>>
  /** New statement entries by account. */
  readonly newEntries: ReadonlyMap<string, number>
  /** Resources that were open and asked for again. */
  readonly openResources: number
  /** Journal entries that got their number. */
  readonly numbered: number
  readonly findingsOpened: number
  readonly findingsClosed: number
  /** Blocking findings that are open after the run: exit code 3. */
  readonly blockingFindings: number
  /** Clients that were read, and those that are not to be read because of their status. */
  readonly clients: { readonly read: number; readonly skipped: ReadonlyArray<string> }
  /** Clients that could not be read; the others were: exit code 3. */
  readonly clientFailures: ReadonlyArray<Failure>
  /** Notices for the operator that stop nothing, such as a list that the service does not have. */
  readonly notices: ReadonlyArray<string>
  /** It was asked for less than the connection has: `--quick`, one surface, one client. */
  readonly partial: boolean
}

/** A report as `--json` prints it. */
export const reportDocument = <R extends SyncReport>({
  clientFailures,
  newEntries,
  ...report
}: R): object => ({
  ...report,
  newEntries: Object.fromEntries(newEntries),
  clientFailures: clientFailures.map((failure) => ({
    book: failure.book,
    what: unreadText(failure),
    why: failure.why,
    stopped: failure.stopped,
  })),
})

/**
 * The run could not read everything. What it did read is committed, and the next run goes on from there. `Stopped`: only
 * because the service was away or asked to wait (exit 75); `Failed`: something has to be put right (exit 1).
 */
export class SyncIncomplete extends Data.TaggedError("SyncIncomplete")<{
  readonly reason: "Failed" | "Stopped"
  readonly failures: ReadonlyArray<Failure>
  readonly report: SyncReport
}> {
  override get message(): string {
    const shown = this.failures.slice(0, 10).map((failure) => `${unreadText(failure)}: ${failure.why}`)
    const more = this.failures.length - shown.length
    return [
      ...shown,
      ...(more > 0 ? [`… and ${more} more.`] : []),
      "Everything else was read and is committed; run the command again to go on from there.",
    ].join("\n")
  }
}

/** Whether nothing at all could be read: neither the organization's accounts nor any client. */
export const readNothing = ({ failures, report }: SyncIncomplete): boolean =>
  report.clients.read === 0 &&
  failures.some(
    ({ book, unread }) => book === undefined && unread.kind === "list" && unread.name === "accounts",
  )

const whatRuns = { sync: "A sync", backfill: "A backfill", export: "An export" } as const

/** A sync (or what takes its place: a replay, a reclassification, an archive), a backfill or an export of this connection is under way (exit 4). */
export class SyncBusy extends Data.TaggedError("SyncBusy")<{
  readonly connection: string
  readonly what?: keyof typeof whatRuns
  /** What did not happen because of it; none: the command is one of the same kind, and did nothing. */
  readonly undone?: string
}> {
  override get message(): string {
    const { undone } = this
    const what = this.what ?? "sync"
    const or = what === "sync" ? ", or a command that changes its books," : ""
    const runs = `of connection ${this.connection}${or} is running`
    return undone === undefined
      ? `Another ${what} ${runs}; this one has read and written nothing. See: tieout status`
      : `${whatRuns[what]} ${runs}: ${undone}. Run it again when that has ended. See: tieout status`
  }
}
