/** Made-up settings and exchange rates, which the demo's books need and no service provides. */

export const settings = `accounting:
  baseCurrency: EUR
formats:
  # A bank statement's currency has three letters.
  leaveOut: [USDC, USDT]
`

/** Millionths of a euro for one unit. */
const around: Readonly<Record<string, number>> = {
  USD: 921_000,
  GBP: 1_172_000,
  JPY: 6_120,
  USDC: 921_200,
  USDT: 920_900,
}

const isWeekend = (day: Date): boolean => day.getUTCDay() % 6 === 0

const daysOf = (from: string, to: string): ReadonlyArray<Date> => {
  const first = Date.parse(`${from}T00:00:00Z`)
  const days = (Date.parse(`${to}T00:00:00Z`) - first) / 86_400_000 + 1
  return Array.from({ length: days }, (_, at) => new Date(first + at * 86_400_000))
}

/** Rates of the business days, as a file for `tieout rates import`: each goes up and down by half a percent. */
export const rates = (from: string, to: string): string => {
  const rows = daysOf(from, to)
    .filter((day) => !isWeekend(day))
    .flatMap((day, at) =>
      Object.entries(around).map(([currency, middle]) => {
        const millionths = middle + Math.trunc((middle * (((at * 7) % 11) - 5)) / 1_000)
        const rate = `${Math.trunc(millionths / 1_000_000)}.${String(millionths % 1_000_000).padStart(6, "0")}`
        return `${day.toISOString().slice(0, 10)},${currency},EUR,${rate},made up\n`
      }),
    )
  return `date,from,to,rate,source\n${rows.join("")}`
}
