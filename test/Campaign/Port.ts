/** The world at the partner port: the results that the HTTP adapter would give, without HTTP. */
import { Effect, Either, Layer, Option } from "effect"
import type { Malformed, Page, Pages, Row } from "../../src/Partner/Lists/Page.ts"
import { PartnerError, type PartnerReason } from "../../src/Partner/PartnerError.ts"
import {
  type Account,
  type BookReads,
  type Client,
  type CreditAccount,
  type Deposit,
  Partner,
  PartnerConnection,
  type Receivable,
  type Resource,
  type StatementEntry,
  type Withdrawal,
} from "../../src/Partner.ts"
import * as Decoded from "./Decoded.ts"
import type { BookName } from "./History.ts"
import * as Lists from "./Lists.ts"
import type { World } from "./World.ts"

/** Called for every request before it is answered; it may fail or interrupt. */
export type Hook = Effect.Effect<void>

const statusOf: Partial<Record<PartnerReason, number>> = {
  NotFound: 404,
  Forbidden: 403,
  CursorExpired: 410,
  RateLimited: 429,
  Unavailable: 503,
  Unauthorized: 401,
}

const failure = (reason: PartnerReason, operation: string): PartnerError => {
  const status = statusOf[reason]
  return new PartnerError({
    reason,
    operation,
    detail: "as the history has it",
    advice: "Run again",
    ...(status === undefined ? {} : { status }),
  })
}

const isRefusal = (answer: unknown): answer is Lists.Refusal => typeof answer === "string"

const rowOf = <A>(
  { json, key, malformed }: Lists.Item,
  decoded: (json: Record<string, unknown>) => A,
): Row<A> => {
  if (malformed === null) return Either.right(decoded(json))
  const row: Malformed = { raw: JSON.stringify(json), ...malformed, id: Option.some(key) }
  return Either.left(row)
}

/** The port of a world. `clock` is ours, epoch milliseconds. */
export const port = (world: World, hook: Hook) => {
  let asked = 0
  const request = (operation: string): Effect.Effect<void, PartnerError> =>
    Effect.zipRight(
      hook,
      Effect.suspend(() => {
        asked += 1
        const fault = world.faultNow()
        return fault === undefined ? Effect.void : Effect.fail(failure(fault.reason, operation))
      }),
    )

  const list =
    <A>(
      operation: string,
      stream: string,
      items: () => ReadonlyArray<Lists.Item> | Lists.Refusal,
      decoded: (json: Record<string, unknown>) => A,
    ): Pages<A> =>
    (from) =>
    () => {
      let coming = Option.some(from)
      const next = Effect.gen(function* () {
        if (Option.isNone(coming)) return Option.none()
        const { value: cursor } = coming
        const requestedAt = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        yield* request(operation)
        const all = items()
        if (isRefusal(all)) return yield* failure(all, operation)
        const answer = Lists.page(world, stream, all, Option.getOrNull(cursor))
        if (isRefusal(answer)) return yield* failure(answer, operation)
        const endCursor = Option.fromNullable(answer.endCursor)
        const page: Page<A> = {
          rows: answer.items.map((item) => rowOf(item, decoded)),
          hasNextPage: answer.hasNextPage,
          endCursor,
          askedWith: cursor,
          requestedAt,
          servedAt: Option.some(world.servedAt),
          askedAt: Option.some(new Date(Math.min(world.now, requestedAt)).toISOString()),
        }
        coming = answer.hasNextPage ? Option.some(endCursor) : Option.none()
        return Option.some(page)
      })
      return { next, close: Effect.void }
    }

  const one = <A>(
    operation: string,
    answer: () => Lists.Item | Lists.Refusal,
    decoded: (json: Record<string, unknown>) => A,
  ): Effect.Effect<Option.Option<Row<A>>, PartnerError> =>
    Effect.gen(function* () {
      yield* request(operation)
      const found = answer()
      if (found === "NotFound") return Option.none()
      if (isRefusal(found)) return yield* failure(found, operation)
      return Option.some(rowOf(found, decoded))
    })

  const booked = (book: BookName): BookReads => {
    const listed = <A>(operation: string, type: string, decoded: (json: Record<string, unknown>) => A) =>
      book === "org"
        ? list(operation, `${book} ${type}`, () => Lists.resources(world, book, type), decoded)
        : null
    return {
      accounts: list<Account>(
        "GET /accounts",
        `${book} accounts`,
        () => {
          const client = world.clients.get(book)
          if (client?.access === "forbidden") return "Forbidden"
          return client?.access === "gone" ? "NotFound" : Lists.accounts(world, book)
        },
        Decoded.account,
      ),
      statement: (id) =>
        list<StatementEntry>(
          "GET /accounts/…/statement",
          `${book} statement ${id}`,
          () => Lists.statement(world, book, id),
          Decoded.entry,
        ),
      statementWithin: null,
      deposits: listed<Deposit>("GET /deposits", "DEPOSIT", Decoded.deposit),
      withdrawals: listed<Withdrawal>("GET /withdrawals", "WITHDRAWAL", Decoded.withdrawal),
      conversions: null,
      conversionPairs: null,
      addressBook: null,
      account: (id) => one<Account>("GET /accounts/…", () => Lists.account(world, book, id), Decoded.account),
      depositInstructions: null,
      resource: (type, id) =>
        one<Resource>(
          `GET /${type.toLowerCase()}s/…`,
          () => Lists.resource(world, book, type, id),
          Decoded.resource(type),
        ),
    }
  }

  const nameOf = (clientId: string): string =>
    [...world.clients.values()].find(({ id }) => id === clientId)?.name ?? clientId

  const connection = PartnerConnection.of({
    organization: booked("org"),
    client: (clientId) => booked(nameOf(clientId)),
    clients: list<Client>("GET /clients", "org clients", () => Lists.clients(world), Decoded.client),
    paymentRails: null,
    receivables: list<Receivable>(
      "GET /receivables",
      "org receivables",
      () => Lists.receivables(world),
      Decoded.receivable,
    ),
    creditAccounts: list<CreditAccount>(
      "GET /credit-accounts",
      "org credit-accounts",
      () => Lists.creditAccounts(world),
      Decoded.creditAccount,
    ),
    publicKeys: { areListed: true, read: () => Effect.succeed([]) },
    requests: Effect.sync(() => new Map([["all", asked]])),
  })
  const partner = Partner.of({ ...connection.organization, requests: connection.requests })
  return Layer.merge(Layer.succeed(PartnerConnection, connection), Layer.succeed(Partner, partner))
}
