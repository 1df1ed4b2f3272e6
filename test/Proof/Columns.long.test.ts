/**
 * Every table and column of the database against a plausible falsehood: by the hand of its owner, in a session of the program,
 * and past all rules. A new column fails here until somebody has decided what becomes of a falsehood in it.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import postgres from "postgres"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { dispositions } from "./Dispositions.ts"
import { columns, falsehood, tried } from "./Falsehood.ts"
import { filled, found, planted, proof } from "./Filled.ts"

const listOf = (text: string | undefined): ReadonlyArray<string> =>
  text === undefined || text === "" ? [] : text.split(" ")

/** `table.column` with what becomes of it: `refused`, the proof's name, or `free`. */
const declared = new Map<string, string>(
  Object.entries(dispositions).flatMap(([table, { free = {}, proved = {}, refused }]) => [
    ...listOf(refused).map((column) => [`${table}.${column}`, "refused"] as const),
    ...Object.entries(proved).flatMap(([name, list]) =>
      listOf(list).map((column) => [`${table}.${column}`, name] as const),
    ),
    ...Object.keys(free).flatMap((list) =>
      listOf(list).map((column) => [`${table}.${column}`, "free"] as const),
    ),
  ]),
)

/** Of our own rules, or of what the columns themselves allow. */
const refusal = /^(TO|23|428C9)/

layer(TestDatabase.layer, { excludeTestServices: true })("a falsehood", (it) => {
  it.effect("has been thought of in every column that there is", () =>
    Effect.gen(function* () {
      const there = (yield* columns).map(({ column, table }) => `${table}.${column}`)
      expect([...declared.keys()].sort()).toEqual([...there].sort())
    }),
  )

  it.scoped("is refused, or named by the proof of the database, whatever row and column it is in", () =>
    Effect.gen(function* () {
      yield* filled
      yield* planted
      expect(yield* proof).toMatchObject({ ok: true, wrong: [] })
      for (const one of yield* columns) {
        const name = `${one.table}.${one.column}`
        const statement = falsehood(one)
        expect([name, (yield* tried("hand", statement, Effect.void)).refused]).toEqual([
          name,
          expect.stringMatching(refusal),
        ])
        const disposition = declared.get(name)
        const { refused, written } = yield* tried("program", statement, Effect.void)
        if (disposition === "refused") {
          expect([name, refused]).toEqual([name, expect.stringMatching(refusal)])
          continue
        }
        expect([name, refused, written > 0]).toEqual([name, "", true])
        if (disposition === "free") continue
        const { look } = yield* tried("unruled", statement, found)
        const named = look?.some((line) => line.startsWith(`${disposition}: ORG: `)) ?? false
        expect([name, disposition, named]).toEqual([name, disposition, true])
      }
    }),
  )

  it.effect.each([
    ["found-again", "update reconcile.findings set closed_at = now() where closed_at is null"],
    [
      "findings",
      "update reconcile.findings set severity = 'warning', seen_at = now() where severity = 'blocking'",
    ],
    ["resources", "update mirror.resources set version = version + 1, amount = amount + 1"],
    ["resources", "update mirror.resources set counterparty = null, final = false"],
  ] as const)("in the form of a change of the program is named: %s, %s", ([name, statement]) =>
    Effect.gen(function* () {
      const { look, refused, written } = yield* tried("program", statement, found)
      expect([refused, written > 0]).toEqual(["", true])
      expect(look?.some((line) => line.startsWith(`${name}: ORG: `))).toBe(true)
    }),
  )

  it.scoped("by hand is refused in every table, rows that are added and taken away included", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { password, path, ...at } = yield* parseDatabaseUrl(Redacted.make(url))
      const owner = yield* Effect.acquireRelease(
        Effect.sync(() =>
          postgres({
            host: at.host,
            port: at.port,
            ...(path === undefined ? {} : { path }),
            database: at.database,
            user: at.username,
            ...(password === undefined ? {} : { password: Redacted.value(password) }),
            max: 1,
            onnotice: () => undefined,
          }),
        ),
        (client) => Effect.promise(() => client.end()),
      )
      const refused = (statement: string) =>
        Effect.promise(() =>
          owner.unsafe(statement).then(
            () => "taken",
            (error: unknown) => (error instanceof postgres.PostgresError ? error.code : String(error)),
          ),
        )
      for (const table of Object.keys(dispositions)) {
        for (const statement of [
          `insert into ${table} default values`,
          `delete from ${table}`,
          `truncate ${table} cascade`,
        ]) {
          expect([statement, yield* refused(statement)]).toEqual([
            statement,
            expect.stringMatching(/^TO0(04|12)$/),
          ])
        }
      }
    }),
  )

  it.effect("of rows that are gone is refused to the program, but where they are written anew", () =>
    Effect.gen(function* () {
      for (const [table, { deleted }] of Object.entries(dispositions)) {
        const gone = yield* tried("program", `delete from ${table}`, Effect.void)
        expect([table, gone.refused === "" && gone.written > 0]).toEqual([table, deleted !== undefined])
        const emptied = yield* tried("program", `truncate ${table} cascade`, Effect.void)
        expect([table, emptied.refused]).toEqual([table, expect.stringMatching(/^TO004$/)])
      }
    }),
  )
})
