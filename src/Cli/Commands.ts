/** Every command, in the order of `tieout --help`. A command's file is loaded when the command runs. */
import type { CommandRecord } from "./Declaration.ts"
import type { Manual } from "./Manual.ts"

export const commands: Readonly<Record<string, () => Promise<CommandRecord>>> = {
  init: async () => (await import("./Commands/Setup/InitCommand.ts")).init,
  doctor: async () => (await import("./Commands/Setup/DoctorCommand.ts")).doctor,
  migrate: async () => (await import("./Commands/Setup/MigrateCommand.ts")).migrate,
  backup: async () => (await import("./Commands/Operation/BackupCommand.ts")).backup,
  restore: async () => (await import("./Commands/Operation/RestoreCommand.ts")).restore,
  archive: async () => (await import("./Commands/Operation/ArchiveCommand.ts")).archive,
  sync: async () => (await import("./Commands/Reading/SyncCommand.ts")).sync,
  backfill: async () => (await import("./Commands/Reading/BackfillCommand.ts")).backfill,
  status: async () => (await import("./Commands/Books/StatusCommand.ts")).status,
  reconcile: async () => (await import("./Commands/Books/ReconcileCommand.ts")).reconcile,
  balance: async () => (await import("./Commands/Books/BalanceCommand.ts")).balance,
  register: async () => (await import("./Commands/Books/RegisterCommand.ts")).register,
  items: async () => (await import("./Commands/Books/ItemsCommand.ts")).items,
  quarantine: async () => (await import("./Commands/Reading/QuarantineCommand.ts")).quarantine,
  reclassify: async () => (await import("./Commands/Books/ReclassifyCommand.ts")).reclassify,
  close: async () => (await import("./Commands/Closing/CloseCommand.ts")).close,
  reopen: async () => (await import("./Commands/Closing/ReopenCommand.ts")).reopen,
  export: async () => (await import("./Commands/Exporting/ExportCommand.ts")).exportCommand,
  batches: async () => (await import("./Commands/Exporting/BatchesCommand.ts")).batches,
  report: async () => (await import("./Commands/Closing/ReportCommand.ts")).report,
  accounts: async () => (await import("./Commands/Exporting/AccountsCommand.ts")).accounts,
  rates: async () => (await import("./Commands/Exporting/RatesCommand.ts")).rates,
  explain: async () => (await import("./Commands/Books/ExplainCommand.ts")).explain,
  verify: async () => (await import("./Commands/Exporting/VerifyCommand.ts")).verify,
  serve: async () => (await import("./Commands/Operation/ServeCommand.ts")).serve,
  worker: async () => (await import("./Commands/Operation/WorkerCommand.ts")).worker,
  webhook: async () => (await import("./Commands/Operation/Webhook/WebhookCommand.ts")).webhook,
  sandbox: async () => (await import("./Commands/Trial/SandboxCommand.ts")).sandbox,
  demo: async () => (await import("./Commands/Trial/DemoCommand.ts")).demo,
  completions: async () => (await import("./Commands/Setup/CompletionsCommand.ts")).completions,
}

/** The manual from the commands' records: loads all of them. */
export const readManual = async (): Promise<Manual> => {
  const records = await Promise.all(Object.values(commands).map((load) => load()))
  return records.map(({ manual }) => manual)
}
