import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bookTieOuts, combined } from "../../src/Reconcile/TieOut.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import {
  type Account,
  addEntry,
  asRun,
  evidenceOf,
  open,
  openAccount,
  openBook,
  post,
  putResource,
  query,
  type ResourceFields,
  readTails,
  reconciled,
  services,
  startRun,
} from "./Books.ts"

type Move = readonly ["CREDIT" | "DEBIT", string]

const deposit: ResourceFields = { type: "DEPOSIT", amount: "1000.00", fee: "5.00" }
const withdrawal: ResourceFields = { type: "WITHDRAWAL", form: "money", amount: "1000.00", fee: "5.00" }

const settled: ReadonlyArray<readonly [string, ResourceFields, ReadonlyArray<Move>]> = [
  ["a deposit with its fee netted", deposit, [["CREDIT", "995.00"]]],
  [
    "a deposit with its fee beside it",
    deposit,
    [
      ["CREDIT", "1000.00"],
      ["DEBIT", "5.00"],
    ],
  ],
  ["a deposit without a fee", { ...deposit, fee: "0" }, [["CREDIT", "1000.00"]]],
  ["a deposit that states no fee", { type: "DEPOSIT", amount: "1000" }, [["CREDIT", "1000.00"]]],
  [
    "a deposit whose fee came back",
    deposit,
    [
      ["CREDIT", "1000"],
      ["DEBIT", "5"],
      ["CREDIT", "5"],
    ],
  ],
  [
    "a deposit that was returned",
    deposit,
    [
      ["CREDIT", "995.00"],
      ["DEBIT", "995.00"],
    ],
  ],
  ["a deposit whose fee is in another currency", { ...deposit, feeCurrency: "EUR" }, [["CREDIT", "1000.00"]]],
  ["a withdrawal with its fee inside", withdrawal, [["DEBIT", "1000.00"]]],
  ["a withdrawal with its fee on top", withdrawal, [["DEBIT", "1005.00"]]],
  [
    "a withdrawal with its fee beside it",
    withdrawal,
    [
      ["DEBIT", "1000.00"],
      ["DEBIT", "5.00"],
    ],
  ],
  [
    "a withdrawal of the net amount and the fee",
    withdrawal,
    [
      ["DEBIT", "995.00"],
      ["DEBIT", "5.00"],
    ],
  ],
  [
    "a withdrawal that was returned",
    withdrawal,
    [
      ["DEBIT", "1000.00"],
      ["CREDIT", "1000.00"],
    ],
  ],
  [
    "a withdrawal returned less its fee",
    withdrawal,
    [
      ["DEBIT", "1005.00"],
      ["CREDIT", "1000.00"],
    ],
  ],
  [
    "a flat withdrawal whose fee is beside the rest of its amount",
    { ...withdrawal, form: "flat" },
    [
      ["DEBIT", "995.00"],
      ["DEBIT", "5.00"],
    ],
  ],
]

const unsettled: ReadonlyArray<readonly [string, ResourceFields, ReadonlyArray<Move>, string, string]> = [
  [
    "a deposit without entries",
    deposit,
    [],
    "movement-entries",
    "Completed deposit of 1000.00 USD (fee 5.00 USD): its entries are debits of 0.00 USD and credits of 0.00 USD.",
  ],
  [
    "a deposit credited with too little",
    deposit,
    [["CREDIT", "994.99"]],
    "movement-entries",
    "Completed deposit of 1000.00 USD (fee 5.00 USD): its entries are debits of 0.00 USD and credits of 994.99 USD.",
  ],
  [
    "a deposit credited twice",
    { type: "DEPOSIT", amount: "1000.00" },
    [
      ["CREDIT", "1000.00"],
      ["CREDIT", "1000.00"],
    ],
    "movement-entries",
    "Completed deposit of 1000.00 USD: its entries are debits of 0.00 USD and credits of 2000.00 USD.",
  ],
  [
    "a withdrawal of which only the net amount was debited",
    withdrawal,
    [["DEBIT", "995.00"]],
    "movement-entries",
    "Completed withdrawal of 1000.00 USD (fee 5.00 USD): its entries are debits of 995.00 USD and credits of 0.00 USD.",
  ],
  [
    "a withdrawal that came back in part",
    withdrawal,
    [
      ["DEBIT", "1000.00"],
      ["CREDIT", "400.00"],
    ],
    "movement-entries",
    "Completed withdrawal of 1000.00 USD (fee 5.00 USD): its entries are debits of 1000.00 USD and credits of 400.00 USD.",
  ],
  [
    "a deposit whose stated fee no entry shows",
    deposit,
    [["CREDIT", "1000.00"]],
    "stated-fee",
    "Completed deposit of 1000.00 USD states a fee of 5.00 USD that no entry shows; it is not booked.",
  ],
  [
    "a deposit in two parts whose stated fee no entry shows",
    deposit,
    [
      ["CREDIT", "600.00"],
      ["CREDIT", "400.00"],
    ],
    "stated-fee",
    "Completed deposit of 1000.00 USD states a fee of 5.00 USD that no entry shows; it is not booked.",
  ],
]

