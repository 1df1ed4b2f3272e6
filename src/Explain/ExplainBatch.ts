/** A batch of an export, by its number or by the number of a bank statement in it. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { arrayOf, int4, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { nativeBasis } from "../Format/Entry.ts"
import { outdatedBatches } from "../Reconcile/OutdatedBatches.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { account } from "./ExplainAccount.ts"
import { factsIfKnown, type Step } from "./Step.ts"

const columns = {
  book: text,
  scope: text,
  formats: arrayOf(text),
  folder: text,
  state: text,
  basis: text,
  at: text,
  who: nullable(text),
  entries: int4,
  /** What the books said then alone, which never counts as exported. */
  asOf: nullable(text),
}

/** `id`: the batch, and behind a space the account whose statement was asked for. */
export const batch = Effect.fn("Explain.batch")(function* (bookId: number, id: string) {
  const database = yield* Database
  const [number = "0", accountId] = id.split(" ")
  const rows = yield* database.rows(
    "Explain.batch",
    columns,
    (sql) => sql`
      select b.code as book, x.scope, x.formats, x.folder, export.batch_state(x.book_id, x.batch) as state,
        x.currency_basis as basis, ${instantText(sql, sql`x.committed_at`)} as at, x.who,
        (x.manifest ->> 'entries')::integer as entries, x.manifest #>> '{scope,asOf}' as "asOf"
      from export.batches x join mirror.books b on b.book_id = x.book_id
      where x.book_id = ${bookId} and x.batch = ${Number(number)}`,
  )
  const inBase = rows.some(({ basis }) => basis !== nativeBasis)
  const outdated = inBase ? yield* outdatedBatches([bookId]) : []
  const changed = outdated.find((one) => one.batch === Number(number))?.months ?? []
  const steps: Array<Step> = rows.map(
    ({ asOf, at, basis, book, entries, folder, formats, scope, state, who }) => ({
      title: `export batch ${book}/${number}`,
      facts: [
        ["entries", `${counted(entries, "entry", "entries")} of ${scope}`],
        ["format", formats.join(", ")],
        ["currency", basis === nativeBasis ? "the books' own" : basis],
        [
          "state",
          `${state}${asOf === null ? "" : `, as of ${asOf}`}${changed.length === 0 ? "" : ", out of date"}`,
        ],
        ...(changed.length === 0 ? [] : ([["changed since", changed.join(", ")]] as const)),
        ["written", at],
        ...factsIfKnown("by", who),
        ["folder", folder],
        ["its files", `tieout batches show ${book}/${number}`],
      ],
    }),
  )
  return [...steps, ...(accountId === undefined ? [] : yield* account(bookId, accountId))]
})
