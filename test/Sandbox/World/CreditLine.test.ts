import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import { Client } from "../FlatReader.ts"
import { Currency, connect, Decimal, exact, optional, type Reader, Time, Uuid } from "../Reader.ts"

const TransactionRef = Schema.Struct({ txId: Schema.String, txTimestamp: Time })
const Receivable = Schema.Struct({
  receivableId: Uuid,
  clientId: Uuid,
  issueDate: Time,
  initialPrincipal: Decimal,
  currentPrincipal: Decimal,
  repaymentAmount: Decimal,
  currency: Currency,
  status: Schema.Literal("PENDING", "ACTIVE", "PAID", "CANCELED"),
  paymentTransaction: TransactionRef,
  disbursedTransaction: optional(TransactionRef),
  repaymentTransactions: optional(Schema.Array(TransactionRef)),
  paymentRails: Schema.String,
})
const CreditAccount = Schema.Struct({
  creditAccountId: Uuid,
  currency: Currency,
  creditLimit: Decimal,
  availableBalance: Decimal,
  balance: optional(Decimal),
  principalOutstanding: Decimal,
  totalRepaymentAmount: Decimal,
  totalInterestAmount: Decimal,
  status: Schema.Literal("PENDING", "ACTIVE", "DISABLED"),
  paymentRails: Schema.String,
})
const Rails = Schema.Struct({
  code: Schema.String,
  description: Schema.String,
  currencies: Schema.Array(Currency),
})

/** Proves that the credit accounts follow from the active receivables. */
const prove = async (client: Reader) => {
  const receivables = await client.all(Receivable, "/receivables", 7)
  const accounts = await client.all(CreditAccount, "/credit-accounts", 3)
  const keyOf = (of: { readonly currency: string; readonly paymentRails: string }) =>
    `${of.currency} ${of.paymentRails}`
  expect(new Set(accounts.map(keyOf)).size).toBe(accounts.length)
  for (const receivable of receivables) {
    expect(accounts.map(keyOf)).toContain(keyOf(receivable))
    expect(exact(receivable.repaymentAmount)).toBeGreaterThanOrEqual(exact(receivable.currentPrincipal))
  }
  for (const account of accounts) {
    const active = receivables.filter((of) => keyOf(of) === keyOf(account) && of.status === "ACTIVE")
    const sum = (amounts: ReadonlyArray<string>) => amounts.reduce((total, text) => total + exact(text), 0n)
    const principal = sum(active.map(({ currentPrincipal }) => currentPrincipal))
    const total = sum(active.map(({ repaymentAmount }) => repaymentAmount))
    expect(exact(account.principalOutstanding)).toBe(principal)
    expect(exact(account.totalRepaymentAmount)).toBe(total)
    expect(exact(account.totalInterestAmount)).toBe(total - principal)
    expect(exact(account.creditLimit) - exact(account.availableBalance)).toBe(principal)
  }
  return { receivables, accounts }
}

describe("the credit surface of the sandbox", () => {
  let sandbox: Sandbox
  let client: Reader
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 20, clients: 30, receivables: 60 })
    client = await connect(sandbox)
  })
  afterAll(() => sandbox.close())

  it("lists receivables of all statuses, and credit accounts that follow from them", async () => {
    const { receivables, accounts } = await prove(client)
    expect(receivables.length).toBe(60)
    expect((await client.state()).receivables).toBe(60)
    expect(new Set(receivables.map(({ receivableId }) => receivableId)).size).toBe(60)
    expect(new Set(receivables.map(({ status }) => status)).size).toBe(4)
    expect(new Set(accounts.map(({ status }) => status)).size).toBe(3)
    expect(accounts.filter(({ balance }) => balance === undefined).length).toBe(1)
    expect(receivables.map(({ issueDate }) => issueDate)).toEqual(
      receivables.map(({ issueDate }) => issueDate).sort(),
    )
    const partial = receivables.filter(
      ({ status, repaymentTransactions }) => status === "ACTIVE" && repaymentTransactions !== undefined,
    )
    expect(partial.length).toBeGreaterThan(5)
    for (const { status, currentPrincipal, repaymentAmount, disbursedTransaction } of receivables) {
      expect(disbursedTransaction !== undefined).toBe(status === "ACTIVE" || status === "PAID")
      if (status === "PAID" || status === "CANCELED") {
        expect([exact(currentPrincipal), exact(repaymentAmount)]).toEqual([0n, 0n])
      }
    }
  })

  it("funds clients whose onboarding is done, in their currency and on their rail", async () => {
    const clients = new Map((await client.all(Client, "/clients")).map((of) => [of.clientId, of]))
    const { receivables } = await prove(client)
    for (const { clientId, currency, paymentRails } of receivables) {
      const of = clients.get(clientId)
      expect(of?.status).not.toBe("ONBOARDING")
      expect([currency, paymentRails]).toEqual([of?.currency, of?.paymentRails])
    }
  })

  it("names the payment rails and their currencies", async () => {
    const rails = await client.all(Rails, "/settings/payment-rails", 2)
    const { receivables, accounts } = await prove(client)
    for (const { currency, paymentRails } of [...receivables, ...accounts]) {
      expect(rails.find(({ code }) => code === paymentRails)?.currencies).toContain(currency)
    }
  })
})

