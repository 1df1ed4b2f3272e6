/**
 * The state that every valued month leaves for the next: what is held of each foreign currency and what it cost, all that later
 * months' costs rest on.
 */
import { Effect, Option } from "effect"
import { allBooks, type Book } from "../Book.ts"
import { print } from "../Common/MinorUnits.ts"
import { bool, int2, int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { openOf } from "../Valuation/Cost/ConversionCost.ts"
import { emptyHolding, type Holding } from "../Valuation/Cost/Holding.ts"
import { remaining } from "../Valuation/Cost/Lots.ts"
import { storedState } from "../Valuation/KeptMonths.ts"
import { baseScale, type Exact, exactly, plus } from "../Valuation/Rates/Rate.ts"
import { emptyState, readState, type State } from "../Valuation/ValuationState.ts"
import type { Wrong } from "./ProofQuery.ts"
import { provable } from "./Provable.ts"

const monthColumns = {
  period: text,
  baseCurrency: text,
  /** Whether it was valued from the month before as that stands now; where it was not, it will be valued again. */
  follows: bool,
}

const movedColumns = {
  period: text,
  account: int4,
  /** Smallest units. */
  moved: text,
  /** How many lines, each of which may round by half a cent; null: unknown, some are archived. */
  lines: nullable(int4),
}

const accountColumns = { account: int4, code: text, role: text, currency: text, scale: int2 }

type Account = RowOf<typeof accountColumns>
type Moved = RowOf<typeof movedColumns>

/** What the journals say, to compare states with. */
interface Said {
  readonly accounts: ReadonlyArray<Account>
  /** By month and account. */
  readonly moved: ReadonlyMap<string, Moved>
  /** By month: the revaluations that are to be reversed, as texts. */
  readonly revalued: ReadonlyMap<string, ReadonlyArray<string>>
}

const revaluationText = (number: number, accountId: number, minor: bigint | string): string =>
  `${number} ${accountId} ${minor}`

const said = Effect.fn("Proof.baseStates.said")(function* ({ bookId }: Book) {
  const database = yield* Database
  const accounts = yield* database.rows(
    "Proof.baseStates.accounts",
    accountColumns,
    (sql) => sql`
      select a.account_id as account, a.code, a.role, a.currency, c.scale from ledger.accounts a
      join ledger.currencies c on c.code = a.currency
      -- In the base currency alone, trading has a balance, and holds nothing.
      where a.book_id = ${bookId} and a.role <> 'trading' order by a.account_id`,
  )
  const moved = yield* database.rows(
    "Proof.baseStates.moved",
    movedColumns,
    (sql) => sql`
      select to_char(m.period, 'YYYY-MM') as period, m.account, trunc(sum(m.native) * 10::numeric ^ c.scale)::text as moved,
        case when not bool_or(m.archived) then sum(m.lines)::integer end as lines
      from (
        select p.period, p.account_id as account, sum(p.native) as native, count(*) as lines, false as archived
        from valuation.postings p where p.book_id = ${bookId} and p.native is not null group by p.period, p.account_id
        union all
        select t.period, a.account_id, t.debit - t.credit, 0, true
        from ledger.archived_turnover t
        join ledger.accounts a on a.book_id = t.book_id and a.account_id::text = t.account
        where t.book_id = ${bookId} and t.basis = 'native') m
      join ledger.accounts a on a.book_id = ${bookId} and a.account_id = m.account
      join ledger.currencies c on c.code = a.currency
      group by m.period, m.account, c.scale`,
  )
  const revalued = yield* database.rows(
    "Proof.baseStates.revalued",
    { period: text, number: int4, account: int4, cents: text },
    (sql) => sql`
      select to_char(e.period, 'YYYY-MM') as period, e.number, p.account_id as account, trunc(p.amount * 100)::text as cents
      from valuation.entries e join valuation.postings p using (book_id, period, series, number)
      where e.book_id = ${bookId} and e.series = 'fx' and e.kind = 'fx_revaluation' and p.account_id is not null
      order by e.period, e.number`,
  )
  const byMonth = new Map<string, Array<string>>()
  for (const { account, cents, number, period } of revalued) {
    const known = byMonth.get(period)
    const one = revaluationText(number, account, cents)
    if (known === undefined) byMonth.set(period, [one])
    else known.push(one)
  }
  return {
    accounts,
    moved: new Map(moved.map((row) => [`${row.period} ${row.account}`, row])),
    revalued: byMonth,
  } satisfies Said
})

const size = (value: bigint): bigint => (value < 0n ? -value : value)

/** What the lots cost beyond what is booked of them: each line was rounded. */
const overOf = ({ carrying, lots }: Holding): Exact => {
  const all = remaining(lots)
  return all.length === 0 ? exactly(0n) : all.reduce((sum, { cost }) => plus(sum, cost), exactly(-carrying))
}

const isWithin = ({ denominator, numerator }: Exact, cents: number): boolean =>
  size(numerator) <= BigInt(cents) * size(denominator)

/** The holding of conversions in transit is the sum of those that are open. */
const inTransit = ({ conversions }: State, accountId: number) => {
  const sum = { native: 0n, carrying: 0n }
  for (const side of [...conversions.values()].flat()) {
    if (side.accountId !== accountId) continue
    const open = openOf(side)
    sum.native += open.native
    sum.carrying += open.carrying
  }
  return sum
}

/** `before`: of the month that it was valued from; null: it was valued from another one than stands here. */
const accountProblems = (
  { account, code, currency, role, scale }: Account,
  state: State,
  before: State | null,
  moved: Moved | undefined,
): ReadonlyArray<string> => {
  const none = emptyHolding()
  const held = state.holdings.get(account) ?? none
  const problems: Array<string> = []
  const is = (what: string, amount: bigint, other: bigint, scale: number) => {
    if (amount !== other)
      problems.push(`${code} (${currency}) ${what} ${print(other, scale)}, not ${print(amount, scale)}`)
  }
  const revalued = state.revaluations
    .filter(({ accountId }) => accountId === account)
    .reduce((sum, { minor }) => sum + minor, 0n)
  is(
    "cost, by its balance,",
    held.carrying,
    (state.balances.get(String(account)) ?? 0n) - revalued,
    baseScale,
  )
  const lots = remaining(held.lots)
  if (lots.length > 0) {
    is(
      "holds, by its lots,",
      held.native,
      lots.reduce((sum, { quantity }) => sum + quantity, 0n),
      scale,
    )
  }
  if (role === "conversions_in_transit") {
    const { carrying, native } = inTransit(state, account)
    is("holds, by conversion,", held.native, native, scale)
    is("cost, by conversion,", held.carrying, carrying, baseScale)
  }
  if (before !== null) {
    const earlier = before.holdings.get(account) ?? none
    is("holds, by its lines,", held.native, earlier.native + BigInt(moved?.moved ?? "0"), scale)
    const lines = moved === undefined ? 0 : moved.lines
    const { denominator, numerator } = overOf(earlier)
    const drift = plus(overOf(held), { numerator: -numerator, denominator })
    if (lines !== null && remaining(held.lots).length > 0 && !isWithin(drift, lines + 1)) {
      problems.push(`${code} (${currency}) has lots that cost more or less than its lines`)
    }
  }
  return problems
}

const bookProblems = Effect.fn("Proof.baseStates.book")(function* (book: Book) {
  const database = yield* Database
  const months = yield* database.rows(
    "Proof.baseStates.months",
    monthColumns,
    (sql) => sql`
      select to_char(m.period, 'YYYY-MM') as period, m.base_currency as "baseCurrency",
        m.previous = coalesce(e.fingerprint, '') as follows
      from valuation.months m
      left join valuation.months e on e.book_id = m.book_id and e.period = (m.period - interval '1 month')::date
      where m.book_id = ${book.bookId} and m.state is not null order by m.period`,
  )
  if (months.length === 0) return []
  const { accounts, moved, revalued } = yield* said(book)
  const wrong: Array<Wrong> = []
  let before: State | undefined = emptyState()
  for (const { baseCurrency, follows, period } of months) {
    const name = (message: string) =>
      wrong.push({ book: book.code, row: `state of ${period} in ${baseCurrency}`, message })
    const state: State | undefined = yield* provable(
      Effect.flatMap(storedState(book.bookId, period), (stored) => readState(stored ?? "")),
      () => undefined,
    )
    if (state === undefined) name("cannot be read")
    else {
      const from = follows ? (before ?? null) : null
      for (const account of accounts) {
        if (account.currency === baseCurrency) continue
        for (const problem of accountProblems(
          account,
          state,
          from,
          moved.get(`${period} ${account.account}`),
        )) {
          name(`is wrong: ${problem}`)
        }
      }
      const kept = state.revaluations.map(({ accountId, minor, number }) =>
        revaluationText(number, accountId, minor),
      )
      if (kept.join() !== (revalued.get(period) ?? []).join()) {
        name("has other revaluations to reverse than the month's entries")
      }
    }
    before = state
  }
  return wrong
})

export const states = Effect.fn("Proof.baseStates")(function* () {
  const wrong: Array<Wrong> = []
  for (const book of yield* allBooks(Option.none())) {
    wrong.push(
      ...(yield* provable(bookProblems(book), (why) => [
        { book: book.code, row: "its states in the base currency", message: `cannot be proved: ${why}` },
      ])),
    )
  }
  return wrong
})
