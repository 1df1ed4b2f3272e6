/** A service on loopback that answers as a test says, and what the port says to it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Duration, Effect, Either, Option, Redacted, type Scope } from "effect"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { forEachPage, type Walks } from "../../src/Partner/Lists/Walk.ts"
import { PartnerError } from "../../src/Partner/PartnerError.ts"
import { defaultLimits, type ServiceLimits, type Tuning } from "../../src/Partner/ServiceLimits.ts"
import { Partner } from "../../src/Partner.ts"
import { defaultInterface } from "../../src/Settings/Interface.ts"
import { listenOn } from "../support/Loopback.ts"

export const secret = "s3cr3t+with/signs&more"
export const uuid = (index: number) => `0f8fad5b-d9cb-469f-a165-${String(index).padStart(12, "0")}`

interface Call {
  readonly method: string
  /** Below the base address, query included. */
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** Answers one call; `index` counts the calls of this path from 0. */
export type Answerer = (call: Call, response: ServerResponse, index: number) => void

export const json = (response: ServerResponse, value: unknown, status = 200, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value))
}

export const tokenAnswer: Answerer = (_, response, index) =>
  json(response, { access_token: `token-${index}`, token_type: "Bearer", expires_in: 3600, scope: "a b" })

export interface Service {
  /** Ends in `/api/v1`. */
  readonly url: string
  readonly calls: ReadonlyArray<Call>
  readonly count: (prefix: string) => number
}

/** Listens until the scope closes. The token endpoint answers by itself unless told otherwise. */
export const serve = (
  answer: Answerer,
  token: Answerer = tokenAnswer,
): Effect.Effect<Service, never, Scope.Scope> => {
  const calls: Array<Call> = []
  const count = (prefix: string) => calls.filter(({ path }) => path.startsWith(prefix)).length
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      body += chunk
    })
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      const call = { method, path: url.replace("/api/v1", ""), headers, body }
      const index = calls.filter(({ path }) => path === call.path).length
      calls.push(call)
      if (call.path === "/oauth/token") token(call, response, index)
      else answer(call, response, index)
    })
  })
  return Effect.map(listenOn(server), (port) => ({ url: `http://127.0.0.1:${port}/api/v1`, calls, count }))
}

/** Waits so short that a test may go through all of them. */
const quick: Partial<Tuning> = { backoffBase: 1, startRate: 5000 }

export interface Options {
  readonly limits?: Partial<ServiceLimits>
  readonly tuning?: Partial<Tuning>
  readonly interface?: typeof defaultInterface
  readonly proxy?: Option.Option<Redacted.Redacted>
}

export const connectionAt = (baseUrl: string, options: Options = {}): PartnerHttp.Connection => ({
  name: "default",
  baseUrl,
  clientId: "the-client",
  clientSecret: Redacted.make(secret),
  scope: "accounts:read  deposits:read",
  interface: options.interface ?? defaultInterface,
  proxy: options.proxy ?? Option.none(),
  limits: { ...defaultLimits, ...options.limits },
  tuning: { ...quick, ...options.tuning },
})

export const partnerAt = (baseUrl: string, options: Options = {}) =>
  PartnerHttp.layer(connectionAt(baseUrl, options))

/** Serves, connects, and runs what the test does with the port. */
export const withPartner = <A, E>(
  service: Effect.Effect<Service, never, Scope.Scope>,
  use: (partner: typeof Partner.Service, service: Service) => Effect.Effect<A, E>,
  options: Options = {},
) =>
  Effect.gen(function* () {
    const served = yield* service
    return yield* Effect.flatMap(Partner, (partner) => use(partner, served)).pipe(
      Effect.provide(partnerAt(served.url, options)),
    )
  }).pipe(Effect.scoped)

/** The error that an effect ends with. */
export const failureOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.filterOrElse(
    Effect.flip(effect),
    (error) => error instanceof PartnerError,
    (error) => Effect.die(error),
  )

export const account = (index: number) => ({
  accountId: uuid(index),
  currency: "EUR",
  paymentRails: "SEPA",
  balance: "10.00",
  status: "ACTIVE",
})

export const short = Duration.millis(300)

/** Whether there was such a thing, and it could be read. */
export const isRead = (found: Option.Option<Either.Either<unknown, unknown>>) =>
  Option.isSome(found) && Either.isRight(found.value)

/** All pages of a list. */
export const pagesIn = <P, E>(begin: Walks<P, E>): Effect.Effect<ReadonlyArray<P>, E> =>
  Effect.suspend(() => {
    const all: Array<P> = []
    return Effect.as(
      forEachPage(begin, (page) => Effect.sync(() => all.push(page))),
      all,
    )
  })
