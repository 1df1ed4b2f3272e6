/**
 * What each version settles and is not owed again. It is owed again of the last that settled it, and a version that names no new cash
 * settles what was owed again last: then it is the former cash that pays.
 */
import { smaller, total } from "./Decimal.ts"

export interface Firm {
  /** By version. */
  readonly stands: ReadonlyMap<number, bigint>
  readonly back: ReadonlyArray<readonly [version: number, amount: bigint]>
  readonly shaken: boolean
}

export const noFirm: Firm = { stands: new Map(), back: [], shaken: false }

export const cancelled: Firm = { ...noFirm, shaken: true }

export const remainsOf = ({ stands }: Firm): bigint => total([...stands.values()])

const put = ({ back, shaken, stands }: Firm, version: number, amount: bigint): Firm => ({
  back,
  shaken,
  stands: new Map([...stands, [version, (stands.get(version) ?? 0n) + amount]]),
})

const owe = (before: Firm, amount: bigint): Firm => {
  if (amount <= 0n) return before
  const last = [...before.stands].filter(([, stands]) => stands > 0n).at(-1)
  if (last === undefined) return { ...before, shaken: true }
  const part = smaller(amount, last[1])
  const after = put({ ...before, back: [...before.back, [last[0], part]], shaken: true }, last[0], -part)
  return owe(after, amount - part)
}

const settle = (before: Firm, version: number, amount: bigint, names: boolean): Firm => {
  const last = before.back.at(-1)
  if (names || amount <= 0n || last === undefined) return put(before, version, amount)
  const part = smaller(amount, last[1])
  const back = before.back.slice(0, -1)
  const left: Firm["back"] = part < last[1] ? [...back, [last[0], last[1] - part]] : back
  return settle(put({ ...before, back: left }, last[0], part), version, amount - part, names)
}

/** After a version that settles so much, and owes so much again. `names`: it is the first to name a repayment. */
export const firmAfter = (
  before: Firm,
  version: number,
  { names, owed, settled }: { readonly names: boolean; readonly owed: bigint; readonly settled: bigint },
): Firm => settle(owe(before, owed), version, settled, names)
