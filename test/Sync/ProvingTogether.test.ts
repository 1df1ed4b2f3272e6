/** Books of a worker that are ready while others are proved are proved together next; one that somebody else has taken fails alone. */
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Fiber, Layer } from "effect"
import { type Book, clientBook } from "../../src/Book.ts"
import { Ledger } from "../../src/Ledger.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { LeaseLost } from "../../src/Run/Lease.ts"
import { beginRun, joinRun } from "../../src/Run.ts"
import { Settings } from "../../src/Settings.ts"
import { provingTogether } from "../../src/Sync/Runs/ProvingTogether.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { rows } from "./Runs.ts"

const settings = Settings.from({ variables: {} })
const services = Layer.provideMerge(Layer.merge(Ledger.Default, Reconcile.Default), settings)

const booksOf = (connection: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, at) => at + 1),
    (at) =>
      clientBook(connection, {
        clientId: `66666666-0000-4000-8000-00000000000${at}`,
        code: `B${at}`,
        name: `Book ${at}`,
      }),
  )

/** When each book was proved: by the same transaction where it is the same. */
const provedAt = (books: ReadonlyArray<Book>) =>
  rows(`select p.reconciled_at::text as at from reconcile.progress p
    where p.book_id in (${books.map(({ bookId }) => bookId).join(",")}) order by p.book_id`)

layer(TestDatabase.layer, { excludeTestServices: true })("a worker's books", (it) => {
  it.scoped("are proved together where they wait for one that is being proved", () =>
    Effect.gen(function* () {
      const books = yield* booksOf("together", 4)
      const { runId } = yield* beginRun("together", "sync")
      const prove = yield* provingTogether
      const runs = yield* Effect.forEach(books, (book) => joinRun(runId, book))
      const proved = yield* Effect.forEach(
        books,
        (book, at) => Effect.flatMap(Effect.fromNullable(runs[at]), (run) => prove(book, run, false)),
        { concurrency: "unbounded" },
      )
      expect(proved.map(({ blocking, numbered }) => ({ blocking, numbered }))).toEqual(
        books.map(() => ({ blocking: 0, numbered: 0 })),
      )
      const [first, ...others] = (yield* provedAt(books)).map(({ at }) => at)
      expect(new Set(others).size).toBe(1)
      expect(others).not.toContain(first)
    }).pipe(Effect.provide(services)),
  )

  it.scoped("do not fail with one that somebody else has taken meanwhile", () =>
    Effect.gen(function* () {
      const books = yield* booksOf("taken", 4)
      const { runId } = yield* beginRun("taken", "sync")
      const prove = yield* provingTogether
      const runs = yield* Effect.forEach(books, (book) => joinRun(runId, book))
      const [, , third] = books
      if (third === undefined) return yield* Effect.dieMessage("there are four books")
      yield* joinRun(runId, third)
      const proved = yield* Effect.forEach(
        books,
        (book, at) =>
          Effect.flatMap(Effect.fromNullable(runs[at]), (run) => Effect.either(prove(book, run, false))),
        { concurrency: "unbounded" },
      )
      expect(proved.map(Either.isRight)).toEqual([true, true, false, true])
      expect(proved.flatMap((one) => (Either.isLeft(one) ? [one.left] : []))).toEqual([expect.any(LeaseLost)])
      const at = yield* provedAt(books)
      expect(at.map((one) => one.at !== null)).toEqual([true, true, true])
    }).pipe(Effect.provide(services)),
  )

  it.scoped("are proved by another of them where the one that began is interrupted", () =>
    Effect.gen(function* () {
      const books = yield* booksOf("stopped", 3)
      const { runId } = yield* beginRun("stopped", "sync")
      const prove = yield* provingTogether
      const [one, ...others] = yield* Effect.forEach(books, (book) =>
        Effect.map(joinRun(runId, book), (run) => prove(book, run, false)),
      )
      if (one === undefined) return yield* Effect.dieMessage("there are three books")
      const first = yield* Effect.fork(one)
      const rest = yield* Effect.fork(Effect.all(others, { concurrency: "unbounded" }))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      expect(yield* Effect.map(Fiber.await(rest), (exit) => exit._tag)).toBe("Success")
    }).pipe(Effect.provide(services)),
  )
})
