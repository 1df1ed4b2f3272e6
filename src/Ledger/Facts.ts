/** What posting a movement needs to know about its book, beyond the movement itself. */
import { Option } from "effect"
import type { Resource, StatementEntry } from "../Partner.ts"

export interface BookFacts {
  /** The address book: what an entry's bank and account, or network and wallet, are called, by `destinationId`. */
  readonly destinations: ReadonlyMap<string, string>
  /**
   * The identifiers, in lower case, that receivables name as disbursement or repayment, as far as they are of the movements in
   * question.
   */
  readonly loanTransactions: ReadonlySet<string>
}

/** The name in the resource itself, else the address book's name of a withdrawal's destination. */
export const counterpartyBy =
  (destinations: ReadonlyMap<string, string>) =>
  (resource: Option.Option<Resource>): Option.Option<string> =>
    Option.flatMap(resource, (found) =>
      Option.orElse(found.counterparty, () =>
        found.resourceType === "WITHDRAWAL"
          ? Option.flatMap(found.destinationId, (id) => Option.fromNullable(destinations.get(id)))
          : Option.none(),
      ),
    )

/** A receivable may name a transaction by the entry's identifier, by its resource's, or by the network's hash. */
export const isLoanBy =
  (transactions: ReadonlySet<string>) =>
  (entry: StatementEntry, resource: Option.Option<Resource>): boolean =>
    transactions.size > 0 &&
    (transactions.has(entry.entryId) ||
      Option.exists(entry.relatedResourceId, (id) => transactions.has(id)) ||
      Option.exists(
        Option.flatMap(resource, (found) => found.transactionHash),
        (hash) => transactions.has(hash.toLowerCase()),
      ))
