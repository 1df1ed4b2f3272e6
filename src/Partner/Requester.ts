/** Asks until there is an answer, at the connection's pace; again where that makes sense. */
import { Clock, Effect, Either } from "effect"
import {
  type Answer,
  type Attempt,
  type Inquiry,
  judge,
  kindOf,
  outcomeOf,
  type Question,
} from "./Attempt.ts"
import { equalJitter, fullJitter } from "./Backoff.ts"
import * as Fault from "./Fault.ts"
import type { RateState } from "./Pacing/RateState.ts"
import { Gate, GateClosed, NotReady, type Pass } from "./Pacing/RequestGate.ts"
import type { Reserve } from "./Pacing/SharedPace.ts"
import type { PartnerError } from "./PartnerError.ts"
import { Meters } from "./RequestMeters.ts"
import type { Bounds } from "./ServiceLimits.ts"
import type * as Transport from "./Transport.ts"
import { TransportFault } from "./TransportFault.ts"

interface Tries {
  readonly failed: number
  readonly limited: number
}

/** Everything that one connection shares: its pool, its pace, its token, its counts. */
export class Requester {
  readonly counts = new Map<string, number>()
  private readonly bounds: Bounds
  private readonly gate: Gate
  private readonly transport: Transport.Transport
  private readonly meters: Meters
  private last: PartnerError | undefined

  /** `name` is the connection's, for what is counted. */
  constructor(
    name: string,
    bounds: Bounds,
    transport: Transport.Transport,
    reserve?: Reserve,
    known: RateState | null = null,
  ) {
    this.bounds = bounds
    this.gate = new Gate(bounds, reserve, known)
    this.transport = transport
    this.meters = new Meters(name)
  }

  /** What was learned of the pace; null: others keep it. */
  get learned(): RateState | null {
    return this.gate.paced.learned
  }

  private closed(operation: string, { why, wait }: GateClosed, now: number): PartnerError {
    if (typeof why === "object")
      return Fault.make("Unavailable", operation, {
        detail: `not asked, since the pace that all processes share cannot be kept (${why.unkept})`,
        retryAt: now,
      })
    return why === "limited"
      ? Fault.make("RateLimited", operation, {
          detail: `the service asks for a pause of ${Math.ceil(wait / 1000)} s`,
          setting: "maxRetryAfter",
          retryAt: now + wait,
        })
      : Fault.make(this.last?.reason ?? "Unavailable", operation, {
          detail: `not asked, since the service failed every time (last: ${this.last?.detail ?? "unknown"})`,
          retryAt: now + wait,
        })
  }

  private boundOf(question: Question): Fault.AnswerKind | undefined {
    const { limit } = question.request
    return limit === undefined || limit >= this.bounds.maxBodyBytes ? undefined : kindOf(question)
  }

  /** Sends a request with its permit, which is always returned. Returns what ends the request early. */
  private send(
    question: Question,
    pass: Pass,
    clock: Clock.Clock,
    done: (attempt: Effect.Effect<Attempt>) => void,
  ): () => void {
    const requestedAt = clock.unsafeCurrentTimeMillis()
    this.counts.set(question.kind, (this.counts.get(question.kind) ?? 0) + 1)
    let ended = false
    const read = (reply: Transport.Reply | TransportFault): Attempt =>
      reply instanceof TransportFault
        ? {
            kind: "failure",
            failure: Fault.ofTransport(question.operation, reply, this.boundOf(question)),
            hint: undefined,
          }
        : judge(question, reply, requestedAt, clock.unsafeCurrentTimeMillis())
    const abort = this.transport.send(question.request, (reply) => {
      const release = reply instanceof TransportFault ? () => undefined : reply.release
      if (ended) return release()
      ended = true
      const attempt = Either.try(() => read(reply))
      const isKept = Either.isRight(attempt) && attempt.right.kind === "answer" && question.keep !== undefined
      if (isKept) question.keep?.(release)
      else release()
      if (Either.isLeft(attempt)) {
        this.gate.leave(pass, { kind: "returned" })
        done(Effect.die(attempt.left))
        return
      }
      if (attempt.right.kind === "failure") this.last = attempt.right.failure.error
      this.gate.leave(pass, outcomeOf(attempt.right, this.bounds))
      this.meters.attempted(attempt.right, this.gate.paced)
      done(Effect.succeed(attempt.right))
    })
    return () => {
      if (ended) return
      ended = true
      abort()
      this.gate.leave(pass, { kind: "returned" })
    }
  }

  /**
   * One attempt, at its turn. A request that is not ready then returns to the front of the queue, since it has waited already.
   */
  private once(inquiry: Inquiry, isFirst = inquiry.isUrgent): Effect.Effect<Attempt, PartnerError> {
    return Effect.clockWith((clock) =>
      Effect.async<Attempt, PartnerError>((resume) => {
        let giveUp: (() => void) | undefined
        const now = () => clock.unsafeCurrentTimeMillis()
        const leaveQueue = this.gate.enter({
          kind: inquiry.kind,
          isFirst,
          isReady: () => inquiry.isReady(now()),
          turn: (turn) => {
            if (turn instanceof GateClosed) {
              resume(Effect.fail(this.closed(inquiry.operation, turn, now())))
            } else if (turn instanceof NotReady) {
              resume(Effect.zipRight(inquiry.prepare, this.once(inquiry, true)))
            } else {
              giveUp = this.send(inquiry.question(), turn, clock, resume)
            }
          },
        })
        return Effect.sync(() => {
          leaveQueue()
          giveUp?.()
        })
      }),
    )
  }

  /** The wait before the next attempt, in milliseconds; or the error with which it ends. */
  private again(
    failure: Fault.Failure,
    hint: number | undefined,
    tries: Tries,
  ): Effect.Effect<number, PartnerError> {
    const { error, retry } = failure
    if (retry === "never") return Effect.fail(error)
    if (hint !== undefined && hint > this.bounds.longestWait) {
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        return Effect.fail(
          Fault.make(error.reason, error.operation, {
            ...(error.status === undefined ? {} : { status: error.status }),
            detail: `${error.detail}; it asks for a pause of ${Math.ceil(hint / 1000)} s`,
            setting: "maxRetryAfter",
            retryAt: now + hint,
          }),
        )
      })
    }
    if (retry === "limited") {
      if (tries.limited >= this.bounds.limitedTries) return Effect.fail(error)
      return Effect.succeed(hint ?? equalJitter(tries.limited, this.bounds, Math.random()))
    }
    if (tries.failed >= this.bounds.tries || !this.gate.spendRetry()) return Effect.fail(error)
    return Effect.succeed(hint ?? fullJitter(tries.failed, this.bounds, Math.random()))
  }

  /** Attempts until there is an answer, or a reason to stop. */
  ask(inquiry: Inquiry, before: Tries = { failed: 0, limited: 0 }): Effect.Effect<Answer, PartnerError> {
    return Effect.flatMap(this.once(inquiry), (attempt) => {
      if (attempt.kind === "answer") return Effect.succeed(attempt.answer)
      const isLimited = attempt.failure.retry === "limited"
      const tries = {
        failed: before.failed + (isLimited ? 0 : 1),
        limited: before.limited + (isLimited ? 1 : 0),
      }
      return this.again(attempt.failure, attempt.hint, tries).pipe(
        Effect.flatMap((wait) => {
          this.meters.retried(attempt.failure.error.reason)
          return Effect.sleep(wait)
        }),
        Effect.flatMap(() => this.ask(inquiry, tries)),
      )
    })
  }
}
