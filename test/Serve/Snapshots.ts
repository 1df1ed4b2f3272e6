/** Snapshots of the status page, as a test wants them. */
import { combined } from "../../src/Reconcile/TieOut.ts"
import type { BookReadState, BookStanding } from "../../src/Serve/Overview/BookStandings.ts"
import type { Snapshot } from "../../src/Serve/Overview.ts"

export const hour = 3_600_000
export const at = Date.parse("2026-10-07T09:00:00Z")

export const reading = (over: Partial<BookReadState> = {}): BookReadState => ({
  failing: 0,
  failingSince: null,
  stream: null,
  trouble: null,
  status: null,
  lag: 60,
  knownFor: 90 * 86_400,
  ...over,
})

export const book = (over: Partial<BookStanding> = {}): BookStanding => ({
  connection: "default",
  code: "ORG",
  unread: 0,
  entries: 10n,
  isRead: true,
  reading: reading({ lag: 60 }),
  closedThrough: null,
  ...combined([]),
  accounts: 2,
  ...over,
})

export const connection = (name: string, hoursAgo: number | null) => ({
  connection: name,
  last: null,
  lastSuccessAt: hoursAgo === null ? null : at - hoursAgo * hour,
  lastDay: {},
  requests: {},
})

export const snapshot = (over: Partial<Snapshot> = {}): Snapshot => ({
  at,
  books: [book()],
  balances: new Map(),
  connections: [connection("default", 5)],
  leftOut: [],
  runs: [],
  findings: [],
  findingCounts: [],
  quarantine: [],
  batches: [],
  inbox: null,
  jobs: [],
  ...over,
})
