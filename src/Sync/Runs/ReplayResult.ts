/** The results of trying quarantined rows again. */
import type { QuarantinedRow } from "../../Mirror/QuarantinedRow.ts"
import type { Malformed } from "../../Partner/Lists/Page.ts"

/** The quarantined rows of one item. The newest is tried, and its result holds for the others. */
export interface Tries {
  readonly newest: QuarantinedRow
  readonly all: ReadonlyArray<QuarantinedRow>
}

export interface Tried {
  readonly row: QuarantinedRow
  /** Why it still waits, and where in the row; null: it was absorbed. */
  readonly waits: { readonly reason: string; readonly path: string } | null
}

export const allAbsorbed = ({ all }: Tries): ReadonlyArray<Tried> => all.map((row) => ({ row, waits: null }))

export const allWait = ({ all }: Tries, reason: string, path: string): ReadonlyArray<Tried> =>
  all.map((row) => ({ row, waits: { reason, path } }))

/** Still not understood; `asking` is why the service could not be asked for it again. */
export const waitsFor = (
  tries: Tries,
  { path, reason }: Malformed,
  asking?: { readonly message: string },
): ReadonlyArray<Tried> =>
  allWait(
    tries,
    asking === undefined ? reason : `${reason}; and it could not be asked for again: ${asking.message}`,
    path,
  )

/** The result of `quarantine replay` on one connection. */
export interface ReplayReport {
  readonly connection: string
  readonly tried: ReadonlyArray<Tried>
  /** Statement entries that were booked. */
  readonly entries: number
  readonly journalEntries: number
  readonly reclassifications: number
  /** Journal entries that got their number. */
  readonly numbered: number
  readonly findingsOpened: number
  readonly findingsClosed: number
}

export const stillWait = ({ tried }: ReplayReport): ReadonlyArray<Tried> =>
  tried.filter(({ waits: why }) => why !== null)
