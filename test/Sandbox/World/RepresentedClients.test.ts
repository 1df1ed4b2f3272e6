import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import {
  Client,
  FlatConversion,
  FlatDeposit,
  FlatDestination,
  FlatInstruction,
  FlatWithdrawal,
} from "../FlatReader.ts"
import { Account, connect, Entry, exact, Pair, type Reader } from "../Reader.ts"

/** All that an active client has, as far as its surface leads there. */
const read = async (client: Reader, clientId: string) => {
  const at = `/clients/${clientId}`
  const accounts = await client.all(Account, `${at}/accounts`)
  const statements = new Map<string, ReadonlyArray<typeof Entry.Type>>()
  for (const { accountId } of accounts) {
    statements.set(accountId, await client.all(Entry, `${at}/accounts/${accountId}/statement`, 17))
  }
  const entries = [...statements.values()].flat()
  const named = (type: string) => [
    ...new Set(
      entries.flatMap((entry) =>
        entry.relatedResourceType === type && entry.relatedResourceId !== undefined
          ? [entry.relatedResourceId]
          : [],
      ),
    ),
  ]
  const deposits: Array<typeof FlatDeposit.Type> = []
  for (const id of named("DEPOSIT")) deposits.push(await client.one(FlatDeposit, `${at}/deposits/${id}`))
  const withdrawals: Array<typeof FlatWithdrawal.Type> = []
  for (const id of named("WITHDRAWAL")) {
    withdrawals.push(await client.one(FlatWithdrawal, `${at}/withdrawals/${id}`))
  }
  const conversions: Array<typeof FlatConversion.Type> = []
  for (const id of named("CONVERSION")) {
    conversions.push(await client.one(FlatConversion, `${at}/conversions/${id}`))
  }
  return { accounts, statements, entries, deposits, withdrawals, conversions }
}

