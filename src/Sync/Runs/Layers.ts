/**
 * The parts of a run. Built anew for every run, and those of a book for every book: they remember what has been read. Each
 * needs only those before it, so they are built in order: side by side would take several times as long for every book.
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
import { FloodGate, Pages } from "../Statements/StatementPage.ts"
import { BookReader } from "./BookReader.ts"
import { Clients } from "./Clients.ts"
import { Statistics } from "./Statistics.ts"

const nothing = Effect.succeed(Context.empty())

/** Builds a part with those before it. */
const addLayer =
  <Part, E2, R2>(part: Layer.Layer<Part, E2, R2>) =>
  <Parts, E, R>(before: Effect.Effect<Context.Context<Parts>, E, R>) =>
    Effect.flatMap(before, (parts) =>
      Effect.map(Effect.provide(Layer.build(part), parts), (built) => Context.merge(parts, built)),
    )

/** The parts of a run over a connection. */
export const runParts = Layer.scopedContext(
  pipe(
    nothing,
    addLayer(MirrorAccounts.Default),
    addLayer(Quarantine.Default),
    addLayer(Receivables.Default),
    addLayer(ReferenceItems.Default),
    addLayer(Resources.Default),
    addLayer(ArchivedResources.Default),
    addLayer(StatementEntries.Default),
    addLayer(Statistics.Default),
    addLayer(Layer.provide(Layer.mergeAll(Clients.Default, Credit.Default), FloodGate.Default)),
  ),
)

const partsOfBook = pipe(
  nothing,
  addLayer(PostingFacts.Default),
  addLayer(FloodGate.Default),
  addLayer(Hydration.Default),
  addLayer(Pages.Default),
  addLayer(Statements.Default),
  addLayer(NewestItems.Default),
  addLayer(Lists.Default),
  addLayer(OpenResources.Default),
  addLayer(Loans.Default),
)

/** The parts of reading one book, which `Partner` gives. */
export const bookParts = Layer.scopedContext(partsOfBook)

/** The same, with what reads a book as a sync does. */
export const syncParts = Layer.scopedContext(
  pipe(
    partsOfBook,
    addLayer(Balances.Default),
    addLayer(DepositInstructions.Default),
    addLayer(BookReader.Default),
  ),
)

/** What reads a book as a sync does, with what brings its receivables up to date. */
export const syncPartsOf = (full: boolean, quick: boolean) => (partner: Context.Tag.Service<Partner>) =>
  Effect.all({ reader: BookReader, loans: Loans }).pipe(
    Effect.map(({ loans, reader }) => ({
      loans,
      read: (book: Book) => (quick ? reader.readQuick(book) : reader.read(book, full)),
    })),
    Effect.provide(Layer.provide(syncParts, Layer.succeed(Partner, partner))),
  )
