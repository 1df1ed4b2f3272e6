/** The roles besides the owner, made for one test, and effects that run as one of them. */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { applyRoles } from "../../src/Database/Roles.ts"
import { Database } from "../../src/Database.ts"
import { rows } from "../Sync/Runs.ts"
import { settingsFor } from "./DatabaseAddress.ts"
import { TestDatabase } from "./TestDatabase.ts"

const password = "of-this-test"

/** Roles belong to the whole server, so that each test has its own and removes them. */
export const roles = Effect.acquireRelease(
  Effect.gen(function* () {
    const suffix = randomBytes(6).toString("hex")
    const names = { runtime: `test_runtime_${suffix}`, auditor: `test_auditor_${suffix}` }
    yield* applyRoles(names)
    // Safe to repeat.
    yield* applyRoles(names)
    for (const name of Object.values(names)) yield* rows(`alter role ${name} password '${password}'`)
    return names
  }),
  (names) =>
    Effect.forEach(
      Object.values(names),
      (name) => rows(`drop owned by ${name}; drop role ${name}`).pipe(Effect.ignore),
      {
        discard: true,
      },
    ),
)

export const as =
  (role: string, parameters = "") =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(TestDatabase, ({ url }) =>
      Effect.provide(
        effect,
        Database.layer(settingsFor(`${url.replace(/\/\/[^@]*@/, `//${role}:${password}@`)}${parameters}`)),
      ),
    )
