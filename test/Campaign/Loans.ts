/** Receivables: disbursed, accrued, repaid alone or together, over- and under-paid, canceled, seen late. */
import { timeOf } from "./Calendar.ts"
import type { AccountOf, Maker } from "./Flow.ts"
import type { Event, Name, TransactionText } from "./History.ts"

type Version = Extract<Event, { readonly what: "receivable" }>

interface Loan {
  readonly name: Name
  readonly client: Name
  readonly issued: string
  readonly initial: bigint
  readonly interest: bigint
}

/** Cash that a loan's transaction moves, with a deposit or a withdrawal behind it. Gives what the receivable names. */
const cash = (maker: Maker, account: AccountOf, at: number, signed: bigint): TransactionText => {
  const type = signed > 0n ? "DEPOSIT" : "WITHDRAWAL"
  const resource = maker.name(signed > 0n ? "d" : "w")
  const size = signed < 0n ? -signed : signed
  const hash = maker.random.chance(0.3) ? `hash-${resource}-${maker.random.whole(0, 1_000_000)}` : undefined
  maker.put(at, {
    what: "resource",
    resource,
    content: { type, account: account.name, amount: maker.text(size, account.currency), fee: null },
    status: "COMPLETED",
    ...(hash === undefined ? {} : { transactionHash: hash }),
  })
  const entry = maker.entry(at, account, signed, { type, of: resource })
  return { of: hash === undefined && maker.random.chance(0.5) ? entry : resource, at: timeOf(at) }
}

/** One loan, or several that one transaction pays. */
export const loans = (maker: Maker, account: AccountOf, client: Name): void => {
  const { random } = maker
  const { currency } = account
  const text = (amount: bigint): string => maker.text(amount, currency)
  const several = random.chance(0.35) ? random.whole(2, 3) : 1
  const at = maker.time()
  const open: Array<Loan> = []
  const version = (loan: Loan, time: number, over: Partial<Version>): void =>
    maker.put(time, {
      what: "receivable",
      receivable: loan.name,
      client: loan.client,
      currency,
      issued: loan.issued,
      initial: text(loan.initial),
      current: text(loan.initial),
      due: text(loan.initial + loan.interest),
      status: "ACTIVE",
      disbursed: null,
      repayments: [],
      ...over,
    })
  for (let index = 0; index < several; index++) {
    const initial = maker.amount(currency)
    const loan: Loan = {
      ...{ name: maker.name("r"), client, initial, interest: maker.fee(initial) },
      issued: timeOf(at + index * 60_000),
    }
    version(loan, at + index * 60_000, { status: "PENDING" })
    open.push(loan)
  }
  if (random.chance(0.1)) {
    for (const loan of open) version(loan, maker.later(at), { status: "CANCELED" })
    return
  }
  const started = maker.later(at)
  const total = open.reduce((sum, { initial }) => sum + initial, 0n)
  const named = random.chance(0.85)
  const disbursed = named ? cash(maker, account, started, -total) : null
  for (const loan of open) version(loan, started, { disbursed })
  const then = maker.later(started)
  if (random.chance(0.1)) {
    for (const loan of open)
      version(loan, then, { status: "CANCELED", current: text(0n), due: text(0n), disbursed })
    return
  }
  const first = random.chance(0.4) ? then : null
  const parts: Array<TransactionText> = []
  let left = open.map(({ initial, interest }) => ({ principal: initial, interest }))
  if (first !== null) {
    left = left.map(({ interest, principal }) => ({ principal: principal - maker.part(principal), interest }))
    const paid = open.reduce((sum, { initial }, index) => sum + initial - (left[index]?.principal ?? 0n), 0n)
    if (paid > 0n) parts.push(cash(maker, account, first, paid))
    open.forEach((loan, index) => {
      const { interest, principal } = left[index] ?? { interest: 0n, principal: 0n }
      version(loan, first, {
        ...{ current: text(principal), due: text(principal + interest), disbursed, repayments: [...parts] },
      })
    })
  }
  if (random.chance(0.15)) return
  const last = maker.later(maker.later(first ?? then))
  const due = left.reduce((sum, { interest, principal }) => sum + interest + principal, 0n)
  const paid = random.weighted([
    [6, due],
    [1, due + maker.part(due)],
    [1, maker.part(due)],
  ])
  if (random.chance(0.9) && paid > 0n) parts.push(cash(maker, account, last, paid))
  for (const loan of open) {
    version(loan, last, {
      status: "PAID",
      current: text(0n),
      due: text(0n),
      disbursed,
      repayments: [...parts],
    })
  }
}
