import { beancount } from "./Beancount.ts"
import type { Format } from "./Format.ts"
import { hledger } from "./Hledger.ts"
import { journal } from "./JournalCsv.ts"
import { ledger } from "./LedgerCli.ts"
import { trialBalance } from "./TrialBalance.ts"

/** Every format by the name that `--format` takes. */
export const formats = { journal, hledger, ledger, beancount, "trial-balance": trialBalance } as const

export type FormatName = keyof typeof formats

export const formatNames: ReadonlyArray<FormatName> = [
  "journal",
  "hledger",
  "ledger",
  "beancount",
  "trial-balance",
]

export const isFormatName = (name: string): name is FormatName => Object.hasOwn(formats, name)

export const formatOf = (name: FormatName): Format => formats[name]
