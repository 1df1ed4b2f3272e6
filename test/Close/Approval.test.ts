/** An approval is a record of its own, chained to its close. It needs two persons where the settings say so, and ends when the month is reopened. */
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { approve } from "../../src/Close/Approval.ts"
import { osUser } from "../../src/Close/Person.ts"
import { Database } from "../../src/Database.ts"
import * as Export from "../../src/Export.ts"
import * as Proof from "../../src/Proof/ClosesProof.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { reporting, textOf } from "../Report/Reports.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { program } from "../support/Program.ts"
import { as, roles } from "../support/Roles.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { someoneWaits } from "./LockWait.ts"
import { closing, reopening, threeMonths } from "./Months.ts"

const approving = (name: string, twoPersons = false) =>
  approve({ period: "2026-08", book: Option.none(), name, twoPersons })

const stamp = (out = temporaryFolder()) =>
  Effect.map(reporting("2026-08", out), ({ folder }) => textOf(folder, "report.html"))

const exported = Effect.gen(function* () {
  const { batches } = yield* Export.run({
    formats: ["trial-balance"],
    scope: { kind: "period", period: "2026-08" },
    ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
    tables: { settings: decodeUnknownSync(Content)({}).formats, baseCurrency: "EUR" },
  })
  return batches[0]?.manifest.lineage?.closes.map(({ approvedBy }) => approvedBy)
})

/** The approvals that are not proved: these tests change closes as well, past all rules. */
const unproved = Proof.closes().pipe(
  Effect.provide(Settings.from({ variables: {} })),
  Effect.map(({ wrong }) => wrong.map(({ row }) => row).filter((row) => row.startsWith("approval"))),
)

const messageOf = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

