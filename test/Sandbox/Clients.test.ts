import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import {
  Client,
  FlatConversion,
  FlatDeposit,
  FlatDestination,
  FlatInstruction,
  FlatWithdrawal,
} from "./FlatReader.ts"
import { Account, connect, Entry, exact, Pair } from "./Reader.ts"

type Reader = Awaited<ReturnType<typeof connect>>

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

const post = (sandbox: Sandbox, path: string) => fetch(`${sandbox.origin}${path}`, { method: "POST" })

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

describe("clients of a sandbox", () => {
  it("are the same whichever is looked at first, and others for another seed", async () => {
    const bytes = async (order: ReadonlyArray<number>, seed = 1) => {
      const sandbox = await startSandbox({ seed, entries: 10, clients: 4 })
      const client = await connect(sandbox)
      const clients = await client.all(Client, "/clients")
      const texts = new Map<number, string>()
      for (const index of order) {
        const at = `/clients/${clients[index]?.clientId}`
        const [account] = await client.all(Account, `${at}/accounts`)
        texts.set(index, await (await client.get(`${at}/accounts/${account?.accountId}/statement`)).text())
      }
      await sandbox.close()
      return [JSON.stringify(clients), ...order.map((index) => texts.get(index) ?? "").sort()].join("\n")
    }
    const first = await bytes([0, 1, 2, 3])
    expect(await bytes([3, 1, 0, 2])).toBe(first)
    expect(await bytes([0, 1, 2, 3], 2)).not.toBe(first)
  })

  it("advance alone, and only while they are active", async () => {
    const sandbox = await startSandbox({ entries: 50, clients: 10, accountsPerClient: 2 })
    const client = await connect(sandbox)
    const [organization, first, second] = [
      await client.state(),
      await client.state("?client=0"),
      await client.state("?client=1"),
    ]
    expect([organization.clients, first.entries, first.accounts.length]).toEqual([10, 40, 2])
    expect((await post(sandbox, "/control/advance?movements=20&client=1")).status).toBe(200)
    sandbox.advance(5, 1)
    expect((await client.state()).entries).toBe(organization.entries)
    expect((await client.state("?client=0")).entries).toBe(first.entries)
    expect((await client.state("?client=1")).movements).toBe(second.movements + 25)
    expect((await client.state("?client=1")).entries).toBeGreaterThan(second.entries + 15)
    for (const wrong of ["6", "10", "-1", "x", ""]) {
      expect((await post(sandbox, `/control/advance?movements=1&client=${wrong}`)).status, wrong).toBe(400)
      expect((await fetch(`${sandbox.origin}/control/state?client=${wrong}`)).status, wrong).toBe(400)
    }
    await sandbox.close()
  })

  it("have lists, and other paths, where the wire says so", async () => {
    const clientPaths = {
      prefix: "/represented/{clientId}/own",
      deposits: "/deposits",
      conversions: "/fx",
      statement: "/ledger/{accountId}",
      destinations: null,
    }
    const sandbox = await startSandbox({ entries: 50, clients: 1, wire: { clientPaths } })
    const client = await connect(sandbox)
    const [only] = await client.all(Client, "/clients")
    const at = `/represented/${only?.clientId}/own`
    const deposits = await client.all(FlatDeposit, `${at}/deposits`, 3)
    expect(new Set(deposits.map(({ depositId }) => depositId)).size).toBe(deposits.length)
    const state = await client.state("?client=0")
    expect([deposits.length, (await client.all(FlatConversion, `${at}/fx`)).length]).toEqual([
      state.deposits,
      state.conversions,
    ])
    const [account] = await client.all(Account, `${at}/accounts`)
    expect((await client.all(Entry, `${at}/ledger/${account?.accountId}`)).length).toBeGreaterThan(5)
    expect((await client.get(`${at}/destinations`)).status).toBe(404)
    expect((await client.get(`/clients/${only?.clientId}/accounts`)).status).toBe(404)
    await sandbox.close()
  })
})
