/** A step of `npm run build`: writes down what the commands' records say, for the launcher to read without loading them. */
import { writeFileSync } from "node:fs"
import { readManual } from "./Commands.ts"
import { manualFile } from "./ManualFile.ts"

writeFileSync(manualFile, JSON.stringify(await readManual()))
