/** Sends a request at the connection's pace, and retries it with a backoff until there is an answer or no retry can help. */
import { Clock, Effect } from "effect"
import type { PartnerError } from "../Partner.ts"
import { type Answer, type Attempt, judge, outcomeOf, type Question } from "./Attempt.ts"
import { equalJitter, fullJitter } from "./Backoff.ts"
import type { Bounds } from "./Bounds.ts"
import * as Fault from "./Fault.ts"
import { Gate, type GateClosed } from "./RequestGate.ts"
import { Meters } from "./RequestMeters.ts"
import type * as Transport from "./Transport.ts"

interface Tries {
  readonly failed: number
  readonly limited: number
}

/** What all requests of one connection share: its pool, its pace, its retry budget, its counts. */
export class Requester {
  readonly counts = new Map<string, number>()
  private readonly bounds: Bounds
  private readonly gate: Gate
  private readonly transport: Transport.Transport
  private readonly meters: Meters
  private last: PartnerError | undefined

  /** `name` is the connection's: it labels the metrics. */
  constructor(name: string, bounds: Bounds, transport: Transport.Transport) {
    this.bounds = bounds
    this.gate = new Gate(bounds)
    this.transport = transport
    this.meters = new Meters(name)
  }

  private readonly gateError = (operation: string, { why, wait }: GateClosed) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      why === "limited"
        ? Fault.make("RateLimited", operation, {
            detail: `the service asks for a pause of ${Math.ceil(wait / 1000)} s`,
            retryAt: now + wait,
          })
        : Fault.make(this.last?.reason ?? "Unavailable", operation, {
            detail: `not asked, since the service failed every time (last: ${this.last?.detail ?? "unknown"})`,
            retryAt: now + wait,
          }),
    ).pipe(Effect.flip)

  private send(question: Question): Effect.Effect<Attempt> {
    return Effect.flatMap(Clock.currentTimeMillis, (requestedAt) => {
      this.counts.set(question.kind, (this.counts.get(question.kind) ?? 0) + 1)
      return Effect.matchEffect(this.transport.send(question.request), {
        onSuccess: (reply) =>
          Effect.map(Clock.currentTimeMillis, (now) => judge(question, reply, requestedAt, now)),
        onFailure: (fault) =>
          Effect.succeed<Attempt>({
            kind: "failure",
            failure: Fault.ofTransport(question.operation, fault),
            hint: undefined,
          }),
      })
    })
  }

  /** One attempt, once the gate lets it through. */
  private attempt(question: Question): Effect.Effect<Attempt, PartnerError> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        restore(this.gate.enter).pipe(
          Effect.catchAll((closed) => this.gateError(question.operation, closed)),
        ),
        (pass) =>
          restore(this.send(question)).pipe(
            Effect.onExit((exit) =>
              Effect.sync(() => {
                if (exit._tag === "Failure") return this.gate.leave(pass, { kind: "returned" })
                const attempt = exit.value
                if (attempt.kind === "failure") this.last = attempt.failure.error
                this.gate.leave(pass, outcomeOf(attempt, this.bounds))
                this.meters.attempted(attempt, this.gate.paced)
              }),
            ),
          ),
      ),
    )
  }

  /** How long to wait before the next attempt, in milliseconds; fails with the attempt's error where no retry is due. */
  private backoff(
    failure: Fault.Failure,
    hint: number | undefined,
    tries: Tries,
  ): Effect.Effect<number, PartnerError> {
    const { error, retry } = failure
    if (retry === "never") return Effect.fail(error)
    if (hint !== undefined && hint > this.bounds.longestWait) {
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const wait = Math.min(hint, this.bounds.retryAfterCap)
        return Effect.fail(
          Fault.make(error.reason, error.operation, {
            ...(error.status === undefined ? {} : { status: error.status }),
            detail: `${error.detail}; it asks for a pause of ${Math.ceil(wait / 1000)} s`,
            retryAt: now + wait,
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

  /** Retries until there is an answer, or a reason to give up. */
  ask(question: Question, before: Tries = { failed: 0, limited: 0 }): Effect.Effect<Answer, PartnerError> {
    return Effect.flatMap(this.attempt(question), (attempt) => {
      if (attempt.kind === "answer") return Effect.succeed(attempt.answer)
      const isLimited = attempt.failure.retry === "limited"
      const tries = {
        failed: before.failed + (isLimited ? 0 : 1),
        limited: before.limited + (isLimited ? 1 : 0),
      }
      return this.backoff(attempt.failure, attempt.hint, tries).pipe(
        Effect.flatMap((wait) => {
          this.meters.retried(attempt.failure.error.reason)
          return Effect.sleep(wait)
        }),
        Effect.flatMap(() => this.ask(question, tries)),
      )
    })
  }
}
