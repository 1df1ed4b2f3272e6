/** A small ledger written in plain SQL, past the database's own rules: what the export tests read. */
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { closePeriod, reopenPeriod } from "../support/Closing.ts"

export const partner = {
  usd: "11111111-0000-4000-8000-000000000001",
  usdt: "11111111-0000-4000-8000-000000000002",
  jpy: "11111111-0000-4000-8000-000000000003",
  eur: "11111111-0000-4000-8000-000000000009",
} as const

/** role, currency, partner account, rule code, code, name */
const chart: ReadonlyArray<readonly [string, string, string | null, string, string, string]> = [
  ["cash", "USD", partner.usd, "", "1010", "Assets:Partner:USD:SWIFT:11111111"],
  ["cash", "USDT", partner.usdt, "", "1010", "Assets:Partner:USDT:TRON:11111111"],
  ["cash", "JPY", partner.jpy, "", "1010", "Assets:Partner:JPY:(Zengin) main"],
  ["deposits_clearing", "USD", null, "", "1020", "Assets:Clearing:Deposits:USD"],
  ["deposits_clearing", "JPY", null, "", "1020", "Assets:Clearing:Deposits:JPY"],
  ["withdrawals_clearing", "USD", null, "", "1030", "Assets:Clearing:Withdrawals:USD"],
  // Two rules with the same name, one of which is also the parent of another account: beancount cannot hold that as it is.
  ["withdrawals_clearing", "USD", null, "4120", "4120", "Expenses:Payroll"],
  ["deposits_clearing", "JPY", null, "4120", "4120", "Expenses:Payroll"],
  ["deposits_clearing", "USD", null, "4121", "4121", "Expenses:Payroll:École d'été"],
  ["fees", "USD", null, "", "6850", "Expenses:Fees:USD"],
  ["trading", "USD", null, "", "3020", "Equity:Trading:USD"],
  ["trading", "USDT", null, "", "3020", "Equity:Trading:USDT"],
  ["suspense", "USD", null, "", "1990", "unsorted things"],
]

export interface Movement {
  readonly date: string
  readonly kind: string
  /** Null for an entry that no statement shows. */
  readonly partner: string | null
  /** The statement's amount; null for an entry that moves no cash. */
  readonly cash: string | null
  readonly description: string
  readonly counterparty?: string
  readonly reference?: string
  /** The conversion that the legs share; absent for an identifier of its own. */
  readonly resource?: string
  /** role, rule code, currency, amount; the cash line first. */
  readonly lines: ReadonlyArray<readonly [string, string, string, string]>
}

/** Opens a book with its accounts. */
export const openBook = Effect.fn("Test.openBook")(function* (code: string, clientId: string | null = null) {
  const database = yield* Database
  const [book] = yield* database.query(
    "Test.openBook",
    (sql) => sql<Array<{ book_id: number }>>`
      insert into mirror.books (connection, client_id, code, name)
      values ('default', ${clientId}, ${code}, 'Example | Söhne; GmbH') returning book_id`,
  )
  const bookId = book?.book_id ?? 0
  for (const [role, currency, partnerAccountId, ruleCode, accountCode, name] of chart) {
    yield* database.query(
      "Test.openBook",
      (sql) => sql`
        insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
        values (${bookId}, ${role}, ${currency}, ${partnerAccountId}, ${ruleCode}, ${accountCode}, ${name})`,
    )
  }
  return bookId
})

let last = 0

/** A new, well-formed identifier each time. */
const nextId = (): string => {
  last += 1
  return `22222222-0000-4000-8000-${String(last).padStart(12, "0")}`
}

