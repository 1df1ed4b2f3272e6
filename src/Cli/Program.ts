/** What is loaded where help does not do: the commands with all that they need. The bundle's `program.cjs` begins here. */
export { launch } from "../Cli.ts"
export { readManual } from "./Commands.ts"
