/**
 * The metrics in the Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 */
import { runStates } from "../Database/Tables/Sync.ts"
import { bookFamilies, byConnection, readingFamilies } from "./Metrics/BookFamilies.ts"
import { type Family, familyText, type Sample } from "./Metrics/Family.ts"
import { openStates } from "./Overview/InboxEvents.ts"
import { standings } from "./Overview/OpenFindings.ts"
import type { Snapshot } from "./Overview.ts"

const plain = (value: number): ReadonlyArray<Sample> => [{ labels: {}, value }]

const runFamilies = ({ connections }: Snapshot): ReadonlyArray<Family> => [
  {
    name: "tieout_runs_last_day",
    help: "Runs that were started within the last 24 hours, by state.",
    type: "gauge",
    samples: connections.flatMap(({ connection, lastDay }) =>
      runStates.map((state) => ({ labels: { connection, state }, value: lastDay[state] ?? 0 })),
    ),
  },
  {
    name: "tieout_last_success_timestamp_seconds",
    help: "When the last sync that succeeded ended, Unix time.",
    type: "gauge",
    samples: connections.flatMap(({ connection, lastSuccessAt }) =>
      lastSuccessAt === null ? [] : [{ labels: { connection }, value: lastSuccessAt / 1_000 }],
    ),
  },
  {
    name: "tieout_last_run_duration_seconds",
    help: "How long the last sync took, or has taken so far.",
    type: "gauge",
    samples: connections.flatMap(({ connection, last }) =>
      last === null || last.seconds === null
        ? []
        : [{ labels: { connection, state: last.state }, value: last.seconds }],
    ),
  },
  {
    name: "tieout_last_run_requests",
    help: "Requests that the last finished sync sent, retries included, by kind of endpoint.",
    type: "gauge",
    samples: connections.flatMap(({ connection, requests }) =>
      Object.entries(requests).map(([kind, value]) => ({ labels: { connection, kind }, value })),
    ),
  },
]

const openFamilies = (snapshot: Snapshot): ReadonlyArray<Family> => [
  {
    name: "tieout_open_findings",
    help: "Open findings by severity; accepted: blocking ones that a close accepted for good.",
    type: "gauge",
    samples: snapshot.connections.flatMap(({ connection }) =>
      standings.map((severity) => ({
        labels: { connection, severity },
        value:
          snapshot.findingCounts.find((row) => row.connection === connection && row.standing === severity)
            ?.count ?? 0,
      })),
    ),
  },
  {
    name: "tieout_quarantine_rows",
    help: "Rows that could not be understood and wait.",
    type: "gauge",
    samples: byConnection(snapshot, ({ quarantined }) => quarantined),
  },
]

const inboxFamilies = ({ connections, inbox }: Snapshot): ReadonlyArray<Family> => {
  if (inbox === null) return []
  const names = new Set([...connections, ...inbox.counts].map(({ connection }) => connection))
  return [
    {
      name: "tieout_inbox_depth",
      help: "Webhook events that wait to be processed, counted to 100,000.",
      type: "gauge",
      samples: plain(inbox.depth),
    },
    {
      name: "tieout_inbox_events",
      help: "Webhook events that are not done: waiting, failed (tried again), dead (given up), poison (unreadable); counted to 100,000 each, those that wait and those that do not.",
      type: "gauge",
      samples: [...names].flatMap((connection) =>
        openStates.map((state) => ({
          labels: { connection, state },
          value:
            inbox.counts.find((row) => row.connection === connection && row.state === state)?.events ?? 0,
        })),
      ),
    },
  ]
}

const jobFamilies = ({ jobs }: Snapshot): ReadonlyArray<Family> => [
  {
    name: "tieout_jobs",
    help: "Books that workers are to read: waiting, active (under way), dead (given up, and not read since).",
    type: "gauge",
    samples: jobs.flatMap((queue) =>
      (["waiting", "active", "dead"] as const).map((state) => ({
        labels: { connection: queue.connection, state },
        value: queue[state],
      })),
    ),
  },
  {
    name: "tieout_jobs_oldest_seconds",
    help: "How long the job has waited that has waited longest for a worker.",
    type: "gauge",
    samples: jobs.map(({ connection, oldest }) => ({ labels: { connection }, value: oldest ?? 0 })),
  },
]

const processFamilies = (uptime: number, database: boolean): ReadonlyArray<Family> => [
  {
    name: "tieout_database_up",
    help: "1 where the database answers.",
    type: "gauge",
    samples: plain(database ? 1 : 0),
  },
  {
    name: "tieout_uptime_seconds",
    help: "How long this process runs.",
    type: "gauge",
    samples: plain(uptime),
  },
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    type: "gauge",
    samples: plain(process.memoryUsage.rss()),
  },
]

/** Facts from the settings and from this process. */
interface Known {
  /** The configured ones. */
  readonly connections: ReadonlyArray<string>
  /** Seconds. */
  readonly uptime: number
  /** The counters of this process. */
  readonly counted: ReadonlyArray<Family>
}

const neverRead = ({ connections }: Snapshot, configured: ReadonlyArray<string>): Family => ({
  name: "tieout_never_read",
  help: "1 where no sync of a connection has ever succeeded.",
  type: "gauge",
  samples: configured.map((name) => {
    const known = connections.find(({ connection }) => connection === name)
    return { labels: { connection: name }, value: (known?.lastSuccessAt ?? null) === null ? 1 : 0 }
  }),
})

/** A connection that the settings no longer have need not be current; what is wrong with its books is still reported. */
const waitedFor = (snapshot: Snapshot, configured: ReadonlyArray<string>): Snapshot => {
  const isConfigured = ({ connection }: { readonly connection: string }) => configured.includes(connection)
  return {
    ...snapshot,
    books: snapshot.books.filter(isConfigured),
    connections: snapshot.connections.filter(isConfigured),
  }
}

/** `snapshot` is undefined where the database cannot be read; the other metrics are printed all the same. */
export const metricsText = (
  snapshot: Snapshot | undefined,
  { connections, counted, uptime }: Known,
): string => {
  const families: Array<Family> = [...processFamilies(uptime, snapshot !== undefined)]
  if (snapshot !== undefined) {
    const current = waitedFor(snapshot, connections)
    families.push(
      neverRead(snapshot, connections),
      ...runFamilies(current),
      ...bookFamilies(snapshot),
      ...readingFamilies(current),
      ...openFamilies(snapshot),
      ...inboxFamilies(snapshot),
      ...jobFamilies(snapshot),
    )
  }
  families.push(...counted)
  return families.map(familyText).join("")
}
