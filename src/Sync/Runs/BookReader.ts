/** One run over one book, the organization's or a client's: lists, open resources, statements, balances. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { MirrorAccounts, type MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import type { Pages as PageStream } from "../../Partner/Lists/Page.ts"
import { Partner, type ReferenceItem } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { defaultInterface } from "../../Settings/Interface.ts"
import { Settings } from "../../Settings.ts"
import { DepositInstructions } from "../Resources/DepositInstructions.ts"
import { Lists } from "../Resources/Lists.ts"
import { OpenResources } from "../Resources/OpenResources.ts"
import { agrees, Balances, type Behind, noneBehind, nothingToSettle } from "../Statements/AccountBalances.ts"
import { beginning, type Checkpoint, checkpoints, statementStream } from "../Statements/Checkpoint.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { Statements } from "../Statements/Statement.ts"
import { type StatementOutcome, wholeStatement } from "../Statements/StatementOutcome.ts"
import { noteStatements, noting } from "./Evidence.ts"
import { aloneOfEach, aloneOfStream, failureOf, isAbsent, ofStatement, type ReadError } from "./Failures.ts"
import type { Failure } from "./RunReport.ts"

export interface BookOutcome {
  readonly newEntries: ReadonlyMap<string, number>
  readonly openResources: number
  readonly failures: ReadonlyArray<Failure>
  readonly notices: ReadonlyArray<string>
}

/** No checkpoint: every stream is read from its beginning. */
const fromTheStart: ReadonlyMap<string, Checkpoint> = new Map()

/** Whether the interface has the list: if its default path is null, none is expected. */
const isStream = ({ clientId }: Book, stream: "deposits" | "withdrawals" | "conversions"): boolean =>
  (Option.isNone(clientId) ? defaultInterface.paths : defaultInterface.clientPaths)[stream] !== null

