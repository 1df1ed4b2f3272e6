/**
 * The public keys of one connection, kept. A delivery waits for the service only if its key identifier is unknown, and a
 * stranger who invents identifiers cannot make us ask more than ten times a minute.
 */
import type { KeyObject } from "node:crypto"
import { Deferred, Duration, Effect, Exit, FiberId, type Scope } from "effect"
import { isOutage, type PartnerError } from "../Partner/PartnerError.ts"
import type { PublicKey, PublicKeys } from "../Partner.ts"
import {
  FetchBudget,
  KeysUnavailable,
  longAgo,
  type Moment,
  since,
  thisMoment,
  WaitingRoom,
  wholeSeconds,
} from "./FetchBudget.ts"
import { mostKeys, readKey } from "./KeyText.ts"

export interface KnownKey {
  readonly record: PublicKey
  /** Undefined where the service's text is not a public key. */
  readonly key: KeyObject | undefined
}

export interface Tuning {
  /** Fetches for unknown identifiers in a minute. */
  readonly fetchesPerMinute: number
  /** How long a delivery waits for the service's keys at most. */
  readonly patience: Duration.Duration
  /** Keys that were read longer ago are read again in the background: one may have been withdrawn. */
  readonly refreshAfter: Duration.Duration
  /** If the keys were read longer ago than this, a delivery waits until they are read: its key may have been withdrawn. */
  readonly quietAfter: Duration.Duration
  /** For how long known keys are accepted while the service cannot be asked for them. */
  readonly trustFor: Duration.Duration
  /** Deliveries that wait for the service at once, of unknown keys and of known ones each. */
  readonly mostWaiting: number
}

export const defaultTuning: Tuning = {
  fetchesPerMinute: 10,
  patience: Duration.seconds(5),
  refreshAfter: Duration.minutes(5),
  quietAfter: Duration.minutes(10),
  trustFor: Duration.hours(1),
  mostWaiting: 1_000,
}

export interface Keyring {
  /** The key if it can be given at once; undefined if the service has to be asked first. */
  readonly fresh: (keyId: string) => KnownKey | undefined
  /** Asks the service where it has to; undefined where the service has no such key. */
  readonly find: (keyId: string) => Effect.Effect<KnownKey | undefined, KeysUnavailable>
  /** Reads all keys now. */
  readonly refresh: Effect.Effect<void, KeysUnavailable>
}

/** A fetch that is under way, and which keys it asks for where they are not listed. */
interface Flight {
  readonly done: Deferred.Deferred<void, KeysUnavailable>
  readonly ids: ReadonlySet<string>
}

const unreachable = (error: PartnerError): KeysUnavailable =>
  new KeysUnavailable({
    reason: "Unreachable",
    // Keys have shorter waits of their own, and are asked for again by themselves.
    detail: isOutage(error) ? `${error.operation}: ${error.detail}` : error.message,
    retryAfter: error.retryAt === undefined ? 5 : wholeSeconds(error.retryAt - Date.now()),
  })

/** Active keys first, in the order of the list, since the number of kept keys is limited; a key whose text is unchanged is not parsed again. */
const keptKeys = (
  records: ReadonlyArray<PublicKey>,
  before: ReadonlyMap<string, KnownKey>,
): ReadonlyMap<string, KnownKey> =>
  new Map(
    [...records]
      .sort((a, b) => Number(b.active) - Number(a.active))
      .slice(0, mostKeys)
      .map((record) => {
        const earlier = before.get(record.publicKeyId)
        const same = earlier !== undefined && earlier.record.publicKey === record.publicKey
        return [record.publicKeyId, { record, key: same ? earlier.key : readKey(record.publicKey) }]
      }),
  )

