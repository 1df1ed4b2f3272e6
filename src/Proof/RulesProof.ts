/** The rules of the database themselves: a proof of rows is worth little where what refuses them was switched off. */
import { changedObjects } from "../Database/Objects.ts"
import type { ProofQuery } from "./Proof.ts"

export const rules: ProofQuery = {
  name: "rules",
  proves:
    "Every function, trigger, view and constraint is the one that tieout migrate made, and switched on.",
  wrong: (sql) => sql`select 'all' as book, c.name as row, c.message from (${sql.unsafe(changedObjects)}) c`,
}
