import { Data } from "effect"

const shown = (id: string): string => JSON.stringify(id.length > 80 ? `${id.slice(0, 79)}…` : id)

/** Nothing has that identifier, or several identifiers begin with it. */
export class NothingFound extends Data.TaggedError("NothingFound")<{
  readonly reason: "Unknown" | "Ambiguous"
  readonly id: string
  /** The possible meanings: `deposit 0f3c…`. */
  readonly candidates: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.reason === "Unknown"
      ? `Nothing that is stored here has the identifier ${shown(this.id)}.`
      : `${shown(this.id)} may be ${this.candidates.join(", or ")}.`
  }
  get advice(): string {
    return this.reason === "Unknown"
      ? "Give a journal number (ORG-2026-10-000007), a finding (F12), a row in quarantine (Q12), a client's code, a transaction hash, a batch (ORG/4), what a file calls an account, a payment's external reference, or the identifier of an account, statement entry, deposit, withdrawal, conversion, receivable or client, of which the first 8 characters are enough. What is not stored yet: tieout sync."
      : "Give the whole identifier of the one that is meant."
  }
}
