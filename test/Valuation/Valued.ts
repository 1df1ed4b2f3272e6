/** Values a book in memory: entries in a short form, months in a row, and the resulting base-currency journal. */
import { Effect } from "effect"
import { decodeSync } from "effect/Schema"
import { Content } from "../../src/Settings/Content.ts"
import type { BaseEntry, NativeAccount, NativeEntry } from "../../src/Valuation/Base.ts"
import type { EarlierLeg } from "../../src/Valuation/Cost/ConversionCost.ts"
import { emptyHolding } from "../../src/Valuation/Cost/Holding.ts"
import { remaining } from "../../src/Valuation/Cost/Lots.ts"
import { type EarlierLine, movementRoles } from "../../src/Valuation/Cost/MovementCost.ts"
import { priceKey, type Rules } from "../../src/Valuation/Cost/UnitValue.ts"
import { valuedMonth } from "../../src/Valuation/Months/ValuedMonth.ts"
import { natureOf } from "../../src/Valuation/Natives.ts"
import type { Exact, Rate, Unit } from "../../src/Valuation/Rates/Rate.ts"
import { emptyState, printState, readState, type State } from "../../src/Valuation/ValuationState.ts"

export const { monetaryRoles } = decodeSync(Content)({}).accounting.valuation

const account = (accountId: number, role: string, currency: string, scale: number): NativeAccount => ({
  ...{ accountId, role, currency, scale, since: null },
  ...natureOf(role, "", false, monetaryRoles),
})

export const usd = account(1, "cash", "USD", 2)
export const usdt = account(2, "cash", "USDT", 8)
export const eur = account(3, "cash", "EUR", 2)
export const depositsUsd = account(4, "deposits_clearing", "USD", 2)
export const withdrawalsUsd = account(5, "withdrawals_clearing", "USD", 2)
const tradingUsd = account(6, "trading", "USD", 2)
const tradingUsdt = account(7, "trading", "USDT", 8)
const tradingEur = account(8, "trading", "EUR", 2)
export const feesUsd = account(9, "fees", "USD", 2)
const feesUsdt = account(10, "fees", "USDT", 8)
const feesEur = account(11, "fees", "EUR", 2)
export const openingUsd = account(12, "opening_balance", "USD", 2)
export const suspenseUsd = account(13, "suspense", "USD", 2)
export const transitUsd = account(15, "conversions_in_transit", "USD", 2)
export const transitUsdt = account(16, "conversions_in_transit", "USDT", 8)
const transitEur = account(17, "conversions_in_transit", "EUR", 2)
export const receivableUsd = account(18, "receivable_principal", "USD", 2)
export const interestUsd = account(19, "receivable_interest", "USD", 2)
export const loanUsd = account(20, "loan_clearing", "USD", 2)
/** Another account of the service in the same currency. */
export const usdToo = account(21, "cash", "USD", 2)

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
  transitUsd,
  transitUsdt,
  transitEur,
  receivableUsd,
  interestUsd,
  loanUsd,
  usdToo,
]

let last = 0

/** `date`, then account and smallest units, two by two. */
export const entry = (
  date: string,
  lines: ReadonlyArray<readonly [NativeAccount, bigint]>,
  of: { readonly kind?: string; readonly resourceId?: string; readonly partner?: string } = {},
): NativeEntry => {
  last += 1
  const cash = lines.find(([{ role }]) => role === "cash")?.[0].accountId
  return {
    partnerAccountId: of.partner ?? (cash === undefined ? null : `p${cash}`),
    entryId: String(last),
    number: last,
    date,
    kind: of.kind ?? "deposit",
    resourceId: of.resourceId ?? null,
    lines: lines.map(([of, minor]) => ({ account: of, minor })),
  }
}

type Through = readonly [transit: NativeAccount, trading: NativeAccount]

const inDollars: Through = [transitUsd, tradingUsd]
const through = new Map<NativeAccount, Through>([
  [usdt, [transitUsdt, tradingUsdt]],
  [eur, [transitEur, tradingEur]],
])

export const transitOf = (cash: NativeAccount): Through => through.get(cash) ?? inDollars

/** A leg of a conversion, positive where cash comes in; `fee` is paid in addition, from the same account. */
export const leg = (
  id: string,
  date: string,
  cash: NativeAccount,
  minor: bigint,
  fee = 0n,
  kind = "conversion",
) =>
  entry(
    date,
    [
      [cash, minor],
      ...(fee === 0n ? [] : [[cash === eur ? feesEur : feesUsd, fee] as const]),
      [transitOf(cash)[0], -minor - fee],
    ],
    { kind, resourceId: id },
  )

