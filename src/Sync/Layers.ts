/** The parts of a run. Built anew for every run, and those of a book for every book: they remember what has been read. */
import { Layer } from "effect"
import { MirrorAccounts } from "../Mirror/Accounts.ts"
import { Quarantine } from "../Mirror/Quarantine.ts"
import { Receivables } from "../Mirror/Receivables.ts"
import { ReferenceItems } from "../Mirror/ReferenceItems.ts"
import { Resources } from "../Mirror/Resources.ts"
import { StatementEntries } from "../Mirror/StatementEntries.ts"
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
import { Statements } from "./Statement.ts"
import { Statistics } from "./Statistics.ts"

/** What all books of a run share. */
const shared = Layer.mergeAll(
  MirrorAccounts.Default,
  Quarantine.Default,
  Receivables.Default,
  ReferenceItems.Default,
  Resources.Default,
  StatementEntries.Default,
  Statistics.Default,
)

/** The parts of a run over a connection. */
export const runParts = Layer.mergeAll(Clients.Default, Credit.Default).pipe(
  Layer.provide(FloodGate.Default),
  Layer.provideMerge(shared),
)

/** The parts of reading one book, which `Partner` gives. */
export const bookParts = Layer.mergeAll(Lists.Default, OpenResources.Default, Loans.Default).pipe(
  Layer.provideMerge(Statements.Default),
  Layer.provideMerge(Layer.mergeAll(Hydration.Default, Pages.Default)),
  Layer.provideMerge(Layer.mergeAll(PostingFacts.Default, FloodGate.Default)),
)

/** The same, with what reads a book as a sync does. */
export const syncParts = BookReader.Default.pipe(
  Layer.provide(Layer.mergeAll(Balances.Default, DepositInstructions.Default)),
  Layer.provideMerge(bookParts),
)
