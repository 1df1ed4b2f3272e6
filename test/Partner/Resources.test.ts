import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import type { Row } from "../../src/Partner/Lists/Page.ts"
import * as Account from "../../src/Partner/Wire/Account.ts"
import * as Conversion from "../../src/Partner/Wire/Conversion.ts"
import * as Deposit from "../../src/Partner/Wire/Deposit.ts"
import * as ReferenceItem from "../../src/Partner/Wire/ReferenceItem.ts"
import { type Decoder, decode } from "../../src/Partner/Wire/RowDecoder.ts"
import * as Withdrawal from "../../src/Partner/Wire/Withdrawal.ts"

const names = { amountField: "value", currencyField: "ccy" }
const money = (value: string, ccy: string) => ({ value, ccy })
const id = (digit: number) => `0f8fad5b-d9cb-469f-a165-70867728950${digit}`
const ref = (digit: number, currency: string) => ({ accountId: id(digit), currency, paymentRails: "SWIFT" })

const read = <A>(decoder: Decoder<A>, value: object): Row<A> => {
  const text = JSON.stringify(value)
  return decode(decoder, JSON.parse(text), () => text, { text, suspect: false, replaced: false })
}
const refusal = <A>(row: Row<A>) => {
  const { path, reason } = Either.getOrThrow(Either.flip(row))
  return `${path} ${reason}`
}
const print = ({ amount, currency }: Money.Money) => `${Money.format(amount, amount.scale)} ${currency}`

const deposit = {
  depositId: id(0),
  account: ref(1, "EUR"),
  amount: money("1000.00", "EUR"),
  fee: money("5.00", "EUR"),
  status: "COMPLETED",
  remitterName: "Müller & Söhne",
  createdAt: "2026-10-01T12:00:00Z",
}

describe("A deposit", () => {
  const readDeposit = (changes: object) => read(Deposit.decoder(names), { ...deposit, ...changes })

  it("is read in the Money form, by the profile's field names", () => {
    const found = Either.getOrThrow(readDeposit({ reasonCode: null, extra: 1 }))
    expect(found).toMatchObject({
      resourceType: "DEPOSIT",
      id: id(0),
      account: ref(1, "EUR"),
      status: "COMPLETED",
      counterparty: Option.some("Müller & Söhne"),
      reasonCode: Option.none(),
      createdAt: "2026-10-01T12:00:00Z",
    })
    expect(print(found.amount)).toBe("1000.00 EUR")
    expect(Option.map(found.fee, print)).toEqual(Option.some("5.00 EUR"))
    expect(JSON.parse(found.raw)).toEqual({ ...deposit, reasonCode: null, extra: 1 })
  })

  it("is read in the flat form", () => {
    const found = Either.getOrThrow(
      readDeposit({ amount: "1000.00", currency: "EUR", fee: undefined, feeAmount: "0.00" }),
    )
    expect(print(found.amount)).toBe("1000.00 EUR")
    expect(Option.map(found.fee, print)).toEqual(Option.some("0.00 EUR"))
    expect(Either.getOrThrow(readDeposit({ fee: undefined })).fee).toEqual(Option.none())
  })

  it("is worth nothing where nothing was credited, or not yet", () => {
    for (const status of ["PENDING", "REJECTED"]) {
      expect(print(Either.getOrThrow(readDeposit({ amount: money("0.00", "EUR"), status })).amount)).toBe(
        "0.00 EUR",
      )
    }
    const completed = readDeposit({ amount: money("0.00", "EUR"), status: "COMPLETED" })
    expect(refusal(completed)).toBe("$.amount.value is not positive")
  })

  it("names any currency for no fee", () => {
    const found = Either.getOrThrow(readDeposit({ fee: money("0.00", "USD") }))
    expect(Option.map(found.fee, print)).toEqual(Option.some("0.00 EUR"))
  })

  it("keeps an unknown status verbatim", () => {
    expect(Either.getOrThrow(readDeposit({ status: "pondering" })).status).toBe("pondering")
  })

  it.each([
    [{ amount: money("1.00", "USD") }, "$.amount is in USD, but the account is in EUR"],
    [{ amount: "1.00" }, "$.currency expected a string, found nothing"],
    [{ amount: "1.00", currency: "USD" }, "$.currency is in USD, but the account is in EUR"],
    [{ amount: { value: 1, ccy: "EUR" } }, "$.amount.value expected a decimal in a string, found a number"],
    [{ amount: { amount: "1", ccy: "EUR" } }, "$.amount.value expected a decimal in a string, found nothing"],
    [{ amount: money("-1.00", "EUR") }, "$.amount.value is not positive"],
    [{ fee: money("-1.00", "EUR") }, "$.fee.value is negative"],
    [{ fee: money("1.001", "EUR") }, "$.fee.value has more decimals than EUR has (2)"],
    [{ fee: money("1.00", "USD") }, "$.fee is in USD, but the account is in EUR"],
    [{ fee: "1.00" }, "$.fee expected an object, found a string"],
    [{ account: null }, "$.account expected an object, found null"],
    [
      { account: { ...ref(1, "EUR"), accountId: 7 } },
      "$.account.accountId expected a string, found a number",
    ],
    [{ status: null }, "$.status expected a string, found null"],
    [{ createdAt: "2026-10-01" }, "$.createdAt is not an ISO 8601 date-time with a zone"],
  ])("[B] with %j is malformed: %s", (changes, expected) => {
    expect(refusal(readDeposit(changes))).toBe(expected)
  })
})

