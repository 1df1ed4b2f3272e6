/** An authenticated connection: every read carries a bearer token, which is renewed when the service refuses it. */
import { Effect, Option, Redacted, type Scope } from "effect"
import { formsOf, type SecretForm } from "../Common/SecretForms.ts"
import { steadyMillis } from "../Common/Time.ts"
import * as Address from "./Address.ts"
import { type Answer, type Inquiry, type Keep, type Question, urgent } from "./Attempt.ts"
import * as Fault from "./Fault.ts"
import * as PaceMemory from "./Pacing/PaceMemory.ts"
import type { Reserve } from "./Pacing/SharedPace.ts"
import type { PartnerError } from "./PartnerError.ts"
import { Requester } from "./Requester.ts"
import { largestThing } from "./Room.ts"
import type { Bounds } from "./ServiceLimits.ts"
import * as Token from "./Token.ts"
import * as Transport from "./Transport.ts"

export interface Credentials {
  /** The connection's name: it labels the metrics. */
  readonly name: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Sent verbatim. */
  readonly scope: string
  /** The proxy to go through; none: directly. */
  readonly proxy?: Option.Option<Redacted.Redacted>
  /** Its pace is kept for several processes; none: by this one alone. */
  readonly reserve?: Reserve
  /** Where this process alone keeps its pace: what was learned before, and is for the next one; none: each learns anew. */
  readonly memory?: PaceMemory.PaceMemory
  /** Its token is shared by several processes; none: this one has its own. */
  readonly tokens?: Token.TokenStore
}

export interface PageAsked {
  readonly query: string
  /** The most bytes of the answer; undefined: as many as any may have. */
  readonly limit?: number | undefined
  /** Receives the function that gives the answer's room back. */
  readonly keep: Keep
}

/**
 * The interface asks for a new token where one is expired or invalid, and shows no status for that: some services say 403. Where a
 * fresh token changed nothing, it is something else, and no other is asked for within this. Milliseconds.
 */
const quietAfterVain = 5 * 60_000

/** So many tokens that were over before the turn of a request came: then it leaves with the last, or would ask for tokens without end. */
const mostTokens = 3

export interface Session {
  /** Reads one thing at a path below the base address; `kind` labels the request in the counts. */
  readonly get: (kind: string, path: string) => Effect.Effect<Answer, PartnerError>
  /** Reads a page of a list, which may be large. */
  readonly list: (kind: string, path: string, page: PageAsked) => Effect.Effect<Answer, PartnerError>
  readonly requests: Effect.Effect<ReadonlyMap<string, number>>
}

const tokenRequest = (
  requester: Requester,
  address: Address.Address,
  tokenPath: string,
  credentials: Credentials,
) => {
  const secret = Redacted.value(credentials.clientSecret)
  const operation = `POST ${tokenPath}`
  const question: Question = {
    kind: "token",
    operation,
    request: {
      method: "POST",
      path: address.prefix + tokenPath,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      limit: largestThing,
      body: new URLSearchParams({
        client_id: credentials.clientId,
        client_secret: secret,
        grant_type: "client_credentials",
        scope: credentials.scope,
      }).toString(),
    },
    secrets: formsOf(secret),
    ofStatus: Fault.ofTokenStatus,
  }
  const unreadable = Fault.make("BadResponse", operation, { detail: "the answer holds no bearer token" })
  return Effect.flatMap(requester.ask(urgent(question)), (answer) =>
    Option.match(Token.decode(answer.value), {
      onNone: () => Effect.fail(unreadable),
      onSome: Effect.succeed,
    }),
  )
}

/** With the pace that was learned before; what is learned of it is kept when the scope closes. */
const requesting = (
  transport: Transport.Transport,
  { memory, name, reserve }: Credentials,
  bounds: Bounds,
) =>
  memory === undefined || reserve !== undefined
    ? Effect.succeed(new Requester(name, bounds, transport, reserve))
    : Effect.gen(function* () {
        const known = yield* memory.known
        const requester = new Requester(name, bounds, transport, undefined, known)
        const keeping = Effect.suspend(() => {
          const learned = requester.learned && PaceMemory.news(requester.learned, known)
          return learned === null ? Effect.void : memory.keep(learned)
        })
        yield* Effect.addFinalizer(() => keeping)
        return requester
      })

