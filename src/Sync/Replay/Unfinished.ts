/**
 * Replays that were stopped or cut off: what they had committed is settled, and yet neither numbered nor reconciled. Their rows no
 * longer wait, so the same command again would find nothing to do.
 */
import { Effect, Option } from "effect"
import { text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { Settings } from "../../Settings.ts"

/**
 * The connections whose last replay has not ended as it should, unless a later sync has numbered and reconciled all. One that is no
 * longer in the settings can be finished by nobody.
 */
export const unfinishedReplays = Effect.fn("Sync.unfinishedReplays")(function* (
  connection: Option.Option<string>,
) {
  const database = yield* Database
  const { connectionNames } = yield* Settings
  const wanted = Option.getOrNull(connection)
  const rows = yield* database.rows(
    "Sync.unfinishedReplays",
    { connection: text },
    (sql) => sql`
      select c.connection
      from sync.connections c
      cross join lateral (
        select x.run_id, x.state from sync.runs x where x.connection = c.connection and x.command = 'replay'
        order by x.run_id desc limit 1) r
      where (${wanted}::text is null or c.connection = ${wanted}) and r.state <> 'done' and not exists (
        select from sync.runs w where w.connection = c.connection and w.whole and w.run_id > r.run_id)
      order by c.connection`,
  )
  return rows.map((row) => row.connection).filter((name) => connectionNames.includes(name))
})
