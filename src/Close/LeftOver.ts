/** What the bridge between statements and books leaves over, as a check of its own: nothing should. */
import type { Book } from "../Book.ts"
import type { CheckQuery } from "../Reconcile/Findings.ts"
import { type Bridge, unbridged } from "./Bridge.ts"

export const leftOver = ({ bookId }: Book, bridge: Bridge): CheckQuery => ({
  checks: ["bridge"],
  found: (sql) => {
    const rows = unbridged(bridge).map(({ accountId, closingDifference, currency, difference }) => ({
      id: accountId,
      message: `Between the statement of account ${accountId} and the books ${difference} ${currency} of the month's movements and ${closingDifference} ${currency} of the closing balance are left over.`,
      evidence: { accountId, currency, difference, closingDifference, period: bridge.period },
    }))
    return sql`
      select 'bridge' as check_name, ${bookId}::integer as book_id, 'account' as subject_type, r ->> 'id' as subject_id,
        true as ripe, r ->> 'message' as message, r -> 'evidence' as evidence
      from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) r`
  },
})
