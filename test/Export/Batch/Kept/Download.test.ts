import { createHash, randomBytes } from "node:crypto"
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { batchFiles } from "../../../../src/Database/Tables/Export.ts"
import { Database } from "../../../../src/Database.ts"
import { blockSize } from "../../../../src/Export/Batch/Kept/Compression.ts"
import { keepFiles, keptBlock } from "../../../../src/Export/Batch/Kept/KeptFiles.ts"
import { print } from "../../../../src/Export/Batch/Manifest/ManifestSeal.ts"
import * as Batches from "../../../../src/Export/Batches.ts"
import * as Verify from "../../../../src/Verify.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { openBook, postMonths } from "../../Books.ts"
import { all, client, everything, exporting, october } from "../../Exporting.ts"

layer(TestDatabase.layer)("a batch's files", (it) => {
  it.effect("are restored byte for byte when the folder is gone, but only into an empty folder", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("KEPT", client(6))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const { batches } = yield* exporting("KEPT", out)(all, ["journal", "hledger", "qbo"])
      const folder = batches[0]?.folder ?? ""
      const was = everything(folder)
      const taken = yield* Effect.flip(Batches.download("KEPT/1", folder, out))
      expect(taken).toMatchObject({ reason: "FolderTaken" })
      expect(taken.message).toContain("books.journal")
      expect(everything(folder)).toEqual(was)
      rmSync(folder, { recursive: true })
      const to = join(temporaryFolder(), "new", "folder")
      yield* Batches.download("KEPT/1", to, out)
      expect(everything(to)).toEqual(was)
      // Killed before the manifest: what is whole is the batch's to the byte, the rest is half written.
      rmSync(join(to, "manifest.json"))
      renameSync(join(to, "books.journal"), join(to, "books.journal.partial"))
      truncateSync(join(to, "books.journal.partial"), 7)
      writeFileSync(join(to, "manifest.json.partial"), "")
      yield* Batches.download("KEPT/1", to, out)
      expect(everything(to)).toEqual(was)
      rmSync(join(to, "manifest.json"))
      writeFileSync(join(to, "books.journal"), "mine")
      const mine = yield* Effect.flip(Batches.download("KEPT/1", to, out))
      expect(mine.message).toMatch(/ holds books\.journal and \d+ more: name a new or an empty folder/)
      expect(readFileSync(join(to, "books.journal"), "utf8")).toBe("mine")
      expect((yield* Batches.show("KEPT/1", out)).problems).toEqual([
        "the folder is not there; --exports names the folder that the exports stand in",
      ])
    }),
  )

  it.effect("are restored whether they were stored compressed or could not be compressed", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("GZIP", client(9))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const { batches } = yield* exporting("GZIP", out)(all, ["journal"], { keepFiles: false })
      const folder = batches[0]?.folder ?? ""
      const was = everything(folder)
      for (const name of Object.keys(was).filter((file) => file !== "manifest.json")) {
        const content = gzipSync(readFileSync(join(folder, name)), { level: 3 })
        yield* database.orm("Test.keep", (orm) =>
          orm.insert(batchFiles).values({ bookId, batch: 1, name, chunk: 1, content }),
        )
      }
      rmSync(folder, { recursive: true })
      const to = temporaryFolder()
      yield* Batches.download("GZIP/1", to, out)
      expect(everything(to)).toEqual(was)

      const { batches: next } = yield* exporting("GZIP", out)(all, ["journal"], { keepFiles: false })
      const bytes = randomBytes(2 * blockSize + 7)
      const noise = {
        name: "noise",
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      }
      writeFileSync(join(next[0]?.folder ?? "", noise.name), bytes)
      const file = { ...noise, format: "journal", rows: 0 }
      const written = { path: next[0]?.folder ?? "", blocks: () => undefined }
      yield* keepFiles([{ bookId, folder: written, manifest: { batch: 2, files: [file] } }])
      const blocks = yield* Effect.forEach([1, 2, 3, 4], (chunk) => keptBlock(bookId, 2, noise.name, chunk))
      expect(Buffer.concat(blocks.filter((block) => block !== undefined)).equals(bytes)).toBe(true)
    }),
  )

  it.effect("are copied from the folder where the database has none, if no byte has changed", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("UNKEPT", client(7))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const { batches } = yield* exporting("UNKEPT", out)(all, ["journal"], { keepFiles: false })
      const folder = batches[0]?.folder ?? ""
      const to = temporaryFolder()
      yield* Batches.download("UNKEPT/1", to, out)
      expect(everything(to)).toEqual(everything(folder))
      const file = join(folder, "journal.csv")
      writeFileSync(file, readFileSync(file, "utf8").replace("995.00", "996.00"))
      const other = temporaryFolder()
      const refused = yield* Effect.flip(Batches.download("UNKEPT/1", other, out))
      expect(refused).toMatchObject({ reason: "Missing" })
      expect(refused.message).toContain("journal.csv its content has changed")
      expect(readdirSync(other)).toEqual([])
    }),
  )

  it.effect("are chained: the neighbours of a manifest reveal that it was edited and sealed again", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("CHAIN", client(8))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("CHAIN", out)
      const one = (yield* run(october, ["journal"])).batches[0]
      const two = (yield* run(all, ["journal"])).batches[0]
      const three = (yield* run(october, ["hledger"])).batches[0]
      const problems = (folder: string | undefined) =>
        Effect.map(Verify.run(folder ?? ""), ({ problems: found }) =>
          found.map(({ message }) => message).join(),
        )
      expect(yield* Effect.forEach([one, two, three], (batch) => problems(batch?.folder))).toEqual([
        "",
        "",
        "",
      ])
      const missing = temporaryFolder()
      cpSync(out, missing, { recursive: true })
      rmSync(join(missing, relative(out, one?.folder ?? "")), { recursive: true })
      const last = join(missing, relative(out, three?.folder ?? ""))
      const said = "batch 1, which batch 2 follows, does not stand beside it"
      expect(yield* Verify.run(last)).toMatchObject({
        ok: true,
        notes: [`The chain of batches was not followed to its beginning: ${said}.`],
      })
      expect((yield* Verify.run(last, { chain: true })).problems.map(({ message }) => message)).toEqual([
        said,
      ])
      expect((yield* Verify.run(three?.folder ?? "", { chain: true })).ok).toBe(true)
      // A batch that is missing in the middle is also noticed from the start of the chain.
      const gap = temporaryFolder()
      cpSync(out, gap, { recursive: true })
      rmSync(join(gap, relative(out, two?.folder ?? "")), { recursive: true })
      const first = join(gap, relative(out, one?.folder ?? ""))
      const lost = "batch 2, which batch 3 follows, does not stand beside it"
      expect(yield* Verify.run(first)).toMatchObject({
        ok: true,
        notes: [`The chain of batches was not followed to its end: ${lost}.`],
      })
      expect((yield* Verify.run(first, { chain: true })).problems.map(({ message }) => message)).toEqual([
        lost,
      ])
      if (one === undefined) return
      writeFileSync(join(one.folder, "manifest.json"), print({ ...one.manifest, reasons: ["none"] }))
      expect(yield* problems(one.folder)).toContain("the next batch differs")
      expect(yield* problems(two?.folder)).toContain("does not follow the batch 1 beside it")
      expect(yield* problems(three?.folder)).toContain("batch 2 does not follow the batch 1 beside it")
    }),
  )
})
