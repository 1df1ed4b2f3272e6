/** Reports of several books are written side by side, each of its own book. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { failureOf } from "../../src/Cli/Failure.ts"
import { Progress, type Stage } from "../../src/Common/Progress.ts"
import { Database } from "../../src/Database.ts"
import { report } from "../../src/Report.ts"
import { Settings } from "../../src/Settings.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const reporting = (out: string, book?: string) =>
  report({ period: "2026-10", out, book: Option.fromNullable(book), asOf: Option.none() }).pipe(
    Effect.provide(Settings.from({ variables: {} })),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("reports of several books", (it) => {
  it.scoped(
    "have the same content as a report of each alone; a book that is already being written is refused by name, a folder of somebody else's refuses all",
    () =>
      Effect.gen(function* () {
        const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
        const indexes = [1, 2, 3, 4, 5, 6]
        const { held, service } = yield* lending({ clients: indexes.map((index) => client(index)) })
        for (const index of indexes)
          move(held, clientId(index), { type: "CREDIT", amount: index * 10, on: "2026-10-05T12:00:00Z" })
        yield* sync(service.url, variables)
        const out = temporaryFolder()
        const stages: Array<() => string> = []
        const begin = ({ name, text }: Stage) => {
          if (name === "report") stages.push(text)
          return () => undefined
        }
        const written = yield* Effect.provideService(reporting(out), Progress, { begin })
        // Of all of them, not of those that are written side by side.
        expect(stages.map((text) => text())).toEqual(["6 of 6 books"])
        expect(written.map(({ manifest }) => manifest.book.code)).toEqual(indexes.map((index) => `C${index}`))
        for (const { folder, manifest } of written) {
          const [alone] = yield* reporting(temporaryFolder(), manifest.book.code)
          expect(readdirSync(folder).toSorted()).toEqual(readdirSync(alone?.folder ?? "").toSorted())
          for (const { name } of manifest.files.filter((file) => file.name.endsWith(".csv"))) {
            expect(readFileSync(join(folder, name), "utf8")).toBe(
              readFileSync(join(alone?.folder ?? "", name), "utf8"),
            )
          }
        }
        const [third] = yield* rows("select book_id as id from mirror.books where code = 'C3'")
        const database = yield* Database
        const other = temporaryFolder()
        const busy = yield* Effect.flip(database.withSessionLock(`report ${third?.id}`, reporting(other)))
        expect(busy).toMatchObject({ reason: "Busy" })
        expect(busy).toHaveProperty("message", expect.stringContaining("the book C3 is being written"))
        expect(readdirSync(other).toSorted()).toEqual(
          indexes.flatMap((index) => (index === 3 ? [] : [`default-C${index}`])),
        )

        const foreign = temporaryFolder()
        mkdirSync(join(foreign, "default-C6", "2026-10"), { recursive: true })
        writeFileSync(join(foreign, "default-C6", "2026-10", "notes.txt"), "mine")
        const taken = yield* Effect.flip(reporting(foreign))
        expect(taken).toMatchObject({ reason: "FolderTaken" })
        expect(failureOf(taken).code).toBe(2)
        expect(readdirSync(foreign)).toEqual(["default-C6"])
      }),
  )
})
