#!/usr/bin/env node
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"

const bundled = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url))

if (existsSync(bundled("program.cjs"))) {
  // What a sync keeps is small (some 65 MB) beside what it passes on; left to itself the heap grows to four times that
  // before it is swept. Set first: V8 takes compiled code only under the flags that it was made with.
  setFlagsFromString("--heap-growing-percent=60")
  await createRequire(import.meta.url)("../dist/front.cjs").start(bundled("program.cjs"))
} else {
  process.stderr.write(
    "Tieout is not built: dist/program.cjs is missing. Run npm ci (which builds it) or npm run build in the project's folder.\n",
  )
  process.exitCode = 1
}
