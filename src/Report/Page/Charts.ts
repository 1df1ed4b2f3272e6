/** Charts as SVG: coordinates are numbers, labels exact amounts. */

import { type Html, html } from "../../Common/Html.ts"
import { print } from "../../Common/MinorUnits.ts"
import { count } from "../../Common/Text.ts"
import type { DailyBalances } from "../Daily.ts"
import type { AccountBalance } from "../ReportBalances.ts"
import { breakable, figure, section, sum, words } from "./Figures.ts"

const width = 310
const height = 92

const extremes = (points: ReadonlyArray<bigint>) => {
  let [low = 0n, high = 0n] = [points[0], points[0]]
  for (const point of points) {
    if (point < low) low = point
    if (point > high) high = point
  }
  return { low, high }
}

/** The height above the bottom, in thousandths of the span of the balances; 0 where the span is empty. */
const thousandths = (point: bigint, low: bigint, high: bigint): number =>
  high === low ? 0 : Number(((point - low) * 1_000n) / (high - low))

/** A step line: a day's balance holds until the next day's. */
const stepPath = (ys: ReadonlyArray<number>): string => {
  const step = width / Math.max(1, ys.length - 1)
  return ys
    .map((y, at) => (at === 0 ? `M0 ${y}` : `H${((at - 1) * step).toFixed(1)}V${y}`))
    .concat(`H${width}`)
    .join("")
}

/** `1 Oct` */
const dayText = (period: string, day: number): string =>
  new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }).format(
    new Date(`${period}-${String(day).padStart(2, "0")}T00:00:00Z`),
  )

const balanceChart = ({ balance, points }: DailyBalances, period: string, at: number): Html => {
  const { account, closing } = balance
  const { high, low } = extremes(points)
  const money = (minor: bigint) => print(minor, account.scale)
  // An area must start at zero, or changes would look larger than they are.
  const { high: top, low: bottom } = extremes([0n, ...points])
  const y = (point: bigint) =>
    Number((height - 4 - (thousandths(point, bottom, top) * (height - 10)) / 1_000).toFixed(1))
  const path = stepPath(points.map(y))
  return html`<figure><figcaption><b>${breakable(account.name)}</b><span>${sum(money(closing), account.currency)}</span></figcaption>
<svg class="step" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="b${at} d${at}"><title id="b${at}">Balance of ${account.name} over ${period}</title>
<desc id="d${at}">Opens with ${money(balance.opening)}, lowest ${money(low)}, highest ${money(high)}, closes with ${money(closing)} ${account.currency}.</desc>
<path class="area" d="${path}V${y(0n)}H0Z"/><path class="zero" d="M0 ${y(0n)}H${width}"/><path class="line" d="${path}"/></svg>
<div class="axis"><span>${dayText(period, 1)}</span><span>${dayText(period, points.length - 1)}</span></div>
<div class="axis"><span>low ${figure(money(low))}</span><span>high ${figure(money(high))}</span></div></figure>`
}

export const balancesSection = (
  daily: ReadonlyArray<DailyBalances>,
  cashAccounts: number,
  period: string,
): Html => {
  const more = cashAccounts - daily.length
  const lede = "The balance at the end of each day, per account; each chart has its own scale."
  return section(
    "Balances over the month",
    lede,
    html`${
      daily.length === 0
        ? html`<p class="empty">No account holds or moved anything.</p>`
        : html`<div class="charts">${daily.map((one, at) => balanceChart(one, period, at))}</div>`
    }${more > 0 ? html`<p class="more">The ${count(daily.length)} busiest of ${count(cashAccounts)} accounts; all stand in account-reconciliation.csv.</p>` : html``}`,
  )
}

interface Flow {
  readonly kind: string
  readonly into: bigint
  readonly out: bigint
}

export interface CurrencyFlows {
  readonly currency: string
  readonly scale: number
  readonly flows: ReadonlyArray<Flow>
}

/** Inflows and outflows of a role's accounts by kind, per currency. */
const flowsOf = (balances: ReadonlyArray<AccountBalance>, role: string): ReadonlyArray<CurrencyFlows> => {
  const found = new Map<string, { scale: number; kinds: Map<string, Flow> }>()
  for (const { account, movements } of balances) {
    if (account.role !== role || movements.length === 0) continue
    const held = found.get(account.currency) ?? { scale: account.scale, kinds: new Map<string, Flow>() }
    found.set(account.currency, held)
    for (const { credit, debit, kind } of movements) {
      const flow = held.kinds.get(kind)
      held.kinds.set(kind, { kind, into: (flow?.into ?? 0n) + debit, out: (flow?.out ?? 0n) + credit })
    }
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { kinds, scale }]) => ({
      currency,
      scale,
      flows: [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    }))
}

