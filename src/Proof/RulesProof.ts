/** The database's own rules: proofs of rows are worth little where the triggers that refuse wrong rows were disabled. */
import { changedObjects } from "../Database/Migrations/Objects.ts"
import type { ProofQuery } from "./ProofQuery.ts"

export const rules: ProofQuery = {
  name: "rules",
  proves:
    "Every function, trigger, view and constraint is the one that tieout migrate made, and switched on.",
  wrong: (sql) => sql`select 'all' as book, c.name as row, c.message from (${sql.unsafe(changedObjects)}) c`,
}