/** A key ring that lives as long as its scope. */
export const makeKeyring = (
  { areListed, read }: PublicKeys,
  tuning: Tuning = defaultTuning,
): Effect.Effect<Keyring, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let keys: ReadonlyMap<string, KnownKey> = new Map()
    let flight: Flight | undefined
    let askedAt = longAgo
    /** When the fetch began that brought the keys. */
    let readAt = longAgo
    const isOlder = (moment: Moment, than: Duration.Duration): boolean =>
      since(moment) > Duration.toMillis(than)
    const budget = new FetchBudget(tuning.fetchesPerMinute)
    // Strangers, who can fill only their own, are not waited behind.
    const strangers = new WaitingRoom(tuning.mostWaiting)
    const acquaintances = new WaitingRoom(tuning.mostWaiting)

    const take = (records: ReadonlyArray<PublicKey>, began: Moment) => {
      keys = keptKeys(records, keys)
      readAt = began
      return records.length <= mostKeys
        ? Effect.void
        : Effect.logWarning(
            `The service lists ${records.length} public keys; the newest ${mostKeys} active ones are used`,
          )
    }

    // Runs in a fiber of its own, since the first caller may be gone while others wait for the same answer.
    const launch = ({ done, ids }: Flight, began: Moment) =>
      read(ids).pipe(
        Effect.timeoutFail({
          duration: Duration.times(tuning.patience, 2),
          onTimeout: () =>
            new KeysUnavailable({ reason: "Unreachable", detail: "no answer in time", retryAfter: 5 }),
        }),
        Effect.mapError((error) => (error._tag === "PartnerError" ? unreachable(error) : error)),
        Effect.flatMap((records) => take(records, began)),
        Effect.exit,
        Effect.flatMap((exit) => {
          flight = undefined
          return Deferred.done(done, Exit.isInterrupted(exit) ? Exit.void : exit)
        }),
        Effect.forkIn(scope),
      )

    /** A fetch of all keys that are listed; else of those that are known, and one more. */
    const startFor = (...unknown: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        const mine: Flight = {
          done: Deferred.unsafeMake(FiberId.none),
          ids: new Set([...keys.keys(), ...unknown]),
        }
        flight = mine
        askedAt = thisMoment()
        return Effect.as(launch(mine, askedAt), mine)
      })
    const start = startFor()

    const late = {
      duration: tuning.patience,
      onTimeout: () =>
        new KeysUnavailable({
          reason: "Unreachable",
          detail: `the service's keys did not come within ${Duration.format(tuning.patience)}`,
          retryAfter: 5,
        }),
    }

    const patiently = ({ done }: Flight) => Effect.timeoutFail(Deferred.await(done), late)

    /** A fetch that begins after this call, if the budget allows one. */
    const freshFor = (keyId: string) =>
      Effect.suspend(() => {
        const spent = budget.spend()
        return spent === undefined ? Effect.flatMap(startFor(keyId), patiently) : spent
      })

    /** Keys may have been withdrawn. Nobody waits for this, and a failure changes nothing. */
    const renew = Effect.suspend(() =>
      flight === undefined && isOlder(askedAt, tuning.refreshAfter) ? Effect.asVoid(start) : Effect.void,
    )

    /** Whether the service has to be asked about a known key before the key is trusted. */
    const isQuiet = () => isOlder(askedAt, tuning.quietAfter) || isOlder(readAt, tuning.trustFor)

    /** The keys as of a fetch that asks for this one, too. */
    const newestWith = (keyId: string): Effect.Effect<void, KeysUnavailable> =>
      Effect.suspend(() => {
        if (flight === undefined) return freshFor(keyId)
        const asks = areListed || flight.ids.has(keyId)
        return asks ? patiently(flight) : Effect.zipRight(patiently(flight), newestWith(keyId))
      })

    /** Where keys are shown one by one, several fetches may come first. */
    const newest = (keyId: string) => Effect.timeoutFail(newestWith(keyId), late)

    /**
     * A known key as the service lists it now; if the service cannot be asked, as it is known, for as long as that may be
     * trusted.
     */
    const confirmed = (keyId: string, found: KnownKey) =>
      Effect.matchEffect(newest(keyId), {
        onFailure: (error) => (isOlder(readAt, tuning.trustFor) ? error : Effect.succeed(found)),
        onSuccess: () => Effect.sync(() => keys.get(keyId)),
      })

    const introduced = (keyId: string) =>
      Effect.gen(function* () {
        if (flight !== undefined) {
          yield* patiently(flight)
          const meanwhile = keys.get(keyId)
          if (meanwhile?.record.active === true) return meanwhile
        }
        // The fetch under way may have begun before the key existed: only a later one proves that there is no such key.
        yield* newest(keyId)
        return keys.get(keyId)
      })

    const find = (keyId: string) =>
      Effect.gen(function* () {
        const found = keys.get(keyId)
        // A key may be listed before it is activated: one that is not active is asked about like an unknown one.
        if (found?.record.active === true) {
          if (isQuiet()) return yield* acquaintances.within(confirmed(keyId, found))
          yield* renew
          return found
        }
        return yield* strangers.within(introduced(keyId))
      })

    return {
      fresh: (keyId) => {
        const found = isOlder(askedAt, tuning.refreshAfter) || isQuiet() ? undefined : keys.get(keyId)
        return found?.record.active === true ? found : undefined
      },
      find,
      refresh: Effect.suspend(() =>
        Effect.flatMap(flight === undefined ? start : Effect.succeed(flight), patiently),
      ),
    }
  })