describe("the clients of the sandbox", () => {
  let sandbox: Sandbox
  let client: Reader
  let clients: ReadonlyArray<typeof Client.Type>
  let books: ReadonlyArray<Awaited<ReturnType<typeof read>>>
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 20, clients: 20, clientEntries: 1003 })
    client = await connect(sandbox)
    clients = await client.all(Client, "/clients", 7)
    const active = clients.filter(({ status }) => status === "ACTIVE")
    const made: Array<Awaited<ReturnType<typeof read>>> = []
    for (const { clientId } of active) made.push(await read(client, clientId))
    books = made
  })
  afterAll(() => sandbox.close())

  it("are listed, one in ten of them not active", () => {
    expect(clients.length).toBe(20)
    for (const of of [(c: typeof Client.Type) => c.clientId, (c: typeof Client.Type) => c.code]) {
      expect(new Set(clients.map(of)).size).toBe(20)
    }
    expect(clients.filter(({ status }) => status !== "ACTIVE").map(({ status }) => status)).toEqual([
      "ONBOARDING",
      "DISABLED",
    ])
    for (const { legalAddress } of clients) {
      if (legalAddress.country === "US" || legalAddress.country === "CA") {
        expect(legalAddress.district).toMatch(/^[A-Z]{2}$/)
      }
    }
  })

  it("have exactly the entries asked for together, each with its own id", () => {
    const entries = books.flatMap((book) => book.entries)
    expect(entries.length).toBe(1003)
    expect(new Set(entries.map(({ entryId }) => entryId)).size).toBe(1003)
    const sizes = books.map((book) => book.entries.length)
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(2)
    expect(books.every(({ accounts }) => accounts.length === 4)).toBe(true)
    expect(new Set(books.flatMap(({ accounts }) => accounts.map(({ accountId }) => accountId))).size).toBe(72)
    expect(entries.some(({ relatedResourceType }) => relatedResourceType === "PAYOUT")).toBe(false)
  })

  it("continue the running balance entry by entry to the account's", () => {
    for (const { accounts, statements } of books) {
      for (const { accountId, balance } of accounts) {
        let running: bigint | undefined
        for (const entry of statements.get(accountId) ?? []) {
          const signed = entry.type === "CREDIT" ? exact(entry.amount) : -exact(entry.amount)
          const after = exact(entry.balanceAfter)
          if (running !== undefined) expect(after - signed).toBe(running)
          running = after
        }
        expect(exact(balance)).toBe(running ?? 0n)
      }
    }
  })

  it("have the same kinds of movement as the organization", () => {
    const kinds = new Set<string>()
    for (const { entries, deposits, withdrawals } of books) {
      const signed = (id: string) =>
        entries
          .filter((entry) => entry.relatedResourceId === id)
          .reduce((sum, { type, amount }) => sum + (type === "CREDIT" ? exact(amount) : -exact(amount)), 0n)
      for (const { depositId, amount, feeAmount } of deposits) {
        const count = entries.filter(({ relatedResourceId }) => relatedResourceId === depositId).length
        const net = signed(depositId)
        if (net === exact(amount)) kinds.add("deposit without fee")
        else if (net === exact(amount) - exact(feeAmount ?? "0")) kinds.add(`deposit less fee ${count}`)
        else kinds.add("deposit?")
      }
      for (const { withdrawalId, amount, feeAmount, status } of withdrawals) {
        const net = -signed(withdrawalId)
        const fee = exact(feeAmount ?? "0")
        if (net === exact(amount)) kinds.add(fee === 0n ? "withdrawal without fee" : "withdrawal, fee inside")
        else if (net === exact(amount) + fee) kinds.add("withdrawal, fee on top")
        else if (net <= fee) kinds.add("withdrawal returned")
        else kinds.add(`withdrawal? ${status}`)
      }
    }
    for (const kind of [
      "deposit without fee",
      "deposit less fee 1",
      "deposit less fee 2",
      "withdrawal without fee",
      "withdrawal, fee inside",
      "withdrawal, fee on top",
      "withdrawal returned",
    ]) {
      expect(kinds, kind).toContain(kind)
    }
    expect(kinds).not.toContain("deposit?")
    const openings = books.flatMap(({ statements }) =>
      [...statements.values()].flatMap(([first]) =>
        first === undefined || first.type !== "CREDIT"
          ? []
          : [exact(first.balanceAfter) - exact(first.amount)],
      ),
    )
    expect(openings.some((opening) => opening > 0n)).toBe(true)
    const adjustments = books.flatMap(({ entries }) =>
      entries.filter(({ relatedResourceType }) => relatedResourceType === undefined),
    )
    expect(adjustments.length).toBeGreaterThan(3)
  })

  it("convert by the documented fee rule", () => {
    const conversions = books.flatMap((book) => book.conversions)
    expect(conversions.length).toBeGreaterThan(20)
    for (const { sellAccount, sellAmount, buyAmount, rate, feeAmount, feeCurrency } of conversions) {
      const digital = sellAccount.currency.startsWith("USD") && sellAccount.currency !== "USD"
      const [sell, buy, fee] = [sellAmount, buyAmount, feeAmount].map(Number)
      const expected = digital
        ? (sell ?? 0) * Number(rate) - (fee ?? 0)
        : ((sell ?? 0) - (fee ?? 0)) * Number(rate)
      expect(Math.abs((buy ?? 0) - expected)).toBeLessThan(0.011)
      expect(["USD", "EUR", "GBP", "JPY"]).toContain(feeCurrency)
    }
  })

  it("show instructions with a reference, flat address book entries and pairs", async () => {
    const [first] = clients
    const at = `/clients/${first?.clientId}`
    for (const { accountId } of books[0]?.accounts ?? []) {
      await client.one(FlatInstruction, `${at}/accounts/${accountId}/deposit-instructions`)
      await client.one(Account, `${at}/accounts/${accountId}`)
    }
    expect((await client.all(FlatDestination, `${at}/destinations`, 3)).length).toBe(16)
    expect((await client.all(Pair, `${at}/conversion-pairs`)).length).toBe(8)
  })

  it("have no lists of deposits, withdrawals and conversions, and nothing of each other or the organization", async () => {
    const [first, second] = clients
    const at = `/clients/${first?.clientId}`
    const other = books[1]?.deposits[0]?.depositId
    for (const path of [
      `${at}/deposits`,
      `${at}/withdrawals`,
      `${at}/conversions`,
      `${at}/webhooks/subscriptions`,
      `${at}`,
      `${at}/`,
      `${at}/deposits/${other}`,
      `/deposits/${other}`,
      `/clients/${other}/accounts`,
      "/clients/x/accounts",
    ]) {
      expect((await client.get(path)).status, path).toBe(404)
    }
    expect((await client.get(`/clients/${second?.clientId}/deposits/${other}`)).status).toBe(200)
    expect((await fetch(`${sandbox.url}${at}/accounts`)).status).toBe(401)
  })

  it("answer 403 in JSON while they are not active", async () => {
    for (const { clientId, status } of clients) {
      if (status === "ACTIVE") continue
      for (const path of ["accounts", "destinations"]) {
        const answer = await client.get(`/clients/${clientId}/${path}`)
        expect([answer.status, await answer.json()]).toEqual([
          403,
          { error: "client_not_active", message: `the client ${clientId} is ${status}` },
        ])
      }
    }
  })
})
