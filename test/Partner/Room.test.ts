/** Large answers share a room from before they are unpacked until what was read of them has been dealt with. */
import { gzipSync } from "node:zlib"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { forEachPage, forEachPageUntil } from "../../src/Partner/Lists/Walk.ts"
import { Room } from "../../src/Partner/Room.ts"
import { defaultInterface } from "../../src/Settings/Interface.ts"
import { grouped } from "../../src/Sync/Resources/Grouped.ts"
import { account, json, serve, uuid, withPartner } from "./Service.ts"

const mebibyte = 1024 * 1024

it("is entered in turn, as far as it goes; what is larger than all of it has it alone", () => {
  const room = new Room()
  const begun: Array<string> = []
  const enter = (name: string, size: number) => room.enter(size * mebibyte, () => begun.push(name))
  enter("a", 3)
  const leave = enter("b", 2)
  enter("c", 1)
  // In turn, though there would be room for a smaller one.
  expect(begun).toEqual(["a"])
  leave()
  expect(begun).toEqual(["a", "c"])
  enter("vast", 100)
  enter("d", 1)
  room.leave(3 * mebibyte)
  expect(begun).toEqual(["a", "c"])
  room.leave(mebibyte)
  expect(begun).toEqual(["a", "c", "vast"])
  room.leave(100 * mebibyte)
  expect(begun).toEqual(["a", "c", "vast", "d"])
})

const page = JSON.stringify({
  items: [{ ...account(1), note: "x".repeat(5 * mebibyte) }],
  pageInfo: { hasNextPage: false },
})

it.live.each([{ encoding: "gzip" }, { encoding: "identity" }])(
  "a large page waits until the one before has been dealt with, and small answers pass it ($encoding)",
  ({ encoding }) => {
    let sent = 0
    return withPartner(
      serve(({ path }, response) => {
        if (path.endsWith(uuid(1))) return json(response, account(1))
        const body = encoding === "gzip" ? gzipSync(page) : page
        response.on("finish", () => sent++)
        response.writeHead(200, { "content-encoding": encoding }).end(body)
      }),
      (partner) =>
        Effect.gen(function* () {
          const begun: Array<string> = []
          const gate = yield* Deferred.make<void>()
          const read = (name: string) =>
            forEachPage(grouped(10)(partner.accounts(Option.none())), () =>
              Effect.zipRight(
                Effect.sync(() => begun.push(name)),
                Deferred.await(gate),
              ),
            )
          const both = yield* Effect.forEach(["first", "second"], (name) => Effect.fork(read(name)))
          yield* Effect.repeat(Effect.sleep("5 millis"), {
            until: () => sent === 2 && begun.length > 0,
          })
          // These are answered after both pages, and read at once.
          for (let index = 0; index < 300; index++) yield* partner.account(uuid(1))
          expect(begun).toHaveLength(1)
          yield* Deferred.succeed(gate, undefined)
          yield* Effect.forEach(both, Fiber.join)
          expect(begun).toHaveLength(2)
          // Whoever gives up leaves the room, too.
          yield* forEachPageUntil(partner.accounts(Option.none()), () => Effect.succeed(true))
          yield* read("third")
          expect(begun).toHaveLength(3)
        }),
      { interface: { ...defaultInterface, paging: { ...defaultInterface.paging, size: 1_000 } } },
    )
  },
)

it.live("a page that came ahead gives its room back where nobody reads on", () => {
  const large = (mebibytes: number, hasNextPage: boolean) =>
    gzipSync(
      JSON.stringify({
        items: [{ ...account(1), note: "x".repeat(mebibytes * mebibyte) }],
        pageInfo: { hasNextPage, endCursor: "2" },
      }),
    )
  let sent = 0
  return withPartner(
    serve(({ path }, response) => {
      if (path.endsWith(uuid(1))) return json(response, account(1))
      response.on("finish", () => sent++)
      // The third needs the whole room.
      response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(sent === 2 ? large(4, false) : large(1, true))
    }),
    (partner) =>
      Effect.gen(function* () {
        const cameAhead = Effect.gen(function* () {
          yield* Effect.repeat(Effect.sleep("2 millis"), { until: () => sent === 2 })
          // These are answered after it, and read at once.
          for (let index = 0; index < 100; index++) yield* partner.account(uuid(1))
          return true
        })
        yield* forEachPageUntil(partner.accounts(Option.none()), () => cameAhead)
        const read: Array<unknown> = []
        yield* forEachPage(partner.accounts(Option.none()), (page) => Effect.sync(() => read.push(page)))
        expect(read).toHaveLength(1)
      }),
    { interface: { ...defaultInterface, paging: { ...defaultInterface.paging, size: 1_000 } } },
  )
})

it.effect(
  "pages are grouped up to a large one, and nothing is asked for beyond a group before it is dealt with",
  () =>
    Effect.gen(function* () {
      const pulled: Array<number> = []
      const pageOf = (at: number) => ({
        ...{ rows: [], hasNextPage: at < 6, endCursor: Option.some(String(at)), askedWith: Option.none() },
        ...{
          requestedAt: at,
          servedAt: Option.none(),
          askedAt: Option.none(),
          isLarge: at === 2 || at === 3,
        },
      })
      const found: Array<unknown> = []
      const sevenPages = () => ({
        next: Effect.sync(() => {
          const at = pulled.length
          if (at === 7) return Option.none()
          pulled.push(at)
          return Option.some(pageOf(at))
        }),
        close: Effect.void,
      })
      yield* forEachPage(grouped(2)(sevenPages), ({ endCursor }) =>
        Effect.sync(() => found.push([Option.getOrNull(endCursor), pulled.length])),
      )
      expect(found).toEqual([
        ["1", 2],
        ["2", 3],
        ["3", 4],
        ["5", 6],
        ["6", 7],
      ])
      let asked = 0
      const onePage = () => ({
        next: Effect.suspend(() => (++asked === 1 ? Effect.succeedSome(pageOf(0)) : Effect.fail("gone"))),
        close: Effect.void,
      })
      const seen: Array<unknown> = []
      const error = yield* Effect.flip(
        forEachPage(grouped(5)(onePage), ({ endCursor }) => Effect.sync(() => seen.push(endCursor))),
      )
      expect(asked).toBe(2)
      expect([error, seen]).toEqual(["gone", [Option.some("0")]])
    }),
)