const funded = (account: Account) =>
  addEntry(account, { type: "CREDIT", amount: "9", opening: "5000", of: payout })
const payout = { type: "PAYOUT", id: null }
const later = "2026-10-07T10:00:00Z"

const happen = (account: Account, fields: ResourceFields, moves: ReadonlyArray<Move>) =>
  Effect.gen(function* () {
    yield* funded(account)
    const resource = yield* putResource(account, { createdAt: later, ...fields })
    for (const [type, amount] of moves)
      yield* addEntry(account, { type, amount, of: resource, occurredAt: later })
    return resource
  })

layer(services)("a completed movement", (it) => {
  for (const [name, fields, moves] of settled) {
    it.effect(`ties out: ${name}`, () =>
      Effect.gen(function* () {
        const book = yield* openBook
        yield* happen(yield* openAccount(book), fields, moves)
        expect(yield* reconciled(book)).toEqual([])
      }),
    )
  }

  for (const [name, fields, moves, check, message] of unsettled) {
    it.effect(`is a finding: ${name}`, () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const { id } = yield* happen(yield* openAccount(book), fields, moves)
        const finding = {
          check_name: check,
          severity: check === "stated-fee" ? "warning" : "blocking",
          subject_type: fields.type.toLowerCase(),
          subject_id: id,
          message,
        }
        expect(yield* reconciled(book)).toEqual([finding])
        // Nothing changed: it is still open.
        expect(yield* reconciled(book)).toEqual([finding])
      }),
    )
  }

  it.effect("whose missing entry comes is a finding no more", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const resource = yield* happen(account, deposit, [["CREDIT", "600"]])
      expect(yield* reconciled(book)).toHaveLength(1)
      // Nothing changed: it is still open, and still one.
      expect(yield* reconciled(book)).toHaveLength(1)
      yield* addEntry(account, { type: "CREDIT", amount: "395", of: resource, run: yield* startRun(book) })
      expect(yield* reconciled(book)).toEqual([])
      const history = yield* query(
        (sql) => sql<Array<{ count: bigint; closed: bigint; run: boolean }>>`
          select count(*), count(closed_at) as closed, bool_and(closed_run > opened_run) as run
          from reconcile.findings where book_id = ${book.bookId}`,
      )
      expect(history[0]).toEqual({ count: 1n, closed: 1n, run: true })
    }),
  )

  it.effect("on another account than it says is a finding, with the entries as evidence", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const other = yield* openAccount(book)
      const resource = yield* putResource(account, { type: "DEPOSIT", amount: "10.00" })
      const entryId = yield* addEntry(other, { type: "CREDIT", amount: "10.00", of: resource })
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        "Completed deposit of 10.00 USD: its entries are debits of 0.00 USD and credits of 0.00 USD. 1 entry is on another account or in another currency.",
      ])
      expect(yield* evidenceOf(book)).toEqual([
        {
          accountId: account.id,
          currency: "USD",
          amount: "10.00",
          fee: "0",
          debits: "0",
          credits: "0",
          entries: [{ entryId, accountId: other.id, type: "CREDIT", amount: "10.00", currency: "USD" }],
          occurredAt: "2026-10-05T09:00:00.000000Z",
        },
      ])
    }),
  )

  it.effect("on an account that the book does not have says so", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const strange = yield* openAccount(yield* openBook)
      yield* putResource({ ...strange, book }, { type: "DEPOSIT", amount: "10.00" })
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        `Completed deposit of 10.00 USD: its entries are debits of 0.00 USD and credits of 0.00 USD. The book has no account ${strange.id}: the movement may belong to another book.`,
      ])
    }),
  )

  it.effect("with an entry too many on another account is a finding", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const resource = yield* putResource(account, { type: "DEPOSIT", amount: "10.00" })
      yield* addEntry(account, { type: "CREDIT", amount: "10.00", of: resource })
      expect(yield* reconciled(book)).toEqual([])
      const other = yield* openAccount(book)
      yield* addEntry(other, { type: "CREDIT", amount: "1.00", of: resource, run: yield* startRun(book) })
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        "Completed deposit of 10.00 USD: its entries are debits of 0.00 USD and credits of 10.00 USD. 1 entry is on another account or in another currency.",
      ])
    }),
  )

  it.effect("that was complete only after the tail was read waits for the next run", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* readTails(book)
      yield* putResource(account, deposit)
      const reconcile = yield* Reconcile
      yield* reconcile.afterRun([book], { ...(yield* asRun(yield* startRun(book))), full: false })
      expect(yield* open(book)).toEqual([])
      const waiting = () =>
        query((sql) => sql`select resource_type from reconcile.deferred where book_id = ${book.bookId}`)
      expect([...(yield* waiting())]).toEqual([{ resource_type: "DEPOSIT" }])
      expect(combined(yield* bookTieOuts([book.bookId])).waiting).toBe(1)
      expect((yield* reconciled(book)).map((found) => found.check_name)).toEqual(["movement-entries"])
      expect([...(yield* waiting())]).toEqual([])
    }),
  )

  it.effect.each([
    ["movement-entries", deposit],
    ["clearing-nets", { ...deposit, status: "REJECTED" }],
  ] as const)(
    "that was final only after the tail was read does not wait where its month, or a later one, is about to be closed (%s)",
    ([check, fields]) =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        const id = randomUUID()
        yield* addEntry(account, { type: "CREDIT", amount: "900.00", of: { type: "DEPOSIT", id } })
        yield* readTails(book)
        yield* putResource(account, fields, id)
        const reconcile = yield* Reconcile
        const found = Effect.map(open(book), (findings) =>
          findings.map(({ check_name }) => check_name).filter((name) => name !== "stream-unread"),
        )
        yield* reconcile.month([book], "2026-10")
        expect(yield* found).toEqual([])
        yield* reconcile.monthForClose([book], "2026-09")
        expect(yield* found).toEqual([])
        yield* reconcile.monthForClose([book], "2026-10")
        expect(yield* found).toEqual([check])
      }),
  )

  it.effect("on an account with a gap waits until the gap is closed", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* putResource(account, deposit)
      yield* query(
        (sql) => sql`
          insert into mirror.quarantine (book_id, stream, raw, reason, path, digest, run_id)
          values (${book.bookId}, ${`statement:${account.id}`}, '{}', 'is not a UUID', '$.entryId', 'd', 0)`,
      )
      expect((yield* reconciled(book)).map((found) => found.check_name)).toEqual(["quarantine"])
      yield* query(
        (sql) => sql`update mirror.quarantine set resolved_at = now() where book_id = ${book.bookId}`,
      )
      expect((yield* reconciled(book)).map((found) => found.check_name)).toEqual(["movement-entries"])
    }),
  )

  it.effect("from before the first known entry is not expected in the statement", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* putResource(account, { ...deposit, createdAt: "2026-01-01T00:00:00Z" })
      // All of which was its fee: none of it ever came, and no entry could show the fee.
      yield* putResource(account, { ...deposit, amount: "5.00", createdAt: "2026-01-01T00:00:00Z" })
      yield* funded(account)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )
})

