/** Balances of files, converted back, and those of the canonical journal beside them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Manifest } from "../../../src/Export/Manifest.ts"
import { cellsOf, exact } from "./Csv.ts"
import { readDatev } from "./Datev.ts"
import { readers } from "./Systems.ts"

const read = { ...readers, datev: readDatev } as const
const add = (sums: Map<string, bigint>, key: string, amount: bigint) =>
  sums.set(key, (sums.get(key) ?? 0n) + amount)

/** Balances per currency and account, without those that are zero. */
const moved = (sums: ReadonlyMap<string, bigint>) =>
  [...sums].filter(([, sum]) => sum !== 0n).sort(([a], [b]) => (a < b ? -1 : 1))

/** The canonical journal's balances, with accounts by code or by name. */
export const canonical = (
  folder: string,
  by: "account_code" | "account_name",
  without: ReadonlyArray<string>,
) => {
  const [header = [], ...rows] = cellsOf(readFileSync(join(folder, "journal.csv"), "utf8"), ",")
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const of = (column: string) => row[header.indexOf(column)] ?? ""
    if (without.includes(of("currency"))) continue
    const amount = of("debit") === "" ? -exact(of("credit")) : exact(of("debit"))
    add(sums, `${of("currency")} ${of(by)}`, amount)
  }
  return moved(sums)
}

/** The same of one format's files. */
export const converted = (folder: string, { files }: Manifest, name: keyof typeof read) => {
  const sums = new Map<string, bigint>()
  for (const { currency, format, name: file } of files) {
    if (format !== name) continue
    for (const { account, amount } of read[name](readFileSync(join(folder, file)))) {
      add(sums, `${currency} ${account}`, amount)
    }
  }
  return moved(sums)
}
