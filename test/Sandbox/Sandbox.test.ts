import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { defaultWire } from "../../src/Sandbox/Http/Wire.ts"
import { SandboxError, type SandboxOptions } from "../../src/Sandbox/SandboxOptions.ts"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { Account, byResource, connect, Entry, exact } from "./Reader.ts"

const within = async <A>(options: SandboxOptions, use: (sandbox: Sandbox) => Promise<A>): Promise<A> => {
  const sandbox = await startSandbox(options)
  try {
    return await use(sandbox)
  } finally {
    await sandbox.close()
  }
}

const decodeTenths = Schema.decodeUnknownSync(Schema.Struct({ tenths: Schema.Array(Schema.Int) }))

/** All bytes that a sandbox serves without a cursor, in a fixed order. */
const bytesOf = async (sandbox: Sandbox): Promise<string> => {
  const client = await connect(sandbox)
  const text = async (path: string) => (await client.get(path)).text()
  const accounts = await client.all(Account, "/accounts")
  const paths = ["/accounts", "/deposits", "/withdrawals", "/conversion-pairs", "/destinations"]
  for (const { accountId } of accounts) {
    paths.push(`/accounts/${accountId}/statement`, `/accounts/${accountId}/deposit-instructions`)
  }
  for (const id of (await client.state()).conversionIds) paths.push(`/conversions/${id}`)
  const bodies: Array<string> = []
  for (const path of paths) bodies.push(await text(`${path}?first=1000`))
  return bodies.join("\n")
}

const advance = async (sandbox: Sandbox, movements: string) =>
  fetch(`${sandbox.origin}/control/advance?movements=${movements}`, { method: "POST" })

