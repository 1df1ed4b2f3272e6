/** Each statement of a session counts once, however the session is cut into writes. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { Database } from "../../../src/Database.ts"
import { settingsFor } from "../../support/DatabaseAddress.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { Aim } from "./Aim.ts"
import { watchSockets } from "./Sockets.ts"
import { Session } from "./Statements.ts"

const message = (type: string, ...parts: ReadonlyArray<string | Buffer>): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)),
  )
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const startup = (() => {
  const body = Buffer.from("user\0me\0\0")
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8, 0)
  head.writeUInt32BE(196_608, 4)
  return Buffer.concat([head, body])
})()
const none = Buffer.alloc(4)
const sync = message("S")
const bound = (name: string): Buffer =>
  Buffer.concat([message("B", "", name, none, none), message("E", "", none), sync])

describe("Session", () => {
  it("knows a prepared statement by its name, and takes a simple one for what it is", () => {
    const session = new Session()
    expect(session.take(startup)).toEqual([])
    expect(session.take(Buffer.concat([message("P", "s1", "select 1", none), message("H")]))).toEqual([])
    const first = bound("s1")
    expect(session.take(first)).toEqual([{ text: "select 1", from: 0, to: first.length }])
    const commit = message("Q", "commit")
    expect(session.take(Buffer.concat([first, commit]))).toEqual([
      { text: "select 1", from: 0, to: first.length },
      { text: "commit", from: first.length, to: first.length + commit.length },
    ])
  })

  it("reassembles a statement that comes in pieces", () => {
    const session = new Session()
    session.take(startup)
    const all = Buffer.concat([message("P", "s1", "select 1", none), bound("s1"), message("Q", "commit")])
    const found = [...all].flatMap((_, at) => session.take(all.subarray(at, at + 1)))
    expect(found.map(({ text }) => text)).toEqual(["select 1", "select 1", "commit"])
    expect(found.map(({ from }) => from === null)).toEqual([false, true, false])
    expect(found.map(({ to }) => to === null)).toEqual([true, false, false])
  })

  it("ignores what is not a database session", () => {
    const session = new Session()
    expect(session.take(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toEqual([])
    expect(session.take(message("Q", "commit"))).toEqual([])
  })
})

layer(TestDatabase.layer)("what this process sends", (test) => {
  test.effect("a transaction is counted statement by statement, including its commit", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const seen: Array<string> = []
      const aim = new Aim({ of: "commit", nth: 1, side: "after", by: "kill" }, (nth, text) => () => {
        seen.push(`${nth} ${text}`)
      })
      watchSockets(aim)
      // Sessions are seen from their beginning.
      yield* Effect.gen(function* () {
        const database = yield* Database
        const one = database.query("Test.one", (sql) => sql`select ${"1"}::text`)
        yield* one
        const before = aim.counts.statement
        yield* database.transaction(Effect.all([one, one]))
        expect(aim.counts.statement - before).toBe(4)
        expect(seen).toEqual([`${before + 4} commit`])
      }).pipe(Effect.provide(Database.layer(settingsFor(url))))
    }),
  )
})
