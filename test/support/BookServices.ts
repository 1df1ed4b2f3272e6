/** What books are booked and reconciled with, for tests that bring their own database. */
import { Layer } from "effect"
import { Ledger } from "../../src/Ledger.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"

export const servicesWith = (variables: Record<string, string>) =>
  Layer.mergeAll(Ledger.Default, Reconcile.Default).pipe(Layer.provideMerge(Settings.from({ variables })))

export const services = servicesWith({})
