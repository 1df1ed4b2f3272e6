/** The page and the review files, opened with the programs of those who get them: a browser and a spreadsheet. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { assignNumbers, awkward, openBook, partner, post, postMonths } from "../Export/Books.ts"
import { rows } from "../Sync/Runs.ts"
import { convertWithLibreOffice, isInstalled, openInChromium } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet, textOf } from "./Reports.ts"

const hasBrowser = isInstalled("chromium", "reports are not opened with it")
const hasSpreadsheet = isInstalled("soffice", "the files of reports are not opened with it")

/** A book with text that means something to a browser and to a spreadsheet. */
const hostileBook = (code: string, client: number) =>
  Effect.gen(function* () {
    const bookId = yield* openBook(code, `33333333-0000-4000-8000-00000000000${client}`)
    yield* postMonths(bookId)
    yield* post(bookId, {
      date: "2026-10-20",
      kind: "<script>alert(1)</script>",
      partner: partner.usd,
      cash: "1.00",
      description: "</title><img src=x onerror=alert(1)>",
      counterparty: "@SUM(A1)",
      reference: "=1+1",
      lines: [
        ["cash", "", "USD", "1.00"],
        ["suspense", "", "USD", "-1.00"],
      ],
    })
    yield* assignNumbers(bookId)
    yield* rows(`insert into reconcile.findings
      (book_id, check_name, severity, subject_type, subject_id, message, evidence) values
      (${bookId}, 'adjustment', 'warning', 'x', '"><svg onload=alert(1)>', '=cmd|''/c calc''!A1 <b>bold</b> ${"\u202e"}', '{}')`)
    return bookId
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a report in other programs", (it) => {
  it.effect("says of one finding that it was open, and of several that they were", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("COUNTS", "33333333-0000-4000-8000-000000000009")
      yield* postMonths(bookId)
      for (const [subject, reason] of [
        ["x", "1 blocking finding was open"],
        ["y", "2 blocking findings were open"],
      ] as const) {
        yield* rows(`insert into reconcile.findings
          (book_id, check_name, severity, subject_type, subject_id, message, evidence) values
          (${bookId}, 'contradiction', 'blocking', 'x', '${subject}', 'Two contents.', '{}')`)
        const [now] = yield* rows(
          `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text`,
        )
        const options = { book: "COUNTS", asOf: String(now?.text) }
        const { manifest } = yield* reporting("2026-10", temporaryFolder(), options)
        expect(manifest.reasons).toContain(reason)
      }
    }),
  )

  it.effect("text stays text, in the files and on the page", () =>
    Effect.gen(function* () {
      yield* hostileBook("TEXTS", 1)
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { book: "TEXTS" })
      const posted = sheet(folder, "gl-detail.csv").filter(({ line }) => line === "posting")
      expect(posted.map((row) => row.external_reference)).toContain("'=1+1")
      expect(posted.map((row) => row.counterparty)).toContain("'@SUM(A1)")
      expect(posted.map((row) => row.description)).toContain(`'${awkward}`)
      expect(posted.flatMap((row) => Object.values(row)).filter((cell) => /^[=+@\t\r]/.test(cell))).toEqual(
        [],
      )
      // Only figures begin with a minus.
      for (const row of posted) {
        for (const [column, value] of Object.entries(row)) {
          if (value.startsWith("-")) expect([column, /^-\d+(\.\d+)?$/.test(value)]).toEqual(["balance", true])
        }
      }
      const page = textOf(folder, "report.html")
      for (const raw of ["<script", "<img", "onload=alert(1)>", "<b>bold", "\u202e"])
        expect(page).not.toContain(raw)
      expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;")
    }),
  )

  it.effect("the page shows a bounded part of a large book", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LARGE", "33333333-0000-4000-8000-000000000008")
      yield* rows(`insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance,
          balance_read_at, raw, run_id)
        select ${bookId}, md5('account' || i)::uuid, 'EUR', 'SEPA', 'ACTIVE', i, now(), '{}', 1
        from generate_series(1, 200) i`)
      yield* rows(`insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
        select ${bookId}, 'cash', 'EUR', md5('account' || i)::uuid, '', '1010', 'Assets:Partner:EUR:' || i
        from generate_series(1, 200) i`)
      yield* rows(`insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount,
          currency, balance_after, occurred_at, run_id)
        select ${bookId}, md5('account' || i)::uuid, 1, md5('entry' || i)::uuid, 'CREDIT', i, 'EUR', i,
          '2026-10-15T00:00:00Z', 1 from generate_series(1, 200) i`)
      yield* rows(`with line as (
          select 100000 + i as entry_id, i from generate_series(1, 200) i),
        header as (
          insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, effective_date,
            occurred_at, line_count, description, partner_account_id, position)
          select ${bookId}, entry_id, 'statement_entry', md5('entry' || i)::uuid, 'deposit', '2026-10-15',
            '2026-10-15T00:00:00Z', 2, 'Deposit', md5('account' || i)::uuid, 1 from line)
        insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
        select ${bookId}, l.entry_id, 1, a.account_id, 'EUR', l.i from line l
        join ledger.accounts a on a.book_id = ${bookId} and a.partner_account_id = md5('account' || l.i)::uuid
        union all
        select ${bookId}, l.entry_id, 2, s.account_id, 'EUR', -l.i from line l
        cross join ledger.accounts s where s.book_id = ${bookId} and s.role = 'suspense' and s.currency = 'EUR'`).pipe(
        (insert) =>
          Effect.zipRight(
            rows(`insert into ledger.accounts (book_id, role, currency, rule_code, code, name)
              values (${bookId}, 'suspense', 'EUR', '', '1990', 'Suspense:EUR')`),
            insert,
          ),
      )
      // The last but one in the order of the trial balance moves most often.
      const busy = "Assets:Partner:EUR:98"
      yield* rows(`insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount,
          currency, balance_after, occurred_at, run_id)
        values (${bookId}, md5('account98')::uuid, 2, md5('entry300')::uuid, 'CREDIT', 1, 'EUR', 99,
          '2026-10-16T00:00:00Z', 1)`)
      yield* rows(`with header as (
          insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, effective_date,
            occurred_at, line_count, description, partner_account_id, position)
          select ${bookId}, 100300, 'statement_entry', md5('entry300')::uuid, 'deposit', '2026-10-16',
            '2026-10-16T00:00:00Z', 2, 'Deposit', md5('account98')::uuid, 2)
        insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
        select ${bookId}, 100300, case a.role when 'cash' then 1 else 2 end, a.account_id, 'EUR',
          case a.role when 'cash' then 1 else -1 end
        from ledger.accounts a where a.book_id = ${bookId} and a.name in ('${busy}', 'Suspense:EUR')`)
      yield* assignNumbers(bookId)
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { book: "LARGE" })
      expect(
        sheet(folder, "account-reconciliation.csv").filter(({ line }) => line === "difference"),
      ).toHaveLength(200)
      const page = textOf(folder, "report.html")
      expect(page).toContain("60 of 200 are shown; 140 more stand in account-reconciliation.csv.")
      expect(page).toContain("The 12 busiest of 200 accounts; all stand in account-reconciliation.csv.")
      expect(page.match(/<svg class="step"/g)).toHaveLength(12)
      expect(page).toContain(`Balance of ${busy} over 2026-10`)
      expect(page.length).toBeLessThan(200_000)
    }),
  )

  it.effect.skipIf(!hasBrowser)("a browser shows the page, runs nothing of it and prints it", () =>
    Effect.gen(function* () {
      yield* hostileBook("BROWSER", 2)
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { book: "BROWSER" })
      const page = join(folder, "report.html")
      const shown = openInChromium(page, ["--dump-dom", "--enable-logging=stderr"])
      expect(shown.stdout).toContain("<h1>October 2026</h1>")
      // The stylesheet is admitted by its digest, and nothing else was asked for.
      expect(shown.stderr).not.toMatch(/Content Security Policy|CONSOLE/)
      const pdf = join(temporaryFolder(), "report.pdf")
      openInChromium(page, [`--print-to-pdf=${pdf}`, "--no-pdf-header-footer"])
      expect(existsSync(pdf) && readFileSync(pdf).subarray(0, 5).toString()).toBe("%PDF-")
      expect(statSync(pdf).size).toBeGreaterThan(20_000)
    }),
  )

  it.scoped.skipIf(!hasBrowser)("nothing of the page is wider than a phone", () =>
    Effect.gen(function* () {
      const bookId = yield* hostileBook("PHONE", 4)
      yield* post(bookId, {
        date: "2026-10-21",
        kind: "conversion",
        partner: partner.usd,
        cash: "123456789012345.67",
        description: "Large",
        lines: [
          ["cash", "", "USD", "123456789012345.67"],
          ["suspense", "", "USD", "-123456789012345.67"],
        ],
      })
      yield* assignNumbers(bookId)
      yield* rows(
        `update mirror.books set name = '${"Donaudampfschiffahrt".repeat(7)}' where book_id = ${bookId}`,
      )
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { book: "PHONE" })
      const page = textOf(folder, "report.html").replace(
        /<meta http-equiv="Content-Security-Policy"[^>]*>/,
        "",
      )
      // A headless browser's window is never that narrow, but a frame can be.
      const frame = join(temporaryFolder(), "frame.html")
      const escaped = page.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
      writeFileSync(
        frame,
        `<iframe id="f" width="390" height="2000" srcdoc="${escaped}"></iframe><script>f.onload = () => {
          const { documentElement: root } = f.contentDocument
          const wide = [...root.querySelectorAll(".wide")].filter((one) => one.scrollWidth > one.clientWidth + 1)
          document.body.dataset.found = [root.clientWidth, root.scrollWidth, wide.length].join(" ")
        }</script>`,
      )
      expect(/data-found="([^"]*)"/.exec(openInChromium(frame, ["--dump-dom"]).stdout)?.[1]).toMatch(
        /^(\d+) \1 0$/,
      )
    }),
  )

  it.effect.skipIf(!hasSpreadsheet)("a spreadsheet finds numbers, text, and no formula", () =>
    Effect.gen(function* () {
      yield* hostileBook("CALC", 3)
      const { folder, manifest } = yield* reporting("2026-10", temporaryFolder(), { book: "CALC" })
      const names = manifest.files.map(({ name }) => name).filter((name) => name.endsWith(".csv"))
      const to = convertWithLibreOffice(
        names.map((name) => join(folder, name)),
        // Comma, double quote, UTF-8, in a language whose decimals have a point.
        { input: "CSV:44,34,76,1,,1033", output: "fods" },
      )
      for (const name of names) {
        const calc = readFileSync(join(to, name.replace(".csv", ".fods")), "utf8")
        expect([name, calc.includes("table:formula")]).toEqual([name, false])
        const cells = parse(textOf(folder, name), { bom: true })
        const amounts = cells
          .slice(1)
          .flat()
          .filter((cell) => /^-?\d+\.\d+$/.test(cell)).length
        const numbers = calc.match(/office:value-type="float"/g)?.length ?? 0
        expect([name, numbers >= amounts]).toEqual([name, true])
      }
      const detail = readFileSync(join(to, "gl-detail.fods"), "utf8")
      expect(detail).toContain("=1+1")
      expect(detail).toMatch(/office:value="995"/)
    }),
  )
})
