import { it } from "@effect/vitest"
import { Duration, Effect, Either, Exit, Option } from "effect"
import { describe, expect } from "vitest"
import type { Page } from "../../src/Partner/Lists/Page.ts"
import { forEachPage, forEachPageUntil } from "../../src/Partner/Lists/Walk.ts"
import { defaultInterface, type Interface } from "../../src/Settings/Interface.ts"
import { type Answerer, account, failureOf, json, pagesIn, serve, uuid, withPartner } from "./Service.ts"

/** A list of so many pages with two accounts each; the cursor is the number of the next page. */
const pagesOf =
  (count: number): Answerer =>
  ({ path }, response) => {
    const page = Number(new URL(path, "http://x").searchParams.get("after") ?? "0")
    const hasNextPage = page < count - 1
    json(response, {
      items: [account(page * 2), account(page * 2 + 1)],
      pageInfo: { hasNextPage, ...(hasNextPage ? { endCursor: String(page + 1) } : {}) },
    })
  }

const withPaging = (paging: Partial<Interface["paging"]>): { readonly interface: Interface } => ({
  interface: { ...defaultInterface, paging: { ...defaultInterface.paging, ...paging } },
})

const ids = (pages: Iterable<Page<{ readonly accountId: string }>>) =>
  [...pages].flatMap(({ rows }) => rows.map((row) => Either.getOrThrow(row).accountId))

const sequence = (count: number) => Array.from({ length: count }, (_, index) => uuid(index))

const listed = (response: Parameters<Answerer>[1], { endCursor }: { readonly endCursor?: string }) =>
  json(response, {
    items: [account(0)],
    pageInfo: endCursor === undefined ? { hasNextPage: false } : { hasNextPage: true, endCursor },
  })

