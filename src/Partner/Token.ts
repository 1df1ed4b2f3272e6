/**
 * The bearer token of a connection (`docs/interface.md`, Authentication): one request serves all who wait for it. It is cached
 * for 80 % of its lifetime, and dropped when the service refuses it. A failure is never cached.
 */
import { Clock, Deferred, Effect, FiberId, Option, Redacted, Schema } from "effect"
import type { PartnerError } from "./PartnerError.ts"

export interface Bearer {
  readonly token: Redacted.Redacted
  /** Seconds; none where the service does not say. */
  readonly expiresIn: Option.Option<number>
}

/** Seconds assumed where the service does not say how long a token lives. */
const assumedLife = 300
const longestLife = 86_400
const shareOfLife = 0.8

const Seconds = Schema.Union(Schema.Number, Schema.NumberFromString).pipe(Schema.positive())

/** A token goes into a header, so it is visible ASCII alone. */
const TokenText = Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]{1,16384}$/))

const TokenAnswer = Schema.Struct({
  access_token: Schema.Redacted(TokenText),
  token_type: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(/^bearer$/i)))),
  expires_in: Schema.optional(Schema.Unknown),
})

const decodeAnswer = Schema.decodeUnknownOption(TokenAnswer)
const decodeSeconds = Schema.decodeUnknownOption(Seconds)

/** None where the answer is no bearer token. No message repeats what was read. */
export const decode = (answer: unknown): Option.Option<Bearer> =>
  Option.map(decodeAnswer(answer), ({ access_token, expires_in }) => ({
    token: access_token,
    expiresIn: decodeSeconds(expires_in),
  }))

/** A token, and for how long it is used before a new one is asked for. */
export interface Lasting {
  readonly token: Redacted.Redacted
  readonly seconds: number
}

export type Asking = Effect.Effect<Lasting, PartnerError>

/**
 * Where processes keep the token that they share. Returns that token; if there is none, or it is the one that was refused, one
 * process asks for a new one.
 */
export type TokenStore = (ask: Asking, refused: Option.Option<Redacted.Redacted>) => Asking

/** Each process has a token of its own. */
const ownToken: TokenStore = (ask) => ask

export interface Tokens {
  readonly get: Effect.Effect<Redacted.Redacted, PartnerError>
  /** The token that can be sent at a time in epoch milliseconds; undefined if a new one has to be asked for. */
  readonly held: (now: number) => Redacted.Redacted | undefined
  /** Drops a token that was refused; a newer one stays. */
  readonly invalidate: (token: string) => Effect.Effect<void>
}

interface Held {
  readonly token: Redacted.Redacted
  /** Epoch milliseconds. */
  readonly refreshAt: number
}

type Flight = Deferred.Deferred<Redacted.Redacted, PartnerError>

const lasting = ({ expiresIn, token }: Bearer): Lasting => ({
  token,
  seconds:
    shareOfLife *
    Math.min(
      longestLife,
      Option.getOrElse(expiresIn, () => assumedLife),
    ),
})

export const make = (request: Effect.Effect<Bearer, PartnerError>, store: TokenStore = ownToken): Tokens => {
  let held: Held | undefined
  let refused = Option.none<Redacted.Redacted>()
  let flight: Flight | undefined
  const asking = Effect.map(request, lasting)

  const take = ({ seconds, token }: Lasting) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      held = { token, refreshAt: now + seconds * 1000 }
      refused = Option.none()
      return token
    })

  // Runs in a fiber of its own, since the first caller may be interrupted while others wait for the same answer.
  const launch = (mine: Flight) =>
    Effect.flatMap(store(asking, refused), take).pipe(
      Effect.exit,
      Effect.flatMap((exit) => {
        flight = undefined
        return Deferred.done(mine, exit)
      }),
      Effect.interruptible,
      Effect.forkDaemon,
    )

  const board = Effect.uninterruptibleMask((restore) => {
    if (flight !== undefined) return restore(Deferred.await(flight))
    const mine: Flight = Deferred.unsafeMake(FiberId.none)
    flight = mine
    return Effect.zipRight(launch(mine), restore(Deferred.await(mine)))
  })

  const current = (now: number) => (held !== undefined && now < held.refreshAt ? held.token : undefined)

  return {
    get: Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const token = current(now)
      return token === undefined ? board : Effect.succeed(token)
    }),
    held: current,
    invalidate: (token) =>
      Effect.sync(() => {
        if (held === undefined || Redacted.value(held.token) !== token) return
        refused = Option.some(held.token)
        held = undefined
      }),
  }
}
