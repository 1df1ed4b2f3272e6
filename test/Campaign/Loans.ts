/**
 * Receivables that are disbursed, accrue interest, and are repaid alone or together, in parts, too much or too little. They name
 * their transactions in every way, late, before the cash comes or before it settles. Repayments are returned and owed again, or put
 * right from one receivable to another, and receivables are canceled and resumed.
 */
import { timeOf } from "./Calendar.ts"
import type { AccountOf, Maker } from "./Flow.ts"
import type { Event, HistorySettings, Name, TransactionText } from "./History.ts"

type Version = Extract<Event, { readonly what: "receivable" }>

interface Loan {
  readonly name: Name
  readonly client: Name
  readonly issued: string
  readonly initial: bigint
  principal: bigint
  /** Interest that was stated and is unpaid. */
  interest: bigint
  /** All interest that was stated. */
  told: bigint
  disbursed: TransactionText | null
  repayments: ReadonlyArray<TransactionText>
}

/** The accounts on which the cash of loans moves: `others` are in other currencies. */
export interface Purse {
  readonly account: AccountOf
  readonly others: ReadonlyArray<AccountOf>
  readonly clients: readonly [Name, ...ReadonlyArray<Name>]
  readonly settings: HistorySettings
}

interface Move {
  readonly account: AccountOf
  readonly amount: bigint
  readonly related: Parameters<Maker["entry"]>[3]
}

/** The last repayment and its cash. */
interface Repaid {
  readonly of: ReadonlyArray<{ readonly loan: Loan; readonly principal: bigint; readonly interest: bigint }>
  readonly moves: ReadonlyArray<Move>
  readonly names: ReadonlyArray<TransactionText>
}

class Group {
  readonly loans: Array<Loan> = []
  readonly moves: Array<Move> = []
  last: Repaid = { of: [], moves: [], names: [] }
  readonly maker: Maker
  readonly purse: Purse

  constructor(maker: Maker, purse: Purse) {
    this.maker = maker
    this.purse = purse
  }

  text(amount: bigint): string {
    return this.maker.text(amount, this.purse.account.currency)
  }

  version(loan: Loan, at: number, over: Partial<Version> = {}): void {
    const original = this.purse.settings.repaymentAmount === "original"
    this.maker.put(at, {
      ...{ what: "receivable", receivable: loan.name, client: loan.client },
      ...{ currency: this.purse.account.currency, issued: loan.issued, initial: this.text(loan.initial) },
      ...{ current: this.text(loan.principal), due: this.text(loan.principal + loan.interest) },
      ...{ status: "ACTIVE", disbursed: loan.disbursed, repayments: loan.repayments },
      ...over,
      ...(original ? { due: this.text(loan.initial + loan.told) } : {}),
    })
  }

  /** Moves cash by an amount as the lender sees it (below zero, out of the lender's account), with a movement behind it. */
  cash(at: number, byLender: bigint): TransactionText {
    const { maker, purse } = this
    const { random } = maker
    const signed = purse.settings.view === "lender" ? byLender : -byLender
    const [other] = purse.others
    const account = other !== undefined && random.chance(0.04) ? other : purse.account
    const type = signed > 0n ? "DEPOSIT" : "WITHDRAWAL"
    const resource = maker.name(signed > 0n ? "d" : "w")
    const size = signed < 0n ? -signed : signed
    const hash = random.chance(0.3) ? `hash-${resource}-${random.whole(0, 1_000_000)}` : undefined
    const fee = random.chance(0.1) ? maker.fee(size) : null
    const split = size > 1n && random.chance(0.1)
    const related = random.chance(0.95) ? { type, of: resource } : null
    if (related !== null)
      maker.put(at, {
        what: "resource",
        resource,
        content: {
          ...{ type, account: account.name, amount: maker.text(size, account.currency) },
          fee: fee === null ? null : maker.text(fee, account.currency),
        },
        status: "COMPLETED",
        ...(hash === undefined ? {} : { transactionHash: hash }),
      })
    // A fee is deducted from a deposit, charged on top of a withdrawal, or stated and never shown.
    const moved = fee === null || fee >= size || random.chance(0.3) ? signed : signed - fee
    const first = split ? moved / 2n : moved
    const entry = maker.entry(at, account, first === 0n ? moved : first, related)
    if (first !== moved && first !== 0n) maker.entry(maker.later(at), account, moved - first, related)
    if (random.chance(0.05)) maker.entry(maker.later(maker.later(at)), account, -moved, related)
    this.moves.push({ account, amount: moved, related })
    return {
      of: related === null || random.chance(0.25) ? entry : resource,
      at: timeOf(at),
      ...(random.chance(0.3) ? { byId: true } : {}),
    }
  }

