/** What a valuation reads of a month's movements before it begins: lines in clearing of earlier months. */

import type { Journal } from "../BaseJournal.ts"
import { earlier, type MonthEntries } from "./EarlierLines.ts"
import { movementRoles } from "./MovementCost.ts"

/** Of movements that something comes back of, or is put right of, in the month. */
export const earlierLines = (entries: MonthEntries, journal: Journal | null) =>
  earlier(entries, journal, {
    back: (sql) =>
      sql`e.kind in ('deposit_return', 'withdrawal_return', 'payout_return', 'reclassification')`,
    of: (sql) => sql`true`,
    roles: movementRoles,
  })
