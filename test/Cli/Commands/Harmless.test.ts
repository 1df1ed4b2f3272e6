import { spawnSync } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { accountId, credit, deposit, id, partnership } from "../../Sync/Partnership.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { type Program, program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** To a terminal each of them begins a command: the one as two characters, the other as one. */
const escapes = { wide: "\u001b[2J", narrow: "\u009b31m" }

const controls = /[^\P{Cc}\n]/u

const canGive = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "")
if (!canGive) process.stderr.write("No script of util-linux here: no file is shown on a terminal.\n")

/** What a terminal gets of a command: `script` of util-linux makes one. */
const onTerminal = (
  { cwd, main }: Program,
  args: string,
  variables: Readonly<Record<string, string>>,
): string => {
  const line = `'${process.execPath}' '${main}' ${args}`
  const env = { PATH: process.env.PATH, TERM: "xterm", SHELL: "/bin/sh", NO_COLOR: "1", ...variables }
  return spawnSync("script", ["-qec", line, "/dev/null"], { cwd, env, encoding: "utf8", timeout: 60_000 })
    .stdout
}

layer(TestDatabase.layer, { excludeTestServices: true })("a text of the service or of a file", (it) => {
  it.scoped("never moves the cursor of the terminal that shows it", () =>
    Effect.gen(function* () {
      const remitterName = `Jane${escapes.narrow}`
      const { service } = yield* partnership({
        balance: "16",
        deposits: [
          deposit(11, "10", { remitterName }),
          deposit(12, "5", { remitterName }),
          deposit(13, "1", { remitterName }),
          // Half of a surrogate pair in a field of that name: in quarantine, with the field in its path.
          deposit(14, "1", { [`odd${escapes.wide}`]: "\ud800" }),
        ],
        statement: [
          credit(21, "10", "10", id(11)),
          credit(22, "5", "15", id(12)),
          credit(23, "1", "16", id(13)),
        ],
        interfere: (path, response) => {
          if (!path.startsWith("/accounts?") && path !== "/accounts") return false
          const account = { accountId, currency: "USD", balance: "16", status: "ACTIVE" }
          json(response, {
            items: [{ ...account, paymentRails: `SEPA${escapes.wide}${escapes.narrow}` }],
            pageInfo: { hasNextPage: false },
          })
          return true
        },
      })
      const { url } = yield* TestDatabase
      const own = yield* program
      const { cwd, run } = own
      const variables = { ...variablesFor(service.url), DATABASE_URL: url }
      const tieout = (...args: ReadonlyArray<string>) =>
        Effect.map(run(args, variables), (finished) => {
          expect([args, finished.out]).toEqual([args, finished.out.replace(controls, "CONTROL")])
          expect([args, finished.error]).toEqual([args, finished.error.replace(controls, "CONTROL")])
          return finished
        })
      yield* tieout("sync")
      expect((yield* tieout("register", "1010")).out).toContain("Assets:Partner:USD:SEPA�[2J�31m")
      expect((yield* tieout("quarantine", "show", "Q1")).out).toContain("odd�[2J")
      const moved = yield* tieout(
        ...[
          "reclassify",
          id(21),
          id(22),
          id(23),
          "--to",
          "4120",
          "--name",
          "Income:Sales",
          "--reason",
          "Sales",
        ],
      )
      // The rule reads back as the text that it matches.
      expect(moved.out).toContain(String.raw`- { match: { counterparty: "^Jane\u009b31m$" }`)
      yield* Effect.promise(() =>
        writeFile(
          join(cwd, "rates.csv"),
          `date,from,to,rate,source\n2026-10-01,E${escapes.narrow},USD,1.1,x\n`,
        ),
      )
      // A file has the text as it is; a terminal that shows the file does not.
      expect((yield* run(["accounts", "export"], variables)).out).toContain(`SEPA${escapes.wide}`)
      if (canGive) {
        const shown = onTerminal(own, "accounts export", variables)
        expect(shown).toContain("Assets:Partner:USD:SEPA�[2J�31m")
        expect(shown.replaceAll("\r\n", "\n")).not.toMatch(controls)
      }
      const refused = yield* tieout("rates", "import", "rates.csv")
      expect([refused.code, refused.error]).toEqual([2, expect.stringContaining('found "E�31m"')])
    }),
  )
})
