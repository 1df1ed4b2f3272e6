/** One page in one transaction: what was read, its consequences in the books, and how far the stream has been read. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { inSpan, traced } from "../../Common/Effects/Traced.ts"
import { nowByUs } from "../../Common/Time.ts"
import { DatabaseError } from "../../Database/DatabaseError.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { JournalEntry } from "../../Ledger/JournalEntry.ts"
import { journalEntriesFor, resourceKey } from "../../Ledger/Movements.ts"
import type { Subject } from "../../Ledger/Subject.ts"
import { subjectsOf } from "../../Ledger/Subjects.ts"
import { Ledger } from "../../Ledger.ts"
import { ArchivedResources } from "../../Mirror/ArchivedResources.ts"
import { Resources } from "../../Mirror/Resources.ts"
import type { PlacedEntry } from "../../Mirror/StatementEntries.ts"
import type { Resource } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import type { Hydrated, ResourceKey } from "../Resources/Hydration.ts"
import { Statistics } from "../Runs/Statistics.ts"
import { PostingFacts } from "./PostingFacts.ts"

const namesOneOf =
  (ids: ReadonlySet<string>) =>
  ({ entry }: Subject): boolean =>
    Option.exists(entry.relatedResourceId, (id) => ids.has(id))

/** What the books have, looked up again for some of the resources. */
const askedAgain = (book: Book, asked: ReadonlyArray<Subject>, reread: ReadonlySet<string> = new Set()) =>
  reread.size === 0
    ? Effect.succeed(asked)
    : Effect.map(subjectsOf(book, [...reread]), (now) => [
        ...asked.filter((subject) => !namesOneOf(reread)(subject)),
        ...now,
      ])

/** The constraint that two transactions of one run may violate: both reclassified the same entry. A new plan is right. */
const planAgain = (error: unknown): boolean =>
  error instanceof DatabaseError && error.constraint === "journal_entries_source"

const planningTries = 5

interface Absorbed {
  readonly fresh: ReadonlyArray<PlacedEntry>
  /** Booked entries that now name their resource. */
  readonly enriched?: ReadonlyArray<PlacedEntry>
  /** What the books have of the same resources, if the caller has just asked. */
  readonly booked?: ReadonlyArray<Subject> | undefined
  /** The identifiers of resources that may have been booked while they were read again. */
  readonly reread?: ReadonlySet<string>
  readonly opens: boolean
  /** Entries that do not follow from movements: an opening balance put right. */
  readonly more?: ReadonlyArray<JournalEntry>
  readonly hydrated: Pick<Hydrated, "resources" | "read" | "missing">
  /** All resources are mirrored, and none of them is among the missing ones. */
  readonly areMirrored?: boolean
}

