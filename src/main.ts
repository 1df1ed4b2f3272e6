/** Where the program begins. Help and version are answered before anything else is loaded. */
import { readFileSync } from "node:fs"
import { helpFor, overview } from "./Cli/Help.ts"

const args = process.argv.slice(2)

const version = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  const found: unknown =
    typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "version") : undefined
  return typeof found === "string" ? found : "unknown"
}

// `tieout … | head` closes our stdout early; that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1)
})

const help = await helpFor(args)
if (help !== undefined) {
  process.stdout.write(`${help}\n`)
} else if (args.includes("--version")) {
  process.stdout.write(`${version()}\n`)
} else if (args.length === 0) {
  process.stderr.write(`${overview()}\n`)
  process.exitCode = 2
} else {
  const { launch } = await import("./Cli/Launch.ts")
  launch(args, process.env)
}
