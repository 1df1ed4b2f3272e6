/**
 * The two roles of an embedded server: the owner, as whom the tables are made, and the role that everything else runs as. A
 * database of an earlier version, which had the owner alone, is given the other one when it is next used.
 */
import { createHash, createHmac } from "node:crypto"
import type { Sql } from "postgres"
import { assertRows } from "../AnswerRows.ts"
import { text } from "../Columns.ts"
import { administratorSql, roleNames, roleSchemas, rolesSql } from "../RoleStatements.ts"
import { ownerName } from "./Cluster.ts"

export type EmbeddedRole = "owner" | "runtime"

export const nameOf = (role: EmbeddedRole): string => (role === "owner" ? ownerName : roleNames.runtime)

/** Each role has a password of its own. The owner's, which lies in a file, gives the other: that one gives nothing back. */
export const passwordOf = (role: EmbeddedRole, ownerPassword: string): string =>
  role === "owner"
    ? ownerPassword
    : createHmac("sha256", ownerPassword).update(roleNames.runtime).digest("base64url")

/** Everything that an embedded server's roles may do and are set to: its owner is a superuser. */
const statements = (schemas: ReadonlyArray<string>): string =>
  `${rolesSql(roleNames, schemas)}\n${administratorSql()}`

/** Part of the transaction that makes the tables. */
export const embeddedRolesSql = (): string => statements(roleSchemas)

/** A digest of the role's statements, stored with the role for everybody to read: it shows whether another version made it. */
export const mark = (): string => createHash("sha256").update(embeddedRolesSql()).digest("hex").slice(0, 16)

/**
 * Makes the roles in the database that `sql` is connected to, as its owner, with rights on what is there. The record of
 * migrations comes first: the runtime role must always be able to read what is still to be done.
 */
export const prepareRoles = async (sql: Sql, password: string): Promise<void> => {
  // Not the driver's own transaction: where the connection is lost, it sends a rollback all the same, and ends the process by that.
  await sql`select pg_advisory_lock(hashtextextended('tieout roles', 0))`
  await sql`create schema if not exists drizzle`
  const found = await sql`
    select nspname::text as name from pg_namespace where nspname::text = any (${`{${roleSchemas.join(",")}}`}::text[])`
  assertRows("Embedded.prepareRoles", { name: text }, found)
  await sql
    .unsafe(
      `begin;\n${statements(found.map(({ name }) => name))}
      alter role ${roleNames.runtime} password '${password}'; comment on role ${roleNames.runtime} is '${mark()}';\ncommit;`,
    )
    .simple()
}
