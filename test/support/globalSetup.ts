import { randomBytes } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Exit, Redacted, Scope } from "effect"
import type { TestProject } from "vitest/node"
import { type Client, makeClient } from "../../src/Database/Client.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { compile } from "./Compiler.ts"
import { settingsFor, testPartitions, withDatabase } from "./DatabaseAddress.ts"
import { statementMistakes } from "./statementNames.ts"
import { makeRunFolder, startTestServer } from "./TestServer.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The test server, with a role that may create databases. */
    readonly testServerUrl: string
    /** The database with the migrations applied, to copy. */
    readonly testTemplate: string
    /** Why there is no such database; empty when there is. */
    readonly testTemplateError: string
    /** The run's folder, in which tests make their own. */
    readonly testFolder: string
    /** A folder like an installed one, as version 9.8.7, with the programs of the tests in `test/support`. */
    readonly testCompiled: string
  }
}

const adminOf = (url: string): Client =>
  makeClient(Effect.runSync(parseDatabaseUrl(Redacted.make(url))), { connections: 1 })

/**
 * For the whole run one server, `TEST_DATABASE_URL` or the embedded one, one migrated database to copy, and one
 * compilation.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scope = Effect.runSync(Scope.make())
  const url =
    process.env.TEST_DATABASE_URL ?? (await Effect.runPromise(Scope.extend(startTestServer(), scope)))
  const folder = await makeRunFolder()
  const compilation = join(folder, "compiled")
  const compiled = compile(compilation)
  const template = `tieout_template_${randomBytes(6).toString("hex")}`
  const sql = adminOf(url)
  await sql`create database ${sql(template)} template template0`
  const migrated = await Effect.runPromiseExit(
    Effect.provide(
      migrate(undefined, testPartitions),
      Database.layer(settingsFor(withDatabase(url, template))),
    ),
  )
  project.provide("testServerUrl", url)
  project.provide("testTemplate", template)
  project.provide("testTemplateError", Exit.isSuccess(migrated) ? "" : String(migrated.cause))
  await compiled
  project.provide("testFolder", folder)
  project.provide("testCompiled", compilation)
  return async () => {
    // The long tests run last; the notes of both are checked then.
    const { LONG: long, STATEMENTS: noted } = process.env
    const unrun = noted === undefined || long === undefined ? [] : statementMistakes(noted)
    await rm(folder, { recursive: true, force: true })
    await sql`drop database if exists ${sql(template)} with (force)`
    await sql.end({ timeout: 2 })
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (unrun.length > 0) throw new Error(unrun.join("\n"))
  }
}
