/** The whole month on made-up data, each step a command that a person would type, in a process of its own. */
import { existsSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { packageFile } from "../../../Common/Package.ts"
import { count, counted } from "../../../Common/Text.ts"
import { embedded, endServer } from "../../../Database/Embedded.ts"
import { command } from "../../Declaration.ts"
import { blocking, type Written, written } from "../../Demo/Answers.ts"
import { DemoError, demoVariables, run, startSandbox } from "../../Demo/DemoProcesses.ts"
import { rates, settings } from "../../Demo/MadeUp.ts"
import { exitCodes } from "../../ExitCode.ts"
import { listOf } from "../../FindingRanges.ts"
import { Output } from "../../Output.ts"

const folder = "data/demo"
const exportsFolder = join("exports", "demo")
const reportsFolder = join("reports", "demo")
/** A project of its own, so that the data are beside the settings. */
const settingsFile = join(folder, "config", "tieout.yaml")
const dataDir = join(folder, "data")
const ratesFile = join(folder, "rates.csv")
const accountsFile = join(folder, "accounts.xlsx")

interface Step {
  readonly title: string
  readonly args: ReadonlyArray<string>
  /** The command's answer is read, not shown. */
  readonly quiet?: true
}

/** A command line without quotes. */
const words = (line: string): ReadonlyArray<string> => line.split(" ")

const untilTheClose: ReadonlyArray<Step> = [
  { title: "Read everything, book it and prove it", args: ["sync"] },
  { title: "Again: nothing is new, so almost nothing is asked", args: ["sync"] },
  { title: "Check the books: what is left to do?", args: ["reconcile"] },
  {
    title: "Adjustments of the service are fees of the bank here: all of them at once",
    args: [
      ...["reclassify", "--all-of", "adjustment", "--to", "6855", "--name", "Expenses:Bank"],
      ...["--apply", "--reason", "Fees of the bank, by its letter"],
    ],
  },
  { title: "Read September again, and prove it", args: ["backfill", "--period", "2026-09"] },
  { title: "The same for October", args: ["backfill", "--period", "2026-10"] },
  { title: "Close September", args: ["close", "2026-09"] },
]

const questionStep: Step = {
  title: "What is in the way of closing October? Conversions whose other side has not come",
  args: ["close", "2026-10", "--dry-run"],
  quiet: true,
}

const closeStep = (findings: ReadonlyArray<string>): Step => ({
  title: "Take responsibility for them, and close October",
  args: [
    ...["close", "2026-10", ...(findings.length === 0 ? [] : ["--accept", listOf(findings).join(",")])],
    ...["--reason", "The other side comes in November"],
  ],
})

const approveStep: Step = {
  title: "The controller signs it off",
  args: ["close", "approve", "2026-10", "--by", "Ada Jones"],
}

const preparations: ReadonlyArray<Step> = [
  { title: "Rates of exchange, for the books in euros", args: ["rates", "import", ratesFile] },
  {
    title: "What the accounts are called in Xero: as proposed",
    args: words(`accounts export --for xero --out ${accountsFile}`),
  },
  { title: "Take the list as it is", args: ["accounts", "import", accountsFile] },
]

const exporting = (title: string, what: string): Step => ({
  title,
  args: words(`export ${what} --period 2026-10 --out ${exportsFolder}`),
  quiet: true,
})

const exportSteps = {
  books: exporting("October as files: a batch for each format", "--format journal,hledger,parquet"),
  xero: exporting("October for Xero, in euros", "--base --format xero"),
  bank: exporting("October's bank statements", "--format camt.053"),
}

const reportStep: Step = {
  title: "October's close package",
  args: ["report", "2026-10", "--base", "--out", reportsFolder],
  quiet: true,
}

const prepare = Effect.tryPromise({
  try: async () => {
    for (const own of [folder, exportsFolder, reportsFolder]) await rm(own, { recursive: true, force: true })
    await mkdir(dirname(settingsFile), { recursive: true })
    await writeFile(settingsFile, settings)
    await writeFile(ratesFile, rates("2026-09-01", "2026-10-31"))
  },
  catch: (cause) =>
    new DemoError({ reason: "Step", message: `The demo's folders cannot be made: ${String(cause)}` }),
})

/** The files of the format itself, without the manifest and the journal beside them. */
const filesOf = ({ files }: Written, prefix: string) => {
  const own = files.filter(({ name }) => name.startsWith(prefix))
  return { files: own.length, rows: own.reduce((sum, { rows }) => sum + rows, 0) }
}

interface Ended {
  readonly findings: number
  readonly report: ReadonlyArray<Written>
  readonly books: ReadonlyArray<Written>
  readonly xero: ReadonlyArray<Written>
  readonly bank: ReadonlyArray<Written>
}

/**
 * The result that a controller wants, line by line. Every command before ended with 0, the `verify` of each folder included.
 */
export const endLines = ({ bank, books, findings, report, xero }: Ended): ReadonlyArray<string> => [
  `October 2026 is closed, with ${counted(findings, "exception")} accepted.`,
  ...report.map((one) => `Its report is whole; the page for the auditor: ${join(one.folder, "report.html")}`),
  ...books.map(({ files: [first], folder: at }) => `The books as ${first?.name ?? "nothing"}: ${at}`),
  ...xero.map((one) => {
    const { files, rows } = filesOf(one, "xero-")
    return `For Xero, ${count(rows)} lines in ${counted(files, "file")} of at most 300, balanced, with the journal's balances: ${one.folder}`
  }),
  ...bank.map((one) => {
    const { files } = filesOf(one, "camt.053-")
    return `Bank statements (camt.053) of ${counted(files, "account")}, each day from its opening to its closing balance: ${one.folder}`
  }),
]

export const demo = command(
  {
    name: "demo",
    summary: "The whole month on made-up data: from sync to a closed month with its report and exports.",
    about: [
      "Starts a sandbox in a process of its own and an embedded database in data/demo. It empties data/demo, exports/demo and",
      "reports/demo first. Your own database and settings are not touched.",
    ],
    takes: {},
    examples: [["npm run demo", "the same, from a checkout"]],
  },
  Effect.fn("Cli.demo")(function* () {
    const output = yield* Output
    const { terminal } = output
    const finished: Array<{ command: string; exitCode: number }> = []
    // Data of an interrupted demo may be no whole cluster; they are removed whatever they are.
    yield* Effect.ignore(endServer(dataDir))
    yield* prepare
    // All steps share a database server, or each would start and stop one of its own.
    yield* embedded({ dataDir })
    const credentials = yield* startSandbox(demoVariables(settingsFile, {}))
    const variables = demoVariables(settingsFile, credentials)
    const step = Effect.fn("Cli.demo.step")(function* ({ args, quiet, title }: Step) {
      const name = `tieout ${args.map((arg) => (arg.includes(" ") ? `"${arg}"` : arg)).join(" ")}`
      terminal.writeError(`\n# ${title}\n$ ${name}\n`)
      const { code, stdout } = yield* run(quiet ? [...args, "--json"] : args, variables, "pipe")
      if (!quiet && stdout !== "") terminal.writeError(stdout)
      finished.push({ command: name, exitCode: code })
      if (code !== exitCodes.done && code !== exitCodes.attention) {
        return yield* new DemoError({ reason: "Step", message: `${name} ended with ${code}.` })
      }
      return stdout
    })
    const checked = Effect.fn("Cli.demo.checked")(function* (making: Step, list: "batches" | "reports") {
      const made = written(yield* step(making), list)
      for (const { files, folder: at } of made) {
        terminal.writeError(`Wrote ${counted(files.length, "file")} and a manifest to ${at}\n`)
        yield* step({ title: "Check the files by themselves", args: ["verify", at] })
      }
      return made
    })
    for (const each of untilTheClose) yield* step(each)
    const findings = blocking(yield* step(questionStep))
    terminal.writeError(`${findings.join(", ")}\n`)
    yield* step(closeStep(findings))
    yield* step(approveStep)
    for (const each of preparations) yield* step(each)
    const report = yield* checked(reportStep, "reports")
    const books = yield* checked(exportSteps.books, "batches")
    const xero = yield* checked(exportSteps.xero, "batches")
    const bank = yield* checked(exportSteps.bank, "batches")
    // In a checkout npm finds the program; anywhere else it would ask a registry for one of this name.
    const program = existsSync(packageFile("src")) ? "npx tieout" : "tieout"
    const explored = `TIEOUT_CONFIG=${settingsFile} ${program}`
    const folders = [...books, ...xero, ...bank].map((one) => one.folder)
    yield* output.report({
      document: { steps: finished, folders, reports: report.map((one) => one.folder) },
      lines: [
        "",
        ...endLines({ findings: findings.length, report, books, xero, bank }),
        "Look further:",
        `  ${explored} status`,
        `  ${explored} reconcile`,
        `  ${explored} explain ORG-2026-10-000001`,
      ],
    })
  }, Effect.scoped),
)
