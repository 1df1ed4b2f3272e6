/**
 * How long rows are kept that are not part of the books. The books, what was read, the closes and the batches stay for good.
 */
import { Duration, Schema } from "effect"
import { Span, withDefault } from "../Common/Field.ts"

const atLeast = (least: Duration.DurationInput, text: string) =>
  Span.pipe(Schema.filter((found) => Duration.greaterThanOrEqualTo(found, least))).annotations({
    description: `a span of time with its unit, such as "400 days", of at least ${text}`,
  })

const day = Duration.days(1)

export const Retention = Schema.Struct({
  /** Ended runs, except the last ones, backfills, and commands that a person ran. */
  runs: withDefault(atLeast("30 days", "30 days"), Duration.times(day, 400)),
  /** Runs that only took events. */
  eventRuns: withDefault(atLeast("1 hour", "an hour"), Duration.times(day, 2)),
  /** Findings that are closed, except those that were open at a close. */
  findings: withDefault(atLeast("90 days", "90 days"), Duration.times(day, 800)),
  /** Events that are done: a duplicate that comes later is taken for a new one, and read once more. */
  inbox: withDefault(atLeast("7 days", "7 days"), Duration.times(day, 90)),
  /** Page boundaries; one for each account and month is kept for good. */
  boundaries: withDefault(atLeast("30 days", "30 days"), Duration.times(day, 400)),
})
