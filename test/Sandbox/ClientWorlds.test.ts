import { describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { Client, FlatConversion, FlatDeposit } from "./FlatReader.ts"
import { Account, connect, Entry } from "./Reader.ts"

const post = (sandbox: Sandbox, path: string) => fetch(`${sandbox.origin}${path}`, { method: "POST" })

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
