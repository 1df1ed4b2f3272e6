import { Effect } from "effect"
import { tablesOf } from "../../src/Backup/Catalog.ts"
import { rows } from "../Sync/Runs.ts"

/** Lease epochs continue, so that no earlier holder has a lease after a restore. */
const contentOf = (name: string) =>
  name === "sync.leases" ? "(select connection, book_id, run_id, taken_at from sync.leases)" : name

/** Every row of every table, by table: a digest of the rows as texts, in the order of those texts. */
export const digests = Effect.gen(function* () {
  const found: Record<string, unknown> = {}
  for (const { name } of yield* tablesOf())
    [found[name]] = yield* rows(
      `select count(*)::integer as rows, md5(string_agg(t::text, '|' order by t::text collate "C")) as digest from ${contentOf(name)} t`,
    )
  return found
})
