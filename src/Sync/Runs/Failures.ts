/** Which failures concern one stream or one client, and which end the run. */
import { Cause, Effect, Exit, Option } from "effect"
import { isZero } from "../../Common/Money.ts"
import { changedOver, DatabaseError, isPassing } from "../../Database/DatabaseError.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { isOutage, isRejected, PartnerError } from "../../Partner/PartnerError.ts"
import type { LeaseLost } from "../../Run/Lease.ts"
import type { SettingsError } from "../../Settings.ts"
import { QuarantineFlood } from "./FloodGate.ts"
import { type Failure, SyncIncomplete, type Unread } from "./RunReport.ts"

export type StreamError = PartnerError | QuarantineFlood
export type ReadError = StreamError | DatabaseError | LeaseLost | SettingsError

/** Failures that concern one stream alone, so that the others go on. A failure of the credentials concerns all of them. */
export const ofOneStream = (error: ReadError): error is StreamError =>
  error instanceof QuarantineFlood || (error instanceof PartnerError && error.reason !== "Unauthorized")

/** A token that was obtained is refused, and so was a fresh one. */
const isTokenRefused = (error: ReadError): error is PartnerError =>
  error instanceof PartnerError && error.reason === "Unauthorized" && error.operation.startsWith("GET ")

/** There is no token to be had: the credentials are refused, which a person puts right. */
export const areCredentialsRefused = (error: unknown): boolean =>
  error instanceof PartnerError && error.reason === "Unauthorized" && !error.operation.startsWith("GET ")

const ofOneClient = (error: ReadError): error is StreamError => ofOneStream(error) || isTokenRefused(error)

const handling =
  (isOwn: (error: ReadError) => error is StreamError) =>
  <B>(handle: (error: StreamError) => B) =>
  <A, R>(effect: Effect.Effect<A, ReadError, R>): Effect.Effect<A | B, ReadError, R> =>
    Effect.catchAll(effect, (error) => (isOwn(error) ? Effect.sync(() => handle(error)) : Effect.fail(error)))

/** Handles what concerns one stream only; everything else ends the run. */
export const aloneOfStream = handling(ofOneStream)

/**
 * The same for one client. A token refused on a client's path concerns that client alone; a token that cannot be obtained
 * concerns everybody.
 */
export const aloneOfClient = handling(ofOneClient)

/** Things of a book in a row for which the token is refused before it is the credentials that are refused. */
const mostRefused = 3

/**
 * The same for the statements, lists or movements of a book whose accounts could be read: a token authorizes resources, so that one
 * refused for a single thing concerns that thing alone.
 */
export const aloneOfEach = () => {
  let refused = 0
  const isOwn = (error: ReadError): error is StreamError => {
    if (!isTokenRefused(error)) return ofOneStream(error)
    refused += 1
    return refused <= mostRefused
  }
  return <B>(handle: (error: StreamError) => B) =>
    <A, R>(effect: Effect.Effect<A, ReadError, R>): Effect.Effect<A | B, ReadError, R> =>
      effect.pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            refused = 0
          }),
        ),
        handling(isOwn)(handle),
      )
}

/** The service asks everybody to wait, or has failed every time: nothing more is asked. */
export const isAskedToWait = (error: StreamError): boolean =>
  error instanceof PartnerError && error.retryAt !== undefined

/** What names a list or a statement by itself, as `unreadText` does, needs no stream's name after it. */
const namesStream = ({ kind }: Unread): boolean => kind === "list" || kind === "statement"

export const failureOf = (unread: Unread, error: StreamError): Failure => ({
  unread,
  why: error instanceof QuarantineFlood && namesStream(unread) ? error.why : error.message,
  stopped: error instanceof PartnerError && error.reason === "RateLimited",
  passing: error instanceof PartnerError && isOutage(error),
})

/** A list without which nothing that it leads to is read either; like every text of a failure it ends without a full stop. */
export const withoutAll = (name: string, error: StreamError, unread: string): Failure => {
  const failure = failureOf({ kind: "list", name }, error)
  return { ...failure, why: `${failure.why}. ${unread}` }
}

/** A list that the interface does not document may not exist under the name that the profile guesses. */
export const isAbsent = (error: StreamError): boolean =>
  error instanceof PartnerError && (error.reason === "NotFound" || error.reason === "Forbidden")

/** The same of what is closed: the interface shows no status by which a service says so. */
const isRefused = (error: StreamError): boolean =>
  isAbsent(error) || isRejected(error) || isTokenRefused(error)

/** Whether an error means that the service or the database is away: what was committed stays, and the run is repeated later. */
export const isAway = (error: unknown): boolean =>
  error instanceof PartnerError
    ? isOutage(error)
    : error instanceof DatabaseError
      ? isPassing(error)
      : error instanceof SyncIncomplete && error.reason === "Stopped"

/**
 * Whether what runs by itself waits and tries again. It does so as well while the database may only be read, and while its disk is full:
 * people are told, and some may make room before morning.
 */
export const isWaitedFor = (error: unknown): boolean =>
  isAway(changedOver(error)) || (error instanceof DatabaseError && error.reason === "DiskFull")

/** Whether a run was stopped early, and goes on when it is run again: by a signal, or an outage. */
export const wasStopped = <A, E>(exit: Exit.Exit<A, E>): boolean =>
  Exit.isFailure(exit) &&
  (Cause.isInterruptedOnly(exit.cause) || Option.exists(Cause.failureOption(exit.cause), isAway))

/** There is no such thing, or not yet. */
export const isMissing = (error: unknown): error is PartnerError =>
  error instanceof PartnerError && (error.reason === "NotFound" || error.status === 204)

/** By its balance nothing was ever on it. A service may show no statement of such an account until something is. */
const isUntouched = ({ balance, entries, held }: MirroredAccount): boolean =>
  entries === 0n && held === 0n && isZero(balance)

/**
 * What it means that a statement cannot be read. Where the service refuses it of an account that is closed or has left the list, that is a
 * finding, and no failure of the run. Where it refuses it of one that is suspended ("temporarily unavailable"), nobody knows for how
 * long: the run fails, and nothing else of the book waits for it.
 */
export const ofStatement = (account: MirroredAccount, error: StreamError): ReadonlyArray<Failure> => {
  const { accountId, listed, status } = account
  if (isRefused(error) && (!listed || status === "CLOSED")) return []
  const isApart = status === "SUSPENDED" ? isRefused(error) : isUntouched(account) && isMissing(error)
  return [failureOf({ kind: "statement", accountId, isApart }, error)]
}
