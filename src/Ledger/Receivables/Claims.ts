/** What each receivable may take of the cash that its transactions moved, and what is left of that. Amounts are in the major unit. */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"

export type Purpose = "disbursement" | "repayment"

/** A transaction that a receivable names, and the first of its versions that does. */
export interface Named {
  readonly receivableId: string
  readonly txId: string
  readonly version: number
  readonly purpose: Purpose
  readonly txTimestamp: Instant
}

export interface Claimed {
  readonly receivableId: string
  readonly currency: string
  readonly issuedAt: Instant
  readonly initialPrincipal: Amount
  /** Its disbursement stands: it was paid out, and no cancellation took that back. */
  readonly lent: boolean
  /** What each version settles by itself, and how much may have accrued between the readings. */
  readonly settled: ReadonlyMap<number, { readonly firm: Amount; readonly betweenReads: Amount }>
  /** What all versions settle, without what is owed again, or was taken back by a cancellation. */
  readonly remains: Amount
  /** The same of each version: what is owed again is taken from the last that settled it. */
  readonly standing: ReadonlyMap<number, Amount>
  /** Some of what its versions settled is owed again, or was. */
  readonly owedAgain: boolean
  /** Interest announced until each version, in their order; any payment until then may settle it. Empty where versions say what they settle. */
  readonly announced: ReadonlyMap<number, Amount>
}

const { add, isPositive, min, subtract, zero } = Money

const notNegative = (amount: Amount): Amount => Money.max(amount, zero)

/** The remainders of the claims, which taking reduces. */
export class Remaining {
  readonly #claims: ReadonlyMap<string, Claimed>
  readonly #taken = new Map<string, Amount>()

  constructor(claims: ReadonlyMap<string, Claimed>) {
    this.#claims = claims
  }

  #used(key: string): Amount {
    return this.#taken.get(key) ?? zero
  }

  #use(key: string, amount: Amount): void {
    this.#taken.set(key, add(this.#used(key), amount))
  }

  #take(key: string, cap: Amount, wanted: Amount): Amount {
    const amount = min(wanted, notNegative(subtract(cap, this.#used(key))))
    this.#use(key, amount)
    return amount
  }

  /**
   * The remainder of what the version settles, or of the principal that was lent. `settledOnly`: nothing that is owed again, or
   * that a cancellation took back.
   */
  ofVersion(namer: Named, wanted: Amount, settledOnly: boolean): Amount {
    const claim = this.#claims.get(namer.receivableId)
    if (claim === undefined) return zero
    if (namer.purpose === "disbursement")
      return settledOnly && !claim.lent
        ? zero
        : this.#take(`${namer.receivableId} lent`, claim.initialPrincipal, wanted)
    if (!settledOnly) return this.#repayment(claim, namer, wanted, Option.none())
    const stands = notNegative(
      subtract(
        claim.standing.get(namer.version) ?? zero,
        this.#used(`${namer.receivableId} ${namer.version}`),
      ),
    )
    const remains = this.#remains(claim)
    const cap = claim.owedAgain ? min(remains, stands) : remains
    return this.#repayment(claim, namer, wanted, Option.some(cap))
  }

  /** Of cash that nobody else names: it pays what is not owed again before cash does that may be another's. */
  ofItsAlone(namer: Named, wanted: Amount): Amount {
    const claim = this.#claims.get(namer.receivableId)
    return claim === undefined || !claim.owedAgain || namer.purpose === "disbursement"
      ? zero
      : this.#repayment(claim, namer, wanted, Option.some(this.#remains(claim)))
  }

  #remains({ receivableId, remains }: Claimed): Amount {
    return notNegative(subtract(remains, this.#used(`${receivableId} firm`)))
  }

  #repayment(
    claim: Claimed,
    { receivableId, version }: Named,
    wanted: Amount,
    most: Option.Option<Amount>,
  ): Amount {
    const firm = claim.settled.get(version)?.firm ?? zero
    const key = `${receivableId} ${version}`
    const asked = min(wanted, subtract(firm, this.#used(key)))
    const cut = Option.filter(most, (cap) => isPositive(subtract(asked, cap)))
    const own = this.#take(
      key,
      firm,
      Option.getOrElse(cut, () => wanted),
    )
    const announced = Option.isSome(cut)
      ? zero
      : this.#take(`${receivableId} announced`, claim.announced.get(version) ?? zero, subtract(wanted, own))
    const amount = add(own, announced)
    this.#use(`${receivableId} firm`, own)
    this.#use(`${receivableId} all`, amount)
    return amount
  }

  betweenReads({ purpose, receivableId, version }: Named, wanted: Amount): Amount {
    const allowed = this.#claims.get(receivableId)?.settled.get(version)?.betweenReads ?? zero
    return purpose === "repayment" ? this.#take(`${receivableId} ${version} between`, allowed, wanted) : zero
  }

  ofAnyVersion({ purpose, receivableId }: Named, wanted: Amount): Amount {
    const claim = this.#claims.get(receivableId)
    if (claim === undefined || purpose === "disbursement") return zero
    const firm = Money.total([...claim.settled.values()].map((one) => one.firm))
    const announced = [...claim.announced.values()].at(-1) ?? zero
    return this.#take(`${receivableId} all`, add(firm, announced), wanted)
  }
}
