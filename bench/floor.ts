/**
 * The least that any sync has to do: fetch and parse the same pages and the same resources by id at the same concurrency,
 * then insert the same rows, bare, into tables without keys, checks or triggers, in the same batches.
 */
import { randomBytes } from "node:crypto"
import { request } from "undici"
import { connect } from "./Connection.ts"

const {
  BENCH_URL: base = "",
  BENCH_DATABASE: database = "",
  BENCH_SIZE: size = "100",
  BENCH_CLIENT: client = "fetch",
} = process.env

type Item = Readonly<Record<string, unknown>>
interface Page {
  readonly items: ReadonlyArray<Item>
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string }
}

const isPage = (value: unknown): value is Page =>
  typeof value === "object" && value !== null && "items" in value && "pageInfo" in value

const isItem = (value: unknown): value is Item => typeof value === "object" && value !== null

const token = await fetch(`${base}/oauth/token`, {
  method: "POST",
  body: new URLSearchParams({
    client_id: "sandbox-client",
    client_secret: "sandbox-secret",
    grant_type: "client_credentials",
    scope: "sandbox",
  }),
}).then(async (answer) => {
  const body: unknown = await answer.json()
  return isItem(body) ? String(body.access_token) : ""
})

const headers = { authorization: `Bearer ${token}` }

/** `fetch` is what everybody has; undici's own dispatcher, below it, is the least that Node can do. */
const textAt: (url: string) => Promise<string> =
  client === "undici"
    ? async (url) => (await request(url, { headers })).body.text()
    : async (url) => (await fetch(url, { headers })).text()

const get = async (path: string): Promise<unknown> => JSON.parse(await textAt(`${base}${path}`))

const pagesOf = async (path: string): Promise<ReadonlyArray<ReadonlyArray<Item>>> => {
  const pages: Array<ReadonlyArray<Item>> = []
  let after = ""
  for (;;) {
    const page = await get(`${path}?first=${size}${after === "" ? "" : `&after=${after}`}`)
    if (!isPage(page)) throw new Error(`${path} is no page`)
    pages.push(page.items)
    if (!page.pageInfo.hasNextPage) return pages
    after = page.pageInfo.endCursor ?? ""
  }
}

/** Runs the work of all items, `width` at a time. */
const inParallel = async <A, B>(items: ReadonlyArray<A>, width: number, work: (item: A) => Promise<B>) => {
  const results: Array<B> = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) results.push(await work(item))
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}

// From here on: what it takes to start is not the floor's.
const processor = process.cpuUsage()
const fetching = performance.now()
const accounts = (await pagesOf("/accounts")).flat()
const [deposits, withdrawals] = await Promise.all([pagesOf("/deposits"), pagesOf("/withdrawals")])
const statements = (
  await inParallel(accounts, 8, (account) => pagesOf(`/accounts/${String(account.accountId)}/statement`))
).flat()
const conversions = new Set(
  statements
    .flat()
    .flatMap((entry) =>
      entry.relatedResourceType === "CONVERSION" ? [String(entry.relatedResourceId)] : [],
    ),
)
const converted = (await inParallel([...conversions], 16, (id) => get(`/conversions/${id}`))).filter(isItem)
const fetched = (performance.now() - fetching) / 1_000

const sql = connect(database, 10)
const schema = `bench_${randomBytes(4).toString("hex")}`
await sql.unsafe(`create schema ${schema};
  create table ${schema}.entries (account_id uuid, entry_id uuid, type text, amount numeric, currency text,
    balance_before numeric, balance_after numeric, related_type text, related_id uuid, occurred_at timestamptz);
  create table ${schema}.resources (raw json)`)

const literal = (values: ReadonlyArray<unknown>): string =>
  `{${values.map((value) => (value === undefined ? "NULL" : JSON.stringify(value))).join(",")}}`
const textOf = (items: ReadonlyArray<Item>, key: string) => literal(items.map((item) => item[key]))

const inserting = performance.now()
await inParallel(statements, 8, (page) =>
  sql.unsafe(
    `insert into ${schema}.entries select a::uuid, b::uuid, c, d::numeric, e, f::numeric, g::numeric, h, i::uuid,
       j::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[]) as t (a, b, c, d, e, f, g, h, i, j)`,
    [
      ...["accountId", "entryId", "type", "amount", "currency", "balanceBefore", "balanceAfter"],
      ...["relatedResourceType", "relatedResourceId", "occurredAt"],
    ].map((key) => textOf(page, key)),
    { prepare: true },
  ),
)
const batches = [...deposits, ...withdrawals]
for (let at = 0; at < converted.length; at += 100) batches.push(converted.slice(at, at + 100))
await inParallel(batches, 8, (page) =>
  sql.unsafe(
    `insert into ${schema}.resources select r::json from unnest($1::text[]) as t (r)`,
    [literal(page.map((item) => JSON.stringify(item)))],
    { prepare: true },
  ),
)
const inserted = (performance.now() - inserting) / 1_000
const { system, user } = process.cpuUsage(processor)
await sql.unsafe(`drop schema ${schema} cascade`)
await sql.end()
process.stdout.write(JSON.stringify({ seconds: fetched + inserted, processorSeconds: (user + system) / 1e6 }))
