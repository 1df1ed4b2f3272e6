/** One worker of the kill campaign. The environment names its database and its share; it prints a line of JSON per history. */
import { Effect, Exit, Logger, LogLevel } from "effect"
import { argumentsOf } from "../Arguments.ts"
import { inDatabase } from "../Server.ts"
import { killing, tools } from "./Killing.ts"

const { CAMPAIGN_DATABASE: url = "", CAMPAIGN_KILLED: program = "", CAMPAIGN_WORKER: worker } = process.env

const share = Effect.flatMap(tools(url, program), (using) =>
  killing(argumentsOf(process.argv.slice(2)), Number(worker), using, (told) =>
    process.stdout.write(`${JSON.stringify(told)}\n`),
  ),
).pipe(Effect.scoped, Effect.provide(inDatabase(url)), Logger.withMinimumLogLevel(LogLevel.None))

const exit = await Effect.runPromiseExit(share)
if (Exit.isFailure(exit)) process.stderr.write(`${String(exit.cause)}\n`)
process.exit(Exit.isFailure(exit) ? 1 : 0)
