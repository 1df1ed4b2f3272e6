/** A manifest may be long, and a book has thousands of them: the proof of a batch reads it once for each of its questions, not for each field. */
import { expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Sql } from "../../src/Database/Client.ts"
import { Database } from "../../src/Database.ts"
import type { Fragment } from "../../src/Proof/ProofQuery.ts"
import { manifests } from "../../src/Proof/SourcesProof.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const decode = Schema.decodeUnknownSync(
  Schema.parseJson(
    Schema.Tuple(Schema.Struct({ Plan: Schema.Struct({ "Shared Hit Blocks": Schema.Number }) })),
  ),
)

/** Pages of the database that a statement goes through. */
const pagesOf = Effect.fn("Test.pagesOf")(function* (statement: (sql: Sql) => Fragment) {
  const database = yield* Database
  const explained = (sql: Sql) =>
    sql<
      Array<{ "QUERY PLAN": unknown }>
    >`explain (analyze, buffers, timing off, format json) ${statement(sql)}`
  // The first one reads what is not in memory yet.
  yield* database.query("Test.explain", explained)
  const [found] = yield* database.query("Test.explain", explained)
  const plan = found?.["QUERY PLAN"]
  const [{ Plan }] = decode(typeof plan === "string" ? plan : JSON.stringify(plan))
  return Plan["Shared Hit Blocks"]
})

it.scoped("the proof of the manifests reads each of them twice at most", () =>
  Effect.gen(function* () {
    yield* unruled(`
      insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
      insert into export.batches (book_id, batch, scope, formats, folder, through_numbering, manifest)
      select book_id, n, 'all', '{journal}', 'default-ORG/all/' || n, n, json_build_object('throughNumbering', n::text,
        'formats', '{journal}'::text[], 'scope', json_build_object('text', 'all'), 'files',
        (select string_agg(md5(n || ' ' || k), '') from generate_series(1, 1000) k))
      from mirror.books, generate_series(1, 100) n;
      analyze export.batches`)
    const once = yield* pagesOf((sql) => sql`select sum(length(b.manifest::text)) from export.batches b`)
    expect(once).toBeGreaterThan(500)
    expect(yield* pagesOf(manifests.wrong)).toBeLessThan(2.5 * once)
  }).pipe(Effect.provide(TestDatabase.layer)),
)
