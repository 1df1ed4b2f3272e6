/** What the rows do not show: whether the next one gets a number of its own. */
import { sequencesSetBack } from "../Database/GivenNumbers.ts"
import type { ProofQuery } from "./ProofQuery.ts"

export const sequences: ProofQuery = {
  name: "sequences",
  proves:
    "Every number that a sequence gives next is beyond all that rows have, as far as this role may see it.",
  wrong: (sql) => sql`
    select 'all' as book, format('sequence %s', s.name) as row,
      format('stands at %s, and rows have numbers up to %s, as after a copy of the tables without it: run select setval(%L, %s); as the owner of the tables',
        s.last, s.highest, s.name, s.highest) as message
    from (${sql.unsafe(sequencesSetBack)}) s`,
}
