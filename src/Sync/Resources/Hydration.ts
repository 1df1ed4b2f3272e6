/** The resources behind new statement entries: from the mirror, or read by id where it does not have them fresh enough. */
import { Data, Deferred, Effect, Either, Exit, FiberId, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { keyOfEntry, resourceKey } from "../../Ledger/Movements.ts"
import type { Subject } from "../../Ledger/Subject.ts"
import { type KnownResource, Resources } from "../../Mirror/Resources.ts"
import type { PlacedEntry } from "../../Mirror/StatementEntries.ts"
import type { Malformed, Row } from "../../Partner/Lists/Page.ts"
import { PartnerError, type PartnerReason } from "../../Partner/PartnerError.ts"
import { Partner, type Resource, type ResourceType, resourceTypes } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"

export class ResourceKey extends Data.Class<{ readonly type: ResourceType; readonly id: string }> {}

export interface Hydrated {
  /** All resources that are known now, by `resourceKey`. */
  readonly resources: ReadonlyMap<string, Resource>
  /** What was read by id just now. */
  readonly read: ReadonlyArray<Resource>
  /** The identifiers of what was mirrored already and may have changed. */
  readonly reread: ReadonlySet<string>
  /** What the service answered 404 or 410 for, or sent in a form that could not be understood. */
  readonly missing: ReadonlyArray<ResourceKey>
  readonly malformed: ReadonlyArray<{ readonly key: ResourceKey; readonly row: Malformed }>
}

/** The stream that a resource belongs to, whether a list or a read by id brought it. */
export const streamOf = (type: ResourceType): string => `${type.toLowerCase()}s`

type Answer = Option.Option<Row<Resource>>

/** The number of remembered answers; the other leg of a conversion usually follows within it. */
const mostRemembered = 2_000

const isResourceType = (type: string): type is ResourceType => resourceTypes.some((known) => known === type)

/** A resource that new entries name. */
interface Named {
  readonly key: ResourceKey
  readonly entries: number
  /** When the newest of them occurred, the service's clock, epoch milliseconds. */
  readonly newest: number
}

const namedBy = (entries: ReadonlyArray<PlacedEntry>): ReadonlyArray<Named> => {
  const named = new Map<string, Named>()
  for (const { entry } of entries) {
    const { relatedResourceType: type, relatedResourceId: id } = entry
    if (Option.isSome(type) && Option.isSome(id) && isResourceType(type.value)) {
      const name = resourceKey(type.value, id.value)
      const found = named.get(name)
      named.set(name, {
        key: found?.key ?? new ResourceKey({ type: type.value, id: id.value }),
        entries: (found?.entries ?? 0) + 1,
        newest: Math.max(found?.newest ?? 0, Date.parse(entry.occurredAt)),
      })
    }
  }
  return [...named.values()]
}

const refusals: ReadonlySet<PartnerReason> = new Set(["Forbidden", "Rejected"])

const isRefusal = ({ operation, reason }: PartnerError): boolean =>
  refusals.has(reason) || (reason === "Unauthorized" && operation.startsWith("GET "))

/** Where the service refuses to show a movement, it refuses neither the statement that names it nor the account. */
const ofMovement = (error: PartnerError): PartnerError => {
  if (!isRefusal(error)) return error
  const { advice, detail, operation, status } = error
  const said = { operation, detail, advice, ...(status === undefined ? {} : { status }) }
  return new PartnerError({ reason: "BadResponse", ...said })
}

/** The most that our clock and the service's may differ, milliseconds. */
const skew = 5 * 60_000

/**
 * Read by id: what is not mirrored; what was still open, since the new entry says that it moved; and what is final but may have
 * changed with an entry that it had not when it was read: it gets one more than it had and was read before this run, or it
 * has several (a late fee is one) of which the newest may be younger than what was read.
 */
const needsReading = (known: KnownResource | undefined, named: Named, hasBookedEntries: boolean): boolean => {
  if (known === undefined || !known.final) return true
  const outdated = named.newest > known.readAt - skew && (hasBookedEntries || named.entries > 1)
  return outdated || (!known.fresh && hasBookedEntries)
}

const made = Effect.gen(function* () {
  const partner = yield* Partner
  const mirrored = yield* Resources
  const settings = yield* Settings
  const remembered = new Map<string, Answer>()
  const underWay = new Map<string, Deferred.Deferred<void>>()

  const remember = (name: string, answer: Answer): void => {
    const [oldest] = remembered.size < mostRemembered ? [] : remembered.keys()
    if (oldest !== undefined) remembered.delete(oldest)
    remembered.set(name, answer)
  }

  /**
   * One request for all callers that ask for a resource at the same time. A failure is not remembered, so the callers that
   * waited ask again. Written by hand because Effect's `Cache` takes several times the processor time, and a sync asks for
   * every conversion.
   */
  const ask = (key: ResourceKey): Effect.Effect<Answer, PartnerError> =>
    Effect.suspend(() => {
      const name = resourceKey(key.type, key.id)
      const answer = remembered.get(name)
      if (answer !== undefined) return Effect.succeed(answer)
      const asked = underWay.get(name)
      if (asked !== undefined) return Effect.zipRight(Deferred.await(asked), ask(key))
      const done = Deferred.unsafeMake<void>(FiberId.none)
      underWay.set(name, done)
      return Effect.onExit(partner.resource(key.type, key.id), (exit) =>
        Effect.sync(() => {
          if (underWay.get(name) === done) {
            underWay.delete(name)
            if (Exit.isSuccess(exit)) remember(name, exit.value)
          }
          Deferred.unsafeDone(done, Exit.void)
        }),
      )
    })

  /** They are asked for anew, whatever was answered, or is about to be. */
  const forget = (keys: ReadonlyArray<ResourceKey>): void => {
    for (const key of keys) {
      const name = resourceKey(key.type, key.id)
      remembered.delete(name)
      underWay.delete(name)
    }
  }

  /** Reads resources by id, many at a time: a few fibers, each of which asks for one after the other. */
  const readAll = traced("Sync.Hydration.readAll")(function* (keys: ReadonlyArray<ResourceKey>) {
    if (keys.length === 0) return { read: [], missing: [], malformed: [] }
    const answers: Array<{ readonly key: ResourceKey; readonly answer: Answer }> = []
    const left = keys.entries()
    const asking = Effect.gen(function* () {
      for (const [at, key] of left) answers[at] = { key, answer: yield* ask(key) }
    })
    const fibers = Math.min(keys.length, settings.limits.hydrationConcurrency)
    yield* Effect.all(
      Array.from({ length: fibers }, () => asking),
      {
        concurrency: "unbounded",
        discard: true,
      },
    )
    const read: Array<Resource> = []
    const missing: Array<ResourceKey> = []
    const malformed: Array<{ key: ResourceKey; row: Malformed }> = []
    for (const { key, answer } of answers) {
      if (Option.isNone(answer)) missing.push(key)
      else if (Either.isLeft(answer.value)) {
        // Whatever it says of itself, it is about the resource that was asked for.
        malformed.push({ key, row: { ...answer.value.left, id: Option.some(key.id) } })
      } else read.push(answer.value.right)
    }
    return { read, missing, malformed }
  })

  /** The resources of new entries, with `booked` what the books have of them already. */
  const hydrate = traced("Sync.Hydration.hydrate")(function* (
    book: Book,
    fresh: ReadonlyArray<PlacedEntry>,
    booked: ReadonlyArray<Subject>,
  ) {
    const named = namedBy(fresh)
    const { startedAt } = yield* Run
    const found = yield* mirrored.find(
      book,
      named.map(({ key }) => key.id),
      startedAt,
    )
    const known = new Map(
      found.map((item) => [resourceKey(item.resource.resourceType, item.resource.id), item]),
    )
    const withEntries = new Set(booked.flatMap((subject) => Option.toArray(keyOfEntry(subject.entry))))
    const wanted = named.filter((one) => {
      const name = resourceKey(one.key.type, one.key.id)
      return needsReading(known.get(name), one, withEntries.has(name))
    })
    // A remembered answer, or one under way, is no newer than the mirrored one.
    forget(wanted.flatMap(({ key }) => (known.has(resourceKey(key.type, key.id)) ? [key] : [])))
    const read = yield* Effect.mapError(readAll(wanted.map(({ key }) => key)), ofMovement)
    const resources = new Map([...known].map(([key, item]) => [key, item.resource]))
    for (const resource of read.read) resources.set(resourceKey(resource.resourceType, resource.id), resource)
    // A resource that can no longer be read by id is still as it was read before.
    const missing = read.missing.filter((key) => !resources.has(resourceKey(key.type, key.id)))
    const reread = new Set(
      read.read.flatMap(({ id, resourceType }) => (known.has(resourceKey(resourceType, id)) ? [id] : [])),
    )
    return { ...read, missing, resources, reread } satisfies Hydrated
  })

  return { hydrate, readAll, forget }
})

export class Hydration extends Effect.Service<Hydration>()("tieout/Sync/Hydration", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Hydration(parts))
}
