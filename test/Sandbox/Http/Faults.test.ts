import { afterEach, describe, expect, it } from "vitest"
import type { SandboxOptions } from "../../../src/Sandbox/SandboxOptions.ts"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import { connect, Deposit, Entry, Page } from "../Reader.ts"

let sandbox: Sandbox
let client: Awaited<ReturnType<typeof connect>>
afterEach(() => sandbox.close())

const open = async (options: SandboxOptions = {}) => {
  sandbox = await startSandbox({ entries: 600, ...options })
  client = await connect(sandbox)
}
const set = async (faults: string) => {
  const answer = await fetch(`${sandbox.origin}/control/faults?set=${faults}`, { method: "POST" })
  return { status: answer.status, body: await answer.json() }
}
const counted = async () => (await client.state()).faults

/** What became of a request, in a word. */
const outcome = async (path: string): Promise<string> => {
  try {
    const answer = await client.get(path)
    const text = await answer.text()
    if (answer.status !== 200) return String(answer.status)
    return text === "" ? "empty" : text.endsWith("}}") ? "whole" : "cut"
  } catch {
    return "broken"
  }
}
const outcomes = async (path: string, count: number) => {
  const list: Array<string> = []
  for (let done = 0; done < count; done++) list.push(await outcome(path))
  return list
}

