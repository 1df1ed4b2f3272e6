/** Reports as `tieout report` makes them, and their files as a spreadsheet would read them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "csv-parse/sync"
import { Effect, Either, Option } from "effect"
import { parse as parseMinor } from "../../src/Common/MinorUnits.ts"
import { parseAsOf } from "../../src/Ledger/AsOf.ts"
import { report } from "../../src/Report.ts"
import { Settings } from "../../src/Settings.ts"
import type { ValuationOptions } from "../../src/Valuation/ValuedBook.ts"

export const reporting = (
  period: string,
  out: string,
  options: { readonly book?: string; readonly asOf?: string; readonly base?: ValuationOptions } = {},
) =>
  report({
    period,
    out,
    book: Option.some(options.book ?? "ORG"),
    ...(options.base === undefined ? {} : { base: options.base }),
    asOf: Option.flatMap(Option.fromNullable(options.asOf), (text) => Either.getRight(parseAsOf(text))),
  }).pipe(
    Effect.flatMap(([written]) =>
      written === undefined ? Effect.dieMessage("no report was written") : Effect.succeed(written),
    ),
    Effect.provide(Settings.from({ variables: {} })),
  )

export const textOf = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8")

export const sheet = (folder: string, name: string): ReadonlyArray<Record<string, string>> =>
  parse<Record<string, string>>(textOf(folder, name), { columns: true, bom: true })

/** As many decimals as any amount has: sums over currencies are never made. */
export const minor = (amount: string | undefined): bigint =>
  parseMinor(amount === "" ? "0" : (amount ?? "0"), 18)

/** Sums of a figure by what a row is about, without those that are zero, sorted. */
export const sumsOf = (
  rows: ReadonlyArray<Record<string, string>>,
  key: (row: Record<string, string>) => string,
  amount: (row: Record<string, string>) => bigint,
): ReadonlyArray<readonly [string, bigint]> => {
  const sums = new Map<string, bigint>()
  for (const row of rows) sums.set(key(row), (sums.get(key(row)) ?? 0n) + amount(row))
  return [...sums].filter(([, sum]) => sum !== 0n).sort(([a], [b]) => (a < b ? -1 : 1))
}
