/** What the reading of one statement came to. */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { WholeStatement } from "../Runs/Evidence.ts"
import { statementStream } from "./Checkpoint.ts"
import type { Reading } from "./Reading.ts"

export interface StatementOutcome {
  readonly accountId: string
  readonly newEntries: number
  readonly held: number
  /** Entries wait behind a gap. */
  readonly broken: boolean
  /** The books' balance after the last entry that is not held; none: there is no entry. */
  readonly balance: Option.Option<Amount>
  /** When the request for the last page was sent, ISO 8601, our clock. */
  readonly tailReadAt: Option.Option<string>
  /** When the first page was asked for (`Page.askedAt`). */
  readonly beganAt: Option.Option<Instant>
}

/** The evidence that an outcome gives for its stream; none if the statement was not followed to its end. */
export const wholeStatement = ({
  accountId,
  beganAt,
  tailReadAt,
}: StatementOutcome): ReadonlyArray<WholeStatement> =>
  Option.isSome(tailReadAt)
    ? [{ accountId, tailReadAt: tailReadAt.value, read: { stream: statementStream(accountId), beganAt } }]
    : []

export const outcomeOf = (accountId: string, reading: Reading): StatementOutcome => ({
  accountId,
  newEntries: reading.newEntries,
  held: reading.held,
  broken: reading.chain.broken,
  balance: reading.chain.balance,
  tailReadAt: reading.tailReadAt,
  beganAt: reading.beganAt ?? Option.none(),
})
