/** One run over a connection: its surfaces, one after the other; its clients, several at a time. */
import { type Context, Effect, Option } from "effect"
import { type Book, organizationBook } from "../../Book.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import { type BookReads, Partner, PartnerConnection } from "../../Partner.ts"
import { Reconcile } from "../../Reconcile.ts"
import type { Commit, LeaseLost } from "../../Run/Lease.ts"
import { Run } from "../../Run.ts"
import { Settings, type SettingsError } from "../../Settings.ts"
import type { Window } from "../Backfill/Window.ts"
import { Credit } from "../Credit/CreditLists.ts"
import { onTheirSide } from "../Credit/LoanSide.ts"
import type { Loans } from "../Credit/Loans.ts"
import { BookJobs, type ReadElsewhere } from "./BookJobs.ts"
import type { BookOutcome } from "./BookReader.ts"
import { chosenOf, tasksOf } from "./ChosenClients.ts"
import { Clients, type Served } from "./Clients.ts"
import { noteStopped } from "./Evidence.ts"
import {
  aloneOfClient,
  aloneOfStream,
  failureOf,
  isAbsent,
  ofOneStream,
  type ReadError,
  withoutAll,
} from "./Failures.ts"
import { type Failure, hinders } from "./RunReport.ts"
import { RunTotals } from "./RunTotals.ts"
import type { Surface } from "./Surfaces.ts"
import { addProved } from "./WorkerTotals.ts"

export interface Wanted {
  readonly connection: string
  readonly full?: boolean
  readonly quick?: boolean
  /** Of a backfill. */
  readonly window?: Window
  readonly surfaces: ReadonlySet<Surface>
  /** By its identifier or its code. */
  readonly client: Option.Option<string>
}

/** The parts that read and book one book, with the port to the service for that book. */
export interface BookParts<R> {
  readonly read: (book: Book) => Effect.Effect<BookOutcome, ReadError, R>
  readonly loans: Loans
}

interface FollowingSettings {
  readonly bySettings: (
    books: ReadonlyArray<Book>,
    commit: Commit,
  ) => Effect.Effect<void, SettingsError | DatabaseError | LeaseLost>
  readonly dated: (
    books: ReadonlyArray<Book>,
    commit: Commit,
  ) => Effect.Effect<unknown, DatabaseError | LeaseLost>
}

