/**
 * Writes the migration of the tables anew, as drizzle-kit has it, and lets Postgres partition those that grow with the history,
 * which drizzle cannot declare.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { partitionedTables } from "../src/Database/PartitionNames.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const file = join(root, "drizzle", "0000_tables.sql")

for (const name of [join(root, "drizzle", "meta"), file]) rmSync(name, { recursive: true, force: true })
const kit = join(root, "node_modules", "drizzle-kit", "bin.cjs")
execFileSync(process.execPath, [kit, "generate", "--name", "tables"], { cwd: root, stdio: "inherit" })

const partitioned = partitionedTables.reduce(
  (script, table) => {
    const start = script.indexOf(`CREATE TABLE ${table.replace(/^(.*)\.(.*)$/, '"$1"."$2"')} (`)
    const end = script.indexOf("\n);", start)
    if (start < 0 || end < 0) throw new Error(`${file} does not create ${table}`)
    return `${script.slice(0, end)}\n) PARTITION BY HASH ("book_id");${script.slice(end + 3)}`
  },
  readFileSync(file, "utf8"),
)
writeFileSync(file, partitioned)
