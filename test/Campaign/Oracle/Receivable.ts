/**
 * One receivable, from the differences between its versions. Everything is said as the lender says it; the borrower's books
 * are the mirror image under other roles.
 *
 * Readings, where the text of the design leaves a choice:
 * - A first version beyond PENDING is taken as two: the receivable as it was disbursed (initialPrincipal, and as interest what
 *   this version still shows as due beyond principal), then this version. So the interest that was paid before anybody looked
 *   is unknown, and cash beyond the principal stays in `loan_clearing`. If the first is PAID and still shows a repaymentAmount
 *   above initialPrincipal, the difference was the interest. A first version that is CANCELED posts nothing.
 * - PAID: principal, amount due and unpaid interest are nil whatever the version shows. `original`: an amount below
 *   initialPrincipal in a PAID version tells no new interest.
 * - A repayment is: a transaction that no earlier version of it named, a principal that fell, or PAID. What fell without one
 *   (only repaymentAmount) is an accrual below zero.
 * - Of transactions of which some are not linked, the unlinked bring what the linked leave of the settled amount. `original`,
 *   unlinked and not PAID: the principal that fell, for nothing says how much interest was in it.
 * - `loan_clearing` receives ΔP + interest paid, as "interest paid = min(x, settled) − ΔP, never negative" has it. So a
 *   shortfall within the interest is an accrual below zero (less interest was earned than told), and one beyond it stays in
 *   `loan_clearing`.
 * - CANCELED takes back what stands (principal, unpaid interest); interest that was paid remains. ACTIVE after that is a new
 *   disbursement of initialPrincipal. PENDING after ACTIVE changes nothing.
 * - interestBetweenReads: % × principal before × the time between the two versions' reads, cut at the currency's decimals;
 *   only for what linked cash brought beyond the settled amount, and only under `outstanding`.
 */
import type { BookSettings, ReceivableFact, ReceivableVersionFact } from "../Facts.ts"
import { amountOf, cut, larger, total } from "./Decimal.ts"

/**
 * What a version's newly named repayments brought: by its index, the shares of the linked ones, null for an unlinked one. They
 * are no more than what was settled and its allowance: that is the "min" of the interest paid.
 */
export type Shares = ReadonlyMap<number, ReadonlyArray<bigint | null>>

export interface VersionBooks {
  /** What was settled between the version before and this one. */
  readonly settled: bigint
  /** How much more may be income, by interestBetweenReads. */
  readonly allowance: bigint
}

export interface ReceivableBooks {
  readonly principal: bigint
  readonly interest: bigint
  readonly income: bigint
  readonly deferred: bigint
  readonly clearing: bigint
  readonly versions: ReadonlyArray<VersionBooks>
}

const decimalsOf = (currency: string): number =>
  currency === "JPY" ? 0 : currency === "USDT" || currency === "USDC" ? 8 : 2

const day = 86_400_000n

const allowanceOf = (
  rate: string,
  principal: bigint,
  from: ReceivableVersionFact,
  to: ReceivableVersionFact,
  currency: string,
): bigint => {
  const elapsed = BigInt(Math.max(0, Date.parse(to.servedAt) - Date.parse(from.servedAt)))
  const percent = amountOf(rate)
  return cut((principal * percent * elapsed) / (day * 100n * amountOf("1")), decimalsOf(currency))
}

export const receivableBooks = (
  fact: ReceivableFact,
  settings: BookSettings,
  shares: Shares,
): ReceivableBooks => {
  const initial = amountOf(fact.initialPrincipal)
  const original = settings.repaymentAmount === "original"
  let live = false
  let principal = 0n
  let told = 0n // `original`: the interest of the whole term, as last told
  let paidSoFar = 0n
  let unpaid = 0n
  let income = 0n
  let deferred = 0n
  let clearing = 0n
  let before: ReceivableVersionFact | null = null
  const versions: Array<VersionBooks> = []

  const accrue = (interest: bigint) => {
    unpaid += interest
    if (settings.interest === "as_stated") income -= interest
    else deferred -= interest
  }
  const disburse = (interest: bigint) => {
    live = true
    principal = initial
    clearing -= initial
    told = interest
    paidSoFar = 0n
    accrue(interest)
  }

  for (const [index, version] of fact.versions.entries()) {
    const due = amountOf(version.repaymentAmount)
    const paid = version.status === "PAID"
    const principalAfter = paid ? 0n : amountOf(version.currentPrincipal)
    const none = { settled: 0n, allowance: 0n }
    if (version.status === "PENDING" || version.status === "CANCELED") {
      versions.push(none)
      if (version.status === "PENDING") continue
      if (live) {
        clearing += principal
        principal = 0n
        accrue(-unpaid)
      }
      live = false
      continue
    }
    // PAID after CANCELED, like ACTIVE after it, is a receivable that was disbursed after all.
    if (!live) {
      const shown = original || paid ? due - initial : due - principalAfter
      disburse(paid || original ? larger(0n, shown) : shown)
      before = null
    }

    const fallen = principal - principalAfter
    const toldAfter = paid && due < initial ? told : due - initial
    const unpaidBefore = original ? larger(0n, toldAfter - paidSoFar) : 0n
    const owedAfter = paid ? 0n : due
    const settled = original ? fallen + unpaidBefore : principal + unpaid - owedAfter
    const allowance =
      original || before === null
        ? 0n
        : allowanceOf(settings.interestBetweenReads, principal, before, version, fact.currency)
    versions.push({ settled, allowance })

    const named = shares.get(index) ?? []
    const linked = total(named.map((share) => share ?? 0n))
    const repaid = named.length > 0 || fallen > 0n || (paid && principal + unpaid !== 0n)
    const guessed = named.length === 0 || named.includes(null)
    const brought = guessed ? larger(linked, original && !paid ? fallen : settled) : linked
    const interestPaid = repaid ? larger(0n, brought - fallen) : 0n

    const unpaidAfter = paid ? 0n : original ? toldAfter - paidSoFar - interestPaid : due - principalAfter
    accrue(unpaidAfter - unpaid + interestPaid)
    unpaid -= interestPaid
    clearing += fallen + interestPaid
    if (settings.interest === "when_paid") {
      deferred += interestPaid
      income -= interestPaid
    }
    principal = principalAfter
    told = toldAfter
    paidSoFar += interestPaid
    before = version
  }
  return { principal, interest: unpaid, income, deferred, clearing, versions }
}

/** The transactions that each version is the first to name as repayments. */
export const newRepayments = (fact: ReceivableFact) => {
  const seen = new Set<string>()
  return fact.versions.map(({ repayments }) =>
    repayments.filter(({ txId }) => {
      const isNew = !seen.has(txId)
      seen.add(txId)
      return isNew
    }),
  )
}
