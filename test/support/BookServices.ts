/** The services that book and reconcile, for tests with a database of their own. */
import { Layer } from "effect"
import { Ledger } from "../../src/Ledger.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"

export const servicesWith = (variables: Record<string, string>) =>
  Layer.mergeAll(Ledger.Default, Reconcile.Default).pipe(Layer.provideMerge(Settings.from({ variables })))

export const services = servicesWith({})
