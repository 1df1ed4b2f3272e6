/** What a run is made of: services that all its books share, and those that are made anew for each book. */
import { type Context, Effect, Layer } from "effect"
import { MirrorAccounts } from "../Mirror/Accounts.ts"
import { Quarantine } from "../Mirror/Quarantine.ts"
import { Receivables } from "../Mirror/Receivables.ts"
import { ReferenceItems } from "../Mirror/ReferenceItems.ts"
import { Resources } from "../Mirror/Resources.ts"
import { StatementEntries } from "../Mirror/StatementEntries.ts"
import { Partner } from "../Partner.ts"
import { Balances } from "./Balances.ts"
import { BookReader } from "./BookReader.ts"
import { Clients } from "./Clients.ts"
import { Credit } from "./Credit.ts"
import { DepositInstructions } from "./DepositInstructions.ts"
import { Hydration } from "./Hydration.ts"
import { Lists } from "./Lists.ts"
import { Loans } from "./Loans.ts"
import { OpenResources } from "./OpenResources.ts"
import { FloodGate, Pages } from "./Page.ts"
import { PostingFacts } from "./PostingFacts.ts"
import { Replay } from "./Replay.ts"
import { ReplayedResources } from "./ReplayedResources.ts"
import { ReplayedStatements } from "./ReplayedStatements.ts"
import { Statements } from "./Statement.ts"
import { Statistics } from "./Statistics.ts"

/** What a run's books share. Built anew for every run: it remembers what this run has read. */
export const shared = Layer.mergeAll(
  MirrorAccounts.Default,
  Quarantine.Default,
  Receivables.Default,
  ReferenceItems.Default,
  Resources.Default,
  StatementEntries.Default,
  Statistics.Default,
)

/** The parts of reading one book, which `Partner` gives. */
const bookParts = Layer.mergeAll(Loans.Default, Replay.Default).pipe(
  Layer.provide(Layer.mergeAll(ReplayedResources.Default, ReplayedStatements.Default)),
  Layer.provideMerge(BookReader.Default),
  Layer.provide(
    Layer.mergeAll(Lists.Default, Balances.Default, OpenResources.Default, DepositInstructions.Default),
  ),
  Layer.provide(Statements.Default),
  Layer.provide(Layer.mergeAll(Hydration.Default, Pages.Default)),
  Layer.provide(Layer.mergeAll(PostingFacts.Default, FloodGate.Default)),
)

/** Made anew for every book: they remember what of it was read. */
export const partsOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.all({ reader: BookReader, loans: Loans, replay: Replay }).pipe(
    Effect.provide(Layer.provide(bookParts, Layer.succeed(Partner, partner))),
  )

export const connectionParts = Layer.mergeAll(Clients.Default, Credit.Default).pipe(
  Layer.provide(FloodGate.Default),
)
