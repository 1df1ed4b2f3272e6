/** Files of a folder whose blocks are put aside while they are written. */
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { openFolders } from "../../../../src/Export/Batch/Folder.ts"
import { mostWaiting } from "../../../../src/Export/Batch/FolderFile.ts"
import { blockSize, expand } from "../../../../src/Export/Batch/Kept/Compression.ts"
import { asideFile, PutAside, type ReadBlock } from "../../../../src/Export/Batch/Kept/PutAside.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const puttingAside = Effect.acquireRelease(
  Effect.sync(() => new PutAside()),
  (one) => Effect.promise(() => one.close()),
)

/** Of two folders that share what is put aside, the second. */
const opened = (path: string) =>
  Effect.gen(function* () {
    const aside = yield* puttingAside
    const [before, folder] = yield* openFolders([`${path}-before`, path], aside)
    const file = yield* (before ?? expect.fail()).create("journal.csv")
    yield* file.write(textOf(blockSize + 1))
    yield* file.finish
    expect(readdirSync(`${path}-before`)).toEqual(["journal.csv.partial"])
    return folder ?? expect.fail()
  })

/** The file that the blocks make, and how long each of them is. */
const joined = async (read: ReadBlock) => {
  const blocks: Array<Buffer> = []
  for (let chunk = 1; ; chunk++) {
    const content = await read(chunk)
    if (content === undefined) break
    blocks.push(await expand(content))
  }
  return { content: Buffer.concat(blocks), lengths: blocks.map(({ length }) => length) }
}

/** Text as files have it, with a part that repeats and one that does not. */
const textOf = (bytes: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.floor(bytes / 2), "2026-10-01,"), randomBytes(Math.ceil(bytes / 2))])

const pieces = fc.array(
  fc.oneof(fc.nat(300), fc.nat(3 * mostWaiting), fc.constantFrom(mostWaiting, blockSize, 2 * blockSize + 1)),
  { minLength: 1, maxLength: 8 },
)

it("blocks that are put aside make the file, whatever it was written in", () =>
  fc.assert(
    fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 3 }), (files) =>
      Effect.gen(function* () {
        const path = join(temporaryFolder(), "batch")
        const folder = yield* opened(path)
        yield* Effect.forEach(
          files,
          (sizes, at) =>
            Effect.gen(function* () {
              const name = `file-${at}`
              const file = yield* folder.create(name)
              for (const size of sizes) {
                const content = textOf(size)
                yield* file.write(content)
                // Whoever writes uses the buffer again.
                content.fill(0)
              }
              const { bytes } = yield* file.finish
              yield* folder.rename(name, `${name}.csv`)
              expect(folder.blocks(name)).toBeUndefined()
              const blocks = folder.blocks(`${name}.csv`)
              if (bytes <= mostWaiting) return expect(blocks).toBeUndefined()
              if (blocks === undefined) return expect.fail("no blocks were put aside")
              const { content, lengths } = yield* Effect.promise(() => joined(blocks))
              expect(content.equals(readFileSync(join(path, `${name}.csv.partial`)))).toBe(true)
              expect(lengths.slice(0, -1).every((length) => length === blockSize)).toBe(true)
            }),
          { concurrency: "unbounded" },
        )
        expect(readdirSync(path).toSorted()).toEqual(files.map((_, at) => `file-${at}.csv.partial`))
      }).pipe(Effect.scoped, Effect.runPromise),
    ),
    { numRuns: 25 },
  ))

it.scoped("blocks that cannot be put aside fail the file", () =>
  Effect.gen(function* () {
    const path = join(temporaryFolder(), "batch")
    // The export's scope, which outlives that of a file that failed.
    const aside = new PutAside()
    const [folder] = yield* openFolders([path], aside)
    mkdirSync(join(path, asideFile))
    const file = yield* (folder ?? expect.fail()).create("journal.csv")
    yield* file.write(randomBytes(2 * mostWaiting))
    const error = yield* Effect.flip(file.finish)
    expect(error).toMatchObject({ _tag: "ExportError", reason: "Folder" })
    expect(error.message).toContain("[EEXIST]")
  }),
)
