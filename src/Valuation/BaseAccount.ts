/** The accounts that only the base-currency journal has. */
import type { Chart } from "../Settings/Chart.ts"
import { type BaseRole, baseRoles } from "./Base.ts"

export interface BaseAccount {
  readonly role: BaseRole
  readonly currency: string
  readonly code: string
  readonly name: string
}

/** As the chart calls them; `book` is the book's code. */
export const accountsOf = (
  book: string,
  baseCurrency: string,
  chart: Pick<Chart, BaseRole>,
): ReadonlyArray<BaseAccount> => {
  const filled = (text: string): string =>
    text
      .replaceAll("{currency}", baseCurrency)
      .replaceAll("{client}", book)
      .replaceAll("{account}", "")
      .replaceAll("{rail}", "")
  return baseRoles.map((role) => ({
    role,
    currency: baseCurrency,
    code: filled(chart[role].code),
    name: filled(chart[role].name),
  }))
}