  issue(at: number): void {
    const { maker, purse } = this
    const { random } = maker
    const several = random.chance(0.4) ? random.whole(2, 3) : 1
    for (let index = 0; index < several; index++) {
      const initial = maker.amount(purse.account.currency)
      const interest = random.chance(0.9) ? maker.fee(initial) : 0n
      const loan: Loan = {
        ...{ name: maker.name("r"), client: random.pick(purse.clients), initial, principal: initial },
        // Sometimes at the same instant: then their identifiers order them.
        issued: timeOf(at + (random.chance(0.8) ? index * 60_000 : 0)),
        ...{ interest, told: interest, disbursed: null, repayments: [] },
      }
      this.loans.push(loan)
      if (random.chance(0.8)) this.version(loan, at + index * 60_000, { status: "PENDING" })
    }
  }

  /** Disburses the loans by one transaction for all, by one each, or by none that is named; now and then by another amount. */
  disburse(at: number): void {
    const { random } = this.maker
    const near = (amount: bigint): bigint =>
      random.weighted([
        [10, amount],
        [1, amount + this.maker.part(amount)],
        [1, this.maker.part(amount)],
      ])
    const together = random.chance(0.6)
    const named = random.chance(0.85)
    const total = this.loans.reduce((sum, { initial }) => sum + initial, 0n)
    const one = named && together ? this.cash(at, -near(total)) : null
    for (const loan of this.loans) {
      loan.disbursed = named && !together ? this.cash(at, -near(loan.initial)) : one
      this.version(loan, at)
    }
  }

  accrue(at: number): void {
    const [first, ...others] = this.loans
    if (first === undefined) return
    const loan = this.maker.random.pick([first, ...others])
    const more = this.maker.fee(loan.initial)
    loan.interest += more
    loan.told += more
    this.version(loan, at)
  }

  /** Repays some of the loans or all of them, at least in part. `last`: all of them completely, as PAID. */
  repay(at: number, last: boolean): void {
    const { maker } = this
    const { random } = maker
    const paying = last || random.chance(0.7) ? this.loans : this.loans.slice(0, 1)
    let settled = 0n
    let interest = 0n
    const before = new Map(paying.map((loan) => [loan, { ...loan }]))
    for (const loan of paying) {
      const ofPrincipal = last ? loan.principal : maker.part(loan.principal)
      const ofInterest =
        last || loan.interest === 0n || random.chance(0.3)
          ? loan.interest
          : random.chance(0.5)
            ? 0n
            : maker.part(loan.interest)
      loan.principal -= ofPrincipal
      loan.interest -= ofInterest
      settled += ofPrincipal + ofInterest
      interest += ofInterest
    }
    const paid = random.weighted([
      [6, settled],
      [1, settled + maker.part(settled)],
      [1, settled + maker.fee(settled)],
      [1, maker.part(settled)],
      // The shortfall is within the interest.
      [1, settled - (interest > 1n ? maker.part(interest) : 0n)],
    ])
    if (paid <= 0n) return
    const parts = paid > 1n && random.chance(0.25) ? [maker.part(paid)] : []
    const amounts = [...parts, paid - (parts[0] ?? 0n)].filter((amount) => amount > 0n)
    // Cash may come before the receivable names it, or after.
    const cameAt = random.chance(0.7) ? at : maker.later(at)
    const named = random.chance(0.9)
    const moved = this.moves.length
    const transactions = named ? amounts.map((amount) => this.cash(cameAt, amount)) : []
    const late = named && random.chance(0.1)
    const early = named && !late && random.chance(0.1)
    this.last = {
      of: paying.map((loan) => {
        const { interest: due, principal } = before.get(loan) ?? loan
        return { loan, principal: principal - loan.principal, interest: due - loan.interest }
      }),
      moves: this.moves.slice(moved),
      names: transactions,
    }
    for (const loan of paying) {
      // A loan may name only the first of several.
      const own = transactions.length > 1 && random.chance(0.2) ? transactions.slice(0, 1) : transactions
      const over: Partial<Version> = last
        ? {
            status: "PAID",
            // The service may still show the total that was due.
            due: this.text(random.chance(0.15) ? loan.initial + loan.told : 0n),
          }
        : {}
      if (late) this.version(loan, at, over)
      loan.repayments = [...loan.repayments, ...own]
      if (early) this.version({ ...(before.get(loan) ?? loan), repayments: loan.repayments }, at)
      this.version(loan, late || early ? maker.later(at) : at, over)
    }
  }

