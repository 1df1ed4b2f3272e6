/** Bank statements of the sandbox's books: by the schema of ISO 20022, and entry by entry what the service said. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { batchDifferences } from "../../src/Export/Batch/Kept/Committed.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { parseAsOf } from "../../src/Ledger/AsOf.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import * as Verify from "../../src/Verify.ts"
import { movement } from "../Close/Months.ts"
import { accountId, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { hasXmllint, validate } from "../support/camtSchema.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { openBook, partner, postMonths } from "./Books.ts"
import { forge, forgeManifest } from "./Forge.ts"

const exporting = (scope: ExportScope, leaveOut: ReadonlyArray<string>, more: Partial<ExportRequest> = {}) =>
  Export.run({
    ...{ formats: ["journal", "camt.053"], scope, connection: Option.none(), book: Option.some("ORG") },
    ...{ out: temporaryFolder() },
    tables: {
      settings: decodeUnknownSync(Content)({ formats: { leaveOut } }).formats,
      baseCurrency: "EUR",
    },
    ...more,
  })

/** The folder of a book's only batch, and the files of its bank statements. */
const statementsOf = (summary: Export.ExportSummary) => {
  const { folder, manifest } = summary.batches[0] ?? expect.fail("no batch")
  const files = manifest.files.filter(({ format }) => format === "camt.053")
  return { folder, manifest, files }
}

const synced = Effect.gen(function* () {
  const sandbox = yield* runningSandbox({ entries: 600 })
  yield* sync(sandbox.url)
})

/** What stands in an element, each time. */
const texts = (xml: string, name: string): ReadonlyArray<string> =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text)

const stablecoins = ["USDT", "USDC"]