describe("the sandbox", () => {
  it("serves the same bytes for the same options, and others for another seed", async () => {
    const first = await within({ entries: 700 }, bytesOf)
    expect(await within({ entries: 700 }, bytesOf)).toBe(first)
    const other = await within({ entries: 700, seed: 2 }, bytesOf)
    expect(other).not.toBe(first)
    const ids = (text: string) => new Set(text.match(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}/g))
    const others = ids(other)
    expect([...ids(first)].filter((id) => others.has(id))).toEqual([])
  })

  it.each([
    { accounts: 1, entries: 40 },
    { accounts: 2, entries: 333 },
    { accounts: 6, entries: 1 },
    { accounts: 7, entries: 0 },
    { accounts: 40, entries: 1501, from: "2026-02-28", to: "2026-02-28", seed: 99 },
  ])("makes exactly the entries asked for: %o", async (options) => {
    await within(options, async (sandbox) => {
      const client = await connect(sandbox)
      const { statements, accounts } = await client.everything()
      expect([...statements.values()].flat().length).toBe(options.entries)
      expect(accounts.length).toBe(options.accounts)
      const days = new Set([...statements.values()].flat().map(({ occurredAt }) => occurredAt.slice(0, 10)))
      if (options.from !== undefined) expect([...days]).toEqual([options.from])
    })
  })

  it("advances: statements only grow, later dates follow, open movements come to an end", async () => {
    await within({}, async (sandbox) => {
      const client = await connect(sandbox)
      const before = await client.everything()
      const answer = await advance(sandbox, "300")
      expect(answer.status).toBe(200)
      const after = await client.everything()
      let grown = 0
      for (const { accountId, balance } of after.accounts) {
        const old = before.statements.get(accountId) ?? []
        const now = after.statements.get(accountId) ?? []
        expect(now.slice(0, old.length)).toEqual(old)
        for (const [index, entry] of now.entries()) {
          if (index < old.length || index === 0) continue
          expect(entry.occurredAt >= (now[index - 1]?.occurredAt ?? "")).toBe(true)
          const signed = entry.type === "CREDIT" ? exact(entry.amount) : -exact(entry.amount)
          expect(exact(entry.balanceAfter)).toBe(exact(now[index - 1]?.balanceAfter ?? "0") + signed)
        }
        if (now.length > 0) expect(now.at(-1)?.balanceAfter).toBe(balance)
        grown += now.length - old.length
      }
      expect(await answer.json()).toEqual({ movements: 300, entries: grown })
      expect(grown).toBeGreaterThan(250)
      const states = (items: ReadonlyArray<{ readonly status: string }>) =>
        new Set(items.map(({ status }, index) => `${status} ${after.deposits[index]?.status}`))
      expect(states(before.deposits)).toContain("PENDING COMPLETED")
      const moved = before.withdrawals.filter(
        ({ status }, index) => status !== after.withdrawals[index]?.status,
      )
      expect(moved.length).toBeGreaterThan(3)
      for (const { status } of moved) expect(["PENDING_CONFIRMATION", "PENDING", "HELD"]).toContain(status)
      const active = before.conversions.filter(({ status }) => status === "ACTIVE")
      expect(active.length).toBeGreaterThan(0)
      for (const { conversionId } of active) {
        const now = after.conversions.find((conversion) => conversion.conversionId === conversionId)
        expect(["COMPLETED", "CANCELED"]).toContain(now?.status)
      }
      const groups = byResource(after.statements)
      const news = after.deposits.slice(before.deposits.length)
      expect(news.length).toBeGreaterThan(100)
      expect(news.some(({ depositId }) => groups.get(depositId)?.length === 2)).toBe(true)
      expect(after.withdrawals.length - before.withdrawals.length).toBeGreaterThan(50)
      expect(after.conversions.length - before.conversions.length).toBeGreaterThan(20)
    })
  })

  it("posts late what happened days ago, in its place in the statement", async () => {
    await within({ entries: 300, from: "2026-10-01", to: "2026-10-31" }, async (sandbox) => {
      const client = await connect(sandbox)
      const before = await client.everything()
      expect((await advance(sandbox, "20&late=30")).status).toBe(200)
      const late = await client.everything()
      await advance(sandbox, "20")
      const after = await client.everything()
      const added = (now: typeof before, then: typeof before) =>
        [...now.statements].flatMap(([id, entries]) => entries.slice(then.statements.get(id)?.length ?? 0))
      expect(added(late, before).length).toBeGreaterThan(15)
      for (const { occurredAt } of added(late, before)) expect(occurredAt < "2026-10-05").toBe(true)
      for (const { occurredAt } of added(after, late)) expect(occurredAt > "2026-10-30").toBe(true)
      for (const wrong of ["-1", "x", "1000"]) {
        expect((await advance(sandbox, `1&late=${wrong}`)).status, wrong).toBe(400)
      }
    })
  })

  it("advances to the same state in one step or in several, in process or over HTTP", async () => {
    const once = await within({ entries: 300 }, async (sandbox) => {
      sandbox.advance(50)
      return bytesOf(sandbox)
    })
    const often = await within({ entries: 300 }, async (sandbox) => {
      for (const movements of ["20", "1", "29"]) await advance(sandbox, movements)
      return bytesOf(sandbox)
    })
    expect(often).toBe(once)
  })

  it("refuses to advance by nonsense", async () => {
    await within({ entries: 10 }, async (sandbox) => {
      for (const movements of ["", "0", "-1", "1.5", "x"]) {
        expect((await advance(sandbox, movements)).status, movements).toBe(400)
      }
      expect((await fetch(`${sandbox.origin}/control/advance?movements=1`)).status).toBe(405)
    })
  })

  it("counts requests by endpoint and answers by status, until told to start over", async () => {
    await within({ entries: 100 }, async (sandbox) => {
      const client = await connect(sandbox)
      await client.get("/accounts")
      await client.get("/deposits")
      await client.get("/deposits")
      await client.get("/deposits/unknown")
      const state = await client.state()
      expect(state.requests).toEqual({ token: 1, accounts: 1, deposits: 2, deposit: 1 })
      expect(state.answers).toEqual({ 200: 4, 404: 1 })
      const came = async () => {
        const answer: unknown = await (await fetch(`${sandbox.origin}/control/requests`)).json()
        return decodeTenths(answer).tenths.reduce((sum, tenth) => sum + tenth, 0)
      }
      expect(await came()).toBe(5)
      await fetch(`${sandbox.origin}/control/reset-counters`, { method: "POST" })
      expect((await client.state()).requests).toEqual({})
      expect(await came()).toBe(0)
    })
  })

  it("takes as long over each answer as it is told", async () => {
    await within({ entries: 10, latency: 150 }, async (sandbox) => {
      const client = await connect(sandbox)
      const asked = performance.now()
      expect((await client.get("/accounts")).status).toBe(200)
      // A timer may be early by its own grain.
      expect(performance.now() - asked).toBeGreaterThan(145)
    })
  })

  it("serves other names and paths when its wire says so", async () => {
    const wire = {
      basePath: "/v9",
      cursorParam: "cursor",
      sizeParam: "limit",
      itemsField: "data.rows",
      pageInfoField: "data.page",
      amountField: "value",
      currencyField: "ccy",
      paths: { ...defaultWire.paths, statement: "/ledger/{accountId}/movements", deposits: "/incoming" },
    }
    await within({ entries: 60, wire }, async (sandbox) => {
      expect(sandbox.url.endsWith("/v9")).toBe(true)
      const client = await connect(sandbox)
      const Renamed = Schema.Struct({
        data: Schema.Struct({
          rows: Schema.Array(Schema.Unknown),
          page: Schema.Struct({ hasNextPage: Schema.Boolean, endCursor: Schema.String }),
        }),
      })
      const first = await client.one(Renamed, "/incoming?limit=2")
      expect(first.data.rows[0]).toMatchObject({
        amount: { value: expect.any(String), ccy: expect.any(String) },
      })
      const next = await client.one(Renamed, `/incoming?limit=1&cursor=${first.data.page.endCursor}`)
      const three = await client.one(Renamed, "/incoming?limit=3")
      expect(three.data.rows).toEqual([...first.data.rows, ...next.data.rows])
      const accounts = await client.one(Renamed, "/accounts")
      const account = Schema.decodeUnknownSync(Account)(accounts.data.rows[0])
      const statement = await client.one(Renamed, `/ledger/${account.accountId}/movements?limit=1`)
      expect(Schema.is(Entry)(statement.data.rows[0])).toBe(true)
      expect((await client.get("/deposits")).status).toBe(404)
    })
  })

  it("names all bad options at once", async () => {
    const bad = {
      port: 70_000,
      seed: -1,
      accounts: 0,
      entries: 1.5,
      from: "2026-02-30",
      expiresIn: 0,
      clientId: "",
    }
    const error = await startSandbox(bad).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(SandboxError)
    expect(error).toMatchObject({
      reason: "Options",
      problems: [
        'from: found "2026-02-30", expected a calendar date as YYYY-MM-DD',
        "seed: found -1, expected a whole number from 0 to 4294967295",
        "accounts: found 0, expected a whole number from 1 to 100000",
        "entries: found 1.5, expected a whole number from 0 to 20000000",
        "port: found 70000, expected a whole number from 0 to 65535",
        "clientId: found an empty text, expected at least one character",
        "expiresIn: found 0, expected a whole number from 1 to 31536000",
      ],
    })
    const reversed = startSandbox({ from: "2026-10-02", to: "2026-10-01" })
    await expect(reversed).rejects.toMatchObject({
      problems: ["to: found 2026-10-01, expected a day not before from"],
    })
  })

  it("says when its port is taken", async () => {
    await within({ entries: 1 }, async ({ port }) => {
      await expect(startSandbox({ entries: 1, port })).rejects.toMatchObject({
        _tag: "SandboxError",
        reason: "Listen",
        message: `The sandbox cannot listen on 127.0.0.1:${port}: another program listens there: stop it, or choose another --port [EADDRINUSE].`,
      })
    })
  })
})
