/**
 * Group commit: while one statement is being made durable, deliveries gather, and the next statement takes all of them. A
 * delivery is waited for until its row is durable, or it is certain that it is not.
 */
import { Data, Effect, Exit, FiberId, type Scope } from "effect"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Delivery, Receipt } from "./Delivery.ts"

/** More is waiting for the database than may be kept in memory. */
export class CommitsFull extends Data.TaggedError("CommitsFull")<{ readonly waiting: number }> {}

export interface CommitBounds {
  readonly rowsPerStatement: number
  readonly bytesPerStatement: number
  readonly waitingRows: number
  readonly waitingBytes: number
}

export const defaultBounds: CommitBounds = {
  rowsPerStatement: 500,
  bytesPerStatement: 4 * 1024 * 1024,
  waitingRows: 20_000,
  waitingBytes: 32 * 1024 * 1024,
}

export interface Commits {
  readonly store: (delivery: Delivery) => Effect.Effect<Receipt, DatabaseError | CommitsFull>
}

type Put = (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<ReadonlyArray<Receipt>, DatabaseError>

interface Waiting {
  readonly delivery: Delivery
  readonly resume: (outcome: Effect.Effect<Receipt, DatabaseError>) => void
}

/** The database said no to something in it, and would again; whatever else is in the same statement is not to suffer. */
const isOfOneRow = ({ reason }: DatabaseError): boolean => reason === "Refused" || reason === "Other"

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
    const waiting: Array<Waiting> = []
    let bytes = 0

    const next = (): ReadonlyArray<Waiting> => {
      let count = 0
      let size = 0
      for (const { delivery } of waiting) {
        if (count === bounds.rowsPerStatement || size > bounds.bytesPerStatement) break
        count++
        size += delivery.body.length
      }
      bytes -= size
      return waiting.splice(0, count)
    }

    const write = (batch: ReadonlyArray<Waiting>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(put(batch.map(({ delivery }) => delivery))), (exit) => {
        const failure = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
        if (batch.length > 1 && failure !== undefined && isOfOneRow(failure)) {
          return Effect.forEach(batch, (one) => write([one]), { discard: true })
        }
        return Effect.sync(() => answer(batch, exit))
      })

    const drain = Effect.whileLoop({
      while: () => waiting.length > 0,
      body: () => write(next()),
      step: () => undefined,
    })
    yield* filled.await.pipe(
      Effect.zipRight(Effect.sync(() => filled.unsafeClose())),
      Effect.zipRight(drain),
      Effect.forever,
      Effect.forkScoped,
    )
    // Nobody is left to write them, and none of them has been acknowledged.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => answer(waiting.splice(0), Exit.interrupt(FiberId.none))),
    )

    const enqueue = (delivery: Delivery) =>
      Effect.async<Receipt, DatabaseError>((resume) => {
        waiting.push({ delivery, resume })
        bytes += delivery.body.length
        filled.unsafeOpen()
      })

    const store = (delivery: Delivery): Effect.Effect<Receipt, DatabaseError | CommitsFull> =>
      Effect.suspend((): Effect.Effect<Receipt, DatabaseError | CommitsFull> => {
        const isFull =
          waiting.length >= bounds.waitingRows || bytes + delivery.body.length > bounds.waitingBytes
        return isFull ? new CommitsFull({ waiting: waiting.length }) : enqueue(delivery)
      })

    return { store }
  })
