import { expect, layer } from "@effect/vitest"
import { getTableColumns } from "drizzle-orm"
import { bigint, boolean, date, jsonb, pgSchema, smallint, text, uuid } from "drizzle-orm/pg-core"
import { Effect } from "effect"
import { makeClient, makeOrm } from "../../src/Database/Client.ts"
import {
  bytes,
  exact,
  instant,
  isoText,
  transactionId,
  verbatim,
} from "../../src/Database/Tables/ColumnTypes.ts"
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

  it.effect("is what the column of a drizzle table says", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* database.execute("Test.setup", (sql) =>
        sql`
          create schema typed;
          create table typed.kinds (big int8, small int2, amount numeric, at timestamptz, day date, json json, jsonb jsonb,
            bytes bytea, transaction xid8, id uuid, open bool, names text[]);
          insert into typed.kinds values (9007199254740993, 7, 1.10, '2026-02-28 23:59:59.123456+02', '2026-02-28', '{"a": 1}',
            '{"a": 1}', '\\x00ff', '12', '00000000-0000-0000-0000-000000000001', true, array['a', 'NULL'])`.simple(),
      )
      const kinds = pgSchema("typed").table("kinds", {
        big: bigint("big", { mode: "bigint" }),
        small: smallint("small"),
        amount: exact("amount"),
        at: instant("at"),
        day: date("day", { mode: "string" }),
        json: verbatim("json"),
        jsonb: jsonb("jsonb"),
        bytes: bytes("bytes"),
        transaction: transactionId("transaction"),
        id: uuid("id"),
        open: boolean("open"),
        names: text("names").array(),
      })
      const rows = yield* database.orm("Test.kinds", (orm) =>
        orm.select({ ...getTableColumns(kinds), iso: isoText(kinds.at) }).from(kinds),
      )
      expect(rows).toEqual([
        {
          big: 9007199254740993n,
          small: 7,
          amount: "1.10",
          at: "2026-02-28 21:59:59.123456+00",
          day: "2026-02-28",
          json: { a: 1 },
          jsonb: { a: 1 },
          bytes: Buffer.from([0, 255]),
          transaction: "12",
          id: "00000000-0000-0000-0000-000000000001",
          open: true,
          names: ["a", "NULL"],
          iso: "2026-02-28T21:59:59.123456Z",
        },
      ])
    }),
  )
})
