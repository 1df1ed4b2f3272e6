/** Proposes a posting rule where a person has moved movements of one counterparty or reference to one account three times. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { harmlessJson } from "../Common/Text.ts"
import { int4, text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { RuleAccount } from "../Ledger/JournalEntry.ts"
import { filled } from "../Settings/Chart.ts"
import { Settings } from "../Settings.ts"

/** The third time is a habit. */
const enough = 3

export interface Proposal {
  readonly by: "counterparty" | "reference"
  readonly value: string
  /** How many movements of it a person has moved there. */
  readonly times: number
  /** For `rules` of the settings. */
  readonly rule: string
}

const escaped = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

/** A JSON text is a YAML text, too. */
const quoted = (text: string): string => harmlessJson(JSON.stringify(text))

/** One code has one name, which holds the currency of each account: the rule is for movements in others, too. */
const inAnyCurrency = (name: string, currency: string): string =>
  name
    .split(":")
    .map((part) => (part === currency ? "{currency}" : part))
    .join(":")

const ruleFor = (by: Proposal["by"], value: string, { code, name }: RuleAccount): string =>
  `- { match: { ${by}: ${quoted(`^${escaped(value)}$`)} }, account: { code: ${quoted(code)}, name: ${quoted(name)} } }`

interface Target extends RuleAccount {
  /** Its code with the placeholders by which rules have it: filled in, it would be another account. */
  readonly ruleCode: string
  readonly currency: string
  readonly book: Book
}

/** The account as the settings have it, whose name may hold more than the currency: a rule with another name would be refused. */
const inSettings = (
  { chart, rules }: Pick<Settings, "chart" | "rules">,
  { book, currency, name, ruleCode }: Target,
): string | undefined =>
  [...rules.map(({ account }) => account), ...Object.values(chart)].find(
    (account) => account.code === ruleCode && filled(account.name, currency, book.code) === name,
  )?.name

/**
 * Proposes rules for the counterparties and references of the entries just moved, to an account by its name in a book and a currency.
 * Earlier moves in any of these books count too.
 */
export const proposalsFor = Effect.fn("Reclassify.proposals")(function* (
  books: ReadonlyArray<Book>,
  entryIds: ReadonlyArray<string>,
  to: Target,
) {
  const database = yield* Database
  const name = inSettings(yield* Settings, to) ?? inAnyCurrency(to.name, to.currency)
  const rows = yield* database.rows(
    "Reclassify.proposals",
    { by: text, value: text, times: int4 },
    (sql) => sql`
      with moved as (
        select distinct j.source_id, j.counterparty, r.reference
        from ledger.journal_entries j
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.code = ${to.code}
        left join mirror.resources r on r.book_id = j.book_id and r.resource_id = j.resource_id
        where j.source_type = 'manual' and j.kind = 'reclassification'
          and j.book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[])),
      known as (
        select 'counterparty' as by, m.source_id, m.counterparty as value from moved m where m.counterparty is not null
        union all
        select 'reference', m.source_id, m.reference from moved m where m.reference is not null)
      select k.by, k.value, count(distinct k.source_id)::integer as times from known k
      group by k.by, k.value
      having count(distinct k.source_id) >= ${enough}::integer
        and bool_or(k.source_id::text = any (${textArray(sql, entryIds)}))
      order by k.by, count(distinct k.source_id) desc, k.value`,
  )
  return rows.map(({ by, times, value }): Proposal => {
    const known = by === "counterparty" ? "counterparty" : "reference"
    return { by: known, value, times, rule: ruleFor(known, value, { code: to.ruleCode, name }) }
  })
})
