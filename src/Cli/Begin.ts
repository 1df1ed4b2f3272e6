/**
 * How every start begins: help, the version and a command line without a command are answered from what is small; only then
 * is the program loaded, which is not.
 */
import { productVersion } from "../Common/Version.ts"
import { helpFor, overview } from "./Help.ts"
import type { launch } from "./Launch.ts"

export const begin = async (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
  program: () => Promise<{ readonly launch: typeof launch }>,
): Promise<void> => {
  // `tieout … | head` closes our stdout early; that is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1)
  })
  const help = await helpFor(args)
  if (help !== undefined) {
    process.stdout.write(`${help}\n`)
  } else if (args.includes("--version")) {
    process.stdout.write(`${productVersion()}\n`)
  } else if (args.length === 0) {
    process.stderr.write(`${overview()}\n`)
    process.exitCode = 2
  } else {
    const loaded = await program()
    loaded.launch(args, variables)
  }
}
