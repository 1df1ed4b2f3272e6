/** How much the server does for statements: the rows that the nodes of their plans return or throw away, each time that they run. */
import { Effect, Schema } from "effect"
import type postgres from "postgres"
import type { Sql } from "../../src/Database/Client.ts"
import type { Columns } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"

type Statement = (sql: Sql) => postgres.PendingQuery<postgres.Row[]>

interface Node {
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Join Filter"?: number
  readonly Plans?: ReadonlyArray<Node>
}

const Count = Schema.optionalWith(Schema.Number, { exact: true })

const Node: Schema.Schema<Node> = Schema.Struct({
  "Actual Rows": Schema.Number,
  "Actual Loops": Schema.Number,
  "Rows Removed by Filter": Count,
  "Rows Removed by Join Filter": Count,
  Plans: Schema.optionalWith(Schema.Array(Schema.suspend((): Schema.Schema<Node> => Node)), { exact: true }),
})

const decode = Schema.decodeUnknownSync(Schema.Tuple(Schema.Struct({ Plan: Node })))

const rowsOf = (node: Node): number => {
  const { Plans = [], "Actual Loops": loops, "Actual Rows": returned } = node
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0)
  return (returned + removed) * loops + Plans.reduce((sum, plan) => sum + rowsOf(plan), 0)
}

/** Of all statements of an effect that may be run twice; `only`: of those with this name, also where nobody reads their rows. */
export const rowsTouched = <A, E, R>(effect: Effect.Effect<A, E, R>, only?: string) =>
  Effect.gen(function* () {
    const database = yield* Database
    let touched = 0
    const explained = (operation: string, statement: Statement) =>
      Effect.when(() => only === undefined || only === operation)(
        Effect.map(
          database.query(
            "Test.explain",
            (sql) =>
              sql<
                Array<{ "QUERY PLAN": unknown }>
              >`explain (analyze, timing off, format json) ${statement(sql)}`,
          ),
          ([found]) => {
            const plan = found?.["QUERY PLAN"]
            const [{ Plan }] = decode(typeof plan === "string" ? JSON.parse(plan) : plan)
            touched += rowsOf(Plan)
          },
        ),
      )
    const measuring = new Database({
      ...database,
      rows: <C extends Columns>(operation: string, columns: C, statement: Statement) =>
        Effect.zipRight(explained(operation, statement), database.rows(operation, columns, statement)),
      row: <C extends Columns>(operation: string, columns: C, statement: Statement) =>
        Effect.zipRight(explained(operation, statement), database.row(operation, columns, statement)),
      execute: (operation: string, statement: Statement) =>
        Effect.zipRight(
          Effect.when(explained(operation, statement), () => operation === only),
          database.execute(operation, statement),
        ),
    })
    yield* Effect.provideService(effect, Database, measuring)
    return touched
  })
