/**
 * Runs commands of the program one after another for the tests of a process, because loading the program takes longer than
 * most commands. Each has its own variables, folder and output. Tests of the process itself (signals, its end, the modules that
 * it loads) start a process of their own.
 */
import { answerOf } from "../../src/Cli/Begin.ts"
import { readManual } from "../../src/Cli/Commands.ts"
import { execute } from "../../src/Cli.ts"
import { noteStatements } from "./statementNotes.ts"

export interface Asked {
  readonly id: number
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export interface Answered {
  readonly id: number
  readonly code: number
  readonly out: string
  readonly error: string
}

/** Keeps the text that is written to a stream until the answer takes it. */
const kept = (stream: NodeJS.WriteStream): (() => string) => {
  let text = ""
  stream.write = (chunk: string | Uint8Array, ...rest: ReadonlyArray<unknown>) => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8")
    const done = rest.find((one) => typeof one === "function")
    if (done !== undefined) queueMicrotask(() => done())
    return true
  }
  return () => {
    const taken = text
    text = ""
    return taken
  }
}

if (process.env.STATEMENTS_FOLDER !== undefined) noteStatements(process.env.STATEMENTS_FOLDER)

const out = kept(process.stdout)
const error = kept(process.stderr)

const manual = await readManual()

const answer = async ({ args, cwd, id, variables }: Asked): Promise<Answered> => {
  process.chdir(cwd)
  process.env = { ...variables }
  const found = answerOf(args, process.env, manual)
  if ("code" in found) return { id, ...found }
  const code = await execute(found, manual, process.env)
  return { id, code, out: out(), error: error() }
}

let last: Promise<unknown> = Promise.resolve()
process.on("message", (asked: Asked) => {
  last = last.then(async () => process.send?.(await answer(asked)))
})
process.on("disconnect", () => process.exit())
