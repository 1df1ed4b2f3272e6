/** An authenticated connection: every read carries a bearer token, which is renewed when the service refuses it. */
import { Effect, Option, Redacted, type Scope } from "effect"
import type { PartnerError } from "../Partner.ts"
import type { Address } from "./Address.ts"
import type { Answer, Question } from "./Attempt.ts"
import type { Bounds } from "./Bounds.ts"
import * as Fault from "./Fault.ts"
import { Requester } from "./Requester.ts"
import { formsOf } from "./SecretForms.ts"
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
}

export interface Session {
  /** Reads a path below the base address; `kind` labels the request in the counts. */
  readonly get: (kind: string, path: string, query?: string) => Effect.Effect<Answer, PartnerError>
  readonly requests: Effect.Effect<ReadonlyMap<string, number>>
}

const tokenRequest = (
  requester: Requester,
  address: Address,
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
  return Effect.flatMap(requester.ask(question), (answer) =>
    Option.match(Token.decode(answer.value), {
      onNone: () => Effect.fail(unreadable),
      onSome: Effect.succeed,
    }),
  )
}

/** Opens a connection; its sockets close with the scope. */
export const make = (
  address: Address,
  tokenPath: string,
  credentials: Credentials,
  bounds: Bounds,
): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.map(Transport.make(address.origin, bounds, credentials.proxy), (transport) => {
    const requester = new Requester(credentials.name, bounds, transport)
    const tokens = Token.make(Effect.suspend(() => tokenRequest(requester, address, tokenPath, credentials)))
    const secretForms = formsOf(Redacted.value(credentials.clientSecret))

    const withToken = (kind: string, path: string, query: string, token: Redacted.Redacted) => {
      const bearer = Redacted.value(token)
      return requester.ask({
        kind,
        operation: `GET ${path}`,
        request: {
          method: "GET",
          path: address.prefix + path + query,
          headers: {
            authorization: `Bearer ${bearer}`,
            accept: "application/json",
            "accept-encoding": "gzip",
          },
        },
        secrets: [...formsOf(bearer), ...secretForms],
        ofStatus: Fault.ofStatus,
      })
    }

    return {
      get: (kind, path, query = "") =>
        Effect.flatMap(tokens.get, (token) =>
          withToken(kind, path, query, token).pipe(
            Effect.catchIf(
              (error) => error.status === 401,
              () =>
                tokens.invalidate(token).pipe(
                  Effect.zipRight(tokens.get),
                  Effect.flatMap((fresh) => withToken(kind, path, query, fresh)),
                ),
            ),
          ),
        ),
      requests: Effect.sync(() => new Map(requester.counts)),
    }
  })
