import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { fileText } from "../../../src/Export/Mapping/MappingCsv.ts"
import { proposed } from "../../../src/Export/Mapping/Proposed.ts"
import * as AccountMapping from "../../../src/Export/Mapping.ts"
import * as Export from "../../../src/Export.ts"
import { Content } from "../../../src/Settings/Content.ts"
import * as Verify from "../../../src/Verify.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { addConversionAccounts, assignNumbers, openBook, partner, post, postMonths } from "../Books.ts"
import { deposit } from "../Exporting.ts"
import { forge } from "../Forge.ts"

const chartOf = { baseCurrency: "EUR", chart: decodeSync(Content)({}).chart }

const settingsOf = (formats: object) => decodeSync(Content)({ formats }).formats

const exported = Effect.fnUntraced(function* (
  book: string,
  formats: ReadonlyArray<string>,
  {
    baseCurrency = "EUR",
    mode = "detail",
    settings = {},
  }: { baseCurrency?: string; mode?: "detail" | "summary"; settings?: object } = {},
) {
  const out = temporaryFolder()
  const result = yield* Effect.either(
    Export.run({
      formats,
      scope: { kind: "period", period: "2026-10" },
      connection: Option.none(),
      book: Option.some(book),
      out,
      mode,
      again: true,
      tables: { settings: settingsOf(settings), baseCurrency },
    }),
  )
  return { out, result }
})

const batchOf = Effect.fnUntraced(function* (...args: Parameters<typeof exported>) {
  const { result } = yield* exported(...args)
  const [batch] = (yield* result).batches
  return batch ?? (yield* Effect.dieMessage("no batch"))
})

/** The settings with which Xero takes these books in dollars. */
const dollars = { baseCurrency: "USD", settings: { leaveOut: ["JPY", "USDT"] } }

const client = (last: number): string => `55555555-0000-4000-8000-${String(last).padStart(12, "0")}`

/** Changes the exported mapping file of a book and imports it. Answers the result. */
const imported = Effect.fnUntraced(function* (book: string, change: (text: string) => string | Buffer) {
  const file = join(temporaryFolder(), "accounts.csv")
  yield* AccountMapping.writeTo(file, yield* AccountMapping.current(Option.some(book)))
  const text = readFileSync(file, "utf8")
  writeFileSync(file, change(text))
  const result = yield* Effect.either(AccountMapping.importFrom(file))
  return Either.mapLeft(result, ({ message }) => message.replaceAll(`${file}:`, "").split("\n"))
})

/** Fills one column, which is the `place`th of a line without quotes. */
const fill = (text: string, place: number, value: (code: string, line: number) => string): string =>
  text
    .split("\r\n")
    .map((line, at) => {
      const cells = line.split(",")
      if (at > 0 && cells.length > 1) cells[place] = value(cells[3] ?? "", at)
      return cells.join(",")
    })
    .join("\r\n")

