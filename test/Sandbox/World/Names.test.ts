import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sandbox, startSandbox } from "../../../src/Sandbox.ts"
import { connect } from "../Reader.ts"

const Odd = Schema.Struct({
  data: Schema.Struct({ rows: Schema.Array(Schema.Unknown) }),
  meta: Schema.Struct({
    page: Schema.Struct({ hasNextPage: Schema.Boolean, endCursor: Schema.optional(Schema.String) }),
  }),
})
const Named = Schema.Struct({ clientId: Schema.String })
const Account = Schema.Struct({ accountId: Schema.String })

describe("a sandbox with odd names", () => {
  let sandbox: Sandbox
  let client: Awaited<ReturnType<typeof connect>>
  const rows = async (path: string) => (await client.one(Odd, path)).data.rows
  beforeAll(async () => {
    sandbox = await startSandbox({ entries: 60, clients: 2, receivables: 9, names: "odd" })
    client = await connect(sandbox)
  })
  afterAll(() => sandbox.close())

  it("pages by other parameters and fields", async () => {
    const first = await client.one(Odd, "/deposits?limit=2")
    expect([first.data.rows.length, first.meta.page.hasNextPage]).toEqual([2, true])
    const next = await rows(`/deposits?limit=1&cursor=${first.meta.page.endCursor}`)
    expect(await rows("/deposits?limit=3")).toEqual([...first.data.rows, ...next])
    // Parameters that it does not know change nothing.
    expect(await rows("/deposits?first=1")).toEqual(await rows("/deposits"))
  })

  it("names the fields of Money in its own way", async () => {
    const [deposit] = await rows("/deposits?limit=1")
    expect(deposit).toMatchObject({ amount: { value: expect.any(String), ccy: expect.any(String) } })
  })

  it("has other paths, for clients too", async () => {
    const [account] = (await rows("/accounts")).map((row) => Schema.decodeUnknownSync(Account)(row))
    const [of] = (await rows("/clients")).map((row) => Schema.decodeUnknownSync(Named)(row))
    const at = `/clients/${of?.clientId}`
    const [own] = (await rows(`${at}/accounts`)).map((row) => Schema.decodeUnknownSync(Account)(row))
    const served = [
      `/accounts/${account?.accountId}/transactions`,
      `${at}/accounts/${own?.accountId}/transactions`,
      "/address-book",
      `${at}/address-book`,
      "/credit/receivables",
      "/credit/accounts",
      "/settings/payment-rails",
    ]
    for (const path of served) expect((await rows(path)).length, path).toBeGreaterThan(0)
    for (const path of [
      `/accounts/${account?.accountId}/statement`,
      `${at}/accounts/${own?.accountId}/statement`,
      "/destinations",
      "/receivables",
      "/credit-accounts",
    ]) {
      expect((await client.get(path)).status, path).toBe(404)
    }
  })
})