const largestFlow = ({ flows }: CurrencyFlows): bigint =>
  extremes([0n, ...flows.flatMap(({ into, out }) => [into, out])]).high

/** A share as an attribute, at least wide enough to be seen. */
const share = (minor: bigint, whole: bigint): string => {
  if (minor === 0n || whole === 0n) return "0"
  return `${Math.max(0.6, Number((minor * 10_000n) / whole) / 100)}%`
}

const bar = (look: "in" | "out", minor: bigint, whole: bigint): Html =>
  html`<svg class="bar" aria-hidden="true"><rect class="${look}" width="${share(minor, whole)}" height="8"/>${look === "out" && minor !== 0n ? html`<rect class="edge" width="${share(minor, whole)}" height="8"/>` : html``}</svg>`

const flowFigure = (currency: CurrencyFlows): Html => {
  const high = largestFlow(currency)
  const money = (minor: bigint) => (minor === 0n ? html`` : figure(print(minor, currency.scale)))
  return html`<figure><table class="bars"><caption class="hidden">In and out by kind, ${currency.currency}</caption>
<thead><tr><th scope="col">${currency.currency}</th><th scope="col" class="num">In</th><th scope="col" class="num">Out</th><th scope="col" class="track"></th></tr></thead>
<tbody>${currency.flows.map(
    ({ into, kind, out }) =>
      html`<tr><th scope="row">${words(kind)}</th><td class="num">${money(into)}</td><td class="num">${money(out)}</td><td class="track">${into === 0n ? html`` : bar("in", into, high)}${out === 0n ? html`` : bar("out", out, high)}</td></tr>`,
  )}</tbody></table></figure>`
}

const shownCurrencies = 12

const moreCurrencies = (currencies: number, file: string): Html =>
  currencies > shownCurrencies
    ? html`<p class="more">${shownCurrencies} of ${count(currencies)} currencies are shown; all stand in ${file}.</p>`
    : html``

/** The pattern that distinguishes out from in without colours; once per page. */
export const hatch: Html = html`<svg class="hidden" aria-hidden="true"><defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern></defs></svg>`

export const flowsSection = (balances: ReadonlyArray<AccountBalance>): Html => {
  const flows = flowsOf(balances, "cash")
  const key = (look: "in" | "out") =>
    html`<svg class="key" aria-hidden="true"><rect class="${look}" width="14" height="9"/>${look === "out" ? html`<rect class="edge" width="14" height="9"/>` : html``}</svg>`
  return section(
    "Flows by kind",
    "What came into and went out of the provider's accounts. Each currency has its own scale; currencies are never added together.",
    flows.length === 0
      ? html`<p class="empty">Nothing moved.</p>`
      : html`<p class="legend"><span>${key("in")}in</span><span>${key("out")}out</span></p><div class="charts is-wide">${flows.slice(0, shownCurrencies).map(flowFigure)}</div>${moreCurrencies(flows.length, "roll-forward.csv")}`,
  )
}

const feeFigure = ({ currency, flows, scale }: CurrencyFlows): Html => {
  const net = flows.map(({ into, kind, out }) => ({ kind, fee: into - out }))
  const { high } = extremes([0n, ...net.map(({ fee }) => fee)])
  const total = net.reduce((sumOf, { fee }) => sumOf + fee, 0n)
  return html`<figure><table class="bars"><caption class="hidden">Fees by kind, ${currency}</caption>
<thead><tr><th scope="col">${currency}</th><th scope="col" class="num">Fees</th><th scope="col" class="track"></th></tr></thead>
<tbody>${net.map(
    ({ fee, kind }) =>
      html`<tr><th scope="row">${words(kind)}</th><td class="num">${figure(print(fee, scale))}</td><td class="track">${fee > 0n ? bar("in", fee, high) : html``}</td></tr>`,
  )}<tr><th scope="row"><b>total</b></th><td class="num"><b>${figure(print(total, scale))}</b></td><td class="track"></td></tr></tbody></table></figure>`
}

export const feesSection = (balances: ReadonlyArray<AccountBalance>): Html => {
  const fees = flowsOf(balances, "fees")
  return section(
    "Fees",
    "What stands on the fee accounts, by the kind of entry that booked it; by day in fees.csv.",
    fees.length === 0
      ? html`<p class="empty">No fees in this month.</p>`
      : html`<div class="charts">${fees.slice(0, shownCurrencies).map(feeFigure)}</div>${moreCurrencies(fees.length, "fees.csv")}`,
  )
}
