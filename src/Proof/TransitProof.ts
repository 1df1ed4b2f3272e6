/** What stands in transit, by conversion. */
import type { ProofQuery } from "./Proof.ts"

export const transit: ProofQuery = {
  name: "transit",
  proves: "What stands in transit of every conversion is the sum of its postings.",
  wrong: (sql) => sql`
    select b.code as book, format('conversion %s in transit, %s', d.conversion_id, d.currency) as row,
      format('says %s; its postings add up to %s', trim_scale(d.amount), trim_scale(d.posted)) as message
    from (
      select book_id, conversion_id, currency, sum(amount) as amount, sum(posted) as posted
      from (
        select book_id, conversion_id, currency, amount, 0::numeric as posted from ledger.transit
        union all
        select p.book_id, coalesce(j.resource_id, j.source_id), p.currency, 0, p.amount
        from ledger.accounts a
        join ledger.postings p on p.book_id = a.book_id and p.account_id = a.account_id
        join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
        where a.role = 'conversions_in_transit') both_sides
      group by book_id, conversion_id, currency) d
    join mirror.books b on b.book_id = d.book_id
    where d.amount <> d.posted`,
}
