/** What reads a book again as a backfill does, with what brings its receivables up to date. */
import { type Context, Effect, Layer } from "effect"
import { Partner } from "../../Partner.ts"
import { Loans } from "../Credit/Loans.ts"
import { bookParts } from "../Runs/Layers.ts"
import { Balances } from "../Statements/AccountBalances.ts"
import { BackfillStatements } from "./BackfilledStatements.ts"
import { BackfillReader } from "./BackfillReader.ts"
import { BackfillWindow } from "./BackfillWindow.ts"

const reading = BackfillReader.Default.pipe(
  Layer.provide(Layer.mergeAll(BackfillStatements.Default, Balances.Default)),
  Layer.provideMerge(bookParts),
)

export const backfillPartsOf =
  (shared: Context.Tag.Service<BackfillWindow>) => (partner: Context.Tag.Service<Partner>) =>
    Effect.all({ reader: BackfillReader, loans: Loans }).pipe(
      Effect.map(({ loans, reader }) => ({ loans, read: reader.read })),
      Effect.provide(
        Layer.provide(
          reading,
          Layer.merge(Layer.succeed(Partner, partner), Layer.succeed(BackfillWindow, shared)),
        ),
      ),
    )
