#!/usr/bin/env node
import { existsSync } from "node:fs"
import { setFlagsFromString } from "node:v8"

// What a sync keeps is small (some 65 MB) beside what it passes on; left to itself the heap grows to four times that
// before it is swept.
setFlagsFromString("--heap-growing-percent=60")

const main = new URL("../dist/main.js", import.meta.url)

if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write(
    "Tieout is not built: dist/main.js is missing. Run npm ci (which builds it) or npm run build in the project's folder.\n",
  )
  process.exitCode = 1
}