const withdrawal = {
  withdrawalId: id(0),
  sourceAccount: ref(1, "USDT"),
  sourceAmount: money("1000.12345678", "USDT"),
  destinationAmount: money("995.12345678", "USDT"),
  fee: money("5", "USDT"),
  destination: { destinationId: id(3), walletAddress: "TXYZ", network: "TRON" },
  status: "PENDING_CONFIRMATION",
  reference: "INV-7",
  externalReference: "E-1",
  transactionHash: "0xabc",
  createdAt: "2026-10-01T12:00:00Z",
}

describe("A withdrawal", () => {
  const readWithdrawal = (changes: object) => read(Withdrawal.decoder(names), { ...withdrawal, ...changes })
  const flat = { sourceAmount: undefined, destinationAmount: undefined, fee: undefined, currency: "USDT" }

  it("is read in the Money form", () => {
    const found = Either.getOrThrow(readWithdrawal({}))
    expect(found).toMatchObject({
      form: "money",
      reference: Option.some("INV-7"),
      destinationId: Option.some(id(3)),
      counterparty: Option.some("TRON, TXYZ"),
      externalReference: Option.some("E-1"),
      transactionHash: Option.some("0xabc"),
    })
    expect(
      [found.amount, Option.getOrThrow(found.delivered), Option.getOrThrow(found.fee)].map(print),
    ).toEqual(["1000.12345678 USDT", "995.12345678 USDT", "5 USDT"])
  })

  it("is worth nothing where nothing was debited, or not yet", () => {
    const nothing = { sourceAmount: money("0", "USDT"), destinationAmount: money("0", "USDT") }
    for (const status of ["PENDING_CONFIRMATION", "CANCELED"]) {
      expect(print(Either.getOrThrow(readWithdrawal({ ...nothing, status })).amount)).toBe("0 USDT")
      expect(print(Either.getOrThrow(readWithdrawal({ ...flat, amount: "0", status })).amount)).toBe("0 USDT")
    }
    expect(refusal(readWithdrawal({ ...nothing, status: "COMPLETED" }))).toBe(
      "$.sourceAmount.value is not positive",
    )
  })

  it("names any currency for no fee, and where nothing was delivered", () => {
    const nothing = { fee: money("0", "USD"), destinationAmount: money("0.00", "EUR") }
    const found = Either.getOrThrow(readWithdrawal({ ...nothing, status: "REJECTED" }))
    expect([found.fee, found.delivered].map(Option.getOrThrow).map(print)).toEqual(["0 USDT", "0.00 USDT"])
  })

  it("is read in the flat form", () => {
    const found = Either.getOrThrow(
      readWithdrawal({ ...flat, amount: "10", feeAmount: "1.5", purpose: "rent", destination: {} }),
    )
    expect(found).toMatchObject({
      form: "flat",
      delivered: Option.none(),
      reference: Option.some("rent"),
      destinationId: Option.none(),
      counterparty: Option.none(),
    })
    expect([found.amount, Option.getOrThrow(found.fee)].map(print)).toEqual(["10 USDT", "1.5 USDT"])
  })

  it.each([
    [{ fee: undefined }, "$.fee expected an object, found nothing"],
    [
      { destinationAmount: money("1", "USD") },
      "$.destinationAmount is in USD, but the source account is in USDT",
    ],
    [{ sourceAmount: money("1", "USDC") }, "$.sourceAmount is in USDC, but the source account is in USDT"],
    [
      { sourceAmount: money("0.123456789", "USDT") },
      "$.sourceAmount.value has more decimals than USDT has (8)",
    ],
    [{ ...flat }, "$.amount expected a decimal in a string, found nothing"],
    [{ destination: undefined }, "$.destination expected an object, found nothing"],
    [{ destination: { destinationId: "x" } }, "$.destination.destinationId is not a UUID"],
  ])("[B] with %j is malformed: %s", (changes, expected) => {
    expect(refusal(readWithdrawal(changes))).toBe(expected)
  })
})