layer(TestDatabase.layer, { excludeTestServices: true })("bank statements", (it) => {
  it.scoped("hold every entry of every complete day, and are valid", () =>
    Effect.gen(function* () {
      yield* synced
      const { files, folder, manifest } = statementsOf(yield* exporting({ kind: "all" }, stablecoins))
      expect((yield* Verify.run(folder)).problems).toEqual([])
      expect(files.length).toBeGreaterThan(2)
      expect(files.length).toBe(manifest.bankStatements?.length)
      const stated = yield* rows(`
        select a.account_id || ' ' || replace(s.entry_id::text, '-', '') || ' '
          || ledger.day_of(s.occurred_at, l.time_zone) || ' ' || s.amount as entry
        from mirror.statement_entries s join mirror.accounts a using (book_id, account_id)
        join ledger.locks l on l.book_id = s.book_id
        join sync.stream_reads r on r.book_id = s.book_id and r.stream = 'statement:' || s.account_id
        join mirror.books b on b.book_id = s.book_id
        where b.code = 'ORG' and length(s.currency) = 3 and s.amount <> 0
          and ledger.day_of(s.occurred_at, l.time_zone) < ledger.day_of(r.began_at, l.time_zone)
        order by s.currency collate "C", s.account_id, ledger.day_of(s.occurred_at, l.time_zone), s.position`)
      const written = files.flatMap(({ account, name }) => {
        const xml = readFileSync(join(folder, name), "utf8")
        if (hasXmllint) expect(validate(join(folder, name))).toBe("")
        return [...xml.matchAll(/<Ntry>.*<\/Ntry>/g)].map(([entry]) =>
          [
            account,
            texts(entry, "AcctSvcrRef")[0],
            texts(entry, "Dt")[0],
            Number(texts(entry, "Amt")[0]),
          ].join(" "),
        )
      })
      const comparable = stated.map(({ entry }) => {
        const [account, id, day, amount] = String(entry).split(" ")
        return [account, id, day, Number(amount)].join(" ")
      })
      expect(written.length).toBeGreaterThan(100)
      expect(written).toEqual(comparable)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a batch of bank statements alone", (it) => {
  it.scoped("is not compared with the ledger, and does not hinder a batch that is", () =>
    Effect.gen(function* () {
      yield* synced
      const { folder, manifest } = statementsOf(
        yield* exporting({ kind: "all" }, stablecoins, { formats: ["camt.053"] }),
      )
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const journal = yield* exporting({ kind: "all" }, stablecoins, { formats: ["journal"] })
      const [book] = yield* rows("select book_id from mirror.books where code = 'ORG'")
      const bookId = Number(book?.book_id)
      expect(journal.batches.length).toBe(1)
      for (const batch of [manifest.batch, manifest.batch + 1]) {
        expect(yield* batchDifferences(bookId, batch)).toEqual([])
      }
      yield* Effect.provide(
        Effect.flatMap(Reconcile, (reconcile) =>
          reconcile.run({ connection: Option.none(), period: Option.none(), full: true }),
        ),
        Reconcile.Default.pipe(Layer.provide(Settings.from({ variables: {} }))),
      )
      const compared = "select subject_id from reconcile.findings where check_name = 'export-totals'"
      expect(yield* rows(compared)).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("bank statements that would say nothing", (it) => {
  it.scoped("are not written: refused alone, and left out beside other formats and of other books", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 300, clients: 1, accountsPerClient: 4 })
      yield* sync(sandbox.url, { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" })
      const scope = { kind: "period", period: "2026-10" } as const
      const bank = { formats: ["camt.053"], perFormat: true }
      const every = (yield* rows("select distinct currency from mirror.accounts")).map(({ currency }) =>
        String(currency),
      )
      const before = yield* rows("select count(*) from export.batches")
      // Nothing is left of the accounts.
      expect(yield* Effect.flip(exporting(scope, every, bank))).toMatchObject({
        reason: "Usage",
        message: "The statements of ORG have no complete day with entries in 2026-10. Nothing was written.",
      })
      // The client's statements were never read to their end.
      yield* unruled(
        `delete from sync.stream_reads where book_id = (select book_id from mirror.books where client_id is not null)`,
      )
      const both = yield* exporting(scope, stablecoins, { ...bank, book: Option.none() })
      expect(both.batches.map(({ manifest }) => manifest.book.code)).toEqual(["ORG"])
      expect(both.empty).toHaveLength(1)
      const beside = yield* exporting(scope, every, { ...bank, formats: ["journal", "camt.053"] })
      expect(beside.batches.map(({ manifest }) => manifest.formats)).toEqual([["journal"]])
      const after = yield* rows("select count(*) from export.batches")
      expect(Number(after[0]?.count) - Number(before[0]?.count)).toBe(2)
    }),
  )
})

/** The small ledger of October, whose statements were read to their ends early on the sixth. */
const read = Effect.gen(function* () {
  const bookId = yield* openBook("ORG")
  yield* postMonths(bookId)
  const accounts = [
    [partner.usd, "USD", 6],
    [partner.jpy, "JPY", 1],
    [partner.usdt, "USDT", 1],
  ] as const
  for (const [id, currency, entries] of accounts) {
    yield* unruled(`
      insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
        entries, run_id)
      values (${bookId}, '${id}', '${currency}', 'SEPA', 'ACTIVE', 0, now(), '{}', ${entries}, 1)`)
    yield* unruled(`
      insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
      values (${bookId}, 'statement:${id}', '2026-10-06T00:30:00Z', now(), 1)`)
  }
})

layer(TestDatabase.layer)("a bank statement", (it) => {
  const opened = Effect.runSync(Effect.cached(read))
  const october = { kind: "period", period: "2026-10" } as const
  const ofOctober = Effect.gen(function* () {
    yield* opened
    return statementsOf(yield* exporting(october, ["USDT"]))
  })

  it.effect("covers days that were read completely, each from its opening to its closing balance", () =>
    Effect.gen(function* () {
      const { files, folder, manifest } = yield* ofOctober
      // The yen came on the seventh, which was not read completely.
      expect(files.map(({ name }) => name)).toEqual([`camt.053-USD-${partner.usd}.xml`])
      const xml = readFileSync(join(folder, files[0]?.name ?? ""), "utf8")
      if (hasXmllint) expect(validate(join(folder, files[0]?.name ?? ""))).toBe("")
      const balances = [...xml.matchAll(/<Bal>.*?<\/Bal>/g)].map(([balance]) =>
        ["Cd", "Dt", "CdtDbtInd", "Amt"].map((name) => texts(balance, name)[0]).join(" "),
      )
      // The 20.00 of the third were booked after the movements of the fifth.
      expect(balances).toEqual([
        "OPBD 2026-10-01 CRDT 500.00",
        "CLBD 2026-10-01 CRDT 1495.01",
        "OPBD 2026-10-03 CRDT 1495.01",
        "CLBD 2026-10-03 CRDT 1475.01",
        "OPBD 2026-10-05 CRDT 1475.01",
        "CLBD 2026-10-05 CRDT 475.01",
      ])
      expect(texts(xml, "NtryRef")).toEqual([1, 2, 6, 3].map((number) => `ORG-2026-10-00000${number}`))
      expect(texts(xml, "ElctrncSeqNb")).toEqual(["274", "276", "278"])
      expect(texts(xml, "NbOfNtries").slice(0, 3)).toEqual(["2", "2", "0"])
      // A text that would begin a formula stays as the service sent it; a text that is too long is also given in full.
      expect(texts(xml, "EndToEndId")).toEqual(["-INV 7"])
      expect(texts(xml, "Ustrd")).toEqual(["=HYPERLINK(&quot;x&quot;) | a; b, c d [2026-99-99] (e)\\"])
      expect(manifest.bankStatements).toEqual([
        {
          ...{ account: partner.usd, currency: "USD", days: 3, entries: 4, journalled: 4 },
          ...{ first: "2026-10-01", last: "2026-10-05", opening: "500.00", closing: "475.01" },
        },
      ])
      expect((yield* Verify.run(folder)).problems).toEqual([])
    }),
  )

  const problemsOf = (folder: string, name: string, from: string, to: string) =>
    Effect.map(
      Verify.run(forge(folder, name, (text) => text.replace(from, to))),
      ({ problems }) => problems.map(({ line, message }) => `${line}: ${message}`)[0],
    )

  it.effect("that was changed is found by its content", () =>
    Effect.gen(function* () {
      const { files, folder } = yield* ofOctober
      const name = files[0]?.name ?? ""
      const changed: ReadonlyArray<readonly [from: string, to: string, problem: string]> = [
        [">995.00</Amt>", ">995.01</Amt>", "4: the details have another amount"],
        [">500.00</Amt>", ">500.01</Amt>", "6: the entries of 2026-10-01 do not lead"],
        ["OPBD", "OPAV", "6: the balances are not OPBD and CLBD"],
        ["<Dt>2026-10-05</Dt>", "<Dt>2026-10-04</Dt>", "12: the balances are not of one day"],
        ["<Sts><Cd>BOOK</Cd></Sts>", "<Sts><Cd>PDNG</Cd></Sts>", "4: an entry is not booked"],
        ["ORG-2026-10-000001", "ORG-2026-10-000009", "6: 2026-10-000009 differs from journal.csv by 995"],
        [".001.08", ".001.02", "13: is not urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"],
        ["<Document ", "<!DOCTYPE a><Document ", "2: <!DOCTYPE a> is no element"],
      ]
      for (const [from, to, problem] of changed) {
        expect(yield* problemsOf(folder, name, from, to)).toContain(problem)
      }
    }),
  )

  it.effect("that was taken away together with its record is missed by its account", () =>
    Effect.gen(function* () {
      const { files, folder } = yield* ofOctober
      const without = forgeManifest(folder, (manifest) => ({
        ...manifest,
        files: manifest.files.filter(({ name }) => name !== files[0]?.name),
      }))
      expect((yield* Verify.run(without)).problems).toContainEqual({
        ...{ file: "manifest.json", line: null },
        message: `names no file of camt.053 of the account ${partner.usd} in USD`,
      })
    }),
  )

  it.effect("that was made to fit in itself is found by the days beside it and by the manifest", () =>
    Effect.gen(function* () {
      const { files, folder } = yield* ofOctober
      const name = files[0]?.name ?? ""
      const ids = (text: string) => [...text.matchAll(/<Stmt><Id>([^<]+)/g)].map(([, id = ""]) => id)
      const summed = (from: string, to: string) => (text: string) =>
        text
          .replaceAll(`<Sum>${from}</Sum>`, `<Sum>${to}</Sum>`)
          .replace(`<TtlNetNtry><Amt>${from}`, `<TtlNetNtry><Amt>${to}`)
      const again = (text: string) => text.replace(ids(text)[1] ?? "none", ids(text)[0] ?? "none")
      const backwards = (text: string) => {
        const days = text.split(/(?=<Stmt>)/)
        return [days[0], days[2], days[1], ...days.slice(3)].join("")
      }
      const changed: ReadonlyArray<
        readonly [file: string, change: (text: string) => string, problem: string]
      > = [
        [name, summed("995.01", "996.01"), "the entries of 2026-10-01 are not those that it sums up"],
        [name, summed("20.00", "21.00"), "the entries of 2026-10-03 are not those that it sums up"],
        [
          name,
          (text) => text.replace(/(<TtlNtries><NbOfNtries>|<TtlCdtNtries><NbOfNtries>)2/g, "$13"),
          "the entries of 2026-10-01 are not those that it sums up",
        ],
        [
          name,
          (text) => text.replace(/(<Ntry>.*?Dt><Dt>2026-10-0)1(.*?<ValDt><Dt>2026-10-0)1/, "$12$22"),
          "an entry of another day stands in 2026-10-01",
        ],
        [name, again, "stands twice"],
        [name, backwards, "2026-10-01 stands after 2026-10-03"],
        [
          name,
          (text) =>
            text.replace(/1495\.01(<\/Amt><CdtDbtInd>CRDT<\/CdtDbtInd><Dt><Dt>2026-10-03)/, "1495.02$1"),
          "2026-10-03 does not begin with what 2026-10-01 ended with",
        ],
        [name, (text) => text.replaceAll("2026-10-05", "2026-10-03"), "2026-10-03 stands after 2026-10-03"],
        [
          name,
          (text) => text.replaceAll("2026-10-05", "2026-11-05"),
          "2026-11-05 is outside the scope 2026-10",
        ],
        [
          name,
          (text) => text.replaceAll("2026-10-01", "2026-09-30"),
          "2026-09-30 is outside the scope 2026-10",
        ],
        [
          name,
          (text) => text.replaceAll(partner.usd.replaceAll("-", ""), partner.usdt.replaceAll("-", "")),
          "the statement of 2026-10-01 is of another account",
        ],
        [name, (text) => text.replaceAll("USD", "EUR"), "the statement of 2026-10-01 is of another account"],
        ["manifest.json", (text) => text.replace('"days": 3', '"days": 4'), "its days and entries are not"],
        [
          "manifest.json",
          (text) => text.replace(/("days": 3,\s+"entries": )4/, "$15"),
          "its days and entries are not",
        ],
        [
          "manifest.json",
          (text) => text.replace(new RegExp(`("account": "${partner.usd}",\\s+"rows": )4`), "$15"),
          "its days and entries are not",
        ],
        [
          "manifest.json",
          (text) => text.replace('"last": "2026-10-05"', '"last": "2026-10-06"'),
          "its first and last day are not",
        ],
        [
          "manifest.json",
          (text) =>
            text.replace(/("last": "2026-10-05",\s+"opening": "500\.00",\s+"closing": "475\.0)1/, "$12"),
          "its opening and closing balance are not",
        ],
      ]
      for (const [file, change, problem] of changed) {
        const { problems } = yield* Verify.run(forge(folder, file, change))
        const said = problems.map(({ message }) => message)
        expect([problem, said]).toEqual([problem, expect.arrayContaining([expect.stringContaining(problem)])])
      }
    }),
  )

  it.effect("that is alone in its batch has figures of its own, and none of the journal", () =>
    Effect.gen(function* () {
      yield* opened
      const { folder, manifest } = statementsOf(
        yield* exporting(october, ["USDT"], { formats: ["camt.053"], again: true }),
      )
      expect(readdirSync(folder).toSorted()).toEqual([`camt.053-USD-${partner.usd}.xml`, "manifest.json"])
      const { accounts, currencies, entries, firstNumber, holds, periods, postings, statements } = manifest
      expect({ accounts, currencies, entries, firstNumber, holds, periods, postings, statements }).toEqual({
        ...{ accounts: [], currencies: [], entries: 4, firstNumber: null, holds: "bank-statements" },
        ...{ periods: [], postings: 0, statements: undefined },
      })
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const forged = forge(folder, "manifest.json", (text) => text.replace('"entries": 4,', '"entries": 5,'))
      expect((yield* Verify.run(forged)).problems.map(({ message }) => message)).toContain(
        "5 entries in all, but 4 in its bank statements",
      )
    }),
  )

  it.effect("leaves out personal data where the settings ask for that", () =>
    Effect.gen(function* () {
      yield* opened
      const settings = decodeUnknownSync(Content)({
        formats: { leaveOut: ["USDT"], personalData: false },
      }).formats
      const { files, folder } = statementsOf(
        yield* exporting(october, [], { tables: { settings, baseCurrency: "EUR" } }),
      )
      const xml = readFileSync(join(folder, files[0]?.name ?? ""), "utf8")
      expect([texts(xml, "EndToEndId"), xml.includes("Acme, Inc."), xml.includes("<RltdPties>")]).toEqual([
        ["-INV 7"],
        false,
        false,
      ])
    }),
  )

  it.effect("is refused in a currency that ISO 20022 does not know, and without named days", () =>
    Effect.gen(function* () {
      yield* opened
      const messageOf = (scope: ExportScope, leaveOut: ReadonlyArray<string>, more = {}) =>
        Effect.map(Effect.flip(exporting(scope, leaveOut, more)), ({ message }) => message)
      expect(yield* messageOf(october, [])).toBe(
        [
          "The export of the book ORG is refused, nothing of it was written:",
          "  camt.053 has currencies of three letters only: 1 entry is in USDT",
          "Without these currencies: formats.leaveOut: [USDT] in the settings.",
        ].join("\n"),
      )
      expect(yield* messageOf({ kind: "since-last" }, ["USDT"])).toContain("camt.053 is of whole days")
      const at = Either.getOrThrow(parseAsOf("2026-10-10"))
      expect(yield* messageOf(october, ["USDT"], { asOf: at })).toContain("camt.053 is of whole days")
    }),
  )

  it.effect(
    "holds entries that the books date into another month, and says that the journal lacks them",
    () =>
      Effect.gen(function* () {
        yield* opened
        const { folder, manifest } = statementsOf(
          yield* exporting({ kind: "range", from: "2026-10-02", to: "2026-10-31" }, ["USDT"]),
        )
        expect((yield* Verify.run(folder)).problems).toEqual([])
        yield* unruled(`
        update ledger.journal_entries set effective_date = '2026-10-01'
        where kind = 'withdrawal' and effective_date = '2026-10-03'`)
        const late = statementsOf(
          yield* exporting({ kind: "range", from: "2026-10-02", to: "2026-10-30" }, ["USDT"]),
        )
        expect((yield* Verify.run(late.folder)).problems).toEqual([])
        expect(
          [manifest, late.manifest].map(({ bankStatements }) =>
            bankStatements?.map(({ entries, journalled }) => [entries, journalled]),
          ),
        ).toEqual([[[2, 2]], [[2, 1]]])
      }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an amount that camt.053 cannot hold", (it) => {
  it.scoped("is refused by name, and no file is written", () =>
    Effect.gen(function* () {
      const most = movement(11, "9999999999999999.99", "9999999999999999.99", "2026-10-05")
      const tooMuch = movement(12, "0.01", "10000000000000000.00", "2026-10-06")
      const { held, service } = yield* partnership({
        balance: "9999999999999999.99",
        statement: [most.entry],
        deposits: [most.deposit],
      })
      yield* sync(service.url)
      const out = temporaryFolder()
      const days = { kind: "range", from: "2026-10-05", to: "2026-10-06" } as const
      const { files, folder } = statementsOf(yield* exporting(days, [], { out }))
      if (hasXmllint) for (const { name } of files) expect(validate(join(folder, name))).toBe("")
      held.statement.push(tooMuch.entry)
      held.deposits.push(tooMuch.deposit)
      held.balance = "10000000000000000.00"
      yield* sync(service.url)
      const refused = temporaryFolder()
      const error = yield* Effect.flip(exporting(days, [], { out: refused }))
      expect(Reflect.get(error, "reason")).toBe("Refused")
      expect(error.message).toContain(
        `10000000000000000.00 USD of account ${accountId} has more than 18 digits`,
      )
      expect(
        readdirSync(refused, { recursive: true })
          .map(String)
          .filter((name) => name.endsWith(".xml")),
      ).toEqual([])
    }),
  )
})
