import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { batchDifferences } from "../../src/Export/Batch/Kept/Committed.ts"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import * as Export from "../../src/Export.ts"
import { plainFormats } from "../../src/Format/Formats.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const clientId = "55555555-0000-4000-8000-000000000001"
const names = [
  "books.beancount",
  "books.journal",
  "books.ledger",
  "journal.csv",
  "manifest.json",
  "trial-balance.csv",
]

const copyOf = (folder: string): string => {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

const problemsOf = (folder: string) =>
  Effect.map(Verify.run(folder), ({ ok, problems }) => {
    expect(ok).toBe(problems.length === 0)
    return problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${message}`)
  })

/** Changes a file and makes the manifest agree with it, so that only its content can reveal the change. */
const forge = (folder: string, name: string, change: (text: string) => string): string => {
  const copy = copyOf(folder)
  const text = readFileSync(join(copy, name), "utf8")
  const changed = change(text)
  expect(changed).not.toBe(text)
  writeFileSync(join(copy, name), changed)
  const decoded = ManifestSeal.decode(readFileSync(join(copy, "manifest.json"), "utf8"))
  const { digest: _, ...manifest } = Either.getOrThrow(decoded)
  const files = manifest.files.map((file) =>
    file.name === name
      ? {
          ...file,
          bytes: Buffer.byteLength(changed),
          sha256: createHash("sha256").update(changed).digest("hex"),
        }
      : file,
  )
  writeFileSync(join(copy, "manifest.json"), ManifestSeal.print({ ...manifest, files }))
  return copy
}

layer(TestDatabase.layer)("verify", (it) => {
  const exported = Effect.runSync(
    Effect.cached(
      Effect.gen(function* () {
        const bookId = yield* openBook("VERIFY", clientId)
        yield* postMonths(bookId)
        const out = temporaryFolder()
        const { batches } = yield* Export.run({
          formats: plainFormats.map(({ name }) => name),
          scope: { kind: "period", period: "2026-10" },
          connection: Option.none(),
          book: Option.some(clientId),
          out,
        })
        return { bookId, folder: batches[0]?.folder ?? "" }
      }),
    ),
  )

  it.effect("accepts what was exported", () =>
    Effect.gen(function* () {
      expect(yield* problemsOf((yield* exported).folder)).toEqual([])
    }),
  )

  it.effect("finds one changed byte anywhere, and names the file", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const copy = copyOf(folder)
      for (const name of names) {
        const path = join(copy, name)
        const original = readFileSync(path)
        for (let at = 0; at < original.length; at += Math.max(1, Math.floor(original.length / 16))) {
          const changed = Buffer.from(original)
          changed[at] = (changed[at] ?? 0) ^ 1
          writeFileSync(path, changed)
          const { ok, problems } = yield* Verify.run(copy)
          expect([name, at, ok]).toEqual([name, at, false])
          expect(problems.some(({ file }) => file === name)).toBe(true)
        }
        writeFileSync(path, original)
      }
      expect(yield* problemsOf(copy)).toEqual([])
    }),
  )

  it.effect("finds files that are missing, truncated or do not belong there", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const copy = copyOf(folder)
      rmSync(join(copy, "books.ledger"))
      writeFileSync(join(copy, "notes.txt"), "")
      const journal = readFileSync(join(copy, "journal.csv"), "utf8")
      writeFileSync(join(copy, "journal.csv"), journal.slice(0, -40))
      const found = yield* problemsOf(copy)
      expect(found).toContain("notes.txt: is not in the manifest: it does not belong to this batch")
      expect(found).toContain("books.ledger: is missing")
      expect(found.some((line) => line.startsWith("journal.csv: has "))).toBe(true)
      rmSync(join(copy, "manifest.json"))
      expect(yield* Effect.flip(Verify.run(copy))).toMatchObject({
        _tag: "VerifyError",
        reason: "NoManifest",
      })
    }),
  )

  it.effect("finds the wrong line of a journal whose checksum was made to fit", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const forged = (change: (text: string) => string) => problemsOf(forge(folder, "journal.csv", change))
      const withoutLine = (number: number) => (text: string) =>
        text
          .split("\n")
          .toSpliced(number - 1, 1)
          .join("\n")

      expect((yield* forged((text) => text.replace(",5.00,,", ",5.01,,")))[0]).toBe(
        "journal.csv:2: the journal entry VERIFY-2026-10-000001 does not balance in USD",
      )
      expect((yield* forged((text) => text.replaceAll(",0.01,", ",0.02,")))[0]).toMatch(
        /^journal\.csv: 1010 .* debit \/ credit are 995\.02 \/ 1020\.00, the manifest says 995\.01 \/ 1020\.00$/,
      )
      expect(yield* forged((text) => text.replace(",5.00,,", ",5.0,,"))).toContain(
        'journal.csv:3: "5.0" is not an amount with 2 decimals',
      )
      expect(yield* forged((text) => text.replace(",5.00,,", ",5.00,5.00,"))).toContain(
        "journal.csv:3: exactly one of debit and credit must be filled",
      )
      expect(yield* forged(withoutLine(4))).toContain(
        "journal.csv:2: the journal entry VERIFY-2026-10-000001 does not balance in USD",
      )
      expect(yield* forged((text) => text.replaceAll("2026-10-000006", "2026-10-000007"))).toContain(
        "journal.csv:20: the journal number VERIFY-2026-10-000007 does not follow: a number is missing before it or doubled",
      )
      expect(yield* forged((text) => text.replace(",2026-10-07,", ",2026-11-07,"))).toContain(
        'journal.csv:18: the effective date "2026-11-07" is not in 2026-10',
      )
    }),
  )

  it.effect("finds changes in the other files", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const forged = (name: string, change: (text: string) => string) =>
        problemsOf(forge(folder, name, change))
      expect(yield* forged("trial-balance.csv", (text) => text.replace(",475.01\n", ",475.02\n"))).toEqual([
        "trial-balance.csv:3: closing of 1010 Assets:Partner:USD:SWIFT:11111111: 475.02, the manifest says 475.01",
      ])
      for (const name of ["books.journal", "books.ledger", "books.beancount"]) {
        const found = yield* forged(name, (text) =>
          text.replace("Expenses:Fees:USD  5.00", "Expenses:Fees:USD  5.01"),
        )
        expect(found[0]).toMatch(new RegExp(`^${name}:\\d+: the transaction does not balance in USD$`))
        expect(found).toContain(`${name}: 6850 Expenses:Fees:USD ends at 10.01 USD, the manifest says 10.00`)
      }
      expect(
        (yield* forged("books.ledger", (text) => text.replace("= 1495.00 USD", "= 1495.10 USD")))[0],
      ).toMatch(/^books\.ledger:\d+: asserts 1495\.10, the postings so far make 1495\.00$/)
    }),
  )

  it.effect("finds a manifest that was edited and does not add up", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const copy = copyOf(folder)
      const path = join(copy, "manifest.json")
      const text = readFileSync(path, "utf8")
      writeFileSync(path, text.replace('"complete": true', '"complete": false'))
      expect(yield* problemsOf(copy)).toEqual([
        expect.stringMatching(
          /^manifest\.json:\d+: has changed since it was written: its digest is not that of its content$/,
        ),
        "manifest.json: is not complete, but does not say why",
      ])
      writeFileSync(path, `${text} `)
      expect((yield* problemsOf(copy)).length).toBe(1)
      writeFileSync(path, text.replace("{", "["))
      expect((yield* problemsOf(copy))[0]).toContain("manifest.json:1: cannot be read")
    }),
  )

  it.effect("refuses links, pipes and folders in place of a file or the manifest", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const copy = copyOf(folder)
      const linked = join(temporaryFolder(), "journal.csv")
      renameSync(join(copy, "journal.csv"), linked)
      symlinkSync(linked, join(copy, "journal.csv"))
      rmSync(join(copy, "books.ledger"))
      execFileSync("mkfifo", [join(copy, "books.ledger")])
      rmSync(join(copy, "trial-balance.csv"))
      mkdirSync(join(copy, "trial-balance.csv"))
      const found = yield* problemsOf(copy)
      expect(found).toContain("journal.csv: is a link or no regular file, and was not opened")
      expect(found).toContain("books.ledger: is no regular file, and was not opened")
      expect(found).toContain("trial-balance.csv: is a folder, and was not opened")
      rmSync(join(copy, "manifest.json"))
      execFileSync("mkfifo", [join(copy, "manifest.json")])
      expect((yield* Effect.flip(Verify.run(copy))).message).toContain("is no regular file")
    }),
  )

  it.effect("finds a folder with the name of another batch, scope or book", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const placed = (...path: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const copy = join(temporaryFolder(), ...path)
          cpSync(folder, copy, { recursive: true })
          return yield* Verify.run(copy)
        })
      const book = "default-VERIFY"
      // Older versions wrote their batches there.
      expect((yield* placed(`default-${clientId}`, "2026-10", "1")).problems).toEqual([])
      expect((yield* placed(book, "2026-10", "1")).problems).toEqual([])
      const wrong = Effect.fnUntraced(function* (...path: ReadonlyArray<string>) {
        return (yield* placed(...path)).problems.map(({ message }) => message)
      })
      expect(yield* wrong(book, "2026-10", "2")).toEqual(["is of the batch 1, but stands in the folder 2"])
      expect(yield* wrong(book, "2026-09", "1")).toEqual([
        "is of the scope 2026-10, but stands in the folder 2026-09",
      ])
      expect(yield* wrong("default-ORG", "2026-10", "1")).toEqual([
        `is of the book ${book}, but stands in the folder default-ORG`,
      ])
      expect(yield* wrong("other-VERIFY", "2026-10", "1"), "of another connection").toEqual([
        `is of the book ${book}, but stands in the folder other-VERIFY`,
      ])
      const renamed = yield* placed("Smith & Sons", "2026-10", "1")
      expect(renamed.ok).toBe(true)
      expect(renamed.notes).toEqual([
        `The name of the folder Smith & Sons says nothing of the book: by its manifest it is ${book}.`,
      ])
      const elsewhere = yield* placed("downloads", "from-jane")
      expect(elsewhere.ok).toBe(true)
      expect(elsewhere.notes).toEqual([
        "The folder's name says nothing of what it holds: by its manifest it is batch 1, 2026-10, of book VERIFY.",
      ])
    }),
  )

  it.effect("goes through all batches below a folder, in order, and names the one that was changed", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const tree = temporaryFolder()
      const [first = "", tenth = ""] = ["2026-10/1", "2026-11/10"].map((at) =>
        join(tree, "default-VERIFY", at),
      )
      for (const copy of [first, tenth]) cpSync(folder, copy, { recursive: true })
      writeFileSync(join(tree, "note.txt"), "kept by hand")
      symlinkSync(folder, join(tree, "latest"))
      const found = yield* Verify.runAll([tree, join(first, "..")])
      // The tenth is a copy of the first in a place that is not its own.
      expect(found.map(({ folder: at, ok }) => [at, ok])).toEqual([
        [first, true],
        [tenth, false],
      ])
      rmSync(join(tenth, "manifest.json"))
      const [, unfinished] = yield* Verify.runAll([tree])
      expect(unfinished).toMatchObject({ folder: tenth, ok: false, problems: [{ file: "manifest.json" }] })
      // As a report whose manifest is gone.
      const report = join(tree, "reports/of/many/years/and/books/default-VERIFY/2026-12")
      mkdirSync(report, { recursive: true })
      writeFileSync(join(report, "report.html"), "")
      const all = yield* Verify.runAll([tree])
      expect(all.map(({ folder: at, ok }) => [at, ok])).toEqual([
        [first, true],
        [tenth, false],
        [report, false],
      ])
    }),
  )

  it.effect("refuses several folders of which one is not there, or has no batch, before it checks any", () =>
    Effect.gen(function* () {
      const { folder } = yield* exported
      const reasonOf = (other: string) =>
        Effect.map(Effect.flip(Verify.runAll([folder, other])), ({ reason }) => reason)
      expect(yield* reasonOf(join(folder, "none"))).toBe("NoFolder")
      expect(yield* reasonOf(temporaryFolder())).toBe("NoManifest")
    }),
  )

  it.effect(
    "against the ledger: a committed batch agrees until somebody changes a posting behind its back",
    () =>
      Effect.gen(function* () {
        const { bookId } = yield* exported
        expect(yield* batchDifferences(bookId, 1)).toEqual([])
        expect(yield* batchDifferences(bookId, 2)).toBeNull()
        const database = yield* Database
        yield* database.transaction(
          Effect.gen(function* () {
            yield* database.query("Test.tamper", (sql) => sql`set local session_replication_role = replica`)
            yield* database.query(
              "Test.tamper",
              (sql) =>
                sql`update ledger.postings set amount = amount * 2 where book_id = ${bookId} and currency = 'JPY'`,
            )
          }),
        )
        expect(yield* batchDifferences(bookId, 1)).toEqual([
          { currency: "JPY", figure: "debit", exported: "120000", ledger: "240000" },
          { currency: "JPY", figure: "credit", exported: "120000", ledger: "240000" },
        ])
        const refused = yield* Effect.flip(
          Export.run({
            formats: ["journal"],
            scope: { kind: "all" },
            connection: Option.none(),
            book: Option.some("VERIFY"),
            out: temporaryFolder(),
          }),
        )
        expect(refused).toMatchObject({ _tag: "ExportError", reason: "Disagrees" })
      }),
  )
})
