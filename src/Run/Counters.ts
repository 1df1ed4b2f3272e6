/** What a run counts, and how far it has come. */

/** What a run counts, for its summary. */
export const counterNames = [
  "entries",
  "held",
  "resources",
  "changedResources",
  "missingResources",
  "journalEntries",
  "reclassifications",
  "quarantined",
  "contradictions",
  "receivableVersions",
  "pages",
] as const

export type Counters = Record<(typeof counterNames)[number], number>

export const noCounts = (): Counters => ({
  entries: 0,
  held: 0,
  resources: 0,
  changedResources: 0,
  missingResources: 0,
  journalEntries: 0,
  reclassifications: 0,
  quarantined: 0,
  contradictions: 0,
  receivableVersions: 0,
  pages: 0,
})

/** How much this run has read of what it has to read, for the progress line. */
export interface ReadProgress {
  readonly statements: { done: number; all: number }
  readonly clients: { done: number; all: number }
}

/** Counts the journal entries that numbering booked, of one book or of all. `booked`: by book. */
export const countBooked = (
  counters: Counters,
  booked: ReadonlyMap<number, number>,
  book?: { readonly bookId: number },
): void => {
  for (const [bookId, entries] of booked)
    if (book === undefined || book.bookId === bookId) counters.journalEntries += entries
}
