import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Database } from "../../../src/Database.ts"
import { credit, deposit, id, partnership } from "../../Sync/Partnership.ts"
import { sync, variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const remitter = "Jane Remitter"

/** One deposit whose amount has another field name than in the settings, and its statement entry. */
const left = Effect.gen(function* () {
  const { service } = yield* partnership({
    balance: "10",
    deposits: [
      deposit(11, "10", { remitterName: remitter, amount: { value: "10", currency: "USD" }, big: 1.1 }),
    ],
    statement: [credit(21, "10", "10", id(11))],
  })
  const { url } = yield* TestDatabase
  const { cwd, run } = yield* program
  /** A command, as a person types it. */
  const tieout = (variables: Record<string, string>, ...args: ReadonlyArray<string>) => run(args, variables)
  return { cwd, service, tieout, variables: { DATABASE_URL: url, ...variablesFor(service.url) } }
})

const database = Layer.fresh(TestDatabase.layer)

layer(database, { excludeTestServices: true })("the quarantine on the command line", (it) => {
  it.scoped("is counted in every summary, listed without content, shown by number and replayed", () =>
    Effect.gen(function* () {
      const { cwd, tieout, variables } = yield* left
      const before = yield* tieout(variables, "quarantine", "list")
      expect([before.code, before.out]).toEqual([0, "Nothing waits in quarantine.\n"])

      const read = yield* tieout(variables, "sync")
      expect(read.code).toBe(3)
      for (const { code, out } of [
        read,
        yield* tieout(variables, "status"),
        yield* tieout(variables, "reconcile"),
      ]) {
        expect(code).toBe(3)
        expect(out).toContain("1 row is in quarantine.")
        expect(out).toContain("tieout quarantine list")
        expect(out).not.toContain(remitter)
      }

      const exported = yield* tieout(
        variables,
        ...["export", "--format", "journal", "--period", "2026-10", "--json"],
      )
      expect(exported.code).toBe(3)
      const [batch] = JSON.parse(exported.out).batches
      const manifest = JSON.parse(
        yield* Effect.promise(() => readFile(join(cwd, batch.folder, "manifest.json"), "utf8")),
      )
      expect(manifest.complete).toBe(false)
      expect(manifest.reasons).toContain("1 item is in quarantine")

      const list = yield* tieout(variables, "quarantine", "list", "--json")
      expect(list.code).toBe(3)
      expect(JSON.parse(list.out)).toMatchObject({
        open: 1,
        rows: [
          {
            number: "Q1",
            connection: "default",
            book: "ORG",
            stream: "deposits",
            itemId: id(11),
            path: "$.amount.amount",
            resolvedAt: null,
            runId: 1,
          },
        ],
      })
      const listed = yield* tieout(variables, "quarantine", "list")
      expect(listed.out).toContain("1 row waits. See: tieout quarantine show Q1")
      const shown = yield* tieout(variables, "quarantine", "show", "q1")
      expect(shown.code).toBe(0)
      expect(shown.out).toContain(`\n  "remitterName": "${remitter}",\n`)
      expect(shown.out).toContain(`\n  "big": 1.1\n}\n`)
      const explained = yield* tieout(variables, "explain", "Q1")
      expect(explained.code).toBe(0)
      expect(explained.out).toContain("$.amount.amount")

      const waits = yield* tieout(variables, "quarantine", "replay")
      expect(waits.code).toBe(3)
      expect(waits.out).toContain("still waits: $.amount.amount")
      expect(waits.out).toMatch(/\nThe next tieout sync asks the service again for what still waits\.\n$/)
      const mended = { ...variables, TIEOUT_INTERFACE_MONEY_AMOUNT_FIELD: "value" }
      const replayed = yield* tieout(
        mended,
        "quarantine",
        "replay",
        "Q1",
        "--connection",
        "default",
        "--json",
      )
      expect(replayed.code).toBe(0)
      expect(JSON.parse(replayed.out).runs).toMatchObject([
        { connection: "default", numbered: 1, rows: [{ number: "Q1", replayed: true, reason: null }] },
      ])
      const again = yield* tieout(mended, "quarantine", "replay", "Q1")
      expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^Q1 is settled since 20/)])
      expect((yield* tieout(mended, "quarantine", "list")).code).toBe(0)
      const all = yield* tieout(mended, "quarantine", "list", "--all")
      expect([all.code, all.out.split("\n")[0]?.endsWith("Settled")]).toEqual([0, true])

      for (const { error, out } of [read, exported, list, listed, explained, waits, replayed]) {
        expect(error + out).not.toContain(remitter)
      }
    }),
  )
})

layer(database, { excludeTestServices: true })("a replay that is impossible", (it) => {
  it.scoped("says why: another run, no such row, no row number, no credentials", () =>
    Effect.gen(function* () {
      const { service, tieout, variables } = yield* left
      yield* sync(service.url)
      const unknown = yield* tieout(variables, "quarantine", "replay", "Q9")
      expect([unknown.code, unknown.error]).toEqual([
        2,
        "There is no row Q9 in quarantine. See: tieout quarantine list --all\n",
      ])
      const wrong = yield* tieout(variables, "quarantine", "show", "12")
      expect(wrong.code).toBe(2)
      expect(wrong.error).toContain('Found "12", expected the number of a row in quarantine, such as Q12.')
      const nobody = yield* tieout({ DATABASE_URL: variables.DATABASE_URL }, "quarantine", "replay")
      expect(nobody.code).toBe(2)
      expect(nobody.error).toContain("TIEOUT_CLIENT_ID")
      const busy = yield* Effect.flatMap(Database, ({ withSessionLock }) =>
        withSessionLock("sync:default", tieout(variables, "quarantine", "replay")),
      )
      expect(busy.code).toBe(4)
    }),
  )
})
