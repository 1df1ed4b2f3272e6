/** What a reader looks at first: the largest of each currency, and nothing that `reconcile.materiality` says is too small. */

/** By currency, a decimal; 0 where none is named. */
export type Materiality = Readonly<Record<string, string>>

/** Decimals of a common scale, which no currency exceeds, to compare amounts of one currency. */
const scale = 18

const units = (decimal: string): bigint => {
  const [whole = "0", fraction = ""] = decimal.replace("-", "").split(".")
  return BigInt(whole + fraction.padEnd(scale, "0").slice(0, scale))
}

export interface Weighed<R> {
  /** By currency, the largest first. */
  readonly shown: ReadonlyArray<R>
  /** How many are material, those that are shown included. */
  readonly material: number
  /** How many are not. */
  readonly small: number
}

/** `most`: rows per currency. Rows without an amount are left out. */
export const weighed = <R>(
  rows: ReadonlyArray<R>,
  amountOf: (row: R) => { readonly currency: string; readonly amount: string },
  materiality: Materiality,
  most: number,
): Weighed<R> => {
  const known = rows
    .map((row) => ({ row, currency: amountOf(row).currency, size: units(amountOf(row).amount) }))
    .filter(({ size }) => size > 0n)
  const material = known.filter(({ currency, size }) => size > units(materiality[currency] ?? "0"))
  const currencies = [...new Set(material.map(({ currency }) => currency))].sort()
  return {
    shown: currencies.flatMap((currency) =>
      material
        .filter((one) => one.currency === currency)
        .sort((a, b) => (a.size === b.size ? 0 : a.size < b.size ? 1 : -1))
        .slice(0, most)
        .map(({ row }) => row),
    ),
    material: material.length,
    small: known.length - material.length,
  }
}
