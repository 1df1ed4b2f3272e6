/** Bounds on everything that could otherwise grow or wait for ever. */
import { Duration, Schema } from "effect"
import { Count, Span, section, withDefault } from "../Common/Field.ts"

const PerSecond = Schema.Number.pipe(Schema.between(0.01, 100_000)).annotations({
  description: "requests a second, a number from 0.01 to 100000",
})

const Quarantine = Schema.Struct({
  /** A stream stops when more than this many of its rows in a run and more than `maxShare` of them are unreadable. */
  maxRows: withDefault(Count, 10),
  /** A share of the rows of a stream in a run, 0 to 1. */
  maxShare: withDefault(
    Schema.Number.pipe(Schema.between(0, 1)).annotations({
      description: "a share from 0 to 1, such as 0.01",
    }),
    0.01,
  ),
})

export const Limits = Schema.Struct({
  /** Requests under way at once, over a whole connection. */
  concurrency: withDefault(Count, 16),
  /**
   * Requests a second that the service allows this partner, over a whole connection; null: not known, so the rate is learned.
   */
  requestsPerSecond: withDefault(Schema.NullOr(PerSecond), null),
  /** Clients that are read at the same time. */
  clientsInParallel: withDefault(Count, 4),
  /** Statements of one book that are read at the same time. */
  accountsInParallel: withDefault(Count, 4),
  /** Resources that are read by id at the same time. */
  hydrationConcurrency: withDefault(Count, 16),
  connectTimeout: withDefault(Span, Duration.seconds(10)),
  /** From the request sent to the answer's headers. */
  headersTimeout: withDefault(Span, Duration.seconds(20)),
  /** Between two pieces of a body. */
  bodyTimeout: withDefault(Span, Duration.seconds(20)),
  /** One attempt as a whole. */
  attemptTimeout: withDefault(Span, Duration.seconds(30)),
  /** A run that takes longer stops at its checkpoint, with exit code 75. */
  runDeadline: withDefault(Span, Duration.hours(12)),
  /** Bytes of a decoded answer. */
  maxBodyBytes: withDefault(Count, 16 * 1024 * 1024),
  /** Pages of one list or statement in one run. */
  maxPages: withDefault(Count, 1_000_000),
  /** Consecutive pages of a list or statement that are committed in one transaction. */
  pagesPerTransaction: withDefault(Count, 10),
  /** Consecutive empty pages before a list counts as endless. */
  maxEmptyPages: withDefault(Count, 100),
  /** A longer `Retry-After` ends the run at its checkpoint. */
  maxRetryAfter: withDefault(Span, Duration.minutes(15)),
  /** Attempts per request, the first included. */
  tries: withDefault(Count, 5),
  quarantine: section(Quarantine),
})
export type Limits = typeof Limits.Type