layer(TestDatabase.layer)("an accounting system's files", (it) => {
  it.effect("are one per currency, in the manifest, and verify", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("XERO", client(1)))
      const many = yield* batchOf("XERO", ["netsuite", "business-central"], {
        settings: { leaveOut: ["USDT"] },
      })
      expect(many.manifest.tables).toMatchObject({ mode: "detail", mappingVersion: null, leftOut: ["USDT"] })
      expect(many.manifest.files.map(({ currency, name, rows }) => [name, currency, rows])).toEqual([
        ["netsuite-JPY.csv", "JPY", 2],
        ["netsuite-USD.csv", "USD", 12],
        ["business-central-JPY.csv", "JPY", 2],
        ["business-central-USD.csv", "USD", 12],
      ])
      // Template, batch and line number are the key of a journal line, over all files.
      const lines = ["JPY", "USD"].flatMap((currency) =>
        readFileSync(join(many.folder, `business-central-${currency}.csv`), "utf8")
          .split("\n")
          .slice(1, -1),
      )
      const numbers = lines.map((line) => Number(line.split(",")[2]))
      expect(numbers.toSorted((a, b) => a - b)).toEqual(lines.map((_, at) => (at + 1) * 1000))
      const { folder, manifest } = yield* batchOf("XERO", ["xero"], dollars)
      expect(manifest.files.map(({ currency, name, rows }) => [name, currency, rows])).toEqual([
        ["xero-USD.csv", "USD", 12],
      ])
      expect(readFileSync(join(folder, "xero-USD.csv"), "utf8").split("\n").slice(0, 2)).toEqual([
        "*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount,TrackingName1,TrackingOption1,TrackingName2,TrackingOption2",
        'XERO-2026-10-000001 deposit,01 Oct 2026,"Deposit from Acme / Acme, Inc. | London / -INV 7",1010,Tax Exempt,995.00,,,,',
      ])
      // Rows are by date, not by number; texts that would begin a formula and characters beyond ASCII are gone.
      const usd = readFileSync(join(folder, "xero-USD.csv"), "utf8").split("\n")
      expect(usd[4]).toBe(
        'XERO-2026-10-000002 deposit,01 Oct 2026,"HYPERLINK(""x"") | a; b, c d [2026-99-99] (e)\\",1010,Tax Exempt,0.01,,,,',
      )
      expect(usd[6]).toContain("XERO-2026-10-000006 withdrawal,03 Oct 2026,Payroll,1010,Tax Exempt,-20.00")
      expect((yield* Verify.run(folder)).problems).toEqual([])
      writeFileSync(join(folder, "xero-USD.csv"), usd.join("\n").replace("-20.00", "-20.01"))
      expect((yield* Verify.run(folder)).ok).toBe(false)
    }),
  )

  it.effect("have the totals of a day in summary mode", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("SUMS", client(2)))
      const { folder } = yield* batchOf("SUMS", ["business-central"], { mode: "summary" })
      expect(readFileSync(join(folder, "business-central-USD.csv"), "utf8").split("\n").slice(0, 4)).toEqual([
        "Journal Template Name,Journal Batch Name,Line No.,Posting Date,Document No.,Account Type,Account No.,Description,Currency Code,Amount,External Document No.",
        'GENERAL,DEFAULT,1000,2026-10-01,SUMS-2610-000001S,G/L Account,1010,"2 entries, SUMS-2026-10-000001 to SUMS-2026-10-000002",USD,995.01,',
        'GENERAL,DEFAULT,2000,2026-10-01,SUMS-2610-000001S,G/L Account,6850,"2 entries, SUMS-2026-10-000001 to SUMS-2026-10-000002",USD,5.00,',
        'GENERAL,DEFAULT,3000,2026-10-01,SUMS-2610-000001S,G/L Account,1020,"2 entries, SUMS-2026-10-000001 to SUMS-2026-10-000002",USD,-1000.01,',
      ])
    }),
  )

  it.effect("have a movement's own reference for Business Central where all of it fits", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("OWN", client(30))
      const references = ["R".repeat(35), "R".repeat(36), "0f3c1a2b-0000-4000-8000-00000000000a"]
      for (const reference of references) {
        yield* post(bookId, {
          ...{
            date: "2026-10-01",
            kind: "deposit",
            partner: partner.usd,
            cash: "10.00",
            description: "Deposit",
          },
          reference,
          lines: [
            ["cash", "", "USD", "10.00"],
            ["deposits_clearing", "", "USD", "-10.00"],
          ],
        })
      }
      yield* assignNumbers(bookId)
      const { folder } = yield* batchOf("OWN", ["business-central"])
      const lines = readFileSync(join(folder, "business-central-USD.csv"), "utf8").split("\n").slice(1, -1)
      expect(new Set(lines.map((line) => line.split(",").at(-1)))).toEqual(
        new Set(["R".repeat(35), "", "0f3c1a2b00004000800000000000000a"]),
      )
    }),
  )

  it.effect(
    "sum up accounts in summary mode that the mapping unites, and name the numbers that they hold",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("ONE", client(8))
        yield* postMonths(bookId)
        yield* post(bookId, {
          ...{
            date: "2026-10-01",
            kind: "deposit",
            partner: partner.usd,
            cash: "10.00",
            description: "Late",
          },
          lines: [
            ["cash", "", "USD", "10.00"],
            ["deposits_clearing", "", "USD", "-10.00"],
          ],
        })
        yield* assignNumbers(bookId)
        // The column of Business Central: cash and fees are one account there.
        yield* imported("ONE", (text) =>
          fill(text, 10, (code) => (/^(?:1010|6850)$/.test(code) ? "100" : code)),
        )
        const { folder } = yield* batchOf("ONE", ["journal", "business-central"], { mode: "summary" })
        expect((yield* Verify.run(folder)).problems).toEqual([])
        const lines = readFileSync(join(folder, "business-central-USD.csv"), "utf8").split("\n").slice(1, 3)
        const text = '"3 entries, ONE-2026-10-000001 to ONE-2026-10-000002, ONE-2026-10-000007"'
        expect(lines).toEqual([
          `GENERAL,DEFAULT,1000,2026-10-01,ONE-2610-000001S,G/L Account,100,${text},USD,1010.01,`,
          `GENERAL,DEFAULT,2000,2026-10-01,ONE-2610-000001S,G/L Account,1020,${text},USD,-1010.01,`,
        ])
        const entries = "summary_entries_business-central.csv"
        expect(readFileSync(join(folder, entries), "utf8").split("\n").slice(0, 2)).toEqual([
          "summary_number,journal_number,effective_date,kind,account,account_code,account_name,currency,debit,credit",
          "ONE-2610-000001S,ONE-2026-10-000001,2026-10-01,deposit,100,1010,Assets:Partner:USD:SWIFT:11111111,USD,995.00,",
        ])
        const forged = forge(folder, entries, (content) => content.replace(",995.00,", ",995.01,"))
        expect((yield* Verify.run(forged)).problems.map(({ message }) => message)).toEqual([
          "its summaries do not add up to the entries listed beside them",
        ])
      }),
  )

  it.effect("are refused, before anything is written, where the format cannot hold the books", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("REFUSED", client(3)))
      const bare = yield* exported("REFUSED", ["journal", "datev"])
      const message = Either.isLeft(bare.result) ? bare.result.left.message.split("\n") : []
      expect(message).toEqual([
        "The export of the book REFUSED is refused, nothing of it was written:",
        "  datev needs the setting formats.datev.consultant",
        "  datev needs the setting formats.datev.client",
        "  datev has currencies of three letters only: 1 entry is in USDT",
        "Everything in EUR: tieout export --base --format datev --period 2026-10 --again --book REFUSED",
        "Without these currencies: formats.leaveOut: [USDT] in the settings.",
      ])
      expect(readdirSync(bare.out)).toEqual([])
      // Currencies with more decimals than NetSuite has are refused, too, and foreign amounts for a system without currencies.
      const systems = ["journal", "xero", "xero-statement", "qbo", "netsuite", "intacct", "sage50"]
      const none = yield* exported("REFUSED", systems, { mode: "summary" })
      const inNone = "takes every amount for EUR: 1 entry is in JPY, 4 in USD, 1 in USDT"
      expect(Either.isLeft(none.result) ? none.result.left.message.split("\n") : []).toEqual([
        "The export of the book REFUSED is refused, nothing of it was written:",
        `  xero has no currency column and ${inNone}`,
        "  xero-statement has currencies of three letters only: 1 entry is in USDT",
        "  qbo has currencies of three letters only: 1 entry is in USDT",
        "  netsuite has amounts of 2 decimals, some here have more: 1 entry is in USDT",
        `  intacct has no currency column and ${inNone}`,
        `  sage50 has no currency column and ${inNone}`,
        // A system without currencies would have nothing left, so that leaving the currencies out is not advised.
        "Everything in EUR: tieout export --base --format xero,qbo,netsuite,intacct,sage50 --period 2026-10 --mode summary --again --book REFUSED",
      ])
      expect(readdirSync(none.out)).toEqual([])
      // A list in the settings replaces the earlier one, whose currencies must not come back.
      const more = yield* exported("REFUSED", ["datev"], {
        settings: { leaveOut: ["JPY"], datev: { consultant: 1001, client: 7 } },
      })
      expect(Either.isLeft(more.result) ? more.result.left.message.split("\n").at(-1) : "").toBe(
        "Without these currencies: formats.leaveOut: [JPY, USDT] in the settings.",
      )
      const settings = { leaveOut: ["USDT"], datev: { consultant: 1001, client: 7 } }
      const { folder, manifest } = yield* batchOf("REFUSED", ["datev", "netsuite"], { settings })
      expect(manifest.tables?.leftOut).toEqual(["USDT"])
      expect(manifest.files.map(({ name }) => name)).toEqual([
        "EXTF_2026-10_JPY.csv",
        "EXTF_2026-10_USD.csv",
        "netsuite-JPY.csv",
        "netsuite-USD.csv",
      ])
      const datev = new TextDecoder("windows-1252").decode(readFileSync(join(folder, "EXTF_2026-10_USD.csv")))
      expect(datev.split("\r\n")[0]).toMatch(
        /^"EXTF";700;21;"Buchungsstapel";13;\d{17};;"RE";"";"";1001;7;20260101;4;20261001;20261031;"Tieout 2026-10";"TO";1;0;0;"USD";;"";;;"03";;;"";""$/,
      )
      expect(datev.split("\r\n")[2]).toMatch(
        /^995,00;"S";"USD";;;"";1010;1020;"";0110;"REFUSED-2026-10-000001";"";;"Deposit from Acme \/ Acme, Inc\. \| London \/ -INV 7";;"";/,
      )
    }),
  )

  it.effect("are refused in the same words where a bank statement has more decimals than Xero", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("DINARS", client(60))
      const database = yield* Database
      const dinars = "11111111-0000-4000-8000-000000000009"
      for (const [role, account] of [
        ["cash", dinars],
        ["fees", null],
        ["deposits_clearing", null],
      ] as const) {
        yield* database.query(
          "Test.dinars",
          (sql) => sql`
            insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
            values (${bookId}, ${role}, 'BHD', ${account}, '', '1010', ${`Dinars:${role}`})`,
        )
      }
      const paidIn = Effect.fnUntraced(function* (cash: string, fee: string, total: string) {
        yield* post(bookId, {
          ...{ date: "2026-10-02", kind: "deposit", partner: dinars, cash, description: "Deposit" },
          lines: [
            ["cash", "", "BHD", cash],
            ["fees", "", "BHD", fee],
            ["deposits_clearing", "", "BHD", total],
          ],
        })
        yield* assignNumbers(bookId)
      })
      // Only the fee has three decimals, which no statement shows.
      yield* paidIn("10.10", "0.005", "-10.105")
      yield* deposit(bookId, "2026-10-03")
      const { manifest } = yield* batchOf("DINARS", ["xero-statement"])
      expect(manifest.entries).toBe(2)
      yield* paidIn("10.101", "0.005", "-10.106")
      const { out, result } = yield* exported("DINARS", ["journal", "xero-statement"])
      expect(Either.isLeft(result) ? result.left.message.split("\n") : []).toEqual([
        "The export of the book DINARS is refused, nothing of it was written:",
        "  xero-statement has amounts of 2 decimals, some here have more: 1 entry is in BHD",
        "Without these currencies: formats.leaveOut: [BHD] in the settings.",
      ])
      expect(readdirSync(out)).toEqual([])
    }),
  )

  it.effect("describe a movement as the settings ask, without personal data where they leave it out", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("TEXTS", client(6)))
      const datev = {
        ...{ consultant: 1001, client: 8, description: "{externalReference} {counterparty} ({kind})" },
        ...{ belegfeld1: "{externalReference}", belegfeld2: "{kind}" },
      }
      // The other book is another legal entity with its own Mandant.
      const books = { REFUSED: { datev: { consultant: 1001, client: 9 } } }
      const first = Effect.fnUntraced(function* (settings: object) {
        const { folder } = yield* batchOf("TEXTS", ["journal", "datev"], { settings })
        expect((yield* Verify.run(folder)).problems).toEqual([])
        const text = new TextDecoder("windows-1252").decode(
          readFileSync(join(folder, "EXTF_2026-10_USD.csv")),
        )
        return text.split("\r\n")[2] ?? ""
      })
      // Where a document field cannot hold the reference, the journal number takes its place.
      expect(yield* first({ leaveOut: ["USDT"], datev, books })).toMatch(
        /^995,00;"S";"USD";;;"";1010;1020;"";0110;"INV7";"deposit";;"INV 7 Acme, Inc\. \| London \(deposit\)";;"";;;;"";"Journal";"TEXTS-2026-10-000001";"";/,
      )
      expect(yield* first({ leaveOut: ["USDT"], personalData: false, datev, books })).toContain(
        ';"INV7";"deposit";;"INV 7 (deposit)";;',
      )
    }),
  )

  it.effect("name a payment by the service's own reference", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("PAYMENT", client(7))
      yield* postMonths(bookId)
      const database = yield* Database
      yield* database.query(
        "Test.payments",
        (sql) => sql`
          insert into mirror.resources (book_id, resource_type, resource_id, status, final, form, account_id,
            account_rail, currency, amount, reference, transaction_hash, created_at, raw, changed_at, read_at, run_id)
          select e.book_id, 'DEPOSIT', e.resource_id, 'COMPLETED', true, f.form, ${partner.usd}, 'SWIFT', 'USD', 1,
            f.form || ' text', f.hash, now(), '{}', now(), now(), 1
          from ledger.journal_entries e
          join (values ('Deposit from Acme', 'money', '0xabc'), ('Payroll', 'flat', null)) as f (text, form, hash)
            on f.text = e.description
          where e.book_id = ${bookId}`,
      )
      const settings = {
        leaveOut: ["USDT"],
        qbo: { description: "{reference} / {purpose} / {transactionHash}" },
      }
      const { folder } = yield* batchOf("PAYMENT", ["qbo"], { settings })
      const lines = readFileSync(join(folder, "qbo-USD.csv"), "utf8").split("\n").slice(1, -1)
      // A movement without a reference is named by its kind.
      expect([...new Set(lines.map((line) => line.split(",")[5]))]).toEqual([
        "money text / 0xabc",
        "deposit",
        "flat text",
        "conversion",
      ])
    }),
  )

  it.effect("use the newest mapping, whose version is in the manifest", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("MAPPED", client(4)))
      const first = yield* imported("MAPPED", (text) => fill(text, 5, (code) => `X${code}`))
      const version = (of: number) => expect.objectContaining({ book: "MAPPED", version: of, accounts: 13 })
      expect(first).toEqual(Either.right([version(1)]))
      // The file as a spreadsheet with a decimal comma saves it, with other line ends and no byte order mark.
      const second = yield* imported("MAPPED", (text) =>
        fill(text, 5, (code) => `Y${code}`)
          .replace("\uFEFF", "")
          .replaceAll(",", ";")
          .replaceAll("\r\n", "\n"),
      )
      expect(second).toEqual(Either.right([version(2)]))
      // The same import once more changes nothing.
      expect(yield* imported("MAPPED", (text) => text)).toEqual(
        Either.right([
          {
            book: "MAPPED",
            version: 2,
            accounts: 13,
            changes: [],
            unmapped: [],
            shared: [expect.objectContaining({ code: "Y1010" })],
          },
        ]),
      )
      const { folder, manifest } = yield* batchOf("MAPPED", ["xero"], dollars)
      expect(manifest.tables?.mappingVersion).toBe(2)
      expect(readFileSync(join(folder, "xero-USD.csv"), "utf8")).toContain(",Y3020,Tax Exempt,995.00")

      // A column that is used must be filled for every account that the export needs.
      yield* imported("MAPPED", (text) => fill(text, 5, (code) => (code === "6850" ? "" : `Y${code}`)))
      const { result } = yield* exported("MAPPED", ["xero"], dollars)
      expect(Either.isLeft(result) ? result.left.message.split("\n")[1] : "").toBe(
        "  xero: account 6850 Expenses:Fees:USD (fees, USD) has no xero_code in the mapping, though others have",
      )
      const database = yield* Database
      const changed = yield* Effect.either(
        database.query("Test.change", (sql) => sql`update export.account_mappings set version = 9`),
      )
      expect(Either.isLeft(changed)).toBe(true)
    }),
  )

  it.effect("keep the imported codes when an account is new, and say what changed and what is missing", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("GROWS", client(11))
      yield* postMonths(bookId)
      const before = yield* AccountMapping.current(Option.some("GROWS"))
      yield* imported("GROWS", (text) => fill(text, 5, (code) => `X${code}`))
      yield* addConversionAccounts(bookId)
      const file = join(temporaryFolder(), "older.csv")
      // An earlier file with one other code.
      yield* AccountMapping.writeTo(
        file,
        before.map((row) => ({ ...row, xero_code: row.code === "6850" ? "429" : `X${row.code}` })),
      )
      const [first] = yield* AccountMapping.importFrom(file)
      expect(first).toMatchObject({
        ...{ version: 2, accounts: 18 },
        changes: [
          {
            account: "6850 Expenses:Fees:USD (fees, USD)",
            ...{ column: "xero_code", before: "X6850", after: "429" },
          },
        ],
        unmapped: [{ column: "xero_code", accounts: { length: 5 } }],
      })
      const grown = (yield* allBooks(Option.none())).filter(({ code }) => code === "GROWS")
      expect(yield* AccountMapping.unmappedAccounts(grown)).toEqual([
        { book: "GROWS", ...first?.unmapped[0] },
      ])
      // Columns that the file lacks keep their codes, too: newer ones, and deleted ones.
      const narrow = join(temporaryFolder(), "narrow.csv")
      const text = fileText(before.map((row) => ({ ...row, qbo_name: row.name })))
      const table = text.split("\r\n").map((line) => line.split(","))
      const without = (table[0] ?? []).indexOf("xero_code")
      writeFileSync(
        narrow,
        table.map((cells) => cells.filter((_, at) => at !== without).join(",")).join("\r\n"),
      )
      const [second] = yield* AccountMapping.importFrom(narrow)
      expect(second?.changes.every(({ column }) => column === "qbo_name")).toBe(true)
      // Accounts without postings in the export need no code.
      const { manifest } = yield* batchOf("GROWS", ["xero"], dollars)
      expect(manifest.tables?.mappingVersion).toBe(3)
    }),
  )

  it.effect("have codes proposed: one for every bank account and wallet", () =>
    Effect.gen(function* () {
      yield* openBook("PROPOSED", client(12))
      const rows = yield* AccountMapping.current(Option.some("PROPOSED"), chartOf)
      const found = proposed(rows, ["xero_code", "qbo_name"])
      expect(found.filter(({ role }) => role === "cash").map((row) => [row.xero_code, row.qbo_name])).toEqual(
        [
          ["1010", "Assets:Partner:JPY:(Zengin) main"],
          ["1011", "Assets:Partner:USD:SWIFT:11111111"],
          ["1012", "Assets:Partner:USDT:TRON:11111111"],
        ],
      )
      // Accounts of the base-currency journal are listed before the first export in the base currency.
      expect(found.map(({ role, xero_code }) => `${role} ${xero_code}`)).toEqual(
        expect.arrayContaining(["fees 6850", "fx_realized 7910", "rounding 7990"]),
      )
      expect(found.every(({ datev_konto }) => datev_konto === "")).toBe(true)
    }),
  )

  it.effect("accept no mapping with a mistake, and store nothing of it", () =>
    Effect.gen(function* () {
      yield* openBook("STRICT", client(5))
      const advice =
        "Nothing was stored: mend the file and import it again. tieout accounts export writes one that fits."
      const refused = (lines: ReadonlyArray<string>) => Either.left([...lines, advice])
      const lines = (text: string) => text.split("\r\n")
      expect(
        yield* imported("STRICT", (text) =>
          lines(text)
            .toSpliced(3, 0, lines(text)[1] ?? "")
            .join("\r\n"),
        ),
      ).toEqual(refused([expect.stringMatching(/^4: 1010 .* \(cash, JPY\) stands on line 2 already$/)]))
      expect(yield* imported("STRICT", (text) => `${text}NOBODY,fees,USD,1,x,,,,,,,,,,\r\n`)).toEqual(
        refused(['15: there is no book "NOBODY"']),
      )
      expect(yield* imported("STRICT", (text) => `${text}STRICT,fees,USD,1,x,,,,,,,,,,\r\n`)).toEqual(
        refused(["15: the book STRICT has no account 1 x (fees, USD)"]),
      )
      expect(
        yield* imported("STRICT", (text) => fill(text, 11, (code, at) => (at === 2 ? "=1+1" : code))),
      ).toEqual(refused(['3: datev_konto: "=1+1" is a formula']))
      expect(
        yield* imported("STRICT", (text) => fill(text, 11, (code, at) => (at === 2 ? "12" : code))),
      ).toEqual(refused(['3: datev_konto: found "12", expected an account number of 3 to 9 digits']))
      expect(yield* imported("STRICT", (text) => Buffer.from(text.replace("\uFEFF", ""), "latin1"))).toEqual(
        refused([expect.stringMatching(/^\d+: is not in UTF-8: save the file as CSV UTF-8$/)]),
      )
      expect(yield* imported("STRICT", (text) => Buffer.from(text, "utf16le"))).toEqual(
        refused(["1: the file is in UTF-16: save it as CSV UTF-8"]),
      )
      expect(yield* imported("STRICT", (text) => text.replace("xero_code", "xero"))).toEqual(
        refused(['1: has the column "xero", which Tieout does not know']),
      )
      const database = yield* Database
      const stored = yield* database.query(
        "Test.stored",
        (sql) => sql<Array<{ versions: number }>>`
          select count(*)::integer as versions from export.account_mappings m
          join mirror.books b on b.book_id = m.book_id where b.code = 'STRICT'`,
      )
      expect(stored[0]?.versions).toBe(0)
    }),
  )
})

layer(TestDatabase.layer)("an accounting system's files", (it) => {
  it.effect("are accompanied by a list of the entries whose lines cancel on one account of the system", () =>
    Effect.gen(function* () {
      yield* deposit(yield* openBook("CANCEL", client(20)), "2026-10-05", "7.00")
      const answer = yield* imported("CANCEL", (text) => {
        const [header = ""] = text.replace("\uFEFF", "").split("\r\n")
        return fill(text, header.split(",").indexOf("datev_konto"), () => "1200")
      })
      expect(Either.isRight(answer)).toBe(true)
      const { folder, manifest } = yield* batchOf("CANCEL", ["datev"], {
        ...{ baseCurrency: "USD", settings: { datev: { consultant: 1001, client: 1 } } },
      })
      expect(manifest.files.map(({ format, rows }) => [format, rows])).toEqual([["cancelled-entries", 1]])
      expect(readFileSync(join(folder, "cancelled_entries_datev.csv"), "utf8")).toBe(
        "journal_number,effective_date,kind,currency,accounts\nCANCEL-2026-10-000001,2026-10-05,deposit,USD,1200\n",
      )
      expect(yield* Verify.run(folder)).toMatchObject({ ok: true, problems: [] })
    }),
  )
})