  /** The last repayment is owed again; its cash went back, or stayed. */
  oweAgain(at: number): void {
    const { maker } = this
    for (const { account, amount, related } of maker.random.chance(0.6) ? this.last.moves : [])
      maker.entry(at, account, -amount, related)
    for (const { interest, loan, principal } of this.last.of) {
      loan.principal += principal
      loan.interest += interest
      this.version(loan, at)
    }
    this.last = { of: [], moves: [], names: [] }
  }

  /** The last repayment was another loan's: the one owes it again, mostly without its names, and the other has them. */
  correct(at: number): void {
    const { names, of } = this.last
    const [paid, ...more] = of
    if (paid === undefined || more.length > 0 || names.length === 0) return
    const { interest, loan, principal } = paid
    const other = this.loans.find(
      (one) => one !== loan && one.principal > principal && one.interest >= interest,
    )
    if (other === undefined) return
    loan.principal += principal
    loan.interest += interest
    if (this.maker.random.chance(0.7)) loan.repayments = loan.repayments.filter((one) => !names.includes(one))
    other.principal -= principal
    other.interest -= interest
    other.repayments = [...other.repayments, ...names]
    this.version(loan, at)
    this.version(other, this.maker.random.chance(0.5) ? at : this.maker.later(at))
    this.last = { of: [], moves: [], names: [] }
  }

  /** Cancels the loans, whatever was paid. */
  cancel(at: number): void {
    for (const loan of this.loans)
      this.version(loan, at, {
        status: "CANCELED",
        ...(this.maker.random.chance(0.5) ? { current: this.text(0n), due: this.text(0n) } : {}),
      })
  }
}

/** One loan, or several that share transactions. */
export const loans = (maker: Maker, purse: Purse): void => {
  const { random } = maker
  const group = new Group(maker, purse)
  let at = maker.time()
  const then = (): number => {
    at = maker.later(at)
    return at
  }
  group.issue(at)
  if (random.chance(0.07)) {
    group.cancel(then())
    if (random.chance(0.7)) return
  }
  group.disburse(then())
  const steps = random.whole(0, 3)
  for (let index = 0; index < steps; index++) {
    if (random.chance(0.3)) group.accrue(then())
    else group.repay(then(), false)
    if (random.chance(0.1)) group.oweAgain(then())
    else if (random.chance(0.6)) group.correct(then())
  }
  if (random.chance(0.1)) {
    group.cancel(then())
    if (random.chance(0.7)) return
    for (const loan of group.loans) group.version(loan, then())
  }
  if (random.chance(0.8)) group.repay(then(), true)
  if (random.chance(0.9)) return
  group.oweAgain(then())
  if (random.chance(0.6)) group.repay(then(), true)
}
