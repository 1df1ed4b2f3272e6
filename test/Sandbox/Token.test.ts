import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../src/Sandbox.ts"
import { connect, requestToken } from "./Reader.ts"

describe("the tokens of the sandbox", () => {
  let sandbox: Sandbox
  let now = 1_000_000
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 50, expiresIn: 60, now: () => now })
  })
  afterAll(() => sandbox.close())

  it("are issued for the client's credentials, with their lifetime and the scope asked for", async () => {
    const answer = await requestToken(sandbox)
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        token_type: "Bearer",
        expires_in: 60,
        scope: "accounts:read deposits:read",
        access_token: expect.any(String),
      },
    ])
  })

  it("are not issued for a wrong secret or client", async () => {
    for (const wrong of [{ client_secret: "guess" }, { client_id: "somebody" }, { client_secret: "" }]) {
      const answer = await requestToken(sandbox, wrong)
      expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid_client" }])
    }
  })

  it("are not issued for a request that is not the documented form", async () => {
    expect((await requestToken(sandbox, { grant_type: "password" })).status).toBe(400)
    const url = `${sandbox.url}/oauth/token`
    const form = "client_id=sandbox-client&client_secret=sandbox-secret&grant_type=client_credentials"
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const post = async (init: RequestInit) => (await fetch(url, { method: "POST", ...init })).status
    expect(await post({ headers, body: form })).toBe(400)
    expect(await post({ headers, body: `${form}&scope=a` })).toBe(200)
    expect(
      await post({ headers: { ...headers, authorization: "Basic eDp5" }, body: `${form}&scope=a` }),
    ).toBe(400)
    expect(await post({ headers: { "content-type": "application/json" }, body: "{}" })).toBe(400)
    expect(await post({ headers, body: "x".repeat(20_000) })).toBe(413)
    expect((await fetch(url)).status).toBe(405)
  })

  it("are needed for everything else, until they expire", async () => {
    const client = await connect(sandbox)
    expect((await client.get("/accounts")).status).toBe(200)
    for (const authorization of ["", "Bearer nonsense", `Basic ${client.token}`, client.token]) {
      const answer = await fetch(`${sandbox.url}/accounts`, { headers: { authorization } })
      expect(answer.status, authorization).toBe(401)
    }
    expect((await fetch(`${sandbox.url}/deposits`)).status).toBe(401)
    now += 59_999
    expect((await client.get("/accounts")).status).toBe(200)
    now += 1
    expect((await client.get("/accounts")).status).toBe(401)
    const again = await connect(sandbox)
    expect(again.token).not.toBe(client.token)
    expect((await again.get("/accounts")).status).toBe(200)
  })
})
