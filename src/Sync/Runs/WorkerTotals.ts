/** The workers' results for the clients' books of a run, added up. */
import { type Counters, counterNames } from "../../Run/Counters.ts"
import type { AccountBackfill } from "../Backfill/BackfilledStatements.ts"
import type { BookResult } from "./BookJobs.ts"

/** The totals of books that other processes have numbered and proved. */
export interface Proved {
  numbered: number
  findingsOpened: number
  findingsClosed: number
  blockingFindings: number
  resettled: number
  /** By kind of endpoint. */
  readonly requests: Map<string, number>
  /** Of a backfill. */
  readonly accounts: Array<AccountBackfill>
}

export const nothingProved = (): Proved => ({
  numbered: 0,
  findingsOpened: 0,
  findingsClosed: 0,
  blockingFindings: 0,
  resettled: 0,
  requests: new Map(),
  accounts: [],
})

export const addProved = (sum: Proved, counters: Counters, result: BookResult): void => {
  for (const name of counterNames) counters[name] += result.counters[name]
  sum.numbered += result.numbered
  sum.findingsOpened += result.findingsOpened
  sum.findingsClosed += result.findingsClosed
  sum.blockingFindings += result.blockingFindings
  sum.resettled += result.resettled
  sum.accounts.push(...result.accounts)
  for (const [kind, sent] of Object.entries(result.requests))
    sum.requests.set(kind, (sum.requests.get(kind) ?? 0) + sent)
}