/** Posts a movement: its statement entry, then header and lines in one statement. */
export const post = Effect.fn("Test.post")(function* (bookId: number, movement: Movement) {
  const database = yield* Database
  const id = nextId()
  const occurredAt = `${movement.date}T09:30:00.123Z`
  const [head] = yield* database.query(
    "Test.post",
    (sql) => sql<Array<{ position: string; balance: string }>>`
      select (coalesce(max(position), 0) + 1)::text as position,
        coalesce((array_agg(balance_after order by position desc))[1], 0)::text as balance
      from mirror.statement_entries where book_id = ${bookId} and account_id = ${movement.partner}`,
  )
  const { balance, position } = head ?? { position: "1", balance: "0" }
  const { cash, counterparty, date, description, kind, lines, partner: account, reference } = movement
  const source = cash !== null ? "statement_entry" : account === null ? "resource_version" : "manual"
  if (cash !== null) {
    yield* database.query(
      "Test.post",
      (sql) => sql`
        insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency,
          balance_after, occurred_at, run_id, related_type, related_id)
        values (${bookId}, ${account}, ${position}::text::bigint, ${id}, ${cash.startsWith("-") ? "DEBIT" : "CREDIT"},
          abs(${cash}::text::numeric), ${lines[0]?.[2] ?? ""},
          ${balance}::text::numeric + ${cash}::text::numeric, ${occurredAt}::text::timestamptz, 1,
          ${movement.resource === undefined ? null : "DEPOSIT"}, ${movement.resource ?? null})`,
    )
  }
  yield* database.query(
    "Test.post",
    (sql) => sql`
      with line as (
        select * from rows from (json_to_recordset(${JSON.stringify(
          lines.map(([role, rule, currency, amount]) => ({ role, rule, currency, amount })),
        )}::text::json) as (role text, rule text, currency text, amount text)) with ordinality
          as l (role, rule, currency, amount, number)),
      header as (
        insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, effective_date,
          occurred_at, line_count, partner_account_id, position, resource_type, resource_id, description,
          external_reference, counterparty, run_id)
        values (${bookId}, ${last}, ${source}, ${id}, ${kind}, 0,
          ${date}::text::date, ${occurredAt}::text::timestamptz, ${lines.length}, ${account},
          ${cash === null ? null : position}::text::bigint, 'DEPOSIT', ${movement.resource ?? id},
          ${description}, ${reference ?? null}, ${counterparty ?? null}, 1))
      insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
      select ${bookId}, ${last}, l.number::smallint, a.account_id, l.currency, l.amount::numeric
      from line l
      join ledger.accounts a on a.book_id = ${bookId} and a.role = l.role and a.currency = l.currency
        and a.rule_code = l.rule and (a.partner_account_id is null or a.partner_account_id = ${account})`,
  )
})

type Amount = readonly [currency: "USD" | "USDT" | "EUR", amount: string]

export const negated = (amount: string): string => (amount.startsWith("-") ? amount.slice(1) : `-${amount}`)

/** Adds the accounts of conversions and of euros, which the small ledger lacks. */
export const addConversionAccounts = Effect.fn("Test.addConversionAccounts")(function* (bookId: number) {
  const database = yield* Database
  yield* database.query(
    "Test.addConversionAccounts",
    (sql) => sql`
      insert into ledger.accounts (book_id, role, currency, partner_account_id, code, name)
      select ${bookId}::integer, a.role, a.currency, a.partner::uuid, a.code, a.name || a.currency
      from (values ('cash', 'EUR', ${partner.eur}, '1010', 'Assets:Partner:'),
        ('trading', 'EUR', null, '3020', 'Equity:Trading:'),
        ('conversions_in_transit', 'EUR', null, '1060', 'Assets:Conversions-in-Transit:'),
        ('conversions_in_transit', 'USD', null, '1060', 'Assets:Conversions-in-Transit:'),
        ('conversions_in_transit', 'USDT', null, '1060', 'Assets:Conversions-in-Transit:'))
        as a (role, currency, partner, code, name)`,
  )
})

/** A leg of a conversion, positive where cash comes in. */
export const leg = (
  resource: string,
  date: string,
  [currency, amount]: Amount,
  kind = "conversion",
): Movement => ({
  ...{ date, kind, resource, cash: amount, description: "Conversion" },
  partner: currency === "USD" ? partner.usd : currency === "EUR" ? partner.eur : partner.usdt,
  lines: [
    ["cash", "", currency, amount],
    ["conversions_in_transit", "", currency, negated(amount)],
  ],
})