const makePages = Effect.gen(function* () {
  const database = yield* Database
  const ledger = yield* Ledger
  const resources = yield* Resources
  const archived = yield* ArchivedResources
  const statistics = yield* Statistics
  const facts = yield* PostingFacts

  const noteMissing = traced("Sync.Pages.noteMissing")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    if (keys.length === 0) return
    yield* database.execute(
      "Sync.Pages.noteMissing",
      (sql) => sql`
          insert into mirror.missing_resources as m (book_id, resource_type, resource_id)
          select ${book.bookId}::integer, t.type, t.id::uuid
          from unnest(${textArray(
            sql,
            keys.map((key) => key.type),
          )}, ${textArray(
            sql,
            keys.map((key) => key.id),
          )})
            as t (type, id)
          order by 1, 3
          on conflict (book_id, resource_id, resource_type) do update set tries = m.tries + 1`,
    )
  })

  /** Without archived resources: an entry that names one counts as an entry of an unknown resource. */
  const withoutArchived = traced("Sync.Pages.withoutArchived")(function* (
    book: Book,
    hydrated: Absorbed["hydrated"],
  ) {
    const read = [...hydrated.resources.values()]
    const gone = yield* archived.among(book, [
      ...read.map(({ id }) => id),
      ...hydrated.missing.map(({ id }) => id),
    ])
    if (gone.size === 0) return { hydrated, gone: [] }
    const isKept = ({ id, resourceType }: Resource) => !gone.has(resourceKey(resourceType, id))
    return {
      hydrated: {
        read: hydrated.read.filter(isKept),
        resources: new Map([...hydrated.resources].filter(([, resource]) => isKept(resource))),
        missing: hydrated.missing.filter(({ id, type }) => !gone.has(resourceKey(type, id))),
      },
      gone: hydrated.read.filter((resource) => !isKept(resource)),
    }
  })

  /**
   * Commits resources and new entries with everything that follows from them in the books, together with `also` (the
   * checkpoint, the quarantine), or nothing of it. Entries that are booked already are put right where a resource
   * changed.
   */
  const absorb = <E, R>(book: Book, absorbed: Absorbed, also: Effect.Effect<void, E, R>) => {
    let asked = absorbed.booked
    const attempt = Effect.gen(function* () {
      const run = yield* Run
      const { enriched = [], fresh, opens } = absorbed
      const { gone, hydrated } = yield* withoutArchived(book, absorbed.hydrated)
      const ids = () => [...new Set([...hydrated.resources.values()].map((resource) => resource.id))]
      const named = new Map(enriched.map(({ entry }) => [entry.entryId, entry]))
      const found =
        asked === undefined
          ? yield* subjectsOf(book, ids(), [...named.keys()])
          : yield* askedAgain(book, asked, absorbed.reread)
      const booked = found.map((subject) => ({
        ...subject,
        entry: named.get(subject.entry.entryId) ?? subject.entry,
      }))
      // A second planning means that the books have changed meanwhile.
      asked = undefined
      const known = yield* facts.factsOf(
        book,
        [...fresh, ...booked].map(({ entry }) => entry),
        hydrated.resources,
      )
      const entries = [
        ...journalEntriesFor(
          { fresh, booked, resources: hydrated.resources, opens },
          ledger.contextFor(book, known),
        ),
        ...(absorbed.more ?? []),
      ]
      const prepared = yield* ledger.prepare(book, entries, run.commit)
      const readAt = yield* nowByUs
      const changed = yield* run.commit(
        Effect.gen(function* () {
          const written = yield* resources.put(
            book,
            run.runId,
            readAt,
            hydrated.read,
            absorbed.areMirrored === true,
          )
          yield* archived.contradict(book, run.runId, gone)
          yield* noteMissing(book, hydrated.missing)
          yield* also
          // Last, since it takes the locks that other accounts of the book wait for.
          yield* ledger.post(book, run.runId, prepared)
          return written
        }),
      )
      const reclassified = entries.filter((entry) => entry.sequence > 0).length
      run.counters.resources += hydrated.read.length
      run.counters.changedResources += changed
      run.counters.missingResources += hydrated.missing.length
      run.counters.journalEntries += entries.length
      run.counters.reclassifications += reclassified
      run.counters.entries += fresh.length
      run.counters.pages += 1
      yield* statistics.follow
    })
    const inTurn = Effect.flatMap(Run, ({ turn }) => turn(attempt))
    const tried = (left: number): typeof inTurn =>
      left === 0 ? inTurn : Effect.catchIf(inTurn, planAgain, () => tried(left - 1))
    return inSpan("Sync.Pages.absorb")(tried(planningTries))
  }

  /** Resources alone, as a list or a read by id brings them. */
  const absorbResources = <E, R>(
    book: Book,
    read: ReadonlyArray<Resource>,
    missing: ReadonlyArray<ResourceKey>,
    also: Effect.Effect<void, E, R>,
    areMirrored = false,
  ) =>
    absorb(
      book,
      {
        fresh: [],
        opens: false,
        areMirrored,
        hydrated: {
          read,
          missing,
          resources: new Map(
            read.map((resource) => [resourceKey(resource.resourceType, resource.id), resource]),
          ),
        },
      },
      also,
    )

  return { absorb, absorbResources }
})

export class Pages extends Effect.Service<Pages>()("tieout/Sync/Pages", { effect: makePages }) {
  static readonly made = Effect.map(makePages, (parts) => new Pages(parts))
}
