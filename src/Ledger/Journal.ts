/**
 * Writes journal entries: headers and all their lines in one statement, as the database's rules require. The database dates
 * them, by the service's time in the book's own time zone: `ledger.effective_date` in `drizzle/rules.sql`.
 */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import * as Money from "../Common/Money.ts"
import { int8 } from "../Database/Columns.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import type { AccountId } from "./LedgerAccounts.ts"

/** Journal entries that can be written: their ids are taken, and the ledger accounts of their lines exist. */
export interface PreparedEntries {
  readonly entries: ReadonlyArray<JournalEntry>
  readonly ids: ReadonlyArray<bigint>
  /** Of all their lines, entry by entry. */
  readonly accounts: ReadonlyArray<AccountId>
}

/** A column of rows, to be filled. */
const column = <A>(): Array<A> => []

/** How many ids one value of the sequence reserves. */
const blockSize = 1024n

const headerColumns = ({ entries, ids }: PreparedEntries) => {
  const columns = {
    entryId: column<string>(),
    sourceType: column<string>(),
    sourceId: column<string>(),
    kind: column<string>(),
    sequence: column<string>(),
    correction: column<string>(),
    occurredAt: column<string>(),
    lineCount: column<string>(),
    partnerAccountId: column<string | null>(),
    position: column<string | null>(),
    resourceType: column<string | null>(),
    resourceId: column<string | null>(),
    description: column<string>(),
    externalReference: column<string | null>(),
    counterparty: column<string | null>(),
    reverses: column<string | null>(),
  }
  entries.forEach((entry, at) => {
    columns.entryId.push(String(ids[at]))
    columns.sourceType.push(entry.sourceType)
    columns.sourceId.push(entry.sourceId)
    columns.kind.push(entry.kind)
    columns.sequence.push(String(entry.sequence))
    columns.correction.push(String(entry.correction ?? 0))
    columns.occurredAt.push(entry.occurredAt)
    columns.lineCount.push(String(entry.lines.length))
    columns.partnerAccountId.push(entry.partnerAccountId)
    columns.position.push(entry.position === null ? null : entry.position.toString())
    columns.resourceType.push(entry.resourceType)
    columns.resourceId.push(entry.resourceId)
    columns.description.push(entry.description)
    columns.externalReference.push(Option.getOrNull(entry.externalReference))
    columns.counterparty.push(Option.getOrNull(entry.counterparty))
    columns.reverses.push(entry.reverses === undefined ? null : entry.reverses.toString())
  })
  return columns
}

const lineColumns = ({ accounts, entries, ids }: PreparedEntries) => {
  const columns = {
    entryId: column<string>(),
    lineNumber: column<string>(),
    accountId: column<string>(),
    currency: column<string>(),
    amount: column<string>(),
  }
  let next = 0
  entries.forEach(({ lines }, at) => {
    const id = String(ids[at])
    lines.forEach((line, place) => {
      columns.entryId.push(id)
      columns.lineNumber.push(String(place + 1))
      columns.accountId.push(String(accounts[next++]))
      columns.currency.push(line.currency)
      columns.amount.push(Money.toText(line.amount))
    })
  })
  return columns
}

export class Journal extends Effect.Service<Journal>()("tieout/Ledger/Journal", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    let next = 0n
    let end = 0n

    /** Ids are taken in blocks: one query per thousand entries. A block that is not used up is lost, which harms nothing. */
    const takeIds = traced("Ledger.Journal.takeIds")(function* (count: number) {
      const ids: Array<bigint> = []
      while (ids.length < count) {
        if (next === end) {
          const { block } = yield* database.row(
            "Ledger.Journal.takeIds",
            { block: int8 },
            (sql) => sql`select nextval('ledger.journal_entry_block') as block`,
          )
          // Another fiber may have taken a block meanwhile; the rest of that block is given up.
          next = block
          end = next + blockSize
        }
        ids.push(next)
        next += 1n
      }
      return ids
    })

    /** Gives up the rest of the block. */
    const forget = (): void => {
      next = end
    }

    /** Part of the caller's transaction. Fails with `Refused` where the database's rules do not allow the entries. */
    const post = traced("Ledger.Journal.post")(function* (
      book: Book,
      runId: number | null,
      prepared: PreparedEntries,
    ) {
      if (prepared.entries.length === 0) return
      const header = headerColumns(prepared)
      const line = lineColumns(prepared)
      yield* database.execute(
        "Ledger.Journal.post",
        (sql) => sql`
          with given as (
            select t.* from unnest(${plainArray(sql, header.entryId, "int8")}, ${plainArray(sql, header.sourceType)},
              ${plainArray(sql, header.sourceId, "uuid")}, ${textArray(sql, header.kind)}, ${plainArray(sql, header.sequence, "int4")},
              ${plainArray(sql, header.correction, "int4")},
              ${plainArray(sql, header.occurredAt, "timestamptz")}, ${plainArray(sql, header.lineCount, "int2")},
              ${plainArray(sql, header.partnerAccountId, "uuid")}, ${plainArray(sql, header.position, "int8")},
              ${textArray(sql, header.resourceType)}, ${plainArray(sql, header.resourceId, "uuid")},
              ${textArray(sql, header.description)}, ${textArray(sql, header.externalReference)},
              ${textArray(sql, header.counterparty)}, ${plainArray(sql, header.reverses, "int8")})
            as t (entry_id, source_type, source_id, kind, sequence, correction, at, line_count,
              partner_account_id, position, resource_type, resource_id, description, external_reference, counterparty,
              reverses)),
          -- Waits for a close that is under way and sees what it did: dated by what was before it, the rules would refuse.
          dating as materialized (
            select time_zone, closed_through from ledger.locks where book_id = ${book.bookId} for share),
          headers as (
            insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence,
              correction, effective_date, occurred_at, late_for, line_count, partner_account_id, position, resource_type,
              resource_id, description, external_reference, counterparty, reverses, run_id)
            select ${book.bookId}, g.entry_id, g.source_type, g.source_id, g.kind, g.sequence, g.correction,
              ledger.effective_date(g.at, d.time_zone, d.closed_through), g.at,
              ledger.late_for(g.at, d.time_zone, d.closed_through), g.line_count, g.partner_account_id,
              g.position, g.resource_type, g.resource_id, g.description, g.external_reference,
              g.counterparty, g.reverses, ${runId}
            from given g cross join dating d)
          insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
          select ${book.bookId}, l.entry_id, l.line_number, l.account_id, l.currency, l.amount
          from unnest(${plainArray(sql, line.entryId, "int8")}, ${plainArray(sql, line.lineNumber, "int2")},
            ${plainArray(sql, line.accountId, "int4")}, ${plainArray(sql, line.currency)}, ${plainArray(sql, line.amount, "numeric")})
            as l (entry_id, line_number, account_id, currency, amount)`,
      )
    })

    return { takeIds, forget, post }
  }),
}) {}
