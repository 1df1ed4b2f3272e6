/**
 * Group commit: while one statement is being made durable, deliveries gather, and the next statement takes all of them. A
 * delivery is waited for until its row is durable, or it is certain that it is not.
 */
import { Data, Effect, Exit, FiberId, type Scope } from "effect"
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
  /** While one waits for the disk, the next can be on its way. */
  readonly statementsAtOnce: number
  readonly rowsPerStatement: number
  readonly bytesPerStatement: number
  readonly waitingRows: number
  readonly waitingBytes: number
}

const defaultBounds: CommitBounds = {
  patience: 5_000,
  statementsAtOnce: 3,
  rowsPerStatement: 500,
  bytesPerStatement: 4 * 1024 * 1024,
  waitingRows: 20_000,
  waitingBytes: 32 * 1024 * 1024,
}

export interface Commits {
  readonly store: (delivery: Delivery) => Effect.Effect<Receipt, DatabaseError | CommitsFull | CommitsSlow>
}

type Put = (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<ReadonlyArray<Receipt>, DatabaseError>

interface Waiting {
  readonly delivery: Delivery
  readonly resume: (outcome: Effect.Effect<Receipt, DatabaseError>) => void
}

/** The database said no to something in it, and would again; whatever else is in the same statement is not to suffer. */
const isOfOneRow = ({ reason }: DatabaseError): boolean => reason === "Refused" || reason === "Other"

const eventOf = ({ delivery }: Waiting): string => `${delivery.connection}\n${delivery.eventId}`

/** Lets everything that has arrived by now join the next statement. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const answer = (
  batch: ReadonlyArray<Waiting>,
  exit: Exit.Exit<ReadonlyArray<Receipt>, DatabaseError>,
): void => {
  for (const [index, { resume }] of batch.entries()) {
    resume(Exit.map(exit, (receipts): Receipt => receipts[index] ?? "known"))
  }
}

export const makeCommits = (
  put: Put,
  bounds: CommitBounds = defaultBounds,
): Effect.Effect<Commits, never, Scope.Scope> =>
  Effect.gen(function* () {
    const filled = yield* Effect.makeLatch(false)
    let waiting: Array<Waiting> = []
    /** Events that a statement under way is writing: the same one with another body must come after it, to be noticed. */
    const writing = new Set<string>()
    let bytes = 0

    const next = (): ReadonlyArray<Waiting> => {
      const batch: Array<Waiting> = []
      const left: Array<Waiting> = []
      const others = new Set(writing)
      let size = 0
      for (const one of waiting) {
        const isFull = batch.length === bounds.rowsPerStatement || size > bounds.bytesPerStatement
        if (isFull || others.has(eventOf(one))) {
          left.push(one)
          continue
        }
        batch.push(one)
        writing.add(eventOf(one))
        size += one.delivery.body.length
      }
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
        return Effect.sync(() => answer(batch, exit))
      })

    const writeNext = Effect.suspend(() => {
      const batch = next()
      if (batch.length === 0) return Effect.sync(() => filled.unsafeClose())
      return Effect.ensuring(
        write(batch),
        Effect.sync(() => {
          for (const one of batch) writing.delete(eventOf(one))
          if (waiting.length > 0) filled.unsafeOpen()
        }),
      )
    })
    yield* filled.await.pipe(
      Effect.zipRight(turn),
      Effect.zipRight(writeNext),
      Effect.forever,
      Effect.forkScoped,
      Effect.replicateEffect(bounds.statementsAtOnce),
    )
    // Nobody is left to write them, and none of them has been acknowledged.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => answer(waiting.splice(0), Exit.interrupt(FiberId.none))),
    )

    // A timer of its own, not `Effect.timeout`: that starts two fibers, which is a good part of what a delivery costs.
    const enqueue = (delivery: Delivery) =>
      Effect.async<Receipt, DatabaseError | CommitsSlow>((resume) => {
        const late = setTimeout(() => resume(new CommitsSlow({ patience: bounds.patience })), bounds.patience)
        const done: Waiting["resume"] = (outcome) => {
          clearTimeout(late)
          resume(outcome)
        }
        waiting.push({ delivery, resume: done })
        bytes += delivery.body.length
        filled.unsafeOpen()
      })

    const store = (delivery: Delivery): Effect.Effect<Receipt, DatabaseError | CommitsFull | CommitsSlow> =>
      Effect.suspend((): Effect.Effect<Receipt, DatabaseError | CommitsFull | CommitsSlow> => {
        const isFull =
          waiting.length >= bounds.waitingRows || bytes + delivery.body.length > bounds.waitingBytes
        return isFull ? new CommitsFull({ waiting: waiting.length }) : enqueue(delivery)
      })

    return { store }
  })
