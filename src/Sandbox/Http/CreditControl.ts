import type { Credit } from "../World/CreditLine.ts"
import type { Receivable, TransactionRef } from "../World/FundingRequest.ts"
import type { Currency } from "../World/SandboxCurrency.ts"
import { failure, json, type Reply } from "./SandboxReply.ts"

/** Minor units of a decimal with at most as many decimals as the currency has. */
const parseAmount = (text: string, { scale }: Currency): bigint | undefined => {
  const [, whole = "", fraction = ""] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === "" || fraction.length > scale) return undefined
  return BigInt(whole + fraction.padEnd(scale, "0"))
}

/** A receivable after a change, or why it cannot be made. */
type Changed = Receivable | string

const disburse = (before: Receivable, by: TransactionRef): Changed =>
  before.status === "PENDING"
    ? { ...before, status: "ACTIVE", disbursed: by }
    : `it is ${before.status}, and only a PENDING one becomes ACTIVE`

const cancel = (before: Receivable): Changed =>
  before.status === "PENDING" || before.status === "ACTIVE"
    ? { ...before, status: "CANCELED", principal: 0n, interest: 0n }
    : `it is ${before.status} already`

const repay = (before: Receivable, principal: bigint, interest: bigint, by: TransactionRef): Changed => {
  if (before.status !== "ACTIVE") return `it is ${before.status}, and only an ACTIVE one is repaid`
  if (principal < 0n) return "interest is more than what is repaid"
  if (principal > before.principal) return "more principal than is left"
  if (interest > before.interest) return "more interest than is left"
  const left = { principal: before.principal - principal, interest: before.interest - interest }
  const status = left.principal + left.interest === 0n ? "PAID" : "ACTIVE"
  return { ...before, ...left, status, repayments: [...before.repayments, by] }
}

const accrue = (before: Receivable, interest: bigint): Changed =>
  before.status === "ACTIVE"
    ? { ...before, interest: before.interest + interest }
    : `it is ${before.status}, and only an ACTIVE one accrues`

/** Makes the changes that a query asks for, one after another: all of them or none. */
const change = (credit: Credit, receivable: Receivable, query: URLSearchParams): Changed => {
  const at = query.get("at") === null ? credit.tick() : Date.parse(query.get("at") ?? "")
  if (Number.isNaN(at)) return "at must be a time"
  const by = (step: number) => ({
    txId: query.get("tx") ?? credit.transaction(receivable.index, step),
    at,
  })
  const to = query.get("to")
  const amounts = ["accrue", "repay", "interest"].map((name) =>
    parseAmount(query.get(name) ?? "0", receivable.currency),
  )
  const [accrued, repaid, interest] = amounts
  if (accrued === undefined || repaid === undefined || interest === undefined) {
    return `accrue, repay and interest must be amounts of ${receivable.currency.code}`
  }
  const repayment = (of: Receivable) => by(2 + of.repayments.length)
  const steps: Array<(before: Receivable) => Changed> = []
  if (to === "ACTIVE") steps.push((before) => disburse(before, by(1)))
  if (query.has("accrue")) steps.push((before) => accrue(before, accrued))
  if (query.has("repay"))
    steps.push((before) => repay(before, repaid - interest, interest, repayment(before)))
  if (to === "PAID")
    steps.push((before) => repay(before, before.principal, before.interest, repayment(before)))
  if (to === "CANCELED") steps.push(cancel)
  if (steps.length === 0 || (to !== null && !["ACTIVE", "PAID", "CANCELED"].includes(to))) {
    return "to must be ACTIVE, PAID or CANCELED, or there must be an amount to accrue or repay"
  }
  let changed: Changed = receivable
  for (const step of steps) {
    if (typeof changed === "string") return changed
    changed = step(changed)
  }
  return changed
}

/** Answers `/control/receivables`: `add=N` lets new ones come, `index=K` and what is to happen changes one. */
export const controlReceivables = (credit: Credit, query: URLSearchParams): Reply => {
  const added = query.get("add")
  if (added !== null) {
    if (!/^[1-9]\d{0,4}$/.test(added)) return failure(400, "invalid_request", "add must be from 1 to 99999")
    const items = Array.from({ length: Number(added) }, () => credit.render(credit.add()))
    return json(200, `[${items.join(",")}]`)
  }
  const index = query.get("index") ?? ""
  const receivable = /^\d{1,6}$/.test(index) ? credit.at(Number(index)) : undefined
  if (receivable === undefined) {
    return failure(400, "invalid_request", "index must be that of a receivable, from 0")
  }
  const changed = change(credit, receivable, query)
  if (typeof changed === "string") return failure(409, "invalid_transition", changed)
  credit.replace(changed)
  return json(200, credit.render(changed))
}
