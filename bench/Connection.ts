/** A plain client of the benchmark's database, whose address may name a socket. */
import { Either, Redacted } from "effect"
import { makeClient } from "../src/Database/Client.ts"
import { parseDatabaseUrl } from "../src/Database/DatabaseUrl.ts"

export const connect = (url: string, connections: number) =>
  makeClient(Either.getOrThrow(parseDatabaseUrl(Redacted.make(url))), { connections })
