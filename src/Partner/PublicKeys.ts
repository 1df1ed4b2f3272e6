/** The keys that webhook deliveries are signed with (`docs/interface.md`, Webhook resources: PublicKey). */
import { Effect, Either, Option } from "effect"
import { spelledOnce } from "../Common/Uuid.ts"
import type { PublicKey, PublicKeys } from "../Partner.ts"
import { pagingOf } from "../Settings/Interface.ts"
import * as PartnerFault from "./Fault.ts"
import type { Row } from "./Lists/Page.ts"
import { pages } from "./Lists/Paging.ts"
import { forEachPage } from "./Lists/Walk.ts"
import type { PartnerError } from "./PartnerError.ts"
import { byId, type Wiring } from "./Reads.ts"
import { Fault, type Fields, isFields, text } from "./Wire/Fields.ts"
import type { Decoder } from "./Wire/RowDecoder.ts"

/** A JWK may come as an object instead of its text. */
const keyText = (row: Fields): string =>
  isFields(row.publicKey) ? JSON.stringify(row.publicKey) : text(row, "publicKey")

/** Epoch milliseconds; 0 where it cannot be told. Only the order of keys follows from it. */
const createdAt = ({ createdAt: at }: Fields): number => (typeof at === "string" && Date.parse(at)) || 0

interface DatedKey extends PublicKey {
  readonly createdAt: number
}

const decoder: Decoder<DatedKey> = {
  idField: "publicKeyId",
  decode: (row) => {
    if (typeof row.active !== "boolean") throw new Fault("$.active", "expected true or false")
    return {
      publicKeyId: spelledOnce(text(row, "publicKeyId")),
      algorithm: text(row, "algorithm"),
      active: row.active,
      publicKey: keyText(row),
      createdAt: createdAt(row),
    }
  },
}

/** Only so many are kept, and what is signed now is signed by a new one. */
const newestFirst = (keys: ReadonlyArray<DatedKey>): ReadonlyArray<PublicKey> =>
  [...keys].sort((a, b) => b.createdAt - a.createdAt)

/**
 * All keys of the list. A key that cannot be read is left out, so a delivery that it signed is refused, as with an unknown key.
 * If none of several rows can be read, the answer is not a list of keys and the read fails, which keeps the known keys.
 */
const listed = (
  { bounds, interface: profile, session }: Wiring,
  path: string,
): Effect.Effect<ReadonlyArray<PublicKey>, PartnerError> =>
  Effect.gen(function* () {
    const kind = "publicKeys"
    const paging = pagingOf(profile, kind)
    const list = pages({ session, paging, bounds, kind, path, decoder, mayBePlain: true })
    const rows: Array<Row<DatedKey>> = []
    yield* forEachPage(list(Option.none()), (page) => Effect.sync(() => rows.push(...page.rows)))
    const keys = rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))
    if (keys.length === 0 && rows.length > 0)
      return yield* PartnerFault.make("BadResponse", `GET ${path}`, {
        detail: "no public key of the list can be read",
      })
    return newestFirst(keys)
  })

/** As with those of a list, one that cannot be read is as if there were none. */
const oneByOne =
  ({ session }: Wiring, path: string) =>
  (ids: ReadonlySet<string>): Effect.Effect<ReadonlyArray<PublicKey>, PartnerError> =>
    Effect.map(
      Effect.forEach(ids, (id) => byId(session)("publicKeys", path, decoder, id), { concurrency: 4 }),
      (found) =>
        newestFirst(found.flatMap(Option.toArray).flatMap((row) => (Either.isRight(row) ? [row.right] : []))),
    )

export const areShownById = (path: string): boolean => path.includes("{id}")

/** The keys at a path: of a list, or of one key where it has the place of an identifier. */
export const publicKeys = (wiring: Wiring, path: string): PublicKeys =>
  areShownById(path)
    ? { areListed: false, read: oneByOne(wiring, path) }
    : { areListed: true, read: () => listed(wiring, path) }
