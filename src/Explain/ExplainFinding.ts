/** Findings about a subject, and its rows in quarantine. */
import { and, desc, eq, inArray, isNull, or, type SQL, sql } from "drizzle-orm"
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { asText, isoText, isoTextOrNull } from "../Database/Tables/ColumnTypes.ts"
import { quarantine } from "../Database/Tables/Mirror.ts"
import { findings as kept } from "../Database/Tables/Reconcile.ts"
import { runs } from "../Database/Tables/Sync.ts"
import { Database } from "../Database.ts"
import { factsIfKnown, furtherSteps, runColumns, runText, type Step } from "./Step.ts"

/** The most findings, and rows in quarantine, listed per subject; open findings first. */
const shownFindings = 20

/** How many rows there are, the limit aside. */
const allOfThem: SQL<bigint> = sql`count(*) over ()`.mapWith(BigInt)

/** The close that accepted an open finding for good; null: none did. */
const acceptanceText: SQL<string | null> = sql`(
  select 'at the close of ' || to_char(a.period, 'YYYY-MM') from reconcile.accepted_findings a
  where a.finding_id = reconcile.findings.finding_id)`.mapWith(String)

/** One finding by its number, or those about the given things. */
export const findings = Effect.fn("Explain.findings")(function* (
  bookId: number,
  which: { readonly findingId: string } | { readonly about: ReadonlyArray<string> },
) {
  const database = yield* Database
  const rows = yield* database.orm("Explain.findings", (orm) =>
    orm
      .select({
        findingId: kept.findingId,
        check: kept.check,
        severity: kept.severity,
        subjectType: kept.subjectType,
        subjectId: kept.subjectId,
        message: kept.message,
        evidence: asText(kept.evidence),
        openedAt: isoText(kept.openedAt),
        openedRun: kept.openedRun,
        seenAt: isoText(kept.seenAt),
        closedAt: isoTextOrNull(kept.closedAt),
        acceptance: acceptanceText,
        total: allOfThem,
      })
      .from(kept)
      .where(
        and(
          eq(kept.bookId, bookId),
          "findingId" in which
            ? eq(kept.findingId, BigInt(which.findingId))
            : or(
                inArray(kept.subjectId, which.about),
                and(
                  eq(kept.subjectType, "receivable"),
                  inArray(sql`split_part(${kept.subjectId}, ' ', 1)`, which.about),
                ),
              ),
        ),
      )
      // Those that are open come first: Postgres takes null for the latest time.
      .orderBy(desc(kept.closedAt), kept.findingId)
      .limit(shownFindings),
  )
  return rows.map(({ check, subjectId, subjectType, total, ...row }) => ({
    about: { type: subjectType, id: subjectId },
    total,
    step: {
      title: `finding F${row.findingId}: ${check}`,
      facts: [
        ["severity", row.severity],
        ["found", row.message],
        ["about", `${subjectType.replaceAll("_", " ")} ${subjectId}`],
        ["evidence", row.evidence],
        ["opened", row.openedRun === null ? row.openedAt : `${row.openedAt} by run ${row.openedRun}`],
        row.closedAt === null ? ["last seen", row.seenAt] : ["closed", row.closedAt],
        ...factsIfKnown("accepted", row.acceptance),
      ],
    } satisfies Step,
  }))
})

/** A note of how many findings there are beside those that are listed. */
export const furtherFindings = (listed: ReadonlyArray<{ readonly total: bigint }>): ReadonlyArray<Step> =>
  furtherSteps(
    listed[0]?.total ?? 0n,
    listed.length,
    (number) => counted(number, "further finding about it", "further findings about it"),
    [["to see those that are open", "tieout reconcile --all"]],
  )

/** Rows in quarantine: one by its number, or all of the given identifiers and the open ones of a stream. */
type WhichQuarantined =
  | { readonly quarantineId: string }
  | { readonly items: ReadonlyArray<string>; readonly stream: string | null }

const openOf = (stream: string | null) =>
  stream === null ? undefined : and(eq(quarantine.stream, stream), isNull(quarantine.resolvedAt))

/** Rows in quarantine, without their content: it is personal data, which only `tieout quarantine show` prints. */
export const quarantined = Effect.fn("Explain.quarantined")(function* (
  bookId: number,
  which: WhichQuarantined,
) {
  const database = yield* Database
  const rows = yield* database.orm("Explain.quarantined", (orm) =>
    orm
      .select({
        quarantineId: quarantine.quarantineId,
        stream: quarantine.stream,
        itemId: quarantine.itemId,
        reason: quarantine.reason,
        path: quarantine.path,
        firstSeenAt: isoText(quarantine.firstSeenAt),
        lastSeenAt: isoText(quarantine.lastSeenAt),
        resolvedAt: isoTextOrNull(quarantine.resolvedAt),
        runId: quarantine.runId,
        total: allOfThem,
        ...runColumns,
      })
      .from(quarantine)
      .leftJoin(runs, eq(runs.runId, quarantine.runId))
      .where(
        and(
          eq(quarantine.bookId, bookId),
          "quarantineId" in which
            ? eq(quarantine.quarantineId, BigInt(which.quarantineId))
            : or(inArray(quarantine.itemId, which.items), openOf(which.stream)),
        ),
      )
      .orderBy(quarantine.quarantineId)
      .limit(shownFindings),
  )
  const listed = rows.map(
    (row): Step => ({
      title: `quarantined row Q${row.quarantineId} of ${row.stream}`,
      facts: [
        ["not understood", `${row.path} ${row.reason}`],
        ...factsIfKnown("identifier", row.itemId),
        ["seen", `${row.firstSeenAt} to ${row.lastSeenAt}`],
        ...factsIfKnown("last by", runText(row)),
        ["settled", row.resolvedAt ?? "not yet"],
        ["as sent", `tieout quarantine show Q${row.quarantineId}`],
      ],
    }),
  )
  const more = furtherSteps(
    rows[0]?.total ?? 0n,
    rows.length,
    (number) => counted(number, "further quarantined row"),
    [["to see them", "tieout quarantine list --all"]],
  )
  return [...listed, ...more]
})
