/** What posting a movement has to know of its book beyond the movement itself. */
import { Option } from "effect"
import type { Resource, StatementEntry } from "../Partner.ts"

export interface BookFacts {
  /** The address book: what an entry's bank and account, or network and wallet, are called, by `destinationId`. */
  readonly destinations: ReadonlyMap<string, string>
  /** Those of the movements in question that receivables name as disbursement or repayment, in lower case. */
  readonly loanTransactions: ReadonlySet<string>
}

/** As the resource itself says, else as the address book calls where a withdrawal went. */
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

/** A transaction is named by the entry's identifier, its resource's, or the hash that the network gave it. */
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
