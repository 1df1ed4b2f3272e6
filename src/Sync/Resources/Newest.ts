/**
 * Where what is new in a newest-first list ends: at the item that was the newest one when the list was last read. That items are
 * mirrored proves nothing of those behind them, since entries, events and readings that stopped bring items as well.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { ArchivedResources } from "../../Mirror/ArchivedResources.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { malformedRows, type Page, understoodRows } from "../../Partner/Lists/Page.ts"
import type { Resource } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import type { Checkpoint } from "../Statements/Checkpoint.ts"

/** The newest item of a list when it was last read. */
export interface Newest {
  readonly id: string
  /** Epoch milliseconds; none where the item is not mirrored, as one that is archived. */
  readonly createdAt: Option.Option<number>
}

const isNewest =
  ({ createdAt, id }: Newest) =>
  (item: Resource): boolean =>
    item.id === id || Option.exists(createdAt, (at) => Date.parse(item.createdAt) < at)

const made = Effect.gen(function* () {
  const resources = yield* Resources
  const archived = yield* ArchivedResources

  /** Where reading a list that was read before may end; none: at its end. */
  const of = Effect.fn("Sync.NewestItems.of")(function* (
    book: Book,
    { complete, leadsTo, ordering }: Checkpoint,
  ) {
    if (!complete || Option.isNone(leadsTo) || !Option.contains(ordering, "newest-first"))
      return Option.none<Newest>()
    const id = leadsTo.value
    const { startedAt } = yield* Run
    const found = (yield* resources.find(book, [id], startedAt)).map(({ resource }) =>
      Date.parse(resource.createdAt),
    )
    return Option.some<Newest>({ id, createdAt: Option.fromNullable(found[0]) })
  })

  /** Whether a page has come to the item, or behind it where that is gone. */
  const isReached = (newest: Newest, page: Page<Resource>): boolean =>
    understoodRows(page).some(isNewest(newest))

  /** Whether a page holds nothing that is not mirrored or archived. */
  const isKnown = Effect.fn("Sync.NewestItems.isKnown")(function* (book: Book, page: Page<Resource>) {
    const { startedAt } = yield* Run
    const ids = understoodRows(page).map(({ id }) => id)
    if (ids.length === 0 || malformedRows(page).length > 0) return false
    const mirrored = yield* resources.find(book, ids, startedAt)
    return mirrored.length + (yield* archived.among(book, ids)).size >= ids.length
  })

  return { of, isReached, isKnown }
})

export class NewestItems extends Effect.Service<NewestItems>()("tieout/Sync/NewestItems", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new NewestItems(parts))
}
