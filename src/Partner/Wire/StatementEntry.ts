import { Option } from "effect"
import * as Money from "../../Common/Money.ts"
import { type StatementEntry, zeroThatMoves } from "../../Partner.ts"
import {
  amount,
  bookedInstant,
  currency,
  Fault,
  type Fields,
  optional,
  optionalText,
  text,
  uuid,
} from "./Fields.ts"
import * as JsonText from "./JsonText.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

const understood: ReadonlySet<string> = new Set([
  "entryId",
  "accountId",
  "type",
  "amount",
  "currency",
  "balanceBefore",
  "balanceAfter",
  "relatedResourceType",
  "relatedResourceId",
  "occurredAt",
])

const typeOf = (row: Fields): "CREDIT" | "DEBIT" => {
  const type = text(row, "type")
  if (type === "CREDIT" || type === "DEBIT") return type
  throw new Fault("$.type", "is neither CREDIT nor DEBIT")
}

const isSimple = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "boolean"

/** JSON of the named fields; numbers and nested values exactly as the source has them. */
const extraOf = (row: Fields, keys: ReadonlyArray<string>, source: () => string): string => {
  if (keys.every((key) => isSimple(row[key]))) {
    return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(row[key])}`).join(",")}}`
  }
  const whole = source()
  const parts = JsonText.members(whole)
    .filter((member) => keys.includes(member.key))
    .map((member) => `${JSON.stringify(member.key)}:${whole.slice(member.start, member.end)}`)
  return storable(`{${parts.join(",")}}`)
}

/** Entries of one account's statement; one that names another account is malformed. `timeZone`: the books'. */
export const decoder = (statementOf: string, timeZone = "UTC"): Decoder<StatementEntry> => {
  const expected = statementOf.toLowerCase()
  return {
    idField: "entryId",
    decode: (row, source) => {
      const code = currency(row, "currency")
      const entry: StatementEntry = {
        entryId: uuid(row, "entryId"),
        accountId: uuid(row, "accountId"),
        type: typeOf(row),
        amount: amount(row, "amount", "$", code, "notNegative"),
        currency: code,
        balanceBefore: optional(row, "balanceBefore", (fields, key, at) =>
          amount(fields, key, at, code, "any"),
        ),
        balanceAfter: amount(row, "balanceAfter", "$", code, "any"),
        relatedResourceType: optionalText(row, "relatedResourceType"),
        relatedResourceId: optional(row, "relatedResourceId", uuid),
        occurredAt: bookedInstant(row, "occurredAt", "$", timeZone),
        extra: null,
      }
      if (entry.accountId !== expected) throw new Fault("$.accountId", "is not the account of this statement")
      const changes = Option.exists(
        entry.balanceBefore,
        (before) => !Money.equals(before, entry.balanceAfter),
      )
      if (Money.isZero(entry.amount) && changes) throw new Fault("$.amount", zeroThatMoves)
      const left: Array<string> = []
      for (const key in row) if (!understood.has(key) || row[key] === null || row[key] === "") left.push(key)
      if (entry.entryId !== row.entryId) left.push("entryId")
      if (entry.accountId !== row.accountId) left.push("accountId")
      if (entry.occurredAt !== row.occurredAt) left.push("occurredAt")
      if (typeof row.relatedResourceId === "string" && /[A-F]/.test(row.relatedResourceId)) {
        left.push("relatedResourceId")
      }
      const read = left.length === 0 ? entry : { ...entry, extra: extraOf(row, left, source) }
      const undecided = Money.isZero(entry.amount) && Option.isNone(entry.balanceBefore)
      return undecided ? { ...read, source: storable(source()) } : read
    },
  }
}
