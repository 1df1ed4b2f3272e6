/** The Postgres server of a benchmark: databases that come and go, their size, and the processor time of all its sessions. */
import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { embedded } from "../src/Database/Embedded.ts"
import { urlOf, withDatabase } from "../test/support/DatabaseAddress.ts"
import { connect } from "./Connection.ts"
import { serverSeconds } from "./Processor.ts"

export interface Server {
  /** Makes a database. Gives its address. */
  readonly create: () => Promise<string>
  readonly drop: (url: string) => Promise<void>
  /** Makes a role that somebody else's migrations expect, where there is none. */
  readonly role: (name: string) => Promise<void>
  readonly bytes: (url: string) => Promise<number>
  /** Of the processor, so far. */
  readonly seconds: () => number
}

const serving = async <A>(url: string, work: (server: Server) => Promise<A>): Promise<A> => {
  const sql = connect(url, 1)
  const names = new Map<string, string>()
  const nameOf = (of: string): string => names.get(of) ?? ""
  try {
    const [session] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`
    return await work({
      create: async () => {
        const name = `tieout_bench_${randomBytes(4).toString("hex")}`
        await sql`create database ${sql(name)} template template0`
        const made = withDatabase(url, name)
        names.set(made, name)
        return made
      },
      drop: async (of) => {
        await sql`drop database ${sql(nameOf(of))} with (force)`
      },
      role: async (name) => {
        const [found] = await sql`select from pg_roles where rolname = ${name}`
        if (found === undefined) await sql`create role ${sql(name)}`
      },
      bytes: async (of) => {
        const [size] = await sql<[{ bytes: bigint }]>`select pg_database_size(${nameOf(of)}) as bytes`
        return Number(size.bytes)
      },
      seconds: () => serverSeconds(session.pid),
    })
  } finally {
    for (const name of names.values()) await sql`drop database if exists ${sql(name)} with (force)`
    await sql.end()
  }
}

/**
 * An embedded server of the benchmark's own, with durable settings and those given, or that of BENCH_DATABASE_URL, which has
 * settings of its own.
 */
export const withServer = <A>(
  work: (server: Server) => Promise<A>,
  settings: Readonly<Record<string, string>> = {},
): Promise<A> => {
  const given = process.env.BENCH_DATABASE_URL
  if (given !== undefined) return serving(given, work)
  const dataDir = mkdtempSync(join(tmpdir(), "tieout-bench-"))
  // The server of a benchmark that root starts runs as an ordinary user, who has to get in.
  chmodSync(dataDir, 0o755)
  return Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(embedded({ dataDir, role: "owner", settings }), (server) =>
        Effect.promise(() => serving(urlOf(server, server.database), work)),
      ),
    ),
  ).finally(() => rmSync(dataDir, { recursive: true, force: true }))
}