layer(services)("a completed conversion", (it) => {
  const sold: ResourceFields = {
    type: "CONVERSION",
    amount: "1000.00",
    fee: "5.00",
    buyAmount: "994.2031",
    rate: "0.9992",
  }
  const convert = (fields: ResourceFields, sell: ReadonlyArray<Move>, buy: ReadonlyArray<Move>) =>
    Effect.gen(function* () {
      const book = yield* openBook
      const from = yield* openAccount(book)
      const to = yield* openAccount(book, fields.feeCurrency === "EUR" ? "EUR" : "USDT")
      const conversion = yield* putResource(from, { ...fields, buy: to })
      for (const [type, amount] of sell) yield* addEntry(from, { type, amount, of: conversion })
      for (const [type, amount] of buy) yield* addEntry(to, { type, amount, of: conversion })
      const found = yield* reconciled(book)
      return found.map(({ check_name, message }) => [check_name, message])
    })
  const bothLegs: readonly [ReadonlyArray<Move>, ReadonlyArray<Move>] = [
    [["DEBIT", "1000.00"]],
    [["CREDIT", "994.2031"]],
  ]

  it.effect("ties out with both legs, its rate within rounding", () =>
    Effect.gen(function* () {
      expect(yield* convert(sold, ...bothLegs)).toEqual([])
    }),
  )

  it.effect("ties out with its fee in the buy currency", () =>
    Effect.gen(function* () {
      const fields = { ...sold, fee: "2.50", feeCurrency: "EUR", buyAmount: "497.00", rate: "0.4995" }
      expect(yield* convert(fields, [["DEBIT", "1000.00"]], [["CREDIT", "497.00"]])).toEqual([])
    }),
  )

  it.effect("ties out where the buy amount is stated before the fee", () =>
    Effect.gen(function* () {
      const fields = { ...sold, fee: "2.50", feeCurrency: "EUR", buyAmount: "499.50", rate: "0.499500" }
      expect(yield* convert(fields, [["DEBIT", "1000.00"]], [["CREDIT", "497.00"]])).toEqual([])
    }),
  )

  it.effect("ties out when both legs were reversed", () =>
    Effect.gen(function* () {
      const [sell, buy] = bothLegs
      const back = yield* convert(sold, [...sell, ["CREDIT", "1000.00"]], [...buy, ["DEBIT", "994.2031"]])
      expect(back).toEqual([])
    }),
  )

  it.effect("without its buy leg is a finding", () =>
    Effect.gen(function* () {
      expect(yield* convert(sold, bothLegs[0], [])).toEqual([
        [
          "movement-entries",
          "Completed conversion of 1000.00 USD (fee 5.00 USD) into 994.20310000 USDT: its entries are debits of 1000.00 USD and credits of 0.00 USD on the account sold from, debits of 0.00000000 USDT and credits of 0.00000000 USDT on the account bought for.",
        ],
      ])
    }),
  )

  it.effect("with one leg reversed and the other not is a finding", () =>
    Effect.gen(function* () {
      const [sell, buy] = bothLegs
      const found = yield* convert(sold, [...sell, ["CREDIT", "1000.00"]], buy)
      expect(found.map(([check]) => check)).toEqual(["movement-entries"])
    }),
  )

  it.effect("whose rate is further off than rounding explains is a warning", () =>
    Effect.gen(function* () {
      // 995.00 at 0.9992 is 994.204; half of the last digit is 0.04975, and one minor unit comes on top.
      const fields = { ...sold, buyAmount: "994.25375002" }
      expect(yield* convert(fields, bothLegs[0], [["CREDIT", "994.25375002"]])).toEqual([
        [
          "conversion-rate",
          "1000.00 USD less a fee of 5.00 USD at 0.9992 would buy 994.204 USDT; the conversion says 994.25375002 USDT, 0.04975002 away where 0.04975001 can be rounding.",
        ],
      ])
      const within = { ...sold, buyAmount: "994.25375001" }
      expect(yield* convert(within, bothLegs[0], [["CREDIT", "994.25375001"]])).toEqual([])
    }),
  )

  it.effect("ties out where a stablecoin was rounded to the six decimals of its chain", () =>
    Effect.gen(function* () {
      // 995.00 at 0.99920137 is 994.20536315; half of the rate's last digit is 0.000005, one unit of six decimals on top.
      const rate = { ...sold, rate: "0.99920137" }
      const bought = (amount: string) =>
        convert({ ...rate, buyAmount: amount }, bothLegs[0], [["CREDIT", amount]])
      expect(yield* bought("994.205369")).toEqual([])
      expect(yield* bought("994.20536900")).toEqual([])
      // Seven decimals were not rounded to six.
      expect((yield* bought("994.2053691")).map(([check]) => check)).toEqual(["conversion-rate"])
      expect((yield* bought("994.205370")).map(([check]) => check)).toEqual(["conversion-rate"])
    }),
  )
})

