import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { isInstalled } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post, postMonths } from "./Books.ts"

interface Program {
  readonly format: string
  readonly file: string
  readonly command: string
  readonly args: (file: string) => ReadonlyArray<string>
}

const hledger: Program = {
  format: "hledger",
  file: "books.journal",
  command: "hledger",
  args: (file) => ["-f", file, "check", "-s", "ordereddates"],
}
const ledger: Program = {
  format: "ledger",
  file: "books.ledger",
  command: "ledger",
  args: (file) => ["-f", file, "--strict", "--pedantic", "bal"],
}
const beancount: Program = {
  format: "beancount",
  file: "books.beancount",
  command: "bean-check",
  args: (file) => ["--no-cache", file],
}

const installed = ({ command }: Program): boolean => isInstalled(command, "its journals are not checked")

const run = ({ args, command }: Program, file: string) => {
  const { status, stderr, stdout } = spawnSync(command, args(file), {
    encoding: "utf8",
    env: { ...process.env, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" },
  })
  return { status, output: `${stdout}${stderr}` }
}

/** Changes a journal once, and insists that it did. */
const mutate = (text: string, from: RegExp | string, to: string): string => {
  const changed = text.replace(from, to)
  expect(changed).not.toBe(text)
  return changed
}

const accepts = (program: Program, text: string): boolean => {
  const file = join(temporaryFolder(), program.file)
  writeFileSync(file, text)
  return run(program, file).status === 0
}

const scopes: ReadonlyArray<ExportScope> = [
  { kind: "period", period: "2026-10" },
  { kind: "range", from: "2026-10-02", to: "2026-10-05" },
  { kind: "all" },
]

layer(TestDatabase.layer)("the plain-text journals", (it) => {
  const clientId = "44444444-0000-4000-8000-000000000001"
  const exported = Effect.fnUntraced(function* (program: Program, scope: ExportScope) {
    const out = temporaryFolder()
    const { batches } = yield* Export.run({
      formats: [program.format],
      scope,
      connection: Option.none(),
      book: Option.some(clientId),
      out,
    })
    return join(batches[0]?.folder ?? "", program.file)
  })
  const opened = Effect.runSync(Effect.cached(Effect.flatMap(openBook("PLAIN", clientId), postMonths)))

  for (const program of [hledger, ledger, beancount]) {
    const there = installed(program)
    it.effect.skipIf(!there)(`of every scope pass ${program.command}`, () =>
      Effect.gen(function* () {
        yield* opened
        for (const scope of scopes) {
          const { output, status } = run(program, yield* exported(program, scope))
          expect([status, status === 0 ? "" : output]).toEqual([0, ""])
        }
      }),
    )

    it.effect.skipIf(!there)(`that were changed fail ${program.command}`, () =>
      Effect.gen(function* () {
        yield* opened
        const text = readFileSync(yield* exported(program, { kind: "period", period: "2026-10" }), "utf8")
        expect(accepts(program, text)).toBe(true)
        const refused = (from: RegExp | string, to: string) =>
          expect(accepts(program, mutate(text, from, to))).toBe(false)
        // An amount one unit off at two, eight and no decimals; a dropped line; a dropped transaction.
        refused(/995\.00 USD/, "995.01 USD")
        refused(/994\.20310000 USDT/, "994.20310001 USDT")
        refused(/-120000 JPY/, "-120001 JPY")
        refused(/\n[^\n]*Fees:USD {2}5\.00 USD(?=\n)/, "")
        refused(/\n2026-10-01 \* [^\n]*\n(?: [^\n]*\n)*/, "\n")
        // Below the currency's own decimals, on accounts that no assertion follows at once.
        refused(/(Fees:USD {2}5\.00)( USD\n)/, "$1001$2")
        refused(/(Clearing:Deposits:JPY|Payroll(?::\S+)?) {2}-120000 JPY/, "$1  -120000.001 JPY")
        refused(/Opening balances"?\n(?: [^\n]*\n)*/, "Opening balances\n")
      }),
    )
  }

  it.effect.skipIf(!installed(hledger))("with a wrong assertion or an implicit conversion fail hledger", () =>
    Effect.gen(function* () {
      yield* opened
      const text = readFileSync(yield* exported(hledger, scopes[0] ?? { kind: "all" }), "utf8")
      const refused = (from: RegExp, to: string) =>
        expect(accepts(hledger, mutate(text, from, to))).toBe(false)
      refused(/= 1495\.00 USD/, "= 1495.01 USD")
      refused(/= 994\.20310000 USDT/, "= 994.20310001 USDT")
      refused(/(Equity:Trading:USD {2}995\.00) USD/, "$1 JPY")
    }),
  )

  it.effect.skipIf(!installed(ledger))("with a wrong assertion fail ledger", () =>
    Effect.gen(function* () {
      yield* opened
      const text = readFileSync(yield* exported(ledger, scopes[0] ?? { kind: "all" }), "utf8")
      expect(accepts(ledger, mutate(text, /= 1495\.00 USD/, "= 1495.01 USD"))).toBe(false)
      expect(accepts(ledger, mutate(text, /= 994\.20310000 USDT/, "= 994.20310001 USDT"))).toBe(false)
    }),
  )

  it.effect.skipIf(!installed(beancount))(
    "with a wrong day's end or an implicit conversion fail bean-check",
    () =>
      Effect.gen(function* () {
        yield* opened
        const text = readFileSync(yield* exported(beancount, scopes[0] ?? { kind: "all" }), "utf8")
        const refused = (from: RegExp, to: string) =>
          expect(accepts(beancount, mutate(text, from, to))).toBe(false)
        refused(/994\.20310000 ~ 0 USDT/, "994.20310001 ~ 0 USDT")
        refused(/1495\.01 ~ 0 USD/, "1495.00 ~ 0 USD")
        refused(/(Equity:Trading:USD {2}995\.00) USD/, "$1 USDT")
      }),
  )

  it.effect("are refused for beancount alone where it cannot compute exactly, and nothing is written", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LONG")
      const amount = "100000000000000000000000000.01"
      for (const [date, cash, other] of [
        ["2026-09-30", amount, `-${amount}`],
        ["2026-10-01", "1", "-1"],
      ] as const) {
        yield* post(bookId, {
          ...{ date, kind: "deposit", partner: partner.usd, cash, description: "Deposit" },
          lines: [
            ["cash", "", "USD", cash],
            ["deposits_clearing", "", "USD", other],
          ],
        })
      }
      yield* assignNumbers(bookId)
      const out = temporaryFolder()
      const exporting = (format: string, scope: ExportScope) =>
        Export.run({
          formats: [format],
          ...{ scope, out, connection: Option.none(), book: Option.some("LONG") },
        })
      const refusal = (scope: ExportScope) =>
        Effect.map(Effect.flip(exporting("beancount", scope)), (error) =>
          "message" in error ? error.message : "",
        )
      const has = `has more than the 28 digits with which beancount computes. Nothing of this export was written.`
      const cannot = "beancount cannot hold what would be exported"
      expect(yield* refusal({ kind: "all" })).toContain(
        `${cannot}: ${amount} USD of LONG-2026-09-000001 ${has}`,
      )
      expect(yield* refusal({ kind: "period", period: "2026-10" })).toContain(
        `${cannot}: ${amount} USD of the opening balances ${has}`,
      )
      expect(
        readdirSync(out, { recursive: true }).filter((name) => String(name).includes("beancount")),
      ).toEqual([])
      for (const program of [hledger, ledger]) {
        const { batches } = yield* exporting(program.format, { kind: "all" })
        if (installed(program))
          expect(run(program, join(batches[0]?.folder ?? "", program.file)).status).toBe(0)
      }
    }),
  )

  it.effect("begin with the balances brought forward, unnumbered, the day before", () =>
    Effect.gen(function* () {
      yield* opened
      const text = readFileSync(yield* exported(hledger, { kind: "period", period: "2026-10" }), "utf8")
      // Every currency shows with its own decimals, and no more.
      expect(text.match(/^commodity .*$/gm)).toEqual([
        "commodity 1000. JPY",
        "commodity 1000.00 USD",
        "commodity 1000.00000000 USDT",
      ])
      expect(text).toContain(`
2026-09-30 * Opening balances
    Assets:Partner:USD:SWIFT:11111111  500.00 USD = 500.00 USD
    Assets:Clearing:Deposits:USD  -500.00 USD

2026-10-01 * (PLAIN-2026-10-000001) Deposit from Acme
    ; kind: deposit
    ; counterparty: Acme Inc. / London
    ; reference: -INV 7
    Assets:Partner:USD:SWIFT:11111111  995.00 USD = 1495.00 USD
    Expenses:Fees:USD  5.00 USD
    Assets:Clearing:Deposits:USD  -1000.00 USD

2026-10-01 * (PLAIN-2026-10-000002) =HYPERLINK("x") / a, b, c d (2026-99-99) (e)\\
`)
    }),
  )
})
