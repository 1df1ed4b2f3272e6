/** A format is one object: what is derived from it, and what it must not share with its reader. */
import { readFileSync } from "node:fs"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { mappingColumns } from "../../src/Export/Mapping/MappingCsv.ts"
import { MappingRow } from "../../src/Export/Mapping/MappingRow.ts"
import { accompanyingFiles } from "../../src/Format/AccompanyingFiles.ts"
import { FormatSettings } from "../../src/Format/FormatSettings.ts"
import { formatNames, formats, isFormatFile, tableFormats } from "../../src/Format/Formats.ts"
import { targetColumns } from "../../src/Format/Targets.ts"
import { leaves } from "../../src/Settings/SettingsKeys.ts"
import { importsOf, sources } from "../support/folderMap.ts"

/** A file's place below `src`. */
const placeOf = (file: string): string => file.slice(file.indexOf("/src/") + 5)

/** All files that are loaded with a file, including itself. */
const loadedWith = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (!seen.has(file)) {
    seen.add(file)
    for (const next of importsOf(file)) loadedWith(next, seen)
  }
  return seen
}

const files = sources().map((file) => ({ file, place: placeOf(file) }))
const isReader = (place: string): boolean => /^Format\/(?:Reading\/|.*Reader\.ts$)/.test(place)

/** How an account is called in a plain-text journal is a definition of its own, which the journal and its reader look up. */
const shared = new Set([
  "Format/Entry.ts",
  "Format/PlainText/BeancountNames.ts",
  "Format/PlainText/IndentedNames.ts",
  "Format/PlainText/AccountNames.ts",
  "Format/OneLine.ts",
  "Format/PlainText/LineLength.ts",
  "Common/Remembered.ts",
])

