import { expect, layer } from "@effect/vitest"
import { Cause, Chunk, Effect, Exit, Schema, Stream } from "effect"
import * as Column from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The defect that an effect dies of. */
const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Chunk.toReadonlyArray(Cause.defects(exit.cause))[0] : undefined

const dying = <C extends Column.Columns>(columns: C, text: string) =>
  Effect.gen(function* () {
    const database = yield* Database
    return defectOf(yield* Effect.exit(database.rows("Test.answer", columns, (sql) => sql.unsafe(text))))
  })

layer(TestDatabase.blankLayer)("an answer of the database", (it) => {
  it.effect("has rows of the type that its columns declare", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const columns = {
        id: Column.uuid,
        big: Column.int8,
        small: Column.int4,
        amount: Column.numeric,
        day: Column.date,
        at: Column.timestamptz,
        open: Column.bool,
        side: Column.oneOf("debit", "credit"),
        note: Column.nullable(Column.text),
        names: Column.arrayOf(Column.text),
        kept: Column.jsonOf(Schema.Struct({ files: Schema.Number })),
      }
      const rows: ReadonlyArray<{
        readonly id: string
        readonly big: bigint
        readonly small: number
        readonly amount: string
        readonly day: string
        readonly at: string
        readonly open: boolean
        readonly side: "debit" | "credit"
        readonly note: string | null
        readonly names: ReadonlyArray<string>
        readonly kept: { readonly files: number }
      }> = yield* database.rows(
        "Test.answer",
        columns,
        (sql) => sql`
          select '00000000-0000-0000-0000-000000000001'::uuid as id, 1::int8 as big, 2 as small, 3.10 as amount,
            date '2026-01-31' as day, timestamptz '2026-01-31 12:00Z' as at, true as open, 'debit' as side,
            null::text as note, array['a', 'b'] as names, '{"files": 2}'::json as kept`,
      )
      expect(rows.map((row) => row)).toEqual([
        {
          id: "00000000-0000-0000-0000-000000000001",
          big: 1n,
          small: 2,
          amount: "3.10",
          day: "2026-01-31",
          at: "2026-01-31 12:00:00+00",
          open: true,
          side: "debit",
          note: null,
          names: ["a", "b"],
          kept: { files: 2 },
        },
      ])
    }),
  )

  it.effect("is refused, with the operation and the column, where the column has another name", () =>
    Effect.gen(function* () {
      expect(yield* dying({ book_id: Column.int4 }, "select 1 as book")).toMatchObject({
        _tag: "UnexpectedAnswer",
        operation: "Test.answer",
        column: "book",
        expected: "absent",
        found: "int4",
        message:
          'Test.answer: the column "book" should be absent, and the database answered int4. This is a mistake of Tieout, or its tables were changed by somebody else.',
      })
      expect(yield* dying({ book_id: Column.int4, code: Column.text }, "select 1 as book_id")).toMatchObject({
        column: "code",
        expected: "text",
        found: "no such column",
      })
      expect(yield* dying({ code: Column.text }, "select 'a' as code, 'b' as code")).toMatchObject({
        column: "code",
        expected: "there once",
      })
    }),
  )

  it.effect("is refused where the column has another type, even without a row", () =>
    Effect.gen(function* () {
      expect(yield* dying({ n: Column.int8 }, "select 1 as n where false")).toMatchObject({
        column: "n",
        expected: "int8",
        found: "int4",
      })
      expect(yield* dying({ n: Column.int4 }, "select 1::int8 as n")).toMatchObject({ found: "int8" })
      expect(yield* dying({ n: Column.numeric }, "select '1' as n")).toMatchObject({ found: "text" })
      expect(yield* dying({ n: Column.text }, "select '1 day'::interval as n")).toMatchObject({
        found: "a type that the program does not read (OID 1186)",
      })
      expect(yield* dying({ n: Column.arrayOf(Column.int8) }, "select array[1] as n")).toMatchObject({
        expected: "array of int8",
        found: "array of int4",
      })
    }),
  )

  it.effect("is refused where a value is null, no member of the union or of another form", () =>
    Effect.gen(function* () {
      const side = { side: Column.oneOf("debit", "credit") }
      expect(yield* dying(side, "select 'debit' as side union all select null")).toMatchObject({
        column: "side",
        expected: "one of debit, credit",
        found: "null",
      })
      expect(yield* dying(side, "select 's3cret' as side")).toMatchObject({ found: "another value" })
      const kept = { kept: Column.jsonOf(Schema.Struct({ files: Schema.Number })) }
      expect(yield* dying(kept, `select '{"files": "2"}'::jsonb as kept`)).toMatchObject({ column: "kept" })
      const lines = { lines: Column.jsonRows({ ...side, note: Column.nullable(Column.text) }) }
      const line = (text: string) => dying(lines, `select '[${text}]'::json as lines`)
      expect(yield* line('{"side": "debit", "note": null, "more": 1}, {"side": "credit", "note": "n"}')).toBe(
        undefined,
      )
      for (const wrong of [
        '{"side": "none", "note": null}',
        '{"side": "debit", "note": 1}',
        '{"side": "debit"}',
        "1",
      ])
        expect(yield* line(wrong)).toMatchObject({ column: "lines", found: "another value" })
      const names = { names: Column.arrayOf(Column.text) }
      expect(yield* dying(names, "select array['a', null] as names")).toMatchObject({ column: "names" })
    }),
  )

  it.effect("is checked again for other columns and after the statement's result has changed", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const read = (columns: Column.Columns) =>
        Effect.exit(database.rows("Test.kept", columns, (sql) => sql`select * from public.kept`))
      yield* database.execute("Test.setup", (sql) => sql`create table public.kept (n integer not null)`)
      expect(Exit.isSuccess(yield* read({ n: Column.int4 }))).toBe(true)
      expect(defectOf(yield* read({ n: Column.int8 }))).toMatchObject({ expected: "int8", found: "int4" })
      yield* database.execute("Test.rename", (sql) => sql`alter table public.kept rename column n to number`)
      expect(defectOf(yield* read({ n: Column.int4 }))).toMatchObject({ column: "number" })
    }),
  )

  it.effect("is one row where there is always one", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const numbers = { n: Column.int4 }
      expect(yield* database.row("Test.one", numbers, (sql) => sql`select 1 as n`)).toEqual({ n: 1 })
      const none = yield* Effect.exit(
        database.row("Test.one", numbers, (sql) => sql`select 1 as n where false`),
      )
      expect(defectOf(none)).toMatchObject({ message: "Test.one: 0 rows where there is always one" })
    }),
  )

  it.effect("is checked in every part of a stream, and where there is no row at all", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const streamed = (columns: Column.Columns, text: string) =>
        Effect.exit(
          Stream.runCount(
            database.rowStream("Test.stream", columns, (sql) => sql.unsafe(text), { size: 10 }),
          ),
        )
      const numbers = "select case when n = 25 then null else n end as n from generate_series(1, 30) n"
      expect(yield* streamed({ n: Column.nullable(Column.int4) }, numbers)).toEqual(Exit.succeed(30))
      expect(defectOf(yield* streamed({ n: Column.int4 }, numbers))).toMatchObject({
        column: "n",
        found: "null",
      })
      expect(defectOf(yield* streamed({ n: Column.int8 }, `${numbers} where false`))).toMatchObject({
        expected: "int8",
      })
      // The connection is whole.
      expect(yield* streamed({ n: Column.nullable(Column.int4) }, numbers)).toEqual(Exit.succeed(30))
    }),
  )

  it.effect("says how many rows a statement touched", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* database.execute("Test.setup", (sql) => sql`create table public.touched (n integer)`)
      expect(
        yield* database.execute("Test.insert", (sql) => sql`insert into public.touched values (1), (2)`),
      ).toBe(2)
    }),
  )
})