describe("the faults of the sandbox", () => {
  it("are none unless asked for, can be set at any time and are shown", async () => {
    await open()
    expect(new Set(await outcomes("/deposits", 40))).toEqual(new Set(["whole"]))
    expect(await counted()).toEqual({})
    expect(await set("unavailable:100")).toEqual({
      status: 200,
      body: { faults: "unavailable:100", happened: {} },
    })
    expect(await outcome("/deposits")).toMatch(/^50[0234]$/)
    const shown = await fetch(`${sandbox.origin}/control/faults`)
    expect(await shown.json()).toEqual({ faults: "unavailable:100", happened: { unavailable: 1 } })
    await fetch(`${sandbox.origin}/control/reset-counters`, { method: "POST" })
    expect(await counted()).toEqual({})
    await set("none")
    expect(await outcome("/deposits")).toBe("whole")
    for (const wrong of ["storm", "limit:0", "reset:101", "reset:-1", "reset:1:2", "wild:3", "reset:x"]) {
      expect((await set(wrong)).status, wrong).toBe(400)
    }
    expect((await fetch(`${sandbox.origin}/control/faults`, { method: "PUT" })).status).toBe(405)
    await expect(startSandbox({ faults: "storm", names: "new" })).rejects.toMatchObject({
      problems: [
        expect.stringMatching(/^faults: found "storm", expected none, or some of wild, limit, /),
        'names: found "new", expected plain or odd',
      ],
    })
  })

  it("limit the requests of a second, with every kind of hint", async () => {
    let now = Date.parse("2026-11-01T00:00:00.500Z")
    await open({ faults: "limit:4", now: () => now })
    // The token took one.
    expect(await outcomes("/deposits", 5)).toEqual(["whole", "whole", "whole", "429", "429"])
    now += 250
    expect(await outcomes("/deposits", 2)).toEqual(["whole", "429"])
    const hint = async () => (await client.get("/deposits")).headers.get("retry-after")
    expect([await hint(), await hint(), await hint()]).toEqual(["1", "Sun, 01 Nov 2026 00:00:02 GMT", null])
    now += 60_000
    expect(await outcomes("/deposits", 5)).toEqual(["whole", "whole", "whole", "whole", "429"])
    expect(await counted()).toEqual({ limit: 7 })
  })

  it("answer for an unavailable service in HTML, with every status", async () => {
    await open()
    await set("unavailable:100")
    const seen = new Set<number>()
    for (let done = 0; done < 60; done++) {
      const answer = await client.get("/deposits")
      expect(answer.headers.get("content-type")).toBe("text/html")
      expect(await answer.text()).toMatch(/^<html>/)
      seen.add(answer.status)
    }
    expect([...seen].sort()).toEqual([500, 502, 503, 504])
    expect((await fetch(`${sandbox.url}/oauth/token`, { method: "POST" })).status).toBeGreaterThan(499)
  })

  it("break connections and cut bodies in several ways", async () => {
    await open()
    await set("reset:100")
    expect(new Set(await outcomes("/deposits", 12))).toEqual(new Set(["broken"]))
    await set("truncate:100")
    const seen = await outcomes("/deposits", 40)
    expect([...new Set(seen)].sort()).toEqual(["broken", "cut", "empty"])
    await set("none")
    expect(await counted()).toEqual({ reset: 12, truncate: 40 })
    expect(await outcome("/deposits")).toBe("whole")
  })

  it("delay answers that are whole", async () => {
    await open()
    await set("slow:100")
    expect(await Promise.all([outcome("/deposits"), outcome("/accounts")])).toEqual(["whole", "whole"])
    expect(await counted()).toEqual({ slow: 2 })
  })

  it("let tokens expire, but not again at once", async () => {
    await open()
    await set("expire-token:50")
    let renewed = 0
    for (let done = 0; done < 20; done++) {
      if ((await outcome("/deposits")) !== "401") continue
      renewed++
      client = await connect(sandbox)
    }
    expect(renewed).toBeGreaterThan(2)
    expect(await counted()).toEqual({ "expire-token": renewed })
  })

  it("let a cursor of each list expire once", async () => {
    await open()
    const { pageInfo } = await client.one(Page, "/deposits?first=2")
    await set("expire-cursor:100")
    const path = `/deposits?first=2&after=${pageInfo.endCursor}`
    expect(await outcomes(path, 3)).toEqual(["410", "whole", "whole"])
    expect(await outcome("/deposits?first=2")).toBe("whole")
    const other = await client.one(Page, "/withdrawals?first=2")
    expect(await outcome(`/withdrawals?after=${other.pageInfo.endCursor}`)).toBe("410")
    expect(await counted()).toEqual({ "expire-cursor": 2 })
  })

  it("repeat items within and across pages, and leave none out", async () => {
    await open()
    const plain = await client.all(Deposit, "/deposits", 10)
    await set("repeat:100")
    const repeated = await client.all(Deposit, "/deposits", 10)
    const ids = repeated.map(({ depositId }) => depositId)
    expect([...new Set(ids)].sort()).toEqual(plain.map(({ depositId }) => depositId).sort())
    const { repeat } = await counted()
    expect(repeated.length).toBe(plain.length + (repeat ?? 0))
    expect(repeat).toBe(Math.ceil(plain.length / 10))
    const distances = ids.map((id, index) => index - ids.indexOf(id)).filter((distance) => distance > 0)
    expect(distances).toContain(1)
    expect(distances.some((distance) => distance > 1)).toBe(true)
  })

  it("change resources between pages, never back and never a statement entry", async () => {
    await open()
    await set("change:100")
    const read = await client.all(Deposit, "/deposits", 10)
    const latest = new Map(read.map((deposit) => [deposit.depositId, deposit]))
    const { change } = await counted()
    expect(change).toBeGreaterThan(5)
    expect(read.length).toBe(latest.size + (change ?? 0))
    const moves = read.flatMap((deposit) => {
      const now = latest.get(deposit.depositId)
      return now === deposit ? [] : [`${deposit.status} ${now?.status}`]
    })
    expect(moves.length).toBe(change)
    expect(new Set(moves)).toEqual(new Set(["PENDING COMPLETED"]))
    // Once seen as completed, none is shown as pending again, in the list or by itself.
    const [first] = read
    expect(await client.one(Deposit, `/deposits/${first?.depositId}`)).toEqual(
      latest.get(first?.depositId ?? ""),
    )
    await set("none")
    const fresh = await startSandbox({ entries: 600 })
    const plain = await (await connect(fresh)).all(Deposit, "/deposits")
    await fresh.close()
    expect([...latest.values()].sort((a, b) => (a.depositId < b.depositId ? -1 : 1))).toEqual(
      [...plain].sort((a, b) => (a.depositId < b.depositId ? -1 : 1)),
    )
    await set("change:100")
    expect(await client.all(Deposit, "/deposits", 1000)).toEqual(plain)
    const [account] = (await client.state()).accounts
    const statement = `/accounts/${account?.accountId}/statement`
    const entries = await client.all(Entry, statement, 3)
    expect(new Set(entries.map(({ entryId }) => entryId)).size).toBe(entries.length)
  })

  it("show a changed item again to whoever reads the next page again", async () => {
    await open()
    await set("change:100")
    const first = await client.one(Page, "/withdrawals?first=20")
    const path = `/withdrawals?first=5&after=${first.pageInfo.endCursor}`
    await set("none")
    const next = await client.one(Page, path)
    expect(next.items.length).toBe(6)
    expect(await client.one(Page, path)).toEqual(next)
  })

  it("redirect to another host", async () => {
    await open()
    await set("redirect:100")
    const answer = await fetch(`${sandbox.url}/deposits`, { redirect: "manual" })
    expect([answer.status, answer.headers.get("location")]).toEqual([
      302,
      "http://elsewhere.example.test/api/v1/deposits",
    ])
  })

  it("are the same for the same seed and requests, and mild when wild", async () => {
    const seen = async (seed: number) => {
      await open({ seed })
      await set("wild,slow:0.1")
      const list = await outcomes("/conversion-pairs", 600)
      const faults = await counted()
      await sandbox.close()
      return { list, faults }
    }
    const first = await seen(1)
    expect(await seen(1)).toEqual(first)
    expect((await seen(2)).list).not.toEqual(first.list)
    expect(Object.keys(first.faults)).not.toContain("redirect")
    expect(Object.keys(first.faults)).not.toContain("limit")
    expect(first.faults).toMatchObject({
      unavailable: expect.any(Number),
      reset: expect.any(Number),
      truncate: expect.any(Number),
    })
  })
})
