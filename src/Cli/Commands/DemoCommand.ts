/** All steps on made-up data, each a command that a person would type, in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Data, Effect, type Scope } from "effect"
import { counted } from "../../Common/Text.ts"
import { plainFormats } from "../../Format/Formats.ts"
import { command } from "../Declaration.ts"
import { exitCodes } from "../ExitCode.ts"
import { Output } from "../Output.ts"

class DemoError extends Data.TaggedError("DemoError")<{
  readonly reason: "Step" | "Sandbox"
  readonly message: string
}> {}

const folder = "data/demo"
const exportsFolder = join("exports", "demo")
const reportsFolder = join("reports", "demo")
const entries = 2_000

interface Finished {
  readonly code: number
  readonly stdout: string
}

/** The demo's variables: without the person's own settings, credentials or database. */
const demoVariables = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(
    ([name]) => name !== "DATABASE_URL" && (!name.startsWith("TIEOUT_") || name.startsWith("TIEOUT_LOG")),
  )
  return { ...Object.fromEntries(own), TIEOUT_DATA_DIR: resolve(folder), ...extra }
}

const start = (
  args: ReadonlyArray<string>,
  variables: NodeJS.ProcessEnv,
  stdout: "inherit" | "pipe",
): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args], {
    env: variables,
    stdio: ["ignore", stdout, "inherit"],
  })

/** Runs a process to its end; passes an interrupt on to it and waits for its end. */
const run = (args: ReadonlyArray<string>, variables: NodeJS.ProcessEnv, stdout: "inherit" | "pipe") =>
  Effect.async<Finished, DemoError>((resume) => {
    const child = start(args, variables, stdout)
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
    })
    child.once("error", (cause) =>
      resume(
        new DemoError({
          reason: "Step",
          message: `tieout ${args.join(" ")} did not start: ${cause.message}`,
        }),
      ),
    )
    child.once("close", (code) => resume(Effect.succeed({ code: code ?? exitCodes.failed, stdout: text })))
    return stop(child)
  })

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("close", () => resume(Effect.void))
    child.kill("SIGTERM")
  })

const isVariables = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((text) => typeof text === "string")

/** Starts the sandbox, which prints its document once it listens, and runs until the scope closes. */
const startSandbox: Effect.Effect<Record<string, string>, DemoError, Scope.Scope> = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => start(["sandbox", "--json", "--entries", String(entries)], demoVariables({}), "pipe")),
    stop,
  )
  return yield* Effect.async<Record<string, string>, DemoError>((resume) => {
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (!text.endsWith("}\n")) return
      const document: unknown = JSON.parse(text)
      const variables =
        typeof document === "object" && document !== null ? Reflect.get(document, "variables") : null
      if (isVariables(variables)) resume(Effect.succeed(variables))
    })
    child.once("close", (code) =>
      resume(
        new DemoError({ reason: "Sandbox", message: `The sandbox ended with ${code} before it listened.` }),
      ),
    )
  })
})

interface Step {
  readonly title: string
  readonly args: ReadonlyArray<string>
}

const steps: ReadonlyArray<Step> = [
  { title: "Read everything, book it and prove it", args: ["sync"] },
  { title: "Again: nothing is new, so almost nothing is asked", args: ["sync"] },
  { title: "Check the books", args: ["reconcile"] },
]

const exportStep: Step = {
  title: "Write October as files",
  args: [
    ...["export", "--format", plainFormats.map(({ name }) => name).join(",")],
    ...["--period", "2026-10", "--out", exportsFolder],
  ],
}

const reportStep: Step = {
  title: "Write October's close package: a draft, since the month is not closed",
  args: ["report", "2026-10", "--out", reportsFolder],
}

interface Written {
  readonly folder: string
  readonly files: number
}

/** What the JSON document of a command says that it wrote. */
const writtenBy = (text: string, listName: "batches" | "reports"): ReadonlyArray<Written> => {
  const document: unknown = JSON.parse(text)
  const list: unknown =
    typeof document === "object" && document !== null ? Reflect.get(document, listName) : []
  if (!Array.isArray(list)) return []
  return list.flatMap((one: unknown) => {
    if (typeof one !== "object" || one === null) return []
    const folder: unknown = Reflect.get(one, "folder")
    const files: unknown = Reflect.get(one, "files")
    return typeof folder === "string" ? [{ folder, files: Array.isArray(files) ? files.length : 0 }] : []
  })
}

export const demo = command(
  {
    name: "demo",
    summary: "The whole way on made-up data: sync, reconcile, export, verify, report.",
    about: [
      "Starts a sandbox in a process of its own and an embedded database in data/demo. It empties data/demo, exports/demo and",
      "reports/demo first. Your own database and settings are not touched.",
    ],
    takes: {},
    examples: [["npm run demo", "the same, from a checkout"]],
  },
  Effect.fn("Cli.demo")(function* () {
    const output = yield* Output
    const finished: Array<{ command: string; exitCode: number }> = []
    for (const own of [folder, exportsFolder, reportsFolder]) {
      yield* Effect.tryPromise({
        try: () => rm(own, { recursive: true, force: true }),
        catch: (cause) =>
          new DemoError({ reason: "Step", message: `${own} cannot be emptied: ${String(cause)}` }),
      })
    }
    const credentials = yield* startSandbox
    const variables = demoVariables(credentials)
    const { terminal } = output
    const step = Effect.fn("Cli.demo.step")(function* ({ args, title }: Step, quiet = false) {
      const name = `tieout ${args.join(" ")}`
      terminal.writeError(`\n# ${title}\n$ ${name}\n`)
      const shownArgs = quiet ? [...args, "--json"] : args
      const { code, stdout } = yield* run(shownArgs, variables, "pipe")
      if (!quiet && stdout !== "") terminal.writeError(stdout)
      finished.push({ command: name, exitCode: code })
      if (code !== exitCodes.done && code !== exitCodes.attention) {
        return yield* new DemoError({ reason: "Step", message: `${name} ended with ${code}.` })
      }
      return stdout
    })
    /** A step whose folders the next ones need: says what it wrote in place of its own answer. */
    const writing = (one: Step, listName: "batches" | "reports") =>
      Effect.map(step(one, true), (text) => {
        const written = writtenBy(text, listName)
        for (const { files, folder: made } of written)
          terminal.writeError(`Wrote ${counted(files, "file")} and their manifest to ${made}\n`)
        return written.map((each) => each.folder)
      })
    for (const each of steps) yield* step(each)
    const folders = yield* writing(exportStep, "batches")
    for (const each of folders)
      yield* step({ title: "Check the files by themselves", args: ["verify", each] })
    const reports = yield* writing(reportStep, "reports")
    const explored = `TIEOUT_DATA_DIR=${folder}`
    yield* output.report({
      document: { steps: finished, folders, reports },
      lines: [
        "",
        ...folders.map((each) => `The books of October 2026 are in ${each}`),
        ...reports.map(
          (each) => `Its close package, a page for the auditor, is ${join(each, "report.html")}`,
        ),
        "Look further:",
        `  ${explored} npx tieout status`,
        `  ${explored} npx tieout reconcile`,
        `  ${explored} npx tieout explain ORG-2026-10-000001`,
      ],
    })
  }, Effect.scoped),
)
