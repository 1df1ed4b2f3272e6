/** Finds what an identifier stands for in the database. */
import { Effect, Option } from "effect"
import { allBooks } from "../Book.ts"
import { isShortOf } from "../Common/ShortCode.ts"
import { Database } from "../Database.ts"
import { NothingFound } from "./NothingFound.ts"
import type { Reference } from "./Reference.ts"
import {
  byBatch,
  byClientCode,
  byFinding,
  byMessage,
  byNumber,
  byQuarantineNumber,
  byStatement,
  byTransactionHash,
  byUuid,
  candidatesNamed,
  type Subject,
} from "./Subject.ts"

/** A shortened number may be one of several books'. */
const byShortNumber = Effect.fn("Inquiry.byShortNumber")(function* (
  database: Database,
  beginning: string,
  period: string,
  number: number,
) {
  const books = yield* allBooks(Option.none())
  const codes = books.flatMap(({ code }) => [code, `${code}-FX`]).filter((code) => isShortOf(code, beginning))
  return (yield* Effect.forEach(codes, (code) => byNumber(database, code, period, number))).flat()
})

const wordOf = ({ book, id, kind }: Subject): string => `${kind.replace("_", " ")} ${id} of ${book}`

const lookUp = (database: Database, reference: Reference) => {
  switch (reference.kind) {
    case "number":
      // A file may have the book's code in upper or lower case.
      return byNumber(database, reference.code, reference.period, reference.number).pipe(
        Effect.flatMap((found) =>
          found.length > 0
            ? Effect.succeed(found)
            : byShortNumber(database, reference.code, reference.period, reference.number),
        ),
      )
    case "short":
      return byShortNumber(database, reference.beginning, reference.period, reference.number)
    case "finding":
      return byFinding(database, reference.findingId)
    case "quarantined":
      return byQuarantineNumber(database, reference.quarantineId)
    case "batch":
      return byBatch(database, reference.code, reference.batch)
    case "message":
      return byMessage(database, reference.from, reference.to, reference.batch)
    case "statement":
      return byStatement(database, reference.from, reference.to, reference.day)
    case "uuid":
      return byUuid(database, reference.from, reference.to)
  }
}

/** Several subjects may share one full identifier, which then means all of them. */
export const subjectsOf = Effect.fn("Inquiry.subjectsOf")(function* (
  id: string,
  references: ReadonlyArray<Reference>,
) {
  const database = yield* Database
  const found: Array<Subject> = []
  for (const reference of references) found.push(...(yield* lookUp(database, reference)))
  const given = id.trim()
  if (given !== "") {
    found.push(
      ...(yield* byClientCode(database, given.toUpperCase())),
      ...(yield* byTransactionHash(database, given)),
    )
  }
  if (found.length === 0) return yield* new NothingFound({ reason: "Unknown", id, candidates: [] })
  if (new Set(found.map((subject) => subject.id)).size > 1) {
    const candidates = [
      ...found.slice(0, candidatesNamed).map(wordOf),
      ...(found.length > candidatesNamed ? ["more"] : []),
    ]
    return yield* new NothingFound({ reason: "Ambiguous", id, candidates })
  }
  return found
})
