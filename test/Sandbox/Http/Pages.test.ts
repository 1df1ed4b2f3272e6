import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import { Account, connect, Deposit, Destination, Entry, Page, Withdrawal } from "../Reader.ts"

describe("the lists of the sandbox", () => {
  let sandbox: Sandbox
  let client: Awaited<ReturnType<typeof connect>>
  let statement: string
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 1500 })
    client = await connect(sandbox)
    const [account] = await client.all(Account, "/accounts")
    statement = `/accounts/${account?.accountId}/statement`
  })
  afterAll(() => sandbox.close())

  it.each([1, 7, 100, 1000])("give everything exactly once in pages of %i", async (size) => {
    const entries = await client.all(Entry, statement)
    expect(entries.length).toBeGreaterThan(100)
    expect(await client.all(Entry, statement, size)).toEqual(entries)
    const deposits = await client.all(Deposit, "/deposits", Math.max(size, 7))
    expect(deposits).toEqual(await client.all(Deposit, "/deposits"))
    expect(new Set(deposits.map(({ depositId }) => depositId)).size).toBe(deposits.length)
    const withdrawals = await client.all(Withdrawal, "/withdrawals", Math.max(size, 7))
    expect(withdrawals).toEqual(await client.all(Withdrawal, "/withdrawals"))
    expect(await client.all(Account, "/accounts", size)).toEqual(await client.all(Account, "/accounts"))
  })

  it("hold 100 items to a page unless told otherwise, and 1000 at most", async () => {
    const size = async (query: string) => (await client.one(Page, `/deposits${query}`)).items.length
    expect([await size(""), await size("?first=3")]).toEqual([100, 3])
    const big = await startSandbox({ entries: 3000 })
    const other = await connect(big)
    expect((await other.one(Page, "/deposits?first=5000")).items.length).toBe(1000)
    await big.close()
  })

  it("give an end cursor with the last page too, and an empty page after it", async () => {
    const last = await client.one(Page, `${statement}?first=1000`)
    expect(last.pageInfo).toEqual({ hasNextPage: false, endCursor: expect.any(String) })
    const beyond = await client.get(`${statement}?after=${last.pageInfo.endCursor}`)
    expect(await beyond.json()).toEqual({ items: [], pageInfo: { hasNextPage: false } })
  })

  it("refuse a cursor that is not theirs and a size that is none", async () => {
    const { pageInfo } = await client.one(Page, "/deposits?first=1")
    for (const query of [
      `after=${pageInfo.endCursor}`,
      "after=xyz",
      "after=",
      "first=0",
      "first=-1",
      "first=a",
    ]) {
      expect((await client.get(`/withdrawals?${query}`)).status, query).toBe(400)
    }
  })

  it("show the same item by id", async () => {
    const [deposit] = await client.all(Deposit, "/deposits")
    const [withdrawal] = await client.all(Withdrawal, "/withdrawals")
    const [account] = await client.all(Account, "/accounts")
    expect(await client.one(Deposit, `/deposits/${deposit?.depositId}`)).toEqual(deposit)
    expect(await client.one(Withdrawal, `/withdrawals/${withdrawal?.withdrawalId}`)).toEqual(withdrawal)
    expect(await client.one(Account, `/accounts/${account?.accountId}`)).toEqual(account)
  })

  it("answer 404 in JSON to an unknown id, an id of another kind and an unknown path", async () => {
    const [deposit] = await client.all(Deposit, "/deposits")
    const unknown = "00000000-0000-4000-8000-000000000000"
    const paths = [
      `/deposits/${unknown}`,
      `/accounts/${unknown}`,
      `/accounts/${unknown}/statement`,
      `/conversions/${deposit?.depositId}`,
      `/withdrawals/${deposit?.depositId}`,
      "/deposits/not-an-id",
      "/payouts",
    ]
    for (const path of paths) {
      const answer = await client.get(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.json()).toMatchObject({ error: "not_found" })
    }
    expect((await fetch(`${sandbox.url}/accounts`, { method: "POST" })).status).toBe(405)
  })

  it("name every address book entry, in all of its states, that withdrawals go to", async () => {
    const destinations = await client.all(Destination, "/destinations")
    const ids = new Set(destinations.map(({ destinationId }) => destinationId))
    expect(ids.size).toBe(48)
    expect(new Set(destinations.map(({ status }) => status)).size).toBe(4)
    for (const { destination, sourceAccount } of await client.all(Withdrawal, "/withdrawals")) {
      if (destination.destinationId === undefined) continue
      expect(ids.has(destination.destinationId)).toBe(true)
      expect(destination.currency).toBe(sourceAccount.currency)
    }
    expect((await client.one(Page, "/webhooks/subscriptions")).items.length).toBe(2)
  })

  it("tell how to pay into every account, with valid creditor references", async () => {
    const references: Array<string> = []
    for (const { accountId, currency } of await client.all(Account, "/accounts")) {
      const text = await (await client.get(`/accounts/${accountId}/deposit-instructions`)).text()
      expect(text.includes("walletAddress")).toBe(currency === "USDT" || currency === "USDC")
      const reference = /"reference":"([^"]+)"/.exec(text)?.[1]
      if (reference !== undefined) references.push(reference)
    }
    expect(references.length).toBeGreaterThan(0)
    for (const reference of references) {
      expect(reference).toMatch(/^RF\d\d [A-Z0-9]{4}( [A-Z0-9]{1,4})*$/)
      const plain = reference.replaceAll(" ", "")
      const digits = [...plain.slice(4), ...plain.slice(0, 4)]
        .map((sign) => Number.parseInt(sign, 36))
        .join("")
      expect(BigInt(digits) % 97n).toBe(1n)
    }
  })
})
