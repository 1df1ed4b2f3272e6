#!/usr/bin/env node
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

const bundled = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url))

if (existsSync(bundled("program.cjs"))) {
  await createRequire(import.meta.url)("../dist/front.cjs").start(bundled("program.cjs"))
} else {
  process.stderr.write(
    "Tieout is not built: dist/program.cjs is missing. Run npm ci (which builds it) or npm run build in the project's folder.\n",
  )
  process.exitCode = 1
}
