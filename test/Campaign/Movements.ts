/** Deposits, withdrawals, payouts and adjustments in every shape that the posting table knows. */
import type { AccountOf, Maker } from "./Flow.ts"
import type { Name } from "./History.ts"

interface Made {
  readonly resource: Name
  readonly at: number
}

/** Moves the status forward until entries may come, and answers the time from which they may. */
const begun = (maker: Maker, resource: Name, at: number, statuses: ReadonlyArray<string>): number => {
  let time = at
  for (const status of statuses) {
    time = maker.later(time)
    maker.put(time, { what: "status", resource, status })
  }
  return time
}

const end = (maker: Maker, resource: Name, at: number, status: string): void => {
  maker.put(at, { what: "status", resource, status })
}

/** The amount in one entry, or in two at different times. */
const inParts = (
  maker: Maker,
  account: AccountOf,
  at: number,
  signed: bigint,
  related: { readonly type: string; readonly of: Name },
  withFee: boolean,
): number => {
  const size = signed < 0n ? -signed : signed
  const splits = maker.random.chance(0.15) && (!withFee || maker.features.splitFees)
  if (size <= 1n || !splits) {
    maker.entry(at, account, signed, related)
    return at
  }
  const first = maker.part(size)
  const then = maker.later(at)
  maker.entry(at, account, signed < 0n ? -first : first, related)
  maker.entry(then, account, signed < 0n ? first - size : size - first, related)
  return then
}

const depositShapes = [
  "plain",
  "netted",
  "separate",
  "silent",
  "over",
  "returned",
  "reversed",
  "refused",
] as const

export const deposit = (maker: Maker, account: AccountOf): Made => {
  const { random } = maker
  const shape = random.pick(depositShapes)
  const { currency, name } = account
  const amount = maker.amount(currency)
  const stated = shape === "netted" || shape === "separate" || shape === "silent"
  const fee = stated ? maker.fee(amount) : 0n
  const resource = maker.name("d")
  const related = { type: "DEPOSIT", of: resource }
  const at = maker.time()
  const hidden = random.chance(0.05)
  const path = random.weighted<ReadonlyArray<string>>([
    [4, []],
    [2, ["HELD"]],
    [1, ["HELD", "PENDING"]],
  ])
  const direct = random.chance(0.5) && shape !== "refused"
  maker.put(at, {
    what: "resource",
    resource,
    content: {
      type: "DEPOSIT",
      account: name,
      amount: maker.text(amount, currency),
      fee: stated ? maker.text(fee, currency) : random.chance(0.3) ? maker.text(0n, currency) : null,
    },
    status: direct ? "COMPLETED" : "PENDING",
    ...(hidden ? { hidden } : {}),
  })
  const credited = direct ? at : begun(maker, resource, at, path)
  if (hidden) maker.put(maker.later(credited), { what: "shown", resource })
  if (shape === "refused") {
    end(maker, resource, credited, random.pick(["CANCELED", "REJECTED"]))
    return { resource, at: credited }
  }
  const net = shape === "netted" ? amount - fee : shape === "over" ? amount + maker.part(amount) : amount
  // The entry may come before the final status, or after it.
  const before = random.chance(0.3)
  const completed = direct || before ? credited : maker.later(credited)
  const ends = shape === "reversed" ? random.pick(["CANCELED", "REJECTED"]) : "COMPLETED"
  if (before && !direct) {
    const posted = inParts(maker, account, credited, net, related, stated)
    if (shape !== "reversed") end(maker, resource, maker.later(posted), ends)
  } else {
    if (!direct) end(maker, resource, completed, "COMPLETED")
    inParts(maker, account, completed, net, related, stated)
  }
  const after = maker.later(maker.later(completed))
  if (shape === "separate") maker.entry(after, account, -fee, related)
  if (shape === "over") maker.entry(after, account, amount - net, related)
  if (shape === "returned" || shape === "reversed") maker.entry(after, account, -net, related)
  if (shape === "reversed" && before && !direct) end(maker, resource, after, ends)
  return { resource, at: after }
}

const withdrawalShapes = [
  ...(["plain", "inside", "onTop", "separate", "returned", "returnedShort", "early", "refused"] as const),
] as const