layer(TestDatabase.layer, { excludeTestServices: true })("the approval of a close", (it) => {
  it.scoped("is kept with its hash, stands on reports and exports, and ends with a reopening", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      expect(yield* messageOf(approving("Ada Jones"))).toMatch(
        /^2026-08 is not closed in ORG: .* tieout close 2026-08$/,
      )
      const ofBook = approve({ period: "2026-08", book: Option.some("org"), name: "Ada", twoPersons: false })
      expect(yield* messageOf(ofBook)).toMatch(/tieout close 2026-08 --book ORG$/)
      const [closed] = yield* closing("2026-08")
      const page = yield* stamp()
      expect(page).toContain("<span>closed, not approved</span>")
      // Of this book alone: the page is about no other.
      expect(page).toContain("tieout close approve 2026-08 --book ORG --by NAME")
      expect(yield* exported).toEqual([null])

      const [approval] = yield* approving("Ada Jones")
      expect(approval).toMatchObject({
        ...{ book: "ORG", period: "2026-08", sequence: 1, name: "Ada Jones", twoPersons: false },
        ...{ closeHash: closed?.hash, osUser: yield* osUser, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      })
      const signed = yield* stamp()
      expect(signed).toContain("<span>closed, approved by Ada Jones</span>")
      expect(signed).toContain(approval?.hash)
      expect(yield* exported).toEqual(["Ada Jones"])
      expect(yield* messageOf(approving("Bea"))).toContain("was approved already")

      yield* reopening("2026-08")
      yield* closing("2026-08")
      expect(yield* stamp()).toContain("<span>closed, not approved</span>")
      expect(yield* exported).toEqual([null])
    }),
  )

  it.effect("needs two persons where the settings ask for them: another name, and another user", () =>
    Effect.gen(function* () {
      expect(yield* messageOf(approving(" CONTROLLER  ", true))).toContain("was closed by controller")
      expect(yield* messageOf(approving("Ada Jones", true))).toContain("logged in as the same user")
      yield* unruled("update ledger.closes set os_user = 'jane'")
      // Another case, spaces, width or accents apart, and what nobody sees.
      for (const name of [
        "Controller",
        "\uff23ontroller",
        "con\u200btroller",
        "controller\u0007",
        "contro\u2060ller\u3000",
      ]) {
        expect(yield* messageOf(approving(name, true))).toContain("another person approves it")
      }
      expect(yield* approving("Ada  Jones", true)).toMatchObject([{ sequence: 3, twoPersons: true }])
    }),
  )

  it.effect("is refused by the database where it does not match its close, and cannot be changed", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const refused = (statement: string) =>
        Effect.flip(database.query("Test.change", (sql) => sql.unsafe(statement)))
      const columns = "(book_id, sequence, close_hash, name, os_user, two_persons)"
      const approval = (sequence: number, hash: string, name: string, user: string) =>
        `insert into ledger.close_approvals ${columns}
         select book_id, ${sequence}, ${hash}, '${name}', '${user}', true from ledger.closes where sequence = 3`
      yield* unruled("delete from ledger.close_approvals where sequence = 3")
      // A close that was undone, another hash, the closer's own name, the closer's own user.
      for (const statement of [
        approval(1, "hash", "Ada", "ada"),
        approval(3, "repeat('0', 64)", "Ada", "ada"),
        approval(3, "hash", "cOntroller ", "ada"),
        approval(3, "hash", "\uff23ontr\u200boller", "ada"),
        approval(3, "hash", "Ada", "jane"),
      ]) {
        expect(yield* refused(statement)).toMatchObject({ sqlstate: "TO011" })
      }
      yield* rows(approval(3, "hash", "Ada", "ada"))
      expect(yield* refused("update ledger.close_approvals set name = 'Bea'")).toMatchObject({
        sqlstate: "TO004",
      })
      expect(yield* unproved).toEqual([])
      yield* unruled("update ledger.close_approvals set name = 'Bea'")
      expect(yield* unproved).toEqual(["approval of close 1", "approval of close 3"])
    }),
  )

  it.scoped("counts two database logins as two persons, though the machine's user is the same", () =>
    Effect.gen(function* () {
      const user = yield* osUser
      yield* unruled(`delete from ledger.close_approvals; update ledger.closes set os_user = '${user}'`)
      expect(yield* messageOf(approving("Ada Jones", true))).toContain("logged in as the same user")
      const { runtime } = yield* roles
      const [approval] = yield* approving("Ada Jones", true).pipe(as(runtime))
      expect(approval).toMatchObject({ sequence: 3, twoPersons: true, osUser: user, databaseUser: runtime })
    }),
  )

  it.scoped("is given by tieout close approve", () =>
    Effect.gen(function* () {
      const { cwd, run } = yield* program
      const { url } = yield* TestDatabase
      const tieout = (...args: ReadonlyArray<string>) =>
        run(args, { DATABASE_URL: url, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" })
      yield* unruled("delete from ledger.close_approvals")
      expect(yield* tieout("close", "approve", "2026-08")).toMatchObject({ code: 2 })
      expect(yield* tieout("close", "2026-08", "--by", "Ada")).toMatchObject({ code: 2 })
      expect(yield* tieout("close", "approve", "2026-08", "--by", "\u200b\u2060")).toMatchObject({ code: 2 })
      expect(yield* tieout("close", "approve", "2026-08", "--by", "Ada Jones")).toMatchObject({
        code: 0,
        out: expect.stringContaining("ORG 2026-08: close 3 approved by Ada Jones"),
      })
      expect(yield* tieout("close", "2026-08")).toMatchObject({
        code: 2,
        error: expect.stringContaining("2026-08 of book ORG is closed already"),
      })
      const { out } = yield* tieout(
        "export",
        "--format",
        "journal",
        "--period",
        "2026-08",
        "--out",
        join(cwd, "e"),
      )
      expect(out).toContain("2026-08 is closed, approved by Ada Jones")
      // Whoever reopens the month is told which batches an accounting system may have taken in from this close.
      const opened = yield* tieout("reopen", "2026-08", "--reason", "late")
      const [batch] = /ORG\/\d+/.exec(out) ?? []
      expect(opened.out).toContain(
        "What changes in 2026-08 is not in the batches that stand on that close:\n",
      )
      expect(opened.out).toContain(`    ${batch} 2026-08 journal (committed)`)
      yield* closing("2026-08")
      const again = yield* tieout("reopen", "2026-08", "--reason", "late")
      expect([again.code, again.out.includes("stand on that close")]).toEqual([0, false])
    }),
  )

  it.scoped("is given once where two people give it at once", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      const database = yield* Database
      const [first, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const ada = yield* approving("Ada Jones").pipe(
        Effect.zipLeft(Effect.zipRight(Deferred.succeed(first, undefined), Deferred.await(go))),
        database.transaction,
        Effect.fork,
      )
      yield* Deferred.await(first)
      const bea = yield* Effect.fork(messageOf(approving("Bea")))
      yield* someoneWaits
      yield* Deferred.succeed(go, undefined)
      expect([(yield* Fiber.join(ada)).length, yield* Fiber.join(bea)]).toEqual([
        1,
        expect.stringContaining("by Ada Jones"),
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
