/** From a role to the code and name that a book's chart gives it. */
import type { Chart } from "../Settings/Chart.ts"
import type { Line } from "./JournalEntry.ts"

/** What the placeholders of a chart stand for; `account` and `rail` only for cash. */
export interface ChartFields {
  readonly client: string
  readonly account: string
  readonly rail: string
}

/** The part of an account's identifier that tells it apart in a name; the whole one is beside every posting. */
export const shortAccount = (accountId: string): string => accountId.slice(0, 8)

const fill = (template: string, currency: string, fields: ChartFields): string =>
  template
    .replaceAll("{currency}", currency)
    .replaceAll("{account}", fields.account)
    .replaceAll("{rail}", fields.rail)
    .replaceAll("{client}", fields.client)

export const codeAndName = (
  chart: Chart,
  line: Pick<Line, "role" | "currency" | "rule">,
  fields: ChartFields,
): { readonly code: string; readonly name: string } => {
  const { code, name } = line.rule ?? chart[line.role]
  return { code: fill(code, line.currency, fields), name: fill(name, line.currency, fields) }
}