layer(services)("completed movements of one book", (it) => {
  const conversion: ResourceFields = {
    type: "CONVERSION",
    amount: "1000.00",
    fee: "5.00",
    buyAmount: "497.50",
    rate: "0.5",
  }
  const withBuyFee = { ...conversion, fee: "2.50", feeCurrency: "EUR" }
  type Shape = readonly [fields: ResourceFields, own: string, bought?: string]

  /** Amounts such as `-1000 5`; movements that the statements of both accounts reach. */
  const happened = (shapes: ReadonlyArray<Shape>) =>
    Effect.gen(function* () {
      const book = yield* openBook
      const [from, to] = [yield* openAccount(book), yield* openAccount(book, "EUR")]
      for (const account of [from, to]) yield* funded(account)
      const ids: Array<string> = []
      for (const [fields, own, bought = ""] of shapes) {
        const isConversion = fields.type === "CONVERSION"
        const of = yield* putResource(from, {
          createdAt: later,
          ...fields,
          ...(isConversion ? { buy: to } : {}),
        })
        ids.push(of.id)
        for (const [account, amounts] of [[from, own] as const, [to, bought] as const])
          for (const amount of amounts.split(" ").filter((text) => text !== "")) {
            const type = amount.startsWith("-") ? "DEBIT" : "CREDIT"
            yield* addEntry(account, { type, amount: amount.replace("-", ""), of, occurredAt: later })
          }
      }
      const found = yield* reconciled(book)
      const named = found.filter((one) => one.check_name === "movement-entries")
      return { ids, found: named.map((one) => one.subject_id) }
    })

  it.effect(
    "tie out with their fees netted, beside, kept and given back, and with returns of both sides",
    () =>
      Effect.gen(function* () {
        const { found, ids } = yield* happened([
          [deposit, "995 -1000"],
          [deposit, "1000 -5 -1000"],
          [withdrawal, "-1000 5"],
          [withdrawal, "-1000 995"],
          [conversion, "-1000", "497.5"],
          [conversion, "-1005", "497.5"],
          [conversion, "-1000 5", "497.5"],
          [conversion, "-1000 1000", "497.5 -497.5"],
          [conversion, "-1000 995", "497.5 -497.5"],
          [withBuyFee, "-1000", "500 -2.5"],
          [withBuyFee, "-1000 1000", "497.5 -500"],
        ])
        expect(found.map((id) => ids.indexOf(id))).toEqual([])
      }),
  )

  it.effect("are findings where a side is missing, came in part, or went back in part", () =>
    Effect.gen(function* () {
      const { found, ids } = yield* happened([
        [deposit, "500 -500"],
        [deposit, "1000 -400"],
        [withdrawal, "-1000 400"],
        [conversion, "", "497.5"],
        [conversion, "-1000", ""],
        [conversion, "-500 500", "497.5 -497.5"],
        [conversion, "-1000 1000", ""],
        [conversion, "-1000", "497.5 -497.5"],
        [withBuyFee, "-1000 1000", "497.5 -400"],
      ])
      expect([...found].sort()).toEqual([...ids].sort())
    }),
  )

  it.effect(
    "are expected in a statement that begins at zero or shows a part of them, once every account was read",
    () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const [from, to] = [yield* openAccount(book), yield* openAccount(book, "EUR")]
        yield* addEntry(from, { type: "CREDIT", amount: "9", of: payout })
        const known = yield* openAccount(book)
        yield* funded(known)
        const old = { type: "DEPOSIT", amount: "7", createdAt: "2026-01-01T00:00:00Z" } as const
        const partly = yield* putResource(known, old)
        yield* addEntry(known, { type: "CREDIT", amount: "6", of: partly })
        const early = yield* putResource(from, old)
        const half = yield* putResource(from, { ...conversion, buy: to })
        yield* query(
          (sql) => sql`
          update mirror.accounts set tail_read_at = clock_timestamp(), balance_read_at = clock_timestamp()
          where account_id in (${from.id}, ${known.id})`,
        )
        const reconcile = yield* Reconcile
        yield* reconcile.afterRun([book], { ...(yield* asRun(yield* startRun(book))), full: false })
        const found = (all: ReadonlyArray<{ readonly subject_id: string }>) =>
          all.map((one) => one.subject_id).sort()
        expect(found(yield* open(book))).toEqual([early.id, partly.id].sort())
        expect(found(yield* reconciled(book))).toEqual([early.id, half.id, partly.id].sort())
      }),
  )
})

