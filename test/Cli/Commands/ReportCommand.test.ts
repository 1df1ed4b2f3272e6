/** The exit codes of `tieout report` and `tieout rates import`, on which a scheduler acts. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { closing, threeMonths } from "../../Close/Months.ts"
import { rows, sync } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("on the command line", (it) => {
  it.scoped(
    "a report ends with 3 for an open month, 0 for a closed one and 2 for no month; a bad file of rates with 2",
    () =>
      Effect.gen(function* () {
        const { service } = yield* threeMonths
        yield* sync(service.url)
        yield* closing("2026-08")
        const { cwd, run } = yield* program
        const { url } = yield* TestDatabase
        const tieout = (...args: ReadonlyArray<string>) =>
          Effect.map(
            run(args, { DATABASE_URL: url, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" }),
            ({ code, error, out }) => [code, `${out}${error}`],
          )
        const has = (code: number, text: string) => [code, expect.stringContaining(text)]
        expect(yield* tieout("report", "2026-09")).toEqual(has(3, "ORG 2026-09: DRAFT"))
        expect(yield* tieout("report", "2026-08")).toEqual(has(0, "ORG 2026-08: closed"))
        // Who approves is a person, too, and moves no cursor.
        yield* tieout("close", "approve", "2026-08", "--by", "Ada\u009b31m")
        expect(yield* tieout("report", "2026-08")).toEqual(has(0, "closed, approved by Ada\ufffd31m; "))
        expect(yield* tieout("report", "2026-13")).toEqual(has(2, 'found "2026-13"'))
        expect(yield* tieout("report", "2999-01")).toEqual(has(2, "2999-01 lies ahead"))
        const nothingToProve = has(2, "2999-01 lies ahead: there is nothing to prove of it.")
        expect(yield* tieout("reconcile", "--period", "2999-01")).toEqual(nothingToProve)
        expect(yield* tieout("close", "2999-01", "--bridge")).toEqual(nothingToProve)
        // Arguments that name nothing.
        for (const [line, text] of [
          ["verify nowhere", "There is no folder nowhere"],
          ["explain F999", "Nothing that is stored here has the identifier"],
          ["reclassify F999 --to 6855 --reason x", 'has the identifier "F999": expected a finding'],
          ["quarantine show Q9", "Q9"],
          ["restore nowhere.dump", "nowhere.dump"],
          ["export --format journal --all --mode summary", "--mode summary is for accounting systems"],
          ["export --format xero --all --preview --again", "--preview and --again do not go together"],
        ] as const) {
          expect(yield* tieout(...line.split(" ")), line).toEqual(has(2, text))
        }

        const file = join(cwd, "rates.csv")
        writeFileSync(
          file,
          "date,from,to,rate,source\n2026-08-31,USD,EUR,0.9,ECB\n2026-02-30,USD,EUR,1e3,ECB\n",
        )
        const [code, said] = yield* tieout("rates", "import", file)
        expect([code, said]).toEqual(has(2, "2026-02-30"))
        expect(said).toContain("1e3")
        expect(yield* rows("select 1 from valuation.rate_imports")).toEqual([])
        writeFileSync(file, "date,from,to,rate,source\n2026-08-31,USD,EUR,0.9,ECB\n")
        expect(yield* tieout("rates", "import", file)).toEqual(has(0, "Version 1, 1 rate."))
      }),
  )
})