/** What the numbering step writes once both sides are complete; `sold` and `bought` are positive. */
export const whole = (
  id: string,
  date: string,
  [soldCash, sold]: readonly [NativeAccount, bigint],
  [boughtCash, bought]: readonly [NativeAccount, bigint],
  kind: "conversion_whole" | "conversion_reversal" = "conversion_whole",
) => {
  const sign = kind === "conversion_whole" ? 1n : -1n
  const traded = new Map([[transitOf(soldCash), sold]])
  const boughtOn = transitOf(boughtCash)
  traded.set(boughtOn, (traded.get(boughtOn) ?? 0n) - bought)
  return entry(
    date,
    [...traded].flatMap(([[transit, trading], minor]) => [
      [trading, sign * minor] as const,
      [transit, -sign * minor] as const,
    ]),
    { kind, resourceId: id },
  )
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
  /** Accounts that become money by a new name, by month. */
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

/** In the database's form: the amounts that the month's entries put on trading. */
const pricesOf = (own: ReadonlyArray<NativeEntry>): Map<string, Unit> => {
  const sums = new Map<string, Map<string, bigint>>()
  for (const { lines, resourceId } of own) {
    for (const { account: of, minor } of lines) {
      if (of.role !== "trading" || resourceId === null) continue
      const known = sums.get(resourceId) ?? new Map<string, bigint>()
      sums.set(resourceId, known.set(of.currency, (known.get(of.currency) ?? 0n) + minor))
    }
  }
  const prices = new Map<string, Unit>()
  for (const [id, traded] of sums) {
    const given = traded.get("EUR") ?? 0n
    for (const [currency, minor] of traded) {
      if (given > 0n && minor < 0n)
        prices.set(priceKey(id, currency), { numerator: given, denominator: -minor })
    }
  }
  return prices
}

const isReturning = ({ kind }: NativeEntry): boolean => kind !== "conversion" && kind !== "conversion_whole"

/** In the database's form: legs from earlier months of conversions that are partly returned. */
const earlierOf = (
  made: ReadonlyArray<BaseEntry>,
  entries: ReadonlyArray<NativeEntry>,
  own: ReadonlyArray<NativeEntry>,
): ReadonlyArray<EarlierLeg> => {
  const back = new Set(own.filter(isReturning).map(({ resourceId }) => resourceId))
  return made.flatMap(({ entryId, lines, resourceId: id }) => {
    if (id === null || !back.has(id)) return []
    if (lines.some(({ native }) => native?.account.role === "trading")) return []
    const partner = entries.find((one) => one.entryId === entryId)?.partnerAccountId ?? null
    return lines.flatMap(
      ({ minor, native }): ReadonlyArray<EarlierLeg> =>
        native?.account.role === "conversions_in_transit"
          ? [{ id, accountId: native.account.accountId, partner, native: native.minor, carrying: minor }]
          : [],
    )
  })
}

const clearingRoles: ReadonlySet<string> = new Set(movementRoles)

/** In the database's form: clearing lines from earlier months of movements that are partly returned. */
const earlierLinesOf = (
  made: ReadonlyArray<BaseEntry>,
  own: ReadonlyArray<NativeEntry>,
): ReadonlyArray<EarlierLine> => {
  const back = new Set(
    own.flatMap(({ kind, resourceId }) => (/return|reclass/.test(kind) ? [resourceId] : [])),
  )
  return made.flatMap(({ date, lines, resourceId: id }) =>
    lines.flatMap(
      ({ minor, native }): ReadonlyArray<EarlierLine> =>
        id !== null && back.has(id) && native !== null && clearingRoles.has(native.account.role)
          ? [
              {
                id,
                accountId: native.account.accountId,
                role: native.account.role,
                period: date.slice(0, 7),
                native: native.minor,
                carrying: minor,
              },
            ]
          : [],
    ),
  )
}

/** September to November; without revaluation where `over` is false. */
export const valued = (
  { entries, method, rates, renamed = (_, same) => same }: Book,
  over = true,
  split: keyof typeof months = "three",
) => {
  let state: State = emptyState()
  const missing: Array<string> = []
  const rules: Omit<Rules, "prices" | "earlier" | "movements"> = {
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
    // In the form in which the database returns it.
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
    const walk = valuedMonth(frame, state, {
      ...rules,
      prices: pricesOf(own),
      earlier: earlierOf(made, entries, own),
      movements: earlierLinesOf(made, own),
    })
    made.push(...walk.begin(), ...own.map(walk.take), ...walk.end())
  }
  return { entries: made, state, missing }
}

/** `account minor` per line, of the entries of a kind (`null`: native ones). */
export const linesOf = (entries: ReadonlyArray<BaseEntry>, kind: string | null) =>
  entries
    .filter((each) => each.kind === kind)
    .map(({ date, lines }) => [date, ...lines.map(({ account: of, minor }) => `${of} ${minor}`)])

export const balanceOf = ({ balances }: State, of: number | string): bigint => balances.get(String(of)) ?? 0n

const fraction = ({ denominator, numerator }: Exact): string =>
  denominator === 1n ? String(numerator) : `${numerator}/${denominator}`

/** The holding of an account; its lots as `quantity for cost`. */
export const holdingOf = ({ holdings }: State, { accountId }: NativeAccount) => {
  const { carrying, lots, native } = holdings.get(accountId) ?? emptyHolding()
  return {
    native,
    carrying,
    lots: remaining(lots).map(({ cost, quantity }) => `${quantity} for ${fraction(cost)}`),
  }
}
