/**
 * What every command needs of the books, by the manual's list of commands, so that a new one cannot be forgotten: a line for each
 * way of calling a command that differs in this.
 */
import type { Manual } from "../../src/Cli/Manual.ts"
import { runsWorkers } from "../../src/Jobs/Boss.ts"

/** The names and numbers that the lines use, as a test's books have them. */
export interface Names {
  readonly cash: string
  readonly clearing: string
  readonly entry: string
  readonly openMonth: string
  readonly closedMonth: string
  readonly batch: string
  readonly preview: string
  readonly row: string
  /** A new file or folder for each name. */
  readonly out: (name: string) => string
}

/**
 * `reads`: works where nothing can be written, begins no database, and ends with 2 on an older one. `previews`: works there, too,
 * and elsewhere is kept, so that it may bring an older one up to date. `writes`: begins none, and ends with 2 where nothing can be
 * written. `begins`: as `writes`, and may begin a database. `none`: works without one.
 */
const kinds = ["reads", "previews", "writes", "begins", "none"] as const
type Books = (typeof kinds)[number]

interface CommandLine {
  readonly books: Books
  readonly args: ReadonlyArray<string>
}

type Lines = Partial<Record<Books, ReadonlyArray<ReadonlyArray<string>>>>

const linesOf = (names: Names): Readonly<Record<string, Lines>> => {
  const { batch, cash, clearing, closedMonth, entry, openMonth, out, preview, row } = names
  const reason = ["--reason", "because"]
  const moved = ["reclassify", entry, "--to", "6855", "--name", "Expenses:Bank"]
  return {
    init: { none: [["init", "--yes", "--out", out("new.yaml")]] },
    doctor: { none: [["doctor"]] },
    migrate: { begins: [["migrate"], ["migrate", "--roles"]] },
    backup: { reads: [["backup", out("backup.gz")]] },
    restore: { begins: [["restore", out("backup.gz")]] },
    archive: { writes: [["archive", "2019"]] },
    sync: { begins: [["sync"]] },
    backfill: { writes: [["backfill", "--period", openMonth]] },
    status: { reads: [["status"]] },
    reconcile: { writes: [["reconcile"]] },
    balance: { reads: [["balance"]] },
    register: { reads: [["register", cash]] },
    items: { reads: [["items", clearing]] },
    "quarantine list": { reads: [["quarantine", "list"]] },
    "quarantine show": { reads: [["quarantine", "show", row]] },
    "quarantine replay": { writes: [["quarantine", "replay"]] },
    reclassify: {
      reads: [
        [...moved, "--preview"],
        ["reclassify", "--rules"],
        ["reclassify", "--all-of", "adjustment", "--to", "6855", "--name", "Expenses:Bank"],
      ],
      writes: [
        [...moved, ...reason],
        ["reclassify", "--rules", "--apply", ...reason],
      ],
    },
    close: {
      reads: [
        ["close", closedMonth, "--check"],
        ["close", openMonth, "--bridge"],
      ],
      writes: [
        ["close", openMonth],
        ["close", openMonth, "--dry-run", "--verbose"],
        ["close", "approve", closedMonth, "--by", "Ada Jones"],
      ],
    },
    reopen: { writes: [["reopen", closedMonth, ...reason]] },
    export: {
      previews: [
        ["export", "--format", "journal", "--period", openMonth, "--preview", "--out", out("previews")],
      ],
      writes: [["export", "--format", "journal", "--period", openMonth, "--out", out("exports")]],
    },
    "batches list": { reads: [["batches", "list"]] },
    "batches show": { reads: [["batches", "show", batch]] },
    "batches commit": { writes: [["batches", "commit", preview]] },
    "batches acknowledge": { writes: [["batches", "acknowledge", batch]] },
    "batches supersede": { writes: [["batches", "supersede", batch, ...reason]] },
    "batches download": { reads: [["batches", "download", batch, "--out", out("again")]] },
    report: { reads: [["report", closedMonth, "--out", out("reports")]] },
    "accounts export": { reads: [["accounts", "export", "--out", out("accounts.csv")]] },
    "accounts import": { writes: [["accounts", "import", out("accounts.csv")]] },
    "rates import": { writes: [["rates", "import", out("rates.csv")]] },
    "rates export": { reads: [["rates", "export"]] },
    "rates list": { reads: [["rates", "list"]] },
    explain: { reads: [["explain", entry]] },
    verify: { reads: [["verify", "--database"]], none: [["verify", out("no-such-folder")]] },
    serve: { begins: [["serve", "--no-webhook", "--status-port", "0"]] },
    // Where Node is too old for it, it ends with 2 before it looks for a database.
    worker: { [runsWorkers(process.versions.node) ? "writes" : "none"]: [["worker"]] },
    "webhook events": { reads: [["webhook", "events"]] },
    "webhook replay": { writes: [["webhook", "replay", "--dead"]] },
    "webhook diagnose": { none: [["webhook", "diagnose", out("delivery.http"), "--key", out("key.pem")]] },
    sandbox: { none: [["sandbox", "--port", "0"]] },
    demo: { begins: [["demo"]] },
    completions: { none: [["completions", "bash"]] },
  }
}

/** Every command, and every subcommand of one that has some. */
export const formsOf = (manual: Manual): ReadonlyArray<string> =>
  manual.flatMap(({ name, subcommands }) =>
    subcommands.length === 0 ? [name] : subcommands.map((form) => `${name} ${form.name}`),
  )

/** The lines of every command that the manual has; throws where a command has none here. */
export const commandLines = (manual: Manual, names: Names): ReadonlyArray<CommandLine> => {
  const known = linesOf(names)
  const forms = formsOf(manual)
  const amiss = [
    ...forms.filter((form) => known[form] === undefined).map((form) => `${form} has no line`),
    ...Object.keys(known)
      .filter((form) => !forms.includes(form))
      .map((form) => `${form} is no command`),
  ]
  if (amiss.length > 0) throw new Error(`test/support/commandLines.ts: ${amiss.join("; ")}`)
  return forms.flatMap((form) =>
    kinds.flatMap((books) => (known[form]?.[books] ?? []).map((args) => ({ books, args }))),
  )
}
