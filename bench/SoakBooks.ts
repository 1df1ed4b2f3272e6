/** The books of two databases compared, as accountants get them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "csv-parse/sync"
import { run } from "./Child.ts"

const tieout = "bin/tieout.js"

export const say = (text: string) =>
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)

type Row = Readonly<Record<string, string>>

/** The canonical journal of every book, as an accountant gets it. */
export const journalOf = async (env: Record<string, string>, out: string): Promise<ReadonlyArray<Row>> => {
  await run([tieout, "export", "--format", "journal", "--all", "--out", out], env)
  return readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("journal.csv"))
    .flatMap((file): ReadonlyArray<Row> => parse(readFileSync(join(out, file)), { columns: true }))
}

export const cashLines = (rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  rows
    .filter((row) => row.account_role === "cash")
    .map((row) =>
      [row.partner_account_id, row.source_id, row.effective_date, row.currency, row.debit, row.credit].join(),
    )
    .sort()

/** Exact: amounts have at most eight decimals. */
const minor = (text = ""): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  return text === "" ? 0n : BigInt(`${whole}${fraction.padEnd(8, "0")}`)
}

export const totals = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const key = [row.book, row.resource_id || row.source_id, row.account_role, row.currency].join()
    sums.set(key, (sums.get(key) ?? 0n) + minor(row.debit) - minor(row.credit))
  }
  return [...sums].flatMap(([key, sum]) => (sum === 0n ? [] : [`${key},${sum}`])).sort()
}

export const compare = (what: string, found: ReadonlyArray<string>, wanted: ReadonlyArray<string>): void => {
  const [here, there] = [new Set(found), new Set(wanted)]
  const odd = [
    ...wanted.filter((line) => !here.has(line)).map((line) => `- ${line}`),
    ...found.filter((line) => !there.has(line)).map((line) => `+ ${line}`),
  ]
  say(
    `${what}: ${found.length} after events and a night, ${wanted.length} by a full sync, ${odd.length} differ`,
  )
  if (odd.length > 0 || found.length !== wanted.length) {
    process.stdout.write(`${odd.slice(0, 20).join("\n")}\n`)
    process.exitCode = 1
  }
}
