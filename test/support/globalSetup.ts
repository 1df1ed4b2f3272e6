import { randomBytes } from "node:crypto"
import { Effect, Exit, Redacted, Scope } from "effect"
import type { TestProject } from "vitest/node"
import { type Client, makeClient } from "../../src/Database/Client.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor, withDatabase } from "./DatabaseAddress.ts"
import { startTestServer } from "./TestServer.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The test server, with a role that may create databases. */
    readonly testServerUrl: string
    /** The database with the migrations applied, to copy. */
    readonly testTemplate: string
    /** Why there is no such database; empty when there is. */
    readonly testTemplateError: string
  }
}

const adminOf = (url: string): Client =>
  makeClient(Effect.runSync(parseDatabaseUrl(Redacted.make(url))), { connections: 1 })

/** One server for the whole run: `TEST_DATABASE_URL`, or the embedded one; and one migrated database to copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scope = Effect.runSync(Scope.make())
  const url =
    process.env.TEST_DATABASE_URL ?? (await Effect.runPromise(Scope.extend(startTestServer(), scope)))
  const template = `tieout_template_${randomBytes(6).toString("hex")}`
  const sql = adminOf(url)
  await sql`create database ${sql(template)} template template0`
  const migrated = await Effect.runPromiseExit(
    Effect.provide(migrate(), Database.layer(settingsFor(withDatabase(url, template)))),
  )
  project.provide("testServerUrl", url)
  project.provide("testTemplate", template)
  project.provide("testTemplateError", Exit.isSuccess(migrated) ? "" : String(migrated.cause))
  return async () => {
    await sql`drop database if exists ${sql(template)} with (force)`
    await sql.end({ timeout: 2 })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
