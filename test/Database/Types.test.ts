import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeClient, makeOrm } from "../../src/Database/Client.ts"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.blankLayer)("a value from the database", (it) => {
  it.effect("loses nothing: text for amounts and times, bigint for int8", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const [row] = yield* database.query(
        "Test.types",
        (sql) => sql`
          select 12345678901234567890.123456789000::numeric as amount, 9007199254740993::int8 as big, 7::int4 as small,
                 date '2026-02-28' as day, timestamptz '2026-02-28 23:59:59.123456+02' as at, true as yes,
                 '{"a": [1, "x"]}'::jsonb as json, array['a', null, 'c,d'] as texts, array[1, 2]::int8[] as bigs`,
      )
      expect(row).toEqual({
        amount: "12345678901234567890.123456789000",
        big: 9007199254740993n,
        small: 7,
        day: "2026-02-28",
        at: "2026-02-28 21:59:59.123456+00",
        yes: true,
        json: { a: [1, "x"] },
        texts: ["a", null, "c,d"],
        bigs: [1n, 2n],
      })
    }),
  )

  it.effect("can be passed in the same forms, in arrays too", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const awkward = ["plain", 'quo"te', "back\\slash", "co,mma", "{brace}", "", "NULL", "ünï"]
      const rows = yield* database.query(
        "Test.unnest",
        (sql) => sql`
          select t, n::text as n, d::text as d, z::text as z, b
          from unnest(${awkward}::text[], ${awkward.map((_, at) => `${at}.10`)}::numeric[],
                      ${awkward.map(() => "2026-01-01")}::date[], ${awkward.map(() => "2026-01-01T00:00:00Z")}::timestamptz[],
                      ${awkward.map((_, at) => `${at}`)}::int8[]) as u (t, n, d, z, b)`,
      )
      expect(rows.map((row) => row)).toEqual(
        awkward.map((t, at) => ({
          t,
          n: `${at}.10`,
          d: "2026-01-01",
          z: "2026-01-01 00:00:00+00",
          b: BigInt(at),
        })),
      )
      const [empty] = yield* database.query(
        "Test.none",
        (sql) => sql`select ${[]}::text[] as t, ${[null, "1.5"]}::numeric[]::text as n`,
      )
      expect(empty).toEqual({ t: [], n: "{NULL,1.5}" })
    }),
  )

  it.effect("takes JSON as a value or as text", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const [row] = yield* database.query(
        "Test.json",
        (sql) => sql`select ${sql.json({ a: 1 })}::jsonb as value, ${'{"a": 1.50}'}::jsonb::text as text`,
      )
      expect(row).toEqual({ value: { a: 1 }, text: '{"a": 1.50}' })
    }),
  )

  it.effect("is read the same with drizzle over the client", () =>
    Effect.gen(function* () {
      const { settings } = yield* Database
      const client = makeClient(settings, { connections: 1 })
      const before = {
        parsers: { ...client.options.parsers },
        serializers: { ...client.options.serializers },
      }
      makeOrm(client)
      expect(client.options.parsers).toEqual(before.parsers)
      expect(client.options.serializers).toEqual(before.serializers)
      yield* Effect.promise(() => client.end())
    }),
  )
})
