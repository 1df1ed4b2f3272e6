import { Effect } from "effect"
import { type Client, makeClient } from "../../src/Database/Client.ts"
import { Database } from "../../src/Database.ts"

/** Asks the database on a session of its own, as another program would: outside the transaction that is under way. */
export const aside = <A>(ask: (sql: Client) => PromiseLike<A>) =>
  Effect.flatMap(Database, ({ settings }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => makeClient(settings, { connections: 1 })),
      (client) => Effect.promise(async () => ask(client)),
      (client) => Effect.promise(() => client.end({ timeout: 2 })),
    ),
  )
