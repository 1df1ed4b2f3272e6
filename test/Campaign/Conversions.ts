/** Conversions whose legs are booked in any order, in parts, late or never, or are returned. */
import { scaleOf, units } from "./Decimals.ts"
import type { AccountOf, Maker } from "./Flow.ts"

const shapes = [
  ...([
    "whole",
    "whole",
    "parts",
    "over",
    "late",
    "never",
    "canceledOne",
    "canceledBoth",
    "canceledEmpty",
  ] as const),
] as const

const digital = (currency: string): boolean => currency === "USDT" || currency === "USDC"

/** Plausible prices: about so many units of the one currency for one unit of the other. */
const bought = (maker: Maker, sold: bigint, from: string, to: string): bigint => {
  const perThousand = BigInt(maker.random.whole(700, 1_400))
  const yen = (from === "JPY" ? 1n : 0n) - (to === "JPY" ? 1n : 0n)
  const scaled = (sold * 10n ** BigInt(scaleOf(to)) * perThousand) / (1_000n * 10n ** BigInt(scaleOf(from)))
  const found = yen > 0n ? scaled / 150n : yen < 0n ? scaled * 150n : scaled
  return found <= 0n ? 1n : found
}

export const conversion = (maker: Maker, sell: AccountOf, buy: AccountOf): void => {
  const { random } = maker
  const shape = random.pick(shapes)
  const sold = maker.amount(sell.currency)
  const gross = bought(maker, sold, sell.currency, buy.currency)
  // The service deducts the fee from the sell amount when digital currency is bought, and from the proceeds when it is sold.
  const onBuy = digital(sell.currency) && !digital(buy.currency)
  const free = random.chance(0.3)
  const fee = free ? 0n : onBuy ? maker.fee(gross) : maker.fee(sold)
  const net = onBuy ? gross - fee : gross
  const resource = maker.name("c")
  const related = { type: "CONVERSION", of: resource }
  const at = maker.time()
  if (net <= 0n || fee >= sold) return
  maker.put(at, {
    what: "resource",
    resource,
    content: {
      type: "CONVERSION",
      sell: sell.name,
      sold: maker.text(sold, sell.currency),
      buy: buy.name,
      bought: maker.text(net, buy.currency),
      fee: onBuy
        ? { amount: maker.text(fee, buy.currency), currency: buy.currency }
        : { amount: maker.text(fee, sell.currency), currency: sell.currency },
    },
    status: "ACTIVE",
  })
  const status = (time: number, to: string): void => maker.put(time, { what: "status", resource, status: to })
  const out = (time: number, amount: bigint): void => void maker.entry(time, sell, -amount, related)
  const into = (time: number, amount: bigint): void => void maker.entry(time, buy, amount, related)
  const first = maker.later(at)
  const second = maker.later(first)
  const sellFirst = random.chance(0.7)
  const legs = (): void => {
    out(sellFirst ? first : second, sold)
    into(sellFirst ? second : first, net)
  }
  switch (shape) {
    case "whole":
    case "late":
      legs()
      status(random.chance(0.5) ? second : maker.later(second), "COMPLETED")
      return
    case "parts": {
      const part = maker.part(sold)
      out(first, part)
      if (part < sold) out(maker.later(first), sold - part)
      const ofBuy = maker.part(net)
      into(second, ofBuy)
      if (ofBuy < net) into(maker.later(second), net - ofBuy)
      status(maker.later(second), "COMPLETED")
      return
    }
    case "over": {
      const more = maker.part(net)
      out(first, sold)
      into(second, net + more)
      into(maker.later(second), -more)
      status(maker.later(second), "COMPLETED")
      return
    }
    case "never":
      if (random.chance(0.7)) out(first, sold)
      else into(first, net)
      if (random.chance(0.5)) status(second, "COMPLETED")
      return
    case "canceledEmpty":
      status(first, "CANCELED")
      return
    case "canceledOne":
      out(first, sold)
      status(second, "CANCELED")
      out(maker.later(second), -sold)
      return
    case "canceledBoth": {
      legs()
      const then = maker.later(second)
      status(then, random.chance(0.5) ? "CANCELED" : "COMPLETED")
      out(then, -sold)
      into(maker.later(then), -net)
      return
    }
  }
}

/** Whether two accounts can have a conversion between them. */
export const convertible = (sell: AccountOf, buy: AccountOf): boolean =>
  sell.currency !== buy.currency && units("1", sell.currency) > 0n