const conversion = {
  conversionId: id(0),
  pairId: id(5),
  status: "COMPLETED",
  sellAccount: ref(1, "USD"),
  sellAmount: money("1000.00", "USD"),
  buyAccount: ref(2, "USDT"),
  buyAmount: money("994.2031", "USDT"),
  rate: "0.9991991959798994974874371859296482",
  fee: money("5.00", "USD"),
  createdAt: "2026-10-01T12:00:00Z",
  completedAt: "2026-10-01T12:00:05.25Z",
}

describe("A conversion", () => {
  const readConversion = (changes: object) => read(Conversion.decoder(names), { ...conversion, ...changes })

  it("is read in the Money form", () => {
    const found = Either.getOrThrow(readConversion({}))
    expect([found.sellAmount, found.buyAmount, found.fee].map(print)).toEqual([
      "1000.00 USD",
      "994.2031 USDT",
      "5.00 USD",
    ])
    expect(Money.toText(found.rate)).toBe("0.9991991959798994974874371859296482")
    expect(found.completedAt).toEqual(Option.some("2026-10-01T12:00:05.250Z"))
  })

  it("is read in the flat form; each amount is in the currency of its account", () => {
    const found = Either.getOrThrow(
      readConversion({
        sellAmount: "1000.00",
        buyAmount: "994.2031",
        fee: undefined,
        feeAmount: "5.00",
        feeCurrency: "USD",
        completedAt: null,
      }),
    )
    expect([found.sellAmount, found.buyAmount, found.fee].map(print)).toEqual([
      "1000.00 USD",
      "994.2031 USDT",
      "5.00 USD",
    ])
    expect(found.completedAt).toEqual(Option.none())
  })

  it("names any currency for no fee, and no rate and nothing sold where it was canceled", () => {
    const nothing = { fee: money("0.00", "EUR"), rate: "0", sellAmount: money("0", "USD") }
    const found = Either.getOrThrow(readConversion({ ...nothing, status: "CANCELED" }))
    expect([found.fee, found.sellAmount].map(print)).toEqual(["0.00 EUR", "0 USD"])
  })

  it.each([
    [{ sellAmount: money("1", "EUR") }, "$.sellAmount is in EUR, but the account is in USD"],
    [{ buyAmount: money("1", "USDC") }, "$.buyAmount is in USDC, but the account is in USDT"],
    [{ fee: money("1", "EUR") }, "$.fee is in EUR, which is neither side (USD, USDT)"],
    [{ fee: undefined }, "$.feeCurrency expected a string, found nothing"],
    [{ rate: 0.9 }, "$.rate expected a decimal in a string, found a number"],
    [{ rate: "0" }, "$.rate is not positive"],
    [{ sellAmount: money("0", "USD") }, "$.sellAmount.value is not positive"],
    [{ sellAmount: "1.001" }, "$.sellAmount has more decimals than USD has (2)"],
  ])("[B] with %j is malformed: %s", (changes, expected) => {
    expect(refusal(readConversion(changes))).toBe(expected)
  })
})

describe("An account", () => {
  const account = { ...ref(1, "JPY"), balance: "-1200", status: "ACTIVE" }

  it("is read, with a balance of either sign", () => {
    const found = Either.getOrThrow(read(Account.decoder, { ...account, nickname: "x" }))
    expect(found).toMatchObject({ ...ref(1, "JPY"), status: "ACTIVE" })
    expect(Money.toText(found.balance)).toBe("-1200")
    expect(found.raw).toBe(JSON.stringify({ ...account, nickname: "x" }))
  })

  it("[B] with a balance finer than its currency is malformed; trailing zeros pass", () => {
    expect(refusal(read(Account.decoder, { ...account, balance: "1.5" }))).toBe(
      "$.balance has more decimals than JPY has (0)",
    )
    expect(Either.isRight(read(Account.decoder, { ...account, balance: "1.000" }))).toBe(true)
  })
})

describe("A reference item", () => {
  it("is kept whole", () => {
    const item = { pairId: id(4).toUpperCase(), pair: "USD-USDT" }
    expect(Either.getOrThrow(read(ReferenceItem.conversionPair, item))).toEqual({
      id: id(4),
      label: Option.some("USD-USDT"),
      raw: JSON.stringify(item),
    })
  })

  it("[B] that no database of JSON could keep is malformed", () => {
    const text = `{"pairId":"${id(4)}","x":1e999999}`
    const row = decode(ReferenceItem.conversionPair, JSON.parse(text), () => text, {
      text,
      suspect: false,
      replaced: false,
    })
    expect(refusal(row)).toBe("$ holds a number that no database could keep")
  })
})
