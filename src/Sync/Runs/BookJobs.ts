/** How other processes read the books of a connection's clients, if the program provides it. */
import { Context, type Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import type { Counters } from "../../Run/Counters.ts"
import type { LeaseLost } from "../../Run/Lease.ts"
import type { AccountBackfill } from "../Backfill/BackfilledStatements.ts"
import type { Window } from "../Backfill/Window.ts"
import type { Work } from "./DeadJobs.ts"
import type { Failure } from "./RunReport.ts"

/** The task for every book of a run. */
export interface BookAsked {
  readonly full: boolean
  readonly quick: boolean
  /** Its receivables are brought up to date as well: the borrower's side of the credit surface. */
  readonly settles: boolean
  /** The days that a backfill reads again; null: a sync. */
  readonly window: Window | null
}

export const workOf = ({ window }: BookAsked): Work =>
  window === null ? { kind: "sync" } : { kind: "backfill", days: window }

export interface BookTask {
  readonly book: Book
  readonly clientId: string
  /** False: the client is not read, and only its receivables are brought up to date. */
  readonly reads: boolean
  /** Why a client that was read before is not read this time; the reason is noted and nothing else is done. */
  readonly stopped: Option.Option<string>
}

/** The result of reading, numbering and proving one book. */
export interface BookResult {
  readonly bookId: number
  /** By account. */
  readonly newEntries: Readonly<Record<string, number>>
  readonly openResources: number
  readonly failures: ReadonlyArray<Failure>
  readonly notices: ReadonlyArray<string>
  readonly counters: Counters
  /** Requests sent since the same process reported last, by kind of endpoint. */
  readonly requests: Readonly<Record<string, number>>
  readonly numbered: number
  readonly findingsOpened: number
  readonly findingsClosed: number
  readonly blockingFindings: number
  /** Receivables that were booked anew by changed settings. */
  readonly resettled: number
  /** Of a backfill, by account. */
  readonly accounts: ReadonlyArray<AccountBackfill>
}

export type ReadElsewhere = (
  run: { readonly connection: string; readonly runId: number },
  asked: BookAsked,
  tasks: ReadonlyArray<BookTask>,
  /** Called for each result as it arrives. */
  take: (result: BookResult) => void,
) => Effect.Effect<void, DatabaseError | LeaseLost>

/** None: the process that runs the sync reads them itself. */
export class BookJobs extends Context.Reference<BookJobs>()("tieout/Sync/BookJobs", {
  defaultValue: (): Option.Option<ReadElsewhere> => Option.none(),
}) {}