/** What the numbering step writes once both sides are complete; `sold` and `bought` are positive. */
export const whole = (
  resource: string,
  date: string,
  [sold, out]: Amount,
  [bought, into]: Amount,
  kind: "conversion_whole" | "conversion_reversal" = "conversion_whole",
): Movement => {
  const turned = (amount: string) => (kind === "conversion_whole" ? amount : negated(amount))
  return {
    ...{ date, kind, resource, cash: null, partner: null, description: "Conversion completed" },
    lines: [
      ["trading", "", sold, turned(out)],
      ["conversions_in_transit", "", sold, turned(negated(out))],
      ["conversions_in_transit", "", bought, turned(into)],
      ["trading", "", bought, turned(negated(into))],
    ],
  }
}

export const assignNumbers = Effect.fn("Test.assignNumbers")(function* (bookId: number) {
  const database = yield* Database
  yield* database.query(
    "Test.assignNumbers",
    (sql) => sql`select ledger.assign_numbers(array[${bookId}::integer])`,
  )
})

const inOneTransaction = (statements: string) =>
  Effect.flatMap(Database, (database) =>
    database.query("Test.inOneTransaction", (sql) => sql.unsafe(statements)),
  )

/** Leaves a month as `tieout close` and `tieout reopen` do, but without the hash. `month`: `2026-10`. */
export const closeMonth = (bookId: number, month: string) => inOneTransaction(closePeriod(bookId, month))
export const reopenMonth = (bookId: number, month: string) => inOneTransaction(reopenPeriod(bookId, month))

const deposit = (date: string, amount: string, description: string): Movement => ({
  date,
  kind: "deposit",
  partner: partner.usd,
  cash: amount,
  description,
  lines: [
    ["cash", "", "USD", amount],
    ["deposits_clearing", "", "USD", amount.startsWith("-") ? amount.slice(1) : `-${amount}`],
  ],
})

/** Text that means something to a spreadsheet, a CSV reader or a journal. */
export const awkward = '=HYPERLINK("x") | a; b,\r\n\u202Ec  d [2026-99-99] (e)\\'

/** September and October: every kind of line, awkward text, and an entry that is numbered after later ones. */
export const postMonths = Effect.fn("Test.postMonths")(function* (bookId: number) {
  yield* post(bookId, deposit("2026-09-30", "500.00", "Deposit"))
  yield* post(bookId, {
    ...deposit("2026-10-01", "995.00", "Deposit from Acme"),
    counterparty: "Acme, Inc. | London",
    reference: "-INV 7",
    lines: [
      ["cash", "", "USD", "995.00"],
      ["fees", "", "USD", "5"],
      ["deposits_clearing", "", "USD", "-1000.00"],
    ],
  })
  yield* post(bookId, {
    ...deposit("2026-10-01", "0.01", awkward),
    counterparty: awkward,
    reference: awkward,
  })
  yield* post(bookId, {
    date: "2026-10-05",
    kind: "conversion",
    partner: partner.usd,
    cash: "-1000",
    description: "Conversion USD to USDT",
    lines: [
      ["cash", "", "USD", "-1000"],
      ["fees", "", "USD", "5.00"],
      ["trading", "", "USD", "995.00"],
    ],
  })
  yield* post(bookId, {
    date: "2026-10-05",
    kind: "conversion",
    partner: partner.usdt,
    cash: "994.2031",
    description: "Conversion USD to USDT",
    lines: [
      ["cash", "", "USDT", "994.2031"],
      ["trading", "", "USDT", "-994.2031"],
    ],
  })
  yield* post(bookId, {
    date: "2026-10-07",
    kind: "deposit",
    partner: partner.jpy,
    cash: "120000",
    description: "預金",
    counterparty: "株式会社 例",
    lines: [
      ["cash", "", "JPY", "120000"],
      ["deposits_clearing", "4120", "JPY", "-120000"],
    ],
  })
  yield* assignNumbers(bookId)
  // This entry was seen late: it is numbered after the seventh and dated the third.
  yield* post(bookId, {
    ...deposit("2026-10-03", "-20.00", "Payroll"),
    kind: "withdrawal",
    lines: [
      ["cash", "", "USD", "-20.00"],
      ["withdrawals_clearing", "4120", "USD", "15.00"],
      ["deposits_clearing", "4121", "USD", "3.00"],
      ["suspense", "", "USD", "2.00"],
    ],
  })
  yield* assignNumbers(bookId)
})