/** Opens a connection; its sockets close with the scope. */
export const make = (
  address: Address.Address,
  tokenPath: string,
  credentials: Credentials,
  bounds: Bounds,
): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function* () {
    const transport = yield* Transport.make(address.origin, bounds, credentials.proxy)
    const requester = yield* requesting(transport, credentials, bounds)
    const tokens = Token.make(
      Effect.suspend(() => tokenRequest(requester, address, tokenPath, credentials)),
      credentials.tokens,
    )
    const secretForms = formsOf(Redacted.value(credentials.clientSecret))
    // A token is good for thousands of requests.
    let latest: {
      readonly bearer: string
      readonly own: ReadonlyArray<SecretForm>
      readonly secrets: ReadonlyArray<SecretForm>
    } = {
      bearer: "",
      own: [],
      secrets: secretForms,
    }
    // With the token before it, too: an answer that arrives now may be about a request that was sent with that one.
    const secretsWith = (bearer: string): ReadonlyArray<SecretForm> => {
      if (latest.bearer !== bearer) {
        const own = formsOf(bearer)
        latest = { bearer, own, secrets: [...own, ...latest.own, ...secretForms] }
      }
      return latest.secrets
    }

    /** Takes the current bearer: a request may wait for its turn, or for its next attempt, longer than a token lives. */
    const reading = (kind: string, path: string, { keep, limit, query }: Partial<PageAsked>) => {
      const operation = `GET ${Address.bare(path)}`
      let bearer = ""
      /** Tokens since the last attempt that were asked for. */
      let asked = 0
      const question = (): Question => {
        asked = 0
        return {
          kind,
          operation,
          request: {
            method: "GET",
            path: address.prefix + Address.asking(path, query ?? ""),
            headers: {
              authorization: `Bearer ${bearer}`,
              accept: "application/json",
            },
            limit,
          },
          keep,
          secrets: secretsWith(bearer),
          ofStatus: Fault.ofStatus,
        }
      }
      const inquiry: Inquiry = {
        kind,
        operation,
        isReady: (now) => {
          const held = tokens.held(now)
          if (held !== undefined) bearer = Redacted.value(held)
          return held !== undefined || asked >= mostTokens
        },
        prepare: Effect.map(tokens.get, (token) => {
          bearer = Redacted.value(token)
          asked++
        }),
        question,
        isUrgent: false,
      }
      return { inquiry, forget: Effect.suspend(() => tokens.invalidate(bearer)) }
    }

    /** Until then a 403 means what it says. By a clock that nobody sets. */
    let isForbiddenUntil = Number.NEGATIVE_INFINITY
    const doubting = <A>(error: PartnerError, again: Effect.Effect<A, PartnerError>) =>
      Effect.flatMap(steadyMillis, (now) =>
        now < isForbiddenUntil
          ? Effect.fail(error)
          : Effect.tapError(again, ({ status }) =>
              Effect.sync(() => {
                if (status === 403) isForbiddenUntil = now + quietAfterVain
              }),
            ),
      )

    const read = (kind: string, path: string, page: Partial<PageAsked>) =>
      Effect.suspend(() => {
        const { forget, inquiry } = reading(kind, path, page)
        const again = Effect.zipRight(forget, requester.ask(inquiry))
        return Effect.catchAll(requester.ask(inquiry), (error) => {
          // A refusal by the token endpoint itself says nothing about the bearer.
          if (error.operation !== inquiry.operation) return Effect.fail(error)
          if (error.status === 401) return again
          return error.status === 403 ? doubting(error, again) : Effect.fail(error)
        })
      })

    return {
      get: (kind, path) => read(kind, path, { limit: largestThing }),
      list: read,
      requests: Effect.sync(() => new Map(requester.counts)),
    }
  })
