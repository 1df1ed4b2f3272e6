/** Fails where the tables in the code and the migrations in `drizzle/` say different things. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "tieout-migrations-"))
try {
  cpSync(join(root, "drizzle"), folder, { recursive: true })
  const before = readdirSync(folder)
  const kit = join(root, "node_modules", "drizzle-kit", "bin.cjs")
  execFileSync(
    process.execPath,
    [
      kit,
      "generate",
      "--dialect",
      "postgresql",
      "--schema",
      "src/Database/Tables/*.ts",
      "--out",
      relative(root, folder),
    ],
    { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
  )
  const added = readdirSync(folder).filter((name) => !before.includes(name))
  if (added.length > 0) {
    process.stderr.write("The tables have changed since the last migration. Run: npm run migrations\n")
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