export const withdrawal = (maker: Maker, account: AccountOf): Made => {
  const { random } = maker
  const shape = random.pick(withdrawalShapes)
  const { currency, name } = account
  const amount = maker.amount(currency)
  const form = maker.book === "org" ? "money" : "flat"
  const stated = shape !== "plain" && shape !== "refused" && random.chance(0.8)
  const drawn = stated ? maker.fee(amount) : 0n
  // Where the fee is half the amount, a credit of the fee is ambiguous: it could be the returned fee, or all but the fee.
  const fee = drawn * 2n === amount ? 0n : drawn
  const resource = maker.name("w")
  const related = { type: "WITHDRAWAL", of: resource }
  const at = maker.time()
  const first = form === "money" ? "PENDING_CONFIRMATION" : "PENDING"
  maker.put(at, {
    what: "resource",
    resource,
    content: {
      type: "WITHDRAWAL",
      account: name,
      amount: maker.text(amount, currency),
      fee: stated ? maker.text(fee, currency) : null,
    },
    status: first,
  })
  const path = random.weighted<ReadonlyArray<string>>([
    [3, ["PENDING"]],
    [1, ["PENDING", "HELD", "PENDING"]],
    [2, []],
  ])
  const executed = begun(maker, resource, at, path)
  const refused = random.pick(["CANCELED", "REJECTED"])
  if (shape === "refused") {
    end(maker, resource, executed, refused)
    return { resource, at: executed }
  }
  // In the Money form the fee is within the amount by definition; in the flat form it is on top or within.
  const debited =
    shape === "onTop" && form === "flat"
      ? amount + fee
      : shape === "separate" && form === "money"
        ? amount - fee
        : amount
  const posted = inParts(maker, account, executed, -debited, related, stated)
  const completed = maker.later(posted)
  if (shape === "separate" && fee > 0n) maker.entry(maker.later(posted), account, -fee, related)
  if (shape === "early") {
    // The withdrawal is debited, then refused: all of it comes back.
    end(maker, resource, completed, refused)
    maker.entry(maker.later(completed), account, debited, related)
    return { resource, at: completed }
  }
  end(maker, resource, completed, "COMPLETED")
  if (shape === "returned") maker.entry(maker.later(maker.later(completed)), account, debited, related)
  if (shape === "returnedShort" && debited > fee) {
    maker.entry(maker.later(maker.later(completed)), account, debited - fee, related)
  }
  return { resource, at: completed }
}

export const payout = (maker: Maker, account: AccountOf): void => {
  const at = maker.time()
  const amount = maker.amount(account.currency)
  const related = { type: "PAYOUT", of: maker.name("p") }
  maker.entry(at, account, -amount, related)
  if (maker.random.chance(0.25)) maker.entry(maker.later(at), account, amount, related)
}

export const adjustment = (maker: Maker, account: AccountOf): void => {
  const at = maker.time()
  const amount = maker.amount(account.currency)
  maker.entry(at, account, maker.random.chance(0.5) ? amount : -amount, null)
}

/** An entry without a resource that later names a deposit. */
export const enriched = (maker: Maker, account: AccountOf): void => {
  const at = maker.time()
  const { currency } = account
  const amount = maker.amount(currency)
  const resource = maker.name("d")
  const entry = maker.entry(at, account, amount, null)
  const then = maker.later(at)
  const content = {
    type: "DEPOSIT" as const,
    account: account.name,
    amount: maker.text(amount, currency),
    fee: null,
  }
  maker.put(then, { what: "resource", resource, content, status: "COMPLETED" })
  maker.put(then, { what: "enriched", entry, related: { type: "DEPOSIT", of: resource } })
}

export const older = (maker: Maker, account: AccountOf): void => {
  const at = maker.time()
  const { random } = maker
  maker.put(at, {
    what: "older",
    entry: maker.name("e"),
    account: account.name,
    type: random.pick(["CREDIT", "DEBIT"]),
    amount: maker.text(maker.amount(account.currency), account.currency),
    occurredAt: `2024-12-${String(random.whole(1, 31)).padStart(2, "0")}T12:00:00Z`,
  })
}

export const zero = (maker: Maker, account: AccountOf): void => {
  maker.put(maker.time(), { what: "zero", entry: maker.name("e"), account: account.name })
}