export const readConnection = <P, R>(
  wanted: Wanted,
  partsOf: (partner: Context.Tag.Service<Partner>) => Effect.Effect<BookParts<R>, never, P>,
  { bySettings, dated }: FollowingSettings,
) =>
  Effect.gen(function* () {
    const run = yield* Run
    const database = yield* Database
    const partner = yield* PartnerConnection
    const reconcile = yield* Reconcile
    const settings = yield* Settings
    const { surfaces } = wanted
    const totals = new RunTotals()
    const { complete, elsewhere, failures, hindered } = totals

    const within = (reads: BookReads) => partsOf(Partner.of({ ...reads, requests: partner.requests }))

    /** What is to be read of the book was read, or its finding says that there is nothing any more. */
    const ended = (book: Book, isWhole: boolean) => {
      const outcomes = isWhole ? complete : hindered
      outcomes.set(book.bookId, book)
      if (isWhole) totals.read.set(book.bookId, book)
    }

    const readBook = (book: Book, reads: BookReads) =>
      Effect.gen(function* () {
        const { read } = yield* within(reads)
        const outcome = yield* read(book)
        totals.take(book, outcome)
        ended(book, !outcome.failures.some(hinders))
        return outcome.failures
      })

    const organization = yield* Effect.provideService(organizationBook(wanted.connection), Database, database)
    yield* bySettings([organization], run.commit)
    if (surfaces.has("credit")) yield* Effect.provideService(onTheirSide(organization), Database, database)

    const listed = yield* surfaces.has("client") || surfaces.has("credit")
      ? (yield* Clients).read(organization).pipe(
          Effect.asSome,
          aloneOfStream((error) => {
            failures.push(
              surfaces.has("client")
                ? withoutAll("clients", error, "No client was read")
                : failureOf({ kind: "list", name: "clients" }, error),
            )
            return Option.none()
          }),
        )
      : Effect.succeedNone
    if (surfaces.has("credit")) {
      const credit = yield* (yield* Credit).read(organization)
      failures.push(...credit.failures)
      for (const notice of credit.notices) totals.notice(notice)
    }
    if (surfaces.has("organization")) {
      const reading = readBook(organization, partner.organization)
      // Beside clients the organization is one book of many: the others are read, proved and exported without it.
      const found = surfaces.has("client")
        ? aloneOfStream((error) => [withoutAll("accounts", error, "Nothing of the organization was read")])(
            reading,
          )
        : // Nothing of the connection can be read, which becomes a finding before the run fails.
          Effect.tapError(reading, (error) =>
            ofOneStream(error) ? reconcile.afterTrouble([organization], run) : Effect.void,
          )
      failures.push(...(yield* found))
    } else {
      complete.set(organization.bookId, organization)
    }

    const { inactive, named, stopped, unlisted } = yield* chosenOf(listed, wanted.client)

    const readClient = ({ book, clientId }: Served) =>
      readBook(book, partner.client(clientId)).pipe(
        aloneOfClient((error) => {
          // The service does not serve the client, which is a finding. What was read of it before is numbered and proved.
          ended(book, isAbsent(error))
          return [failureOf({ kind: "book" }, error)]
        }),
        Effect.map((found) => doneWith(book, found)),
      )
    const doneWith = (book: Book, found: ReadonlyArray<Failure>) => {
      run.progress.clients.done += 1
      totals.clientDone(book, found)
    }
    /** In this process, several at a time. */
    const readClients = (served: ReadonlyArray<Served>) =>
      Effect.gen(function* () {
        if (stopped.length > 0) {
          yield* run.commit(
            Effect.forEach(stopped, ({ book, detail }) => noteStopped(book, detail), {
              discard: true,
            }),
          )
        }
        for (const { book } of stopped) ended(book, true)
        yield* bySettings(
          served.map(({ book }) => book),
          run.commit,
        )
        yield* Effect.forEach(served, readClient, {
          concurrency: settings.limits.clientsInParallel,
          discard: true,
        })
      })

    const workers = yield* BookJobs
    const lender = settings.accounting.receivables.view === "lender"
    const settles = surfaces.has("credit") && !failures.some(hinders)

    /** By workers, who number and prove each as well. */
    const handOut = (read: ReadElsewhere, served: ReadonlyArray<Served>) => {
      const settlesBooks = settles && !lender
      const { full = false, quick = false, window = null } = wanted
      const asked = { full, quick, settles: settlesBooks, window }
      return Effect.gen(function* () {
        const borrowers = settlesBooks ? yield* (yield* Credit).borrowers(organization) : []
        const tasks = tasksOf(served, stopped, borrowers)
        // Their time zone is this process's, for good: a worker with another one in its settings is refused.
        const written = [...tasks.values()].filter(({ reads }) => reads || settlesBooks)
        yield* dated(
          written.map(({ book }) => book),
          run.commit,
        )
        yield* read(run, asked, [...tasks.values()], (result) => {
          const task = tasks.get(result.bookId)
          if (task === undefined) return
          totals.take(task.book, { ...result, newEntries: new Map(Object.entries(result.newEntries)) })
          addProved(elsewhere, run.counters, result)
          if (task.reads) doneWith(task.book, result.failures)
          // A book that was only to be brought up to date does not count as a client read; a failure is reported.
          else totals.clientFailed(task.book, result.failures)
        })
      })
    }

    if (surfaces.has("client")) {
      const served = [...named.map(({ book, client }) => ({ book, clientId: client.id })), ...unlisted]
      run.progress.clients.all = served.length
      yield* Option.match(workers, {
        onNone: () => readClients(served),
        onSome: (read) => handOut(read, served),
      })
    }

    // A book that was not read to its end may lack the cash of a repayment: its loans wait for the next run.
    if (surfaces.has("credit") && !failures.some(hinders)) {
      const handedOut = Option.isSome(workers) && surfaces.has("client")
      const borrowers = handedOut ? Effect.succeed([]) : (yield* Credit).borrowers(organization)
      const books = lender ? [organization] : yield* borrowers
      let resettled = 0
      for (const book of books) {
        if (hindered.has(book.bookId)) continue
        yield* bySettings([book], run.commit)
        const { loans } = yield* within(partner.organization)
        resettled += yield* loans.settle(organization, book)
        complete.set(book.bookId, book)
      }
      resettled += elsewhere.resettled
      if (resettled > 0) {
        const many = resettled === 1 ? "1 receivable was" : `${resettled} receivables were`
        totals.notice(`accounting.receivables has changed: ${many} booked anew by it.`)
      }
    }
    if (failures.some(hinders)) {
      complete.delete(organization.bookId)
      hindered.set(organization.bookId, organization)
    }

    return totals.outcome({
      skipped: inactive.map(({ code, id, status }) => `${code === "" ? id : code} (${status})`),
      isShared: wanted.window !== undefined || (Option.isSome(workers) && surfaces.has("client")),
    })
  })
