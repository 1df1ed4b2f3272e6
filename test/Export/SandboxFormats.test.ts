/** The sandbox's data through every accounting system's format and back, against the canonical journal beside it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { startSandbox } from "../../src/Sandbox.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { cellsOf, exact } from "./Convert/Csv.ts"
import { readDatev } from "./Convert/Datev.ts"
import { readers } from "./Convert/Systems.ts"
import { temporaryFolder } from "./Folders.ts"

const read = { ...readers, datev: readDatev } as const
const names = ["xero", "qbo", "netsuite", "intacct", "sage50", "business-central", "datev"] as const

const add = (sums: Map<string, bigint>, key: string, amount: bigint) =>
  sums.set(key, (sums.get(key) ?? 0n) + amount)

/** Balances per currency and account, without those that are zero. */
const moved = (sums: ReadonlyMap<string, bigint>) =>
  [...sums].filter(([, sum]) => sum !== 0n).sort(([a], [b]) => (a < b ? -1 : 1))

/** The canonical journal's balances, with accounts by code or by name. */
const canonical = (folder: string, by: "account_code" | "account_name", without: ReadonlyArray<string>) => {
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

layer(TestDatabase.layer, { excludeTestServices: true })("the sandbox's books", (it) => {
  it.scoped("come back from every format as they went, in detail and in summary", () =>
    Effect.gen(function* () {
      const sandbox = yield* Effect.acquireRelease(
        Effect.promise(() => startSandbox({ entries: 600 })),
        (started) => Effect.promise(() => started.close()),
      )
      yield* sync(sandbox.url)
      for (const mode of ["detail", "summary"] as const) {
        for (const name of names) {
          // What these two take has two decimals.
          const leaveOut = name === "netsuite" || name === "datev" ? ["USDT", "USDC"] : []
          const settings = decodeSync(Content)({
            formats: { leaveOut, datev: { consultant: 1001, client: 1 } },
          }).formats
          const { batches } = yield* Export.run({
            formats: ["journal", name],
            scope: { kind: "all" },
            connection: Option.none(),
            book: Option.none(),
            out: temporaryFolder(),
            mode,
            again: true,
            tables: { settings, baseCurrency: "EUR" },
          })
          const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
          const sums = new Map<string, bigint>()
          for (const { currency, format, name: file } of manifest.files) {
            if (format !== name) continue
            for (const { account, amount } of read[name](readFileSync(join(folder, file)))) {
              add(sums, `${currency} ${account}`, amount)
            }
          }
          const by = name === "qbo" ? "account_name" : "account_code"
          expect([name, mode, moved(sums)]).toEqual([name, mode, canonical(folder, by, leaveOut)])
          expect(moved(sums).length).toBeGreaterThan(5)
          expect((yield* Verify.run(folder)).problems).toEqual([])
        }
      }
    }),
  )
})
