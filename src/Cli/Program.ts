/** The program, loaded for everything but help: the commands with all they need. The entry of the bundle's `program.cjs`. */
export { launch } from "../Cli.ts"
export { readManual } from "./Commands.ts"
