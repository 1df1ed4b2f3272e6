/** The program from its sources. What is installed starts in `bin/tieout.js`, from the bundle. */
import { begin } from "./Cli/Begin.ts"

await begin(process.argv.slice(2), process.env, () => import("./Cli/Program.ts"))
