/**
 * `npm run migrations -- NAME`: writes what the tables of the code have changed since the last migration, as drizzle-kit has it.
 * What users' databases have applied never changes: `test/Database/Frozen.test.ts` holds the first migration by its hash.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const name = process.argv[2]

if (name === undefined) {
  process.stderr.write("Name the migration by what it changes: npm run migrations -- loan_terms\n")
  process.exitCode = 1
} else {
  const kit = join(root, "node_modules", "drizzle-kit", "bin.cjs")
  execFileSync(process.execPath, [kit, "generate", "--name", name], { cwd: root, stdio: "inherit" })
}
