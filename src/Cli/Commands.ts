/** Every command, in the order of `tieout --help`. A command's file is loaded when the command runs. */
import type { CommandRecord } from "./Declaration.ts"
import type { Manual } from "./Manual.ts"

export const commands: Readonly<Record<string, () => Promise<CommandRecord>>> = {
  init: async () => (await import("./Commands/InitCommand.ts")).init,
  doctor: async () => (await import("./Commands/DoctorCommand.ts")).doctor,
  migrate: async () => (await import("./Commands/MigrateCommand.ts")).migrate,
  backup: async () => (await import("./Commands/BackupCommand.ts")).backup,
  restore: async () => (await import("./Commands/RestoreCommand.ts")).restore,
  sync: async () => (await import("./Commands/SyncCommand.ts")).sync,
  backfill: async () => (await import("./Commands/BackfillCommand.ts")).backfill,
  status: async () => (await import("./Commands/StatusCommand.ts")).status,
  reconcile: async () => (await import("./Commands/ReconcileCommand.ts")).reconcile,
  balance: async () => (await import("./Commands/BalanceCommand.ts")).balance,
  register: async () => (await import("./Commands/RegisterCommand.ts")).register,
  items: async () => (await import("./Commands/ItemsCommand.ts")).items,
  quarantine: async () => (await import("./Commands/QuarantineCommand.ts")).quarantine,
  reclassify: async () => (await import("./Commands/ReclassifyCommand.ts")).reclassify,
  close: async () => (await import("./Commands/CloseCommand.ts")).close,
  reopen: async () => (await import("./Commands/ReopenCommand.ts")).reopen,
  export: async () => (await import("./Commands/ExportCommand.ts")).exportCommand,
  batches: async () => (await import("./Commands/BatchesCommand.ts")).batches,
  report: async () => (await import("./Commands/ReportCommand.ts")).report,
  accounts: async () => (await import("./Commands/AccountsCommand.ts")).accounts,
  rates: async () => (await import("./Commands/RatesCommand.ts")).rates,
  explain: async () => (await import("./Commands/ExplainCommand.ts")).explain,
  verify: async () => (await import("./Commands/VerifyCommand.ts")).verify,
  serve: async () => (await import("./Commands/ServeCommand.ts")).serve,
  worker: async () => (await import("./Commands/WorkerCommand.ts")).worker,
  webhook: async () => (await import("./Commands/Webhook/WebhookCommand.ts")).webhook,
  sandbox: async () => (await import("./Commands/SandboxCommand.ts")).sandbox,
  demo: async () => (await import("./Commands/DemoCommand.ts")).demo,
  completions: async () => (await import("./Commands/CompletionsCommand.ts")).completions,
}

/** The manual from the commands' records: loads all of them. */
export const readManual = async (): Promise<Manual> => {
  const records = await Promise.all(Object.values(commands).map((load) => load()))
  return records.map(({ manual }) => manual)
}
