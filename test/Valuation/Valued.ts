/** A book valued in memory: entries written short, months in a row, and what the base-currency journal then says. */
import { Effect } from "effect"
import type { BaseEntry, NativeAccount, NativeEntry } from "../../src/Valuation/Base.ts"
import type { Rules } from "../../src/Valuation/Flow.ts"
import { emptyHolding } from "../../src/Valuation/Holding.ts"
import { remaining } from "../../src/Valuation/Lots.ts"
import type { Rate } from "../../src/Valuation/Rate.ts"
import { emptyState, printState, readState, type State } from "../../src/Valuation/State.ts"
import { valuedMonth } from "../../src/Valuation/ValuedMonth.ts"

const account = (
  accountId: number,
  role: string,
  currency: string,
  scale: number,
  monetary = role !== "fees" && role !== "opening_balance",
): NativeAccount => ({ accountId, role, currency, scale, monetary, since: null })

export const usd = account(1, "cash", "USD", 2)
export const usdt = account(2, "cash", "USDT", 8)
export const eur = account(3, "cash", "EUR", 2)
export const depositsUsd = account(4, "deposits_clearing", "USD", 2)
export const withdrawalsUsd = account(5, "withdrawals_clearing", "USD", 2)
export const tradingUsd = account(6, "trading", "USD", 2)
export const tradingUsdt = account(7, "trading", "USDT", 8)
export const tradingEur = account(8, "trading", "EUR", 2)
export const feesUsd = account(9, "fees", "USD", 2)
const feesUsdt = account(10, "fees", "USDT", 8)
export const feesEur = account(11, "fees", "EUR", 2)
export const openingUsd = account(12, "opening_balance", "USD", 2)
export const suspenseUsd = account(13, "suspense", "USD", 2)
export const depositsUsdt = account(14, "deposits_clearing", "USDT", 8)

const chart = [
  usd,
  usdt,
  eur,
  depositsUsd,
  withdrawalsUsd,
  tradingUsd,
  tradingUsdt,
  tradingEur,
  feesUsd,
  feesUsdt,
  feesEur,
  openingUsd,
  suspenseUsd,
  depositsUsdt,
]

let last = 0

/** `date`, then account and smallest units, two by two. */
export const entry = (
  date: string,
  lines: ReadonlyArray<readonly [NativeAccount, bigint]>,
  of: { readonly kind?: string; readonly resourceId?: string } = {},
): NativeEntry => {
  last += 1
  return {
    entryId: String(last),
    number: last,
    date,
    kind: of.kind ?? "deposit",
    resourceId: of.resourceId ?? null,
    lines: lines.map(([of, minor]) => ({ account: of, minor })),
  }
}

/** `0.9` and the like as an exact fraction. */
const rate = (text: string, date: string): Rate => {
  const [whole = "", decimals = ""] = text.split(".")
  return {
    numerator: BigInt(whole + decimals),
    denominator: 10n ** BigInt(decimals.length),
    text,
    date,
    source: "test",
  }
}

interface Book {
  readonly method: Rules["method"]
  /** `USD 2026-09-01` → rate into EUR. */
  readonly rates: Readonly<Record<string, string>> | ((currency: string, date: string) => string)
  readonly entries: ReadonlyArray<NativeEntry>
  /** What a chart's new names make money, by month. */
  readonly renamed?: (month: string, account: NativeAccount) => NativeAccount
}

/** The months of which a book is valued; `whole` is all of them as if they were one. */
const months = { three: ["2026-09", "2026-10", "2026-11"], whole: ["2026"] } as const
const lastDays: Readonly<Record<string, string>> = {
  "2026-09": "30",
  "2026-10": "31",
  "2026-11": "30",
  "2026": "",
}

/** September to November; without revaluation where `over` is false. */
export const valued = (
  { entries, method, rates, renamed = (_, same) => same }: Book,
  over = true,
  split: keyof typeof months = "three",
) => {
  let state: State = emptyState()
  const missing: Array<string> = []
  const rules: Omit<Rules, "paid"> = {
    baseCurrency: "EUR",
    method,
    rateOn: (currency, date) => {
      const text = typeof rates === "function" ? rates(currency, date) : rates[`${currency} ${date}`]
      if (text === undefined) missing.push(`${currency} ${date}`)
      return rate(text ?? "0", date)
    },
  }
  const made: Array<BaseEntry> = []
  for (const month of months[split]) {
    const lastDay = lastDays[month] ?? ""
    // As it comes back from the database.
    state = Effect.runSync(readState(printState(state)))
    const own = entries
      .filter(({ date }) => date.startsWith(month))
      .map((each) => ({
        ...each,
        lines: each.lines.map(({ account: of, minor }) => ({ account: renamed(month, of), minor })),
      }))
    const frame = {
      firstDay: `${month}-01`,
      lastDay: `${month}-${lastDay}`,
      over,
      accounts: chart.map((of) => renamed(month, of)),
    }
    const paid = new Map<string, bigint>()
    for (const { entryId, lines, resourceId } of own) {
      const id = resourceId ?? entryId
      for (const { account: of, minor } of lines) {
        if (of === tradingEur) paid.set(id, (paid.get(id) ?? 0n) + minor)
      }
    }
    const walk = valuedMonth(frame, state, { ...rules, paid })
    made.push(...walk.begin(), ...own.flatMap(walk.take), ...walk.end())
  }
  return { entries: made, state, missing }
}

/** `account minor` per line, of the entries of a kind (`null`: native ones). */
export const linesOf = (entries: ReadonlyArray<BaseEntry>, kind: string | null) =>
  entries
    .filter((each) => each.kind === kind)
    .map(({ date, lines }) => [date, ...lines.map(({ account: of, minor }) => `${of} ${minor}`)])

export const balanceOf = ({ balances }: State, of: number | string): bigint => balances.get(String(of)) ?? 0n

/** What an account holds; its lots as `quantity for cost`. */
export const holdingOf = ({ holdings }: State, { accountId }: NativeAccount) => {
  const { carrying, lots, native } = holdings.get(accountId) ?? emptyHolding()
  return { native, carrying, lots: remaining(lots).map(({ cost, quantity }) => `${quantity} for ${cost}`) }
}