layer(services)("a refused or cancelled movement", (it) => {
  it.effect("ties out without entries, and with entries that net to zero but for the fee", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* putResource(account, { ...deposit, status: "REJECTED" })
      const back = yield* happen(account, { ...withdrawal, status: "CANCELED" }, [["DEBIT", "995.00"]])
      yield* addEntry(account, { type: "DEBIT", amount: "5.00", of: back, against: "fees" })
      yield* addEntry(account, { type: "CREDIT", amount: "995.00", of: back })
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("that leaves something in clearing is a finding until it comes back", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const refused = yield* happen(account, { ...withdrawal, status: "REJECTED" }, [["DEBIT", "1000.00"]])
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "clearing-nets",
          severity: "blocking",
          subject_type: "withdrawal",
          subject_id: refused.id,
          message: "The withdrawal of 1000.00 USD was rejected, but leaves 1000.00 USD in clearing.",
        },
      ])
      yield* addEntry(account, { type: "CREDIT", amount: "1000.00", of: refused, run: yield* startRun(book) })
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("that is a conversion leaves its leg in transit", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const from = yield* openAccount(book)
      const to = yield* openAccount(book, "EUR")
      const canceled = { type: "CONVERSION", status: "CANCELED", amount: "1000.00" } as const
      const conversion = yield* putResource(from, { ...canceled, buy: to, buyAmount: "900.00", rate: "0.9" })
      yield* addEntry(from, { type: "DEBIT", amount: "1000.00", of: conversion })
      expect((yield* reconciled(book)).map(({ message }) => message)).toContain(
        "The conversion of 1000.00 USD was canceled, but leaves 1000.00 USD in transit.",
      )
    }),
  )
})

