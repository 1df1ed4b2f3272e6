import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "./DatabaseAddress.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** The database over sessions with settings of their own. */
export const sessionsOf = (session: Readonly<Record<string, string>>) =>
  Layer.unwrapEffect(
    Effect.map(TestDatabase, ({ url }) => Layer.fresh(Database.layer({ ...settingsFor(url), session }))),
  ).pipe(Layer.provideMerge(TestDatabase.migrated))