const made = Effect.gen(function* () {
  const settings = yield* Settings
  const partner = yield* Partner
  const accounts = yield* MirrorAccounts
  const quarantine = yield* Quarantine
  const lists = yield* Lists
  const open = yield* OpenResources
  const statements = yield* Statements
  const balances = yield* Balances
  const facts = yield* PostingFacts
  const instructions = yield* DepositInstructions

  const saveTails = traced("Sync.saveTails")(function* (
    book: Book,
    outcomes: ReadonlyArray<StatementOutcome>,
    waiting: ReadonlySet<string>,
  ) {
    const whole = outcomes.flatMap(wholeStatement)
    if (whole.length === 0) return
    const run = yield* Run
    const waited = outcomes.filter(({ accountId }) => waiting.has(statementStream(accountId)))
    yield* run.commit(
      Effect.gen(function* () {
        yield* noteStatements(book, whole)
        for (const { accountId, broken } of waited) {
          const resolve = broken ? quarantine.resolveBooked : quarantine.resolveStream
          yield* resolve(book, statementStream(accountId), run.runId)
        }
      }),
    )
  })

  const readLists = traced("Sync.readLists")(function* (
    book: Book,
    full: boolean,
    waiting: ReadonlySet<string>,
    stored: ReadonlyMap<string, Checkpoint>,
  ) {
    const failures: Array<Failure> = []
    const notices: Array<string> = []
    const checkpointOf = (stream: string) => stored.get(stream) ?? beginning
    const alone = aloneOfEach()
    const attempt = <R>(list: string, documented: boolean, effect: Effect.Effect<void, ReadError, R>) =>
      effect.pipe(
        alone((error): void => {
          if (!documented && isAbsent(error)) notices.push(`${list}: ${error.message}`)
          else failures.push(failureOf({ kind: "list", name: list }, error))
        }),
      )
    const resources = (stream: "deposits" | "withdrawals" | "conversions") =>
      attempt(
        stream,
        true,
        partner[stream] === null && isStream(book, stream)
          ? lists.leaveOut(book, stream)
          : lists
              .readResources(book, stream, partner[stream], checkpointOf(stream), {
                full,
                waits: waiting.has(stream),
              })
              .pipe(noting(book, stream)),
      )
    const reference = (kind: string, list: PageStream<ReferenceItem> | null) =>
      lists.readReference(book, kind, list, waiting.has(kind))
    // The address book first: it names whom the movements were with.
    yield* Effect.all(
      [
        attempt("conversion pairs", false, reference("conversion_pair", partner.conversionPairs)),
        attempt("address book", false, reference("destination", partner.addressBook)),
      ],
      { concurrency: "unbounded", discard: true },
    )
    yield* facts.refresh(book)
    yield* Effect.all([resources("deposits"), resources("withdrawals"), resources("conversions")], {
      concurrency: "unbounded",
      discard: true,
    })
    return { failures, notices }
  })

  const readStatements = traced("Sync.readStatements")(function* (
    book: Book,
    all: ReadonlyArray<MirroredAccount>,
    stored: ReadonlyMap<string, Checkpoint>,
  ) {
    const run = yield* Run
    const failures: Array<Failure> = []
    const alone = aloneOfEach()
    const readOne = (account: MirroredAccount) =>
      statements.read(book, account, stored.get(statementStream(account.accountId)) ?? beginning).pipe(
        Effect.asSome,
        noting(book, statementStream(account.accountId)),
        alone((error) => {
          failures.push(...ofStatement(account, error))
          return Option.none<StatementOutcome>()
        }),
        Effect.tap(() => {
          run.progress.statements.done += 1
        }),
      )
    run.progress.statements.all += all.length
    const outcomes = yield* Effect.forEach(all, readOne, {
      concurrency: settings.limits.accountsInParallel,
    })
    return { failures, outcomes: outcomes.flatMap((outcome) => Option.toArray(outcome)) }
  })

  /** Reads the statements of some accounts on, from where `stored` has them, and proves their balances. */
  const readFrom = traced("Sync.BookReader.readFrom")(function* (
    book: Book,
    some: ReadonlyArray<MirroredAccount>,
    stored: ReadonlyMap<string, Checkpoint>,
    waiting: ReadonlySet<string>,
    behind: Behind = noneBehind,
  ) {
    const read = yield* readStatements(book, some, stored)
    const failures = [...read.failures]
    yield* saveTails(book, read.outcomes, waiting)
    const newEntries = new Map(read.outcomes.map(({ accountId, newEntries: found }) => [accountId, found]))
    const whole = new Set(read.outcomes.flatMap(({ accountId, broken }) => (broken ? [] : [accountId])))
    // No other run reads on meanwhile: if every statement ends at its account's balance, there is nothing to look up.
    const balanceOf = new Map(some.map(({ accountId, balance }) => [accountId, balance]))
    const isUnsettled = read.outcomes.some(({ accountId, balance: lastBalance }) => {
      const balance = balanceOf.get(accountId)
      return balance === undefined || (whole.has(accountId) && !agrees({ balance, lastBalance }))
    })
    const settled =
      isUnsettled || (yield* behind).size > 0 ? yield* balances.settle(book, whole, behind) : nothingToSettle
    failures.push(...settled.failures)
    for (const [accountId, found] of settled.brought)
      newEntries.set(accountId, (newEntries.get(accountId) ?? 0) + found)
    return { newEntries, openResources: 0, failures, notices: [] } satisfies BookOutcome
  })

  /**
   * Reads everything new; `full`: everything from the start, which also shows changes. Fails only if no stream can go on:
   * credentials, the database, the lease.
   */
  const read = traced("Sync.Organization.read")(function* (book: Book, full: boolean) {
    const waiting = yield* quarantine.waiting(book)
    yield* lists.readAccounts(book, waiting).pipe(noting(book, "accounts"))
    const all = yield* accounts.all(book)
    const stored = yield* checkpoints(book)
    const listed = yield* readLists(book, full, waiting, stored)
    const failures = [...listed.failures]
    const notices = [...listed.notices]
    yield* instructions.read(book, all, full).pipe(
      aloneOfStream((error): void => {
        notices.push(`deposit instructions: ${error.message}`)
      }),
    )
    const { asked, failed } = yield* open.read(book)
    for (const error of failed) failures.push(failureOf({ kind: "movements", which: "open" }, error))
    const read = yield* readFrom(book, all, full ? fromTheStart : stored, waiting)
    failures.push(...read.failures)
    yield* open.readLate(book)
    const { newEntries } = read
    return { newEntries, openResources: asked, failures, notices } satisfies BookOutcome
  })

  /**
   * For the hours between full runs. The list of accounts carries balances, so only statements whose account has another
   * balance than the books are read, and those that were never read: a new account does not tie out before. Movements that
   * cancel out wait for the next full run.
   */
  const readQuick = Effect.fn("Sync.BookReader.readQuick")(function* (book: Book) {
    const waiting = yield* quarantine.waiting(book)
    yield* lists.readAccounts(book, waiting).pipe(noting(book, "accounts"))
    yield* facts.refresh(book)
    const all = yield* accounts.all(book)
    const moved = all.filter((account) => !account.wasRead || !agrees(account))
    const stored = moved.length === 0 ? fromTheStart : yield* checkpoints(book)
    const outcome = yield* readFrom(book, moved, stored, waiting)
    yield* open.readLate(book)
    return outcome
  })

  /** Reads the statements of some accounts on, waits a moment for those that are `behind`, and proves their balances. */
  const readSome = Effect.fn("Sync.BookReader.readSome")(function* (
    book: Book,
    some: ReadonlyArray<MirroredAccount>,
    behind: Behind = noneBehind,
  ) {
    const stored = yield* checkpoints(
      book,
      some.map(({ accountId }) => statementStream(accountId)),
    )
    return yield* readFrom(book, some, stored, yield* quarantine.waiting(book), behind)
  })

  return { read, readQuick, readSome }
})

export class BookReader extends Effect.Service<BookReader>()("tieout/Sync/BookReader", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new BookReader(parts))
}
