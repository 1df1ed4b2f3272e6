/** What reads a book again as a backfill does, with what brings its receivables up to date. */
import { Context, Effect, pipe } from "effect"
import { Partner } from "../../Partner.ts"
import { Loans } from "../Credit/Loans.ts"
import { add, bookParts } from "../Runs/Parts.ts"
import { Balances } from "../Statements/AccountBalances.ts"
import { BackfillStatements } from "./BackfilledStatements.ts"
import { BackfillReader } from "./BackfillReader.ts"
import { BackfillWindow } from "./BackfillWindow.ts"

const parts = pipe(
  bookParts,
  add(Balances, Balances.made),
  add(BackfillStatements, BackfillStatements.made),
  add(BackfillReader, BackfillReader.made),
)

export const backfillPartsOf =
  (shared: Context.Tag.Service<BackfillWindow>) => (partner: Context.Tag.Service<Partner>) =>
    parts.pipe(
      Effect.provideService(Partner, partner),
      Effect.provideService(BackfillWindow, shared),
      Effect.map((made) => ({
        loans: Context.get(made, Loans),
        read: Context.get(made, BackfillReader).read,
      })),
    )
