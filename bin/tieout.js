#!/usr/bin/env node
import { existsSync } from "node:fs"

const main = new URL("../dist/main.js", import.meta.url)

if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write(
    "Tieout is not built: dist/main.js is missing. Run npm ci (which builds it) or npm run build in the project's folder.\n",
  )
  process.exitCode = 1
}