layer(services)("an entry", (it) => {
  it.effect("whose resource the service does not have is a finding until it does", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const id = randomUUID()
      const entryId = yield* addEntry(account, {
        type: "CREDIT",
        amount: "7.5",
        of: { type: "DEPOSIT", id },
        against: "suspense",
      })
      yield* query(
        (sql) => sql`
          insert into mirror.missing_resources (book_id, resource_type, resource_id, tries, first_missed_at)
          values (${book.bookId}, 'DEPOSIT', ${id}, 3, '2026-10-06T11:00:00Z')`,
      )
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "missing-resource",
          severity: "blocking",
          subject_type: "deposit",
          subject_id: id,
          message:
            "The deposit that 1 statement entry names is not known: the service has answered that there is none, 3 times. What it moved stands in suspense.",
        },
      ])
      expect(yield* evidenceOf(book)).toEqual([
        {
          count: 1,
          tries: 3,
          entries: [{ entryId, accountId: account.id, type: "CREDIT", amount: "7.5", currency: "USD" }],
          firstMissedAt: "2026-10-06T11:00:00.000000Z",
          occurredAt: "2026-10-06T10:00:00.000000Z",
        },
      ])
      yield* putResource(account, { type: "DEPOSIT", amount: "7.5", run: yield* startRun(book) }, id)
      yield* query((sql) => sql`delete from mirror.missing_resources where book_id = ${book.bookId}`)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("whose resource could not be understood says why", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const id = randomUUID()
      yield* addEntry(account, {
        type: "DEBIT",
        amount: "7.5",
        of: { type: "WITHDRAWAL", id },
        against: "suspense",
      })
      yield* query(
        (sql) => sql`
          insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
          values (${book.bookId}, 'withdrawals', ${id}, '{"counterparty":"Jane"}', 'is negative', '$.fee', 'd', 0)`,
      )
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        "The withdrawal that 1 statement entry names is not known: what the service sent could not be understood ($.fee is negative). What it moved stands in suspense.",
        "1 row of withdrawals could not be understood; the first: $.fee is negative.",
      ])
    }),
  )

  it.effect("without a resource, of an unknown type, or without an identifier stands in suspense", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const adjustment = yield* addEntry(account, { type: "CREDIT", amount: "7.50" })
      const unknown = yield* addEntry(account, {
        type: "CREDIT",
        amount: "1",
        of: { type: "CASHBACK", id: randomUUID() },
        against: "suspense",
      })
      const nameless = yield* addEntry(account, {
        type: "DEBIT",
        amount: "2",
        of: { type: "DEPOSIT", id: null },
        against: "suspense",
      })
      yield* addEntry(account, { type: "DEBIT", amount: "3", of: { type: "PAYOUT", id: randomUUID() } })
      yield* addEntry(account, { type: "DEBIT", amount: "3", of: payout })
      const warning = { severity: "warning", subject_type: "statement_entry" }
      const found = yield* reconciled(book)
      expect(found).toHaveLength(3)
      expect(found).toEqual(
        expect.arrayContaining([
          {
            ...warning,
            check_name: "adjustment",
            subject_id: adjustment,
            message:
              "Adjustment without a resource: CREDIT of 7.50 USD stands in suspense until it is reclassified.",
          },
          {
            ...warning,
            check_name: "unclassified-entry",
            subject_id: unknown,
            message:
              'CREDIT of 1.00 USD naming a resource of the unknown type "CASHBACK" stands in suspense until it is reclassified.',
          },
          {
            ...warning,
            check_name: "unclassified-entry",
            subject_id: nameless,
            message:
              "DEBIT of 2.00 USD naming a deposit without saying which stands in suspense until it is reclassified.",
          },
        ]),
      )
    }),
  )

  it.effect("that a rule or a reclassification took out of suspense is settled", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const id = yield* addEntry(account, { type: "CREDIT", amount: "7.50" })
      yield* addEntry(account, { type: "CREDIT", amount: "1", against: "payouts_clearing" })
      expect((yield* reconciled(book)).map((found) => found.subject_id)).toEqual([id])
      const move = (sequence: number, amount: string) =>
        Effect.flatMap(startRun(book), (run) =>
          post(account, { type: "statement_entry", id, kind: "reclassification", sequence, run }, [
            ["suspense", amount],
            ["fees", amount.startsWith("-") ? amount.slice(1) : `-${amount}`],
          ]),
        )
      yield* move(1, "7.50")
      expect(yield* reconciled(book)).toEqual([])
      // And what is moved back waits again, as does what is moved in part.
      yield* move(2, "-7.50")
      expect((yield* reconciled(book)).map((found) => found.subject_id)).toEqual([id])
      yield* move(3, "5")
      expect(yield* evidenceOf(book)).toMatchObject([{ suspense: "-7.50" }])
      yield* reconciled(book)
      expect(yield* evidenceOf(book)).toMatchObject([{ suspense: "-2.50" }])
    }),
  )
})
