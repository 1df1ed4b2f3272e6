/**
 * The parts of a run. Built anew for every run, and those of a book for every book: they remember what has been read. Each
 * needs only those before it.
 */
import { Context, Effect, Layer, pipe } from "effect"
import type { Book } from "../../Book.ts"
import { ArchivedResources } from "../../Mirror/ArchivedResources.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { Receivables } from "../../Mirror/ReceivableVersions.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { StatementEntries } from "../../Mirror/StatementEntries.ts"
import { Partner } from "../../Partner.ts"
import { Credit } from "../Credit/CreditLists.ts"
import { Loans } from "../Credit/Loans.ts"
import { DepositInstructions } from "../Resources/DepositInstructions.ts"
import { Hydration } from "../Resources/Hydration.ts"
import { Lists } from "../Resources/Lists.ts"
import { NewestItems } from "../Resources/Newest.ts"
import { OpenResources } from "../Resources/OpenResources.ts"
import { Balances } from "../Statements/AccountBalances.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { Statements } from "../Statements/Statement.ts"
import { Pages } from "../Statements/StatementPage.ts"
import { BookReader } from "./BookReader.ts"
import { Clients } from "./Clients.ts"
import { FloodGate } from "./FloodGate.ts"
import { Statistics } from "./Statistics.ts"

const nothing = Effect.succeed(Context.empty())

/** Makes a part with those before it. A layer for each would take five times as long. */
export const add =
  <Part, E2, R2>(tag: Context.Tag<Part, Part>, made: Effect.Effect<Part, E2, R2>) =>
  <Parts, E, R>(before: Effect.Effect<Context.Context<Parts>, E, R>) =>
    Effect.flatMap(before, (parts) =>
      Effect.map(Effect.provide(made, parts), (part) => Context.add(parts, tag, part)),
    )

/** The parts of a run over a connection. */
export const runParts = Layer.effectContext(
  pipe(
    nothing,
    add(MirrorAccounts, MirrorAccounts.made),
    add(Quarantine, Quarantine.made),
    add(Receivables, Receivables.made),
    add(ReferenceItems, ReferenceItems.made),
    add(Resources, Resources.made),
    add(ArchivedResources, ArchivedResources.made),
    add(StatementEntries, StatementEntries.made),
    add(Statistics, Statistics.made),
    add(FloodGate, FloodGate.made),
    add(Clients, Clients.made),
    add(Credit, Credit.made),
  ),
)

/** The parts of reading one book, which `Partner` gives. */
export const bookParts = pipe(
  nothing,
  add(PostingFacts, PostingFacts.made),
  add(FloodGate, FloodGate.made),
  add(Hydration, Hydration.made),
  add(Pages, Pages.made),
  add(Statements, Statements.made),
  add(NewestItems, NewestItems.made),
  add(Lists, Lists.made),
  add(OpenResources, OpenResources.made),
  add(Loans, Loans.made),
)

/** The same, with what reads a book as a sync does. */
export const syncParts = pipe(
  bookParts,
  add(Balances, Balances.made),
  add(DepositInstructions, DepositInstructions.made),
  add(BookReader, BookReader.made),
)

/** What reads a book as a sync does, with what brings its receivables up to date. */
export const syncPartsOf = (full: boolean, quick: boolean) => (partner: Context.Tag.Service<Partner>) =>
  Effect.map(Effect.provideService(syncParts, Partner, partner), (parts) => {
    const reader = Context.get(parts, BookReader)
    return {
      loans: Context.get(parts, Loans),
      read: (book: Book) => (quick ? reader.readQuick(book) : reader.read(book, full)),
    }
  })
