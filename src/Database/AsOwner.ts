import { Effect, Option } from "effect"
import { Database } from "../Database.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import type { EmbeddedError } from "./Embedded/EmbeddedError.ts"

/**
 * Runs an effect as the owner of the tables: in an embedded database another role of ours than the one that everything else runs
 * as. On a server it is whoever `DATABASE_URL` names.
 */
export const asOwner = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | DatabaseError | EmbeddedError, Exclude<R, Database> | Database> =>
  Effect.flatMap(Database, (database) =>
    Option.match(database.owner, {
      onNone: () => Effect.provideService(effect, Database, database),
      onSome: (settings) => Effect.provide(effect, Database.layer(settings)),
    }),
  )
