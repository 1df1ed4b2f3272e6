/** One changed byte anywhere in a folder of every format must be found, with the file and the line. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import fc from "fast-check"
import { firstChange, type LineChecks, LineDigests } from "../../src/Export/Batch/Manifest/LineChecks.ts"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import * as Export from "../../src/Export.ts"
import { formatNames } from "../../src/Format/Formats.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: {
    leaveOut: ["JPY", "USDT"],
    datev: { consultant: 1001, client: 1 },
    fec: { siren: "732829320" },
  },
})

/** In euros alone, and in kronor alone. */
const base = ["journal", "fec"]
const ofOneCurrency = ["fec", "sie"]

const rates = ["2026-09", "2026-10"].flatMap((month) =>
  Array.from({ length: month === "2026-09" ? 30 : 31 }, (_, day) =>
    ["USD", "JPY", "USDT"].map((from) => ({
      date: `${month}-${String(day + 1).padStart(2, "0")}`,
      from,
      to: "EUR",
      rate: from === "JPY" ? "0.0061" : "0.92",
      source: "test",
    })),
  ).flat(),
)

type Change = readonly [kind: "flip" | "insert" | "delete", place: number, value: number]

const change: fc.Arbitrary<Change> = fc.tuple(
  fc.constantFrom("flip", "insert", "delete"),
  fc.nat(1_000_000),
  fc.integer({ min: 1, max: 255 }),
)

/** The bytes with one changed, and the line on which they first differ. Of two equal bytes in a row, either may be the removed one. */
const changed = (original: Buffer, [kind, place, value]: Change) => {
  const at = place % original.length
  const [before, byte, after] = [original.subarray(0, at), original[at] ?? 0, original.subarray(at + 1)]
  const made = { flip: [byte ^ value], insert: [value, byte], delete: [] }[kind]
  const bytes = Buffer.concat([before, Buffer.from(made), after])
  const same = original.findIndex((one, index) => one !== bytes[index])
  const line =
    original.subarray(0, same < 0 ? original.length : same).filter((one) => one === 0x0a).length + 1
  return { bytes, line }
}

layer(TestDatabase.layer)("a folder of every format", (it) => {
  const exported = Effect.runSync(
    Effect.cached(
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("BYTES"))
        const asked = {
          formats: formatNames.filter((name) => !ofOneCurrency.includes(name)),
          scope: { kind: "all" as const },
          connection: Option.none(),
          book: Option.some("BYTES"),
          out: temporaryFolder(),
          tables: { settings: formats, baseCurrency: "USD" },
        }
        const { batches } = yield* Export.run(asked)
        yield* addRates(rates)
        const based = yield* Export.run({
          ...asked,
          formats: base,
          tables: { settings: formats, baseCurrency: "EUR" },
          base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
        })
        return { native: batches[0]?.folder ?? "", base: based.batches[0]?.folder ?? "" }
      }),
    ),
  )

  it.effect.each([
    ["native", 20],
    ["base", 4],
  ] as const)("verifies, and names the file and the line of any changed byte: %s", ([which, files]) =>
    Effect.gen(function* () {
      const folder = (yield* exported)[which]
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const copy = temporaryFolder()
      cpSync(folder, copy, { recursive: true })
      const names = readdirSync(copy)
      expect(names.length).toBe(files)
      for (const name of names) {
        const path = join(copy, name)
        const original = readFileSync(path)
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(change, async (each) => {
              const { bytes, line } = changed(original, each)
              fc.pre(!bytes.equals(original))
              writeFileSync(path, bytes)
              const { ok, problems } = await Effect.runPromise(Verify.run(copy))
              expect(ok).toBe(false)
              const own = problems.filter(({ file }) => file === name)
              expect(own.length).toBeGreaterThan(0)
              if (name !== "manifest.json") expect(own.map((problem) => problem.line)).toContain(line)
            }),
            { numRuns: 6 },
          ),
        )
        writeFileSync(path, original)
      }
      expect((yield* Verify.run(copy)).problems).toEqual([])
    }),
  )

  it.effect("says on which line the manifest changed", () =>
    Effect.gen(function* () {
      const copy = temporaryFolder()
      cpSync((yield* exported).native, copy, { recursive: true })
      const path = join(copy, "manifest.json")
      const text = readFileSync(path, "utf8")
      const line = text.slice(0, text.indexOf('"entries"')).split("\n").length
      writeFileSync(path, text.replace('"entries": ', '"entries": 1'))
      const { problems } = yield* Verify.run(copy)
      const [first] = problems
      expect(first?.file).toBe("manifest.json")
      expect(first?.line).toBeLessThanOrEqual(line)
      expect(first?.line).toBeGreaterThan(line - 8)
    }),
  )

  it.effect("of an older version verifies by its checksums", () =>
    Effect.gen(function* () {
      const copy = temporaryFolder()
      cpSync((yield* exported).native, copy, { recursive: true })
      const path = join(copy, "manifest.json")
      const {
        digest: _d,
        lines: _l,
        statements: _s,
        ...manifest
      } = Either.getOrThrow(ManifestSeal.decode(readFileSync(path, "utf8")))
      const { layouts: _y, ...tables } = manifest.tables ?? {
        mode: "detail",
        mappingVersion: null,
        leftOut: [],
      }
      writeFileSync(
        path,
        ManifestSeal.print({
          ...manifest,
          formatVersion: 1,
          tables,
          files: manifest.files
            .filter(({ format }) => format !== "statement")
            .map(({ lines: _, ...file }) => file),
          accounts: manifest.accounts.map(({ mapped: _, ...account }) => account),
        }),
      )
      const { problems } = yield* Verify.run(copy)
      expect(problems.map(({ file, message }) => `${file} ${message}`)).toEqual([
        "statement.csv is not in the manifest: it does not belong to this batch",
      ])
      const xero = join(copy, "xero-USD.csv")
      writeFileSync(xero, readFileSync(xero, "utf8").replace("995.00", "995.01"))
      expect((yield* Verify.run(copy)).problems.map(({ file }) => file)).toContain("xero-USD.csv")
    }),
  )

  it("locates the change to the line up to 512 lines, and to a few lines beyond", () => {
    const checks = (text: string, stated?: LineChecks) => {
      const digests = new LineDigests(stated)
      digests.add(Buffer.from(text))
      return digests.checks()
    }
    const text = (lines: number, other: number) =>
      Array.from({ length: lines }, (_, at) => `${at === other ? "x" : at}\n`).join("")
    for (const lines of [1, 511, 512, 513, 5000]) {
      const stated = checks(text(lines, -1))
      expect(stated.prefixes.length).toBeLessThanOrEqual(512 * 8)
      expect(stated.every).toBe(lines > 512 ? (lines > 1024 ? 16 : 2) : 1)
      for (const other of [0, Math.floor(lines / 2), lines - 1]) {
        const [from, to] = firstChange(stated, checks(text(lines, other), stated))
        expect(from).toBeLessThanOrEqual(other + 1)
        expect(to).toBeGreaterThanOrEqual(other + 1)
        expect(to - from + 1).toBe(stated.every)
      }
    }
  })
})
