/** What an export covers. Dates are calendar dates in the accounting time zone and inclusive. */

import { Either } from "effect"
import { isDate, lastDayOf } from "../../Common/Time.ts"
import type { Covered } from "../Batch/Manifest/Lineage.ts"
import { type ExportError, exportError } from "../ExportError.ts"

export type ExportScope =
  | { readonly kind: "period" /** `YYYY-MM` */; readonly period: string }
  | { readonly kind: "range"; readonly from: string; readonly to: string }
  | { readonly kind: "all" }
  | { readonly kind: "since-last" }

/** A scope made concrete for one book. */
export interface Selection {
  readonly kind: ExportScope["kind"]
  /** Names the folder: `2026-10`, `2026-10-01_2026-10-15`, `all`, `since-4`. */
  readonly text: string
  readonly from: string | null
  readonly to: string | null
  /** Only entries numbered after this step; null where the scope is not `since-last`. */
  readonly since: string | null
  /** Entries that are left out, because other batches have them. */
  readonly covered: ReadonlyArray<Covered>
  /** Only entries that were recorded by then, ISO 8601 in UTC; null: at any time. */
  readonly asOf: string | null
  /** Only entries that were recorded later. */
  readonly recordedAfter?: string
}

const usage = (message: string) => Either.left(exportError("Usage", message))

/** Whether all days of a period (`YYYY-MM`) lie in the selection, so that its journal numbers run from 1 without a gap. */
export const holdsWhole = (
  {
    asOf = null,
    covered,
    from,
    to,
    since,
  }: Pick<Selection, "covered" | "from" | "to" | "since"> & {
    readonly asOf?: string | null
  },
  period: string,
): boolean =>
  since === null &&
  asOf === null &&
  covered.length === 0 &&
  (from === null || from <= `${period}-01`) &&
  (to === null || to >= lastDayOf(period))

/** The selection of every scope but `since-last`, which depends on the batches before. */
export const selectionOf = (scope: ExportScope): Either.Either<Selection | null, ExportError> => {
  const dated = (kind: "period" | "range", text: string, from: string, to: string) =>
    Either.right({ kind, text, from, to, since: null, covered: [], asOf: null })
  if (scope.kind === "since-last") return Either.right(null)
  if (scope.kind === "all") {
    return Either.right({
      kind: "all",
      text: "all",
      from: null,
      to: null,
      since: null,
      covered: [],
      asOf: null,
    })
  }
  if (scope.kind === "period") {
    const { period } = scope
    return isDate(`${period}-01`)
      ? dated("period", period, `${period}-01`, lastDayOf(period))
      : usage(`"${period}" is not a period: expected a month such as 2026-10.`)
  }
  const { from, to } = scope
  const wrong = [from, to].find((date) => !isDate(date))
  if (wrong !== undefined) return usage(`"${wrong}" is not a date: expected YYYY-MM-DD, such as 2026-10-31.`)
  return from > to
    ? usage(`The range ends (${to}) before it begins (${from}): exchange the two.`)
    : dated("range", `${from}_${to}`, from, to)
}

export const sinceSelection = (since: bigint, covered: ReadonlyArray<Covered>): Selection => ({
  kind: "since-last",
  text: `since-${since}`,
  from: null,
  to: null,
  since: since.toString(),
  covered,
  asOf: null,
})
