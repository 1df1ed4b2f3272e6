/** Files of an export that have more bytes or lines than its manifest states: whoever checks them reads no more than is stated. */
import { truncateSync } from "node:fs"
import { join } from "node:path"
import { expect, it, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { chunksOf } from "../../src/Common/Files/RegularFile.ts"
import { LineDigests } from "../../src/Export/Batch/Manifest/LineChecks.ts"
import * as Export from "../../src/Export.ts"
import { run } from "../../src/Verify.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const terabyte = 1024 ** 4

layer(TestDatabase.layer, { excludeTestServices: true })("a file with a hole of a terabyte", (it) => {
  it.effect("is read as far as the manifest says, and compared with the others as far", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("ORG"))
      const { batches } = yield* Export.run({
        formats: ["journal"],
        scope: { kind: "all" },
        ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
      })
      const { folder, manifest } = batches[0] ?? expect.fail("no batch")
      for (const { bytes, name } of manifest.files) {
        const path = join(folder, name)
        truncateSync(path, 0)
        truncateSync(path, terabyte)
        let read = 0
        yield* Effect.promise(async () => {
          for await (const chunk of chunksOf(path, bytes)) read += chunk.length
        })
        expect(read).toBe(bytes)
      }
      const { problems } = yield* run(folder)
      for (const { bytes, name } of manifest.files) {
        expect(problems).toContainEqual({
          ...{ file: name, line: null },
          message: `has ${terabyte} bytes, the manifest says ${bytes}`,
        })
      }
    }),
  )
})

it("a file of more lines than were written is searched for a change as far as its checks reach", () => {
  const written = new LineDigests()
  written.add(Buffer.from("a\nb\n"))
  const stated = written.checks()
  const found = new LineDigests(stated)
  found.add(Buffer.from(`a\nb\n${"\n".repeat(1_000)}`))
  expect(found.checks()).toEqual(stated)
  const whole = new LineDigests()
  whole.add(Buffer.from(`a\nb\n${"\n".repeat(1_000)}`))
  expect(found.sha256()).toBe(whole.sha256())
  // Checks that were forged as well: of as many as are ever written.
  const forged = new LineDigests({ every: 1, prefixes: "0".repeat(8_000) })
  forged.add(Buffer.from("\n".repeat(1_000)))
  expect(forged.checks().prefixes.length).toBe(512 * 8)
})
