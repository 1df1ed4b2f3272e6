/** What the versions of a receivable settle and nothing takes back, by version. Amounts are in the major unit. */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"

const { add, isPositive, min, subtract, zero } = Money

export class FirmlySettled {
  readonly #standing = new Map<number, Amount>()
  /** What was taken back of each version, in the order in which that happened. */
  #back: Array<{ readonly version: number; readonly amount: Amount }> = []
  /** Something is owed again, or was, or a cancellation took it back. */
  owedAgain = false

  get standing(): ReadonlyMap<number, Amount> {
    return this.#standing
  }

  get remains(): Amount {
    return Money.total(this.#standing.values())
  }

  /** Owed again: of what the last versions settled. */
  owe(amount: Amount): void {
    if (!isPositive(amount)) return
    this.owedAgain = true
    let left = amount
    for (const [version, stands] of [...this.#standing].reverse()) {
      const taken = min(left, stands)
      if (!isPositive(taken)) continue
      this.#standing.set(version, subtract(stands, taken))
      this.#back.push({ version, amount: taken })
      left = subtract(left, taken)
    }
  }

  /**
   * `pays`: by cash that the version is the first to name. Without any, what was taken back is settled by its former cash: a service may
   * show an older version after a newer one.
   */
  settle(version: number, amount: Amount, pays: boolean): void {
    let left = amount
    while (!pays && isPositive(left)) {
      const last = this.#back.pop()
      if (last === undefined) break
      const again = min(left, last.amount)
      this.#stand(last.version, again)
      left = subtract(left, again)
      const rest = subtract(last.amount, again)
      if (isPositive(rest)) this.#back.push({ version: last.version, amount: rest })
    }
    this.#stand(version, left)
  }

  cancel(): void {
    this.owedAgain = true
    this.#standing.clear()
    this.#back = []
  }

  #stand(version: number, amount: Amount): void {
    this.#standing.set(version, add(this.#standing.get(version) ?? zero, amount))
  }
}