describe("a reader", () => {
  const readers = files.filter(({ place }) => isReader(place))

  it("shares no code with the writer of the file", () => {
    expect(readers.length).toBeGreaterThan(tableFormats.length)
    const others = readers.flatMap(({ file, place }) =>
      [...loadedWith(file)]
        .map(placeOf)
        .filter((other) => !isReader(other) && !shared.has(other))
        .map((other) => `${place} loads ${other}`),
    )
    expect(others).toEqual([])
  })

  it("stands in a file of its own, beside the format", () => {
    const definers = files.filter(({ file }) =>
      /= define(?:Table|Plain|BankStatement)\(/.test(readFileSync(file, "utf8")),
    )
    expect(definers.filter(({ place }) => /^Format\/[A-Z]\w+\//.test(place))).toHaveLength(formats.length)
    for (const { file, place } of definers) {
      const own = importsOf(file).map(placeOf)
      // The canonical CSV files are read by proofs of their own.
      if (!place.startsWith("Format/Csv/")) expect(own.filter(isReader)).toHaveLength(1)
      expect(own.filter((other) => other.startsWith("Format/Reading/"))).toEqual([])
    }
  })

  it("is all that verify imports of the formats, besides their list", () => {
    const known =
      /^Format\/(?:AccompanyingFiles|Entry|Formats|FormatSettings|Reading\/\w+|Table\/Define)\.ts$/
    const others = files
      .filter(({ place }) => /^Verify(?:\.ts|\/)/.test(place))
      .flatMap(({ file, place }) =>
        importsOf(file)
          .map(placeOf)
          .filter((other) => other.startsWith("Format/") && !known.test(other))
          .map((other) => `${place} → ${other}`),
      )
    expect(others).toEqual([])
  })
})

describe("a format's name", () => {
  it("stands in its own folder alone", () => {
    // Short words mean other things elsewhere: the schema `ledger`, the check `trial-balance`.
    const ambiguous = new Set(["journal", "ledger", "trial-balance"])
    const names = [...formatNames.filter((name) => !ambiguous.has(name)), ...targetColumns].filter(
      (name) => name !== "dimension",
    )
    const found = files
      .filter(({ place }) => !place.startsWith("Format/"))
      .flatMap(({ file, place }) => {
        const text = readFileSync(file, "utf8")
        return names.filter((name) => text.includes(`"${name}"`)).map((name) => `${place}: ${name}`)
      })
    expect(found).toEqual([])
  })

  it("is its own, and so are its files and its column of the mapping", () => {
    const own = [...formatNames, ...Object.values(accompanyingFiles).map(({ name }) => name)]
    expect(new Set(own).size).toBe(own.length)
    expect(new Set(mappingColumns).size).toBe(mappingColumns.length)
    const prefixes = tableFormats.map(({ template }) => template.file.split("{", 1)[0] ?? "")
    expect(new Set(prefixes).size).toBe(prefixes.length)
    expect(isFormatFile("sie-SEK-01.si")).toBe(true)
    expect(isFormatFile("sie-SEK.csv")).toBe(false)
    for (const { template } of tableFormats.filter(({ filePattern }) => filePattern === null)) {
      expect(isFormatFile(`${template.file.split("{", 1)[0]}X.csv`)).toBe(true)
    }
    expect(isFormatFile("732829320FEC20261031.txt")).toBe(true)
    expect(isFormatFile("732829320FEC.txt")).toBe(false)
    expect(isFormatFile("Trial_Balance_20261001_20261031.csv")).toBe(true)
    expect(isFormatFile("Trial_Balance_{from}_{to}.csv")).toBe(false)
    expect(isFormatFile("camt.053-EUR-1.xml")).toBe(true)
    expect(isFormatFile("camt1053-EUR-1.xml")).toBe(false)
    expect(isFormatFile("notes.csv")).toBe(false)
  })
})

/** A file name with its places filled in, as one that is written and one that waits for its number of parts. */
const filled = (file: string): ReadonlyArray<string> =>
  ["", "-01", ".1"].map((part) =>
    file
      .replace("{part}", part)
      .replace("{currency}", "EUR")
      .replace("{period}", "2026-10")
      .replace("{account}", "64e84b86-8460-4773-b029-fd3956e37026")
      .replaceAll(/\{(?:from|to)\}/g, "20261031"),
  )

describe("a file name of the settings", () => {
  const accepts = (name: string, file: string): boolean =>
    Either.isRight(Schema.decodeUnknownEither(FormatSettings)({ profiles: { [name]: { file } } }))

  it("may be the format's own, which a killed export's leftovers are known by", () => {
    for (const { name, template } of tableFormats) {
      expect([name, accepts(name, template.file)]).toEqual([name, true])
      expect(filled(template.file).filter((file) => !isFormatFile(file))).toEqual([])
    }
    expect(accepts("fec", "732829320FEC{to}{part}.txt")).toBe(true)
    expect(accepts("sie", "sie-{currency}-books{part}.si")).toBe(true)
  })

  it("is refused where nothing would know the file by it", () => {
    const names = tableFormats.flatMap(({ name, template }) =>
      ["csv", "txt", "si"].map((end) => [name, template.file.replace(/\.[a-z]+$/, `.${end}`)] as const),
    )
    for (const [name, file] of names.filter(([format, given]) => accepts(format, given))) {
      expect([name, filled(file).every(isFormatFile)]).toEqual([name, true])
    }
    expect(accepts("sie", "sie-{currency}{part}.csv")).toBe(false)
    expect(accepts("fec", "FEC{to}{part}.txt")).toBe(false)
  })
})

/** What people type and keep: a new format adds its own here, and changes nothing else. */
describe("what is derived from the formats", () => {
  it("are the names that --format takes, in their order", () => {
    expect(formatNames.join(" ")).toBe(
      "journal hledger ledger beancount trial-balance parquet xero xero-statement qbo netsuite intacct sage50 business-central datev gl-detail fec sie camt.053",
    )
  })

  it("are the sections of the settings", () => {
    const description =
      "{description} / {counterparty} / {externalReference} / {reference} / {purpose} / {transactionHash}"
    const defaults = Schema.decodeUnknownSync(FormatSettings)({})
    expect(defaults).toEqual({
      leaveOut: [],
      personalData: true,
      exchangeResults: false,
      "xero-statement": { description },
      qbo: { description },
      sage50: { description },
      "gl-detail": { description },
      xero: { taxRate: "Tax Exempt", tracking: null, description },
      netsuite: { subsidiary: null, description },
      intacct: { journal: "GJ", location: null, descriptionLength: 80, description },
      "business-central": { template: "GENERAL", batch: "DEFAULT", description },
      datev: {
        consultant: null,
        client: null,
        fiscalYearStart: "01-01",
        accountLength: 4,
        chart: "03",
        initials: "TO",
        belegfeld1: "{number}",
        belegfeld2: "",
        locked: false,
        description,
      },
      fec: { siren: null, journal: "TO", journalName: "Tieout", description },
      sie: { organizationNumber: null, company: null, series: "", description },
      profiles: {},
      books: {},
    })
    const profiled = leaves([]).filter(({ path }) => path[0] === "formats" && path[1] === "profiles")
    expect([...new Set(profiled.map(({ path }) => path[2]))]).toEqual(tableFormats.map(({ name }) => name))
  })

  it("are the columns of the account mapping, of which an older version lacks some", () => {
    expect(mappingColumns.join()).toBe(
      "book,role,currency,code,name,xero_code,qbo_name,netsuite_id,intacct_account,sage50_code,bc_account,datev_konto,fec_compte,sie_konto,dimension",
    )
    const account = { role: "cash", currency: "EUR", code: "1010", name: "Cash" }
    const older = Schema.decodeUnknownSync(MappingRow)({ ...account, xero_code: "200" })
    expect(older).toEqual({
      ...Object.fromEntries(targetColumns.map((column) => [column, ""])),
      ...account,
      partnerAccountId: "",
      xero_code: "200",
    })
  })

  it("are settings of which a wrong one is refused, never taken for the default", () => {
    for (const { profile } of tableFormats) {
      expect(() => profile({ chart: 7, taxRate: 7 })).toThrow()
      expect(profile(undefined).columns.length).toBeGreaterThan(0)
    }
  })
})