describe("receivables of the sandbox", () => {
  let sandbox: Sandbox
  let client: Reader
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 20, receivables: 8 })
    client = await connect(sandbox)
  })
  afterAll(() => sandbox.close())

  const change = async (query: string) => {
    const answer = await fetch(`${sandbox.origin}/control/receivables?${query}`, { method: "POST" })
    expect(answer.headers.get("date")).not.toBeNull()
    return { status: answer.status, body: await answer.json() }
  }
  const receivable = async (index: number) => {
    const found = (await client.all(Receivable, "/receivables"))[index]
    if (found === undefined) throw new Error(`no receivable ${index}`)
    return found
  }
  const minus = (amount: string, less: bigint) => exact(amount) - less

  it("are disbursed, accrue, are repaid in parts and in full", async () => {
    const before = await receivable(2)
    expect([before.status, before.disbursedTransaction]).toEqual(["PENDING", undefined])
    const disbursed = await change("index=2&to=ACTIVE&tx=PAY-1")
    expect(disbursed.status).toBe(200)
    const active = await receivable(2)
    expect(disbursed.body).toEqual(active)
    expect([active.status, active.disbursedTransaction?.txId]).toEqual(["ACTIVE", "PAY-1"])
    expect((await change("index=2&accrue=12.34")).status).toBe(200)
    const accrued = await receivable(2)
    expect(exact(accrued.repaymentAmount)).toBe(minus(active.repaymentAmount, -1_234_000_000n))
    expect(accrued.currentPrincipal).toBe(active.currentPrincipal)
    expect((await change("index=2&repay=100.10&interest=10&tx=BACK-1&at=2026-11-05T10:00:00Z")).status).toBe(
      200,
    )
    const partly = await receivable(2)
    expect(exact(partly.currentPrincipal)).toBe(minus(active.currentPrincipal, 9_010_000_000n))
    expect(exact(partly.repaymentAmount)).toBe(minus(accrued.repaymentAmount, 10_010_000_000n))
    expect([partly.status, partly.repaymentTransactions]).toEqual([
      "ACTIVE",
      [{ txId: "BACK-1", txTimestamp: "2026-11-05T10:00:00.000Z" }],
    ])
    await prove(client)
    expect((await change("index=2&to=PAID")).status).toBe(200)
    const paid = await receivable(2)
    expect([paid.status, exact(paid.currentPrincipal), exact(paid.repaymentAmount)]).toEqual(["PAID", 0n, 0n])
    expect(paid.repaymentTransactions?.length).toBe(2)
    expect(paid.initialPrincipal).toBe(before.initialPrincipal)
    await prove(client)
  })

  it("are paid once nothing is left, or are canceled", async () => {
    const before = await receivable(0)
    const interest = exact(before.repaymentAmount) - exact(before.currentPrincipal)
    const all = `repay=${before.repaymentAmount}&interest=${interest / 100_000_000n}.${String(
      interest % 100_000_000n,
    )
      .padStart(8, "0")
      .slice(0, before.currency === "JPY" ? 0 : 2)}`.replace(/\.$/, "")
    expect((await change(`index=0&${all}`)).status).toBe(200)
    expect((await receivable(0)).status).toBe("PAID")
    expect((await change("index=3&to=CANCELED")).status).toBe(200)
    expect((await receivable(3)).status).toBe("CANCELED")
    await prove(client)
  })

  it("come anew", async () => {
    const { status, body } = await change("add=2")
    expect(status).toBe(200)
    const all = await client.all(Receivable, "/receivables")
    expect([all.length, all.slice(-2).map((of) => of.status)]).toEqual([10, ["PENDING", "PENDING"]])
    expect(body).toEqual(all.slice(-2))
    expect((await change("index=9&to=CANCELED")).status).toBe(200)
    await prove(client)
  })

  it("refuse what cannot happen, and stay as they are", async () => {
    const before = await client.all(Receivable, "/receivables")
    for (const query of [
      "index=1&to=ACTIVE",
      "index=1&repay=1",
      "index=4&repay=1&interest=2",
      "index=4&repay=9999999999",
      "index=4&repay=1.234",
      "index=4&accrue=-1",
      "index=4&accrue=1&to=NOWHERE",
      "index=4&accrue=1&at=never",
      "index=4&accrue=1&to=ACTIVE",
      "index=4",
    ]) {
      expect((await change(query)).status, query).toBe(409)
    }
    for (const query of ["", "index=99", "index=x", "add=0"]) {
      expect((await change(query)).status, query).toBe(400)
    }
    expect(await client.all(Receivable, "/receivables")).toEqual(before)
  })
})