describe("A list", () => {
  it.live("is read page by page to its end, with the profile's parameters", () =>
    withPartner(serve(pagesOf(4)), (partner, { calls }) =>
      Effect.gen(function* () {
        const pages = yield* pagesIn(partner.accounts(Option.none()))
        expect(ids(pages)).toEqual(sequence(8))
        expect(calls.slice(1).map(({ path }) => path)).toEqual([
          "/accounts?first=100",
          "/accounts?first=100&after=1",
          "/accounts?first=100&after=2",
          "/accounts?first=100&after=3",
        ])
        expect(
          [...pages].map(({ askedWith, endCursor }) => [askedWith, endCursor].map(Option.getOrNull)),
        ).toEqual([
          [null, "1"],
          ["1", "2"],
          ["2", "3"],
          ["3", null],
        ])
      }),
    ),
  )

  it.live("is read on from a cursor", () =>
    withPartner(serve(pagesOf(4)), (partner) =>
      Effect.gen(function* () {
        const pages = yield* pagesIn(partner.accounts(Option.some("2")))
        expect(ids(pages)).toEqual(sequence(8).slice(4))
      }),
    ),
  )

  it.live("is read with other names, also nested ones; cursors are encoded", () =>
    withPartner(
      serve(({ path }, response) => {
        const isFirst = !path.includes("page-token")
        json(response, {
          data: { list: [account(isFirst ? 0 : 1)] },
          meta: { page: { hasNextPage: isFirst, endCursor: isFirst ? "a b&c=/+" : null } },
        })
      }),
      (partner, { calls }) =>
        Effect.gen(function* () {
          expect(ids(yield* pagesIn(partner.accounts(Option.none())))).toEqual(sequence(2))
          const query = new URL(calls[2]?.path ?? "", "http://x").searchParams
          expect([...query]).toEqual([["page-token", "a b&c=/+"]])
        }),
      withPaging({
        cursorParam: "page-token",
        sizeParam: null,
        itemsField: "data.list",
        pageInfoField: "meta.page",
      }),
    ),
  )

  it.live.each([{ itemsField: "" }, { pageInfoField: null }])(
    "that nothing says the end of ($itemsField$pageInfoField) is refused where it may have been cut",
    (names) => {
      const rows = [account(0), account(1)]
      const answered = serve((_, response) =>
        json(response, names.itemsField === "" ? rows : { items: rows }),
      )
      const read = (paging: Partial<Interface["paging"]>) =>
        withPartner(
          answered,
          (partner) => Effect.exit(pagesIn(partner.accounts(Option.none()))),
          withPaging({ ...names, ...paging }),
        )
      return Effect.gen(function* () {
        expect(yield* failureOf(Effect.flatten(read({ size: 2 })))).toMatchObject({
          reason: "BadResponse",
          detail: "it holds 2 items, as many as were asked for, and nothing in it says whether more follow",
        })
        // Whole: nothing was asked for, fewer came, or more than were asked for.
        for (const whole of [{ size: 2, sizeParam: null }, { size: 3 }, { size: 1 }])
          expect(Exit.isSuccess(yield* read(whole))).toBe(true)
      })
    },
  )

  it.live("may be the array itself, which is one page", () =>
    withPartner(
      serve((_, response) => json(response, [account(0), account(1)])),
      (partner) =>
        Effect.gen(function* () {
          const pages = yield* pagesIn(partner.accounts(Option.none()))
          expect(ids(pages)).toEqual(sequence(2))
          expect(pages).toHaveLength(1)
        }),
      withPaging({ itemsField: "" }),
    ),
  )

  it.live("keeps its good rows beside a malformed one", () =>
    withPartner(
      serve((_, response) =>
        response.end(
          `{"items":[${JSON.stringify(account(0))},{ "accountId": 1.0 }],"pageInfo":{"hasNextPage":false}}`,
        ),
      ),
      (partner) =>
        Effect.gen(function* () {
          const pages = yield* pagesIn(partner.accounts(Option.none()))
          const [good, bad] = [...pages].flatMap(({ rows }) => rows)
          expect(good && Either.isRight(good)).toBe(true)
          expect(bad).toMatchObject({ left: { raw: '{ "accountId": 1.0 }', path: "$.currency" } })
        }),
    ),
  )

  for (const [name, answer, setting] of [
    ["items", { rows: [], pageInfo: { hasNextPage: false } }, "interface.paging.itemsField"],
    ["pageInfo", { items: [] }, "interface.paging.pageInfoField"],
    ["an object", [], "interface.paging.itemsField"],
  ] as const) {
    it.live(`without ${name} names the wrong setting, after one request`, () =>
      withPartner(
        serve((_, response) => json(response, answer)),
        (partner, { count }) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error.reason).toBe("BadResponse")
            expect(error.advice).toContain(setting)
            expect(count("/accounts")).toBe(1)
          }),
      ),
    )
  }

  for (const [name, pageInfo, promised] of [
    ["endCursor", { hasNextPage: true, endCursor: 7 }, "promises a text"],
    ["hasNextPage", { hasNextPage: "true", endCursor: "2" }, "promises true or false"],
  ] as const) {
    it.live(`with ${name} of another kind asks for the service's operators, since no setting helps`, () =>
      withPartner(
        serve((_, response) => json(response, { items: [], pageInfo })),
        (partner) =>
          Effect.gen(function* () {
            const { advice } = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(advice).toContain(promised)
            expect(advice).not.toContain("interface.")
          }),
      ),
    )
  }

  it.live("that has null for its items is empty where nothing follows", () =>
    withPartner(
      serve((_, response) => json(response, { items: null, pageInfo: { hasNextPage: false } })),
      (partner) =>
        Effect.gen(function* () {
          expect(yield* pagesIn(partner.accounts(Option.none()))).toMatchObject([{ rows: [] }])
        }),
    ),
  )

  for (const [answer, detail] of [
    [
      { data: { rows: null, page: { hasNextPage: true, endCursor: "2" } } },
      'what is at "data.rows" is null, not an array; "data" has the fields "rows", "page"',
    ],
    [
      { data: { list: [], page: { hasNextPage: false } } },
      'there is no array at "data.rows"; "data" has the fields "list", "page"',
    ],
    [{ rows: [] }, 'there is no array at "data.rows"; the answer has the fields "rows"'],
    [
      { data: { rows: [], page: { hasNextPage: "false" } } },
      'what is at "data.page.hasNextPage" is a string, not a boolean; "data.page" has the fields "hasNextPage"',
    ],
    [
      { data: { rows: [], page: { hasNextPage: true, endCursor: 7 } } },
      'what is at "data.page.endCursor" is a number, not a string; "data.page" has the fields "hasNextPage", "endCursor"',
    ],
    [
      { data: { rows: [], page: { more: false } } },
      'there is no hasNextPage at "data.page"; "data.page" has the fields "more"',
    ],
  ] as const) {
    it.live(`that differs is described by place and content: ${detail}`, () =>
      withPartner(
        serve((_, response) => json(response, answer)),
        (partner) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error.detail).toBe(detail)
          }),
        withPaging({ itemsField: "data.rows", pageInfoField: "data.page" }),
      ),
    )
  }

  it.live("is fetched one page ahead, not further", () =>
    withPartner(serve(pagesOf(10)), (partner, { count }) =>
      Effect.gen(function* () {
        const seen: Array<number> = []
        yield* forEachPage(partner.accounts(Option.none()), () =>
          Effect.gen(function* () {
            if (seen.length < 3) {
              while (count("/accounts") < seen.length + 2) yield* Effect.sleep("2 millis")
              yield* Effect.sleep("30 millis")
            }
            seen.push(count("/accounts"))
          }),
        )
        expect(seen.slice(0, 3)).toEqual([2, 3, 4])
      }),
    ),
  )

  it.live("is not fetched ahead behind a page that may be the last one wanted", () =>
    withPartner(serve(pagesOf(10)), (partner, { count }) =>
      Effect.gen(function* () {
        const isThird = ({ endCursor }: { readonly endCursor: Option.Option<string> }) =>
          Option.contains(endCursor, "3")
        const pages = partner.accounts(Option.none(), (page) => !isThird(page))
        yield* forEachPageUntil(pages, (page) => Effect.succeed(isThird(page)))
        // A prefetch would have been counted by now.
        yield* Effect.sleep("50 millis")
        expect(count("/accounts")).toBe(3)
        // The page is requested when it is wanted after all.
        expect(ids(yield* pagesIn(partner.accounts(Option.none(), () => false)))).toEqual(sequence(20))
      }),
    ),
  )

  it.live("that is not read on asks for nothing more", () =>
    withPartner(serve(pagesOf(1000)), (partner, { count }) =>
      Effect.gen(function* () {
        let seen = 0
        yield* forEachPageUntil(partner.accounts(Option.none()), () => Effect.sync(() => ++seen === 2))
        yield* Effect.sleep("50 millis")
        expect(count("/accounts")).toBeLessThanOrEqual(3)
      }),
    ),
  )

  it.live("that is not read on interrupts the request for the next page", () => {
    let gone = false
    return withPartner(
      serve((call, response, index) => {
        if (!call.path.includes("after")) return pagesOf(2)(call, response, index)
        response.on("close", () => {
          gone = true
        })
      }),
      (partner, { count }) =>
        Effect.gen(function* () {
          const asked = Effect.repeat(Effect.sleep("2 millis"), { until: () => count("/accounts") === 2 })
          yield* forEachPageUntil(partner.accounts(Option.none()), () => Effect.as(asked, true))
          yield* Effect.repeat(Effect.sleep("2 millis"), { until: () => gone })
        }),
      // Else it would end by itself.
      { limits: { attemptTimeout: Duration.hours(1), headersTimeout: Duration.hours(1) } },
    )
  })

  it.live("[C16] of 100 read at once loses nothing", () =>
    withPartner(
      serve(({ path }, response) => {
        const url = new URL(path, "http://x")
        const page = Number(url.searchParams.get("after") ?? "0")
        const accountId = url.pathname.split("/")[2] ?? ""
        json(response, {
          items: [0, 1, 2].map((index) => ({
            entryId: uuid(page * 3 + index),
            accountId,
            type: "CREDIT",
            amount: "1.00",
            currency: "EUR",
            balanceAfter: `${page * 3 + index + 1}.00`,
            occurredAt: "2026-10-01T12:00:00Z",
          })),
          pageInfo: { hasNextPage: page < 4, endCursor: String(page + 1) },
        })
      }),
      (partner) =>
        Effect.gen(function* () {
          const read = yield* Effect.forEach(
            sequence(100),
            (id) => pagesIn(partner.statement(id)(Option.none())),
            { concurrency: 100 },
          )
          for (const pages of read) {
            const entries = [...pages].flatMap(({ rows }) =>
              rows.map((row) => Either.getOrThrow(row).entryId),
            )
            expect(entries).toEqual(sequence(15))
          }
          expect((yield* partner.requests).get("statement")).toBe(500)
        }),
    ),
  )
})

