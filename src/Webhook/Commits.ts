/**
 * Group commit: while one statement is being made durable, deliveries gather, and the next statement takes all of them. A
 * delivery is waited for until its row is durable, or it is certain that it is not.
 */
import { Cause, Data, Effect, Either, Exit, FiberId, FiberSet, type Scope } from "effect"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Delivery, Receipt } from "./Delivery.ts"

/** More is waiting for the database than may be kept in memory. */
export class CommitsFull extends Data.TaggedError("CommitsFull")<{ readonly waiting: number }> {}

/** The database has not answered in time. The row may be there all the same. */
export class CommitsSlow extends Data.TaggedError("CommitsSlow")<{
  /** Milliseconds. */
  readonly patience: number
}> {}

export interface CommitBounds {
  /** The longest that a delivery waits to become durable. Milliseconds. */
  readonly patience: number
  /** While one statement waits for the disk, the next can be on its way. */
  readonly statementsAtOnce: number
  /** Fewer deliveries than this wait for the statement before them: another statement would cost more than it saves. */
  readonly leastBeside: number
  /** A statement that takes longer is not waited for: its session may hang. Milliseconds. */
  readonly usual: number
  readonly rowsPerStatement: number
  readonly bytesPerStatement: number
  readonly waitingRows: number
  readonly waitingBytes: number
}

const defaultBounds: CommitBounds = {
  patience: 5_000,
  statementsAtOnce: 3,
  leastBeside: 16,
  usual: 50,
  rowsPerStatement: 500,
  bytesPerStatement: 4 * 1024 * 1024,
  waitingRows: 20_000,
  waitingBytes: 32 * 1024 * 1024,
}

/** Why a delivery is not known to be durable. */
export type StoreError = DatabaseError | CommitsFull | CommitsSlow

export type Stored = Either.Either<Receipt, StoreError>

export interface Commits {
  readonly store: (delivery: Delivery) => Promise<Stored>
}

type Put = (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<ReadonlyArray<Receipt>, DatabaseError>

interface Waiting {
  readonly delivery: Delivery
  /** Identifies the event, whatever its body. */
  readonly event: string
  readonly tell: (exit: Exit.Exit<Receipt, DatabaseError>) => void
}

/** The database refused one of the rows, and would refuse it again: the others are stored without it. */
const isOfOneRow = ({ reason }: DatabaseError): boolean => reason === "Refused" || reason === "Other"

const tellAll = (
  batch: ReadonlyArray<Waiting>,
  exit: Exit.Exit<ReadonlyArray<Receipt>, DatabaseError>,
): void => {
  for (const [index, { tell }] of batch.entries()) {
    tell(Exit.map(exit, (receipts): Receipt => receipts[index] ?? "known"))
  }
}

/** Gathers deliveries until the scope closes. A statement is an effect; a delivery is none, since there are so many of them. */
export const makeCommits = (
  put: Put,
  bounds: CommitBounds = defaultBounds,
): Effect.Effect<Commits, never, Scope.Scope> =>
  Effect.gen(function* () {
    const start = yield* FiberSet.makeRuntime<never>()
    let waiting: Array<Waiting> = []
    /**
     * Events that a statement under way is writing. The same event with another body must wait for that statement, or it would
     * go unnoticed.
     */
    const writing = new Set<string>()
    let bytes = 0
    let statements = 0
    /** Statements under way that have not taken longer than usual. */
    let waitedFor = 0
    let isNextDue = false

    const next = (): ReadonlyArray<Waiting> => {
      const batch: Array<Waiting> = []
      const left: Array<Waiting> = []
      let size = 0
      for (const one of waiting) {
        const isFull = batch.length === bounds.rowsPerStatement || size > bounds.bytesPerStatement
        if (isFull || writing.has(one.event)) {
          left.push(one)
          continue
        }
        batch.push(one)
        size += one.delivery.body.length
      }
      for (const { event } of batch) writing.add(event)
      waiting = left
      bytes -= size
      return batch
    }

    const write = (batch: ReadonlyArray<Waiting>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(put(batch.map(({ delivery }) => delivery))), (exit) => {
        const failure = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
        if (batch.length > 1 && failure !== undefined && isOfOneRow(failure)) {
          return Effect.forEach(batch, (one) => write([one]), { discard: true })
        }
        return Effect.sync(() => tellAll(batch, exit))
      })

    const writeNext = () => {
      isNextDue = false
      const batch = next()
      if (batch.length === 0) return
      statements++
      waitedFor++
      let isWaitedFor = true
      const waitNoMore = () => {
        if (isWaitedFor) waitedFor--
        isWaitedFor = false
        writeSoon()
      }
      const hanging = setTimeout(waitNoMore, bounds.usual)
      const ended = Effect.sync(() => {
        clearTimeout(hanging)
        statements--
        for (const { event } of batch) writing.delete(event)
        waitNoMore()
      })
      start(Effect.ensuring(write(batch), ended))
      writeSoon()
    }

    /** In the next turn of the event loop: everything that has arrived by then joins the statement. */
    const writeSoon = () => {
      if (isNextDue || waiting.length === 0 || statements === bounds.statementsAtOnce) return
      if (waitedFor > 0 && waiting.length < bounds.leastBeside) return
      isNextDue = true
      setImmediate(writeNext)
    }
    // Nothing is left to write these deliveries, and none of them has been acknowledged.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => tellAll(waiting.splice(0), Exit.interrupt(FiberId.none))),
    )

    const enqueue = (delivery: Delivery): Promise<Stored> =>
      new Promise((resolve, reject) => {
        const slow = () => resolve(Either.left(new CommitsSlow({ patience: bounds.patience })))
        const late = setTimeout(slow, bounds.patience)
        const tell = (exit: Exit.Exit<Receipt, DatabaseError>) => {
          clearTimeout(late)
          if (Exit.isSuccess(exit)) return resolve(Either.right(exit.value))
          return exit.cause._tag === "Fail"
            ? resolve(Either.left(exit.cause.error))
            : reject(Cause.squash(exit.cause))
        }
        waiting.push({ delivery, event: `${delivery.connection}\n${delivery.eventId}`, tell })
        bytes += delivery.body.length
        writeSoon()
      })

    const store = (delivery: Delivery): Promise<Stored> => {
      const isFull =
        waiting.length >= bounds.waitingRows || bytes + delivery.body.length > bounds.waitingBytes
      return isFull
        ? Promise.resolve(Either.left(new CommitsFull({ waiting: waiting.length })))
        : enqueue(delivery)
    }

    return { store }
  })