describe("A cursor", () => {
  const endless = (
    next: (page: number) => string | null | undefined,
    items: (page: number) => ReadonlyArray<unknown> = (page) => [account(page)],
  ) => {
    let page = 0
    return serve((_, response) => {
      page++
      json(response, { items: items(page), pageInfo: { hasNextPage: true, endCursor: next(page) } })
    })
  }
  const loops: ReadonlyArray<readonly [string, (page: number) => string | null | undefined, string]> = [
    ["that repeats", () => "same", "a cursor that it gave before"],
    ["that cycles", (page) => `c${page % 7}`, "a cursor that it gave before"],
    [
      "that cycles after a while",
      (page) => (page < 50 ? `a${page}` : `b${page % 3}`),
      "a cursor that it gave before",
    ],
    ["that is missing", () => undefined, "without a cursor"],
    ["that is null", () => null, "without a cursor"],
    ["that is empty", () => "", "without a cursor"],
  ]
  for (const [name, next, detail] of loops) {
    it.live(`[C13] ${name} while more is promised is an error`, () =>
      withPartner(endless(next), (partner) =>
        Effect.gen(function* () {
          const seen: Array<string | null> = []
          const error = yield* failureOf(
            forEachPage(partner.accounts(Option.none()), ({ endCursor }) =>
              Effect.sync(() => seen.push(Option.getOrNull(endCursor))),
            ),
          )
          expect(error.reason).toBe("CursorLoop")
          expect(error.detail).toContain(detail)
          // A page that leads back is not handed out, so that a checkpoint cannot move into the circle.
          expect(new Set(seen).size).toBe(seen.length)
        }),
      ),
    )
  }

  it.live("[C13] equal to the one that was begun with is an error", () =>
    withPartner(
      endless(() => "start"),
      (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(pagesIn(partner.accounts(Option.some("start"))))
          expect(error.reason).toBe("CursorLoop")
        }),
    ),
  )

  it.live("[C13] is followed over empty pages, but not without end", () =>
    Effect.gen(function* () {
      const limits = { maxEmptyPages: 10 }
      const gap: Answerer = ({ path }, response) => {
        const page = Number(new URL(path, "http://x").searchParams.get("after") ?? "0")
        const items = page === 9 ? [account(0)] : []
        json(response, { items, pageInfo: { hasNextPage: page < 9, endCursor: String(page + 1) } })
      }
      yield* withPartner(
        serve(gap),
        (partner) =>
          Effect.gen(function* () {
            expect(ids(yield* pagesIn(partner.accounts(Option.none())))).toEqual(sequence(1))
          }),
        { limits },
      )
      yield* withPartner(
        endless(
          (page) => `p${page}`,
          () => [],
        ),
        (partner, { count }) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error).toMatchObject({
              reason: "CursorLoop",
              detail: "it gave 11 empty pages, one after the other",
              advice: expect.stringContaining("set a larger `limits.maxEmptyPages`"),
            })
            expect(count("/accounts")).toBe(11)
          }),
        { limits },
      )
    }),
  )

  it.live("[C13] that the service ignores is an error, even where it gives a new one with each page", () =>
    withPartner(
      endless(
        (page) => `p${page}`,
        (page) => [
          { ...account(0), readAt: page },
          { ...account(1), readAt: page },
        ],
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
          expect(error).toMatchObject({
            reason: "CursorLoop",
            detail: "it gave the same page 3 times, one after the other",
          })
          expect(count("/accounts")).toBe(3)
        }),
    ),
  )

  it.live("[C13] that leads on for ever ends at the bound of pages", () =>
    withPartner(
      endless((page) => `p${page}`),
      (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
          expect(error).toMatchObject({
            reason: "CursorLoop",
            detail: "it has more than 20 pages",
            advice: expect.stringContaining("set a larger `limits.maxPages`"),
          })
        }),
      { limits: { maxPages: 20 } },
    ),
  )

  // The interface shows no status of a refusal but 409.
  for (const status of [400, 403, 404, 406, 409, 410, 412, 416, 422, 498]) {
    it.live(
      `[C14] answered ${status} has expired; the same answer without a cursor is an error of its own`,
      () =>
        withPartner(
          serve((_, response) => json(response, { message: "limit must not be above 50" }, status)),
          (partner, { count }) =>
            Effect.gen(function* () {
              const expired = yield* failureOf(pagesIn(partner.accounts(Option.some("old"))))
              expect(expired).toMatchObject({
                reason: "CursorExpired",
                status,
                detail: expect.stringMatching(
                  /^a cursor that it gave is refused \(.*limit must not be above 50.*\)$/,
                ),
              })
              const other = yield* failureOf(pagesIn(partner.accounts(Option.none())))
              expect(other.reason).toBe(reasons.get(status) ?? "Rejected")
              // Once more with a fresh token after the first 403.
              expect(count("/accounts?first=100")).toBe(status === 403 ? 3 : 2)
            }),
        ),
    )
  }
  const reasons = new Map([
    [403, "Forbidden"],
    [404, "NotFound"],
    [410, "NotFound"],
  ])

  it.live("[C14] answered 500 where the list's first page is served has expired", () =>
    withPartner(
      serve(({ path }, response) =>
        path.includes("after=") ? json(response, {}, 500) : listed(response, {}),
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          const expired = yield* failureOf(pagesIn(partner.accounts(Option.some("old"))))
          expect(expired).toMatchObject({
            reason: "CursorExpired",
            status: 500,
            detail: "a cursor that it gave fails, and the list's first page does not",
          })
          expect(count("/accounts?first=100")).toBe(6)
        }),
    ),
  )

  it.live("[C14] answered 500 with a long pause asked for is not looked into meanwhile", () =>
    withPartner(
      serve(({ path }, response) =>
        path.includes("after=") ? json(response, {}, 500, { "retry-after": "3600" }) : listed(response, {}),
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          const error = yield* failureOf(pagesIn(partner.accounts(Option.some("old"))))
          expect(error.reason).toBe("Unavailable")
          expect(count("/accounts")).toBe(1)
        }),
    ),
  )

  it.live("[C14] that the list gave in this reading and answers with 500 has not expired", () =>
    withPartner(
      serve(({ path }, response) =>
        path.includes("after=") ? json(response, {}, 500) : listed(response, { endCursor: "next" }),
      ),
      (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
          expect(error.reason).toBe("Unavailable")
        }),
    ),
  )

  for (const status of [408, 425, 429, 500, 503]) {
    it.live(`[C14] answered ${status} has not expired`, () =>
      withPartner(
        serve((_, response) => json(response, {}, status, { "retry-after": "0" })),
        (partner) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.some("old"))))
            expect(error.reason).toBe(status === 429 ? "RateLimited" : "Unavailable")
          }),
        { tuning: { limitedTries: 1 } },
      ),
    )
  }
})
