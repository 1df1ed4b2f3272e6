/** Decodes quarantined rows again from their stored JSON, with today's decoders and names. Sends nothing. */
import { Either, Option } from "effect"
import type {
  Account,
  Receivable,
  ReferenceItem,
  Resource,
  ResourceType,
  StatementEntry,
} from "../Partner.ts"
import type { Interface } from "../Settings/Interface.ts"
import type { Row } from "./Lists/Page.ts"
import * as AccountRow from "./Wire/Account.ts"
import * as Conversion from "./Wire/Conversion.ts"
import * as Credit from "./Wire/Credit.ts"
import * as Deposit from "./Wire/Deposit.ts"
import * as Reference from "./Wire/ReferenceItem.ts"
import { type Decoder, decode } from "./Wire/RowDecoder.ts"
import * as StatementRow from "./Wire/StatementEntry.ts"
import * as Withdrawal from "./Wire/Withdrawal.ts"

const references = {
  conversion_pair: Reference.conversionPair,
  destination: Reference.destination,
  client: Credit.client,
  payment_rail: Reference.paymentRail,
  credit_account: Credit.creditAccount,
} as const

export type ReferenceKind = keyof typeof references

export const isReferenceKind = (stream: string): stream is ReferenceKind => Object.hasOwn(references, stream)

const parsed = (raw: string): Either.Either<unknown, string> =>
  Either.try({ try: (): unknown => JSON.parse(raw), catch: () => "is not whole JSON" })

/** A replacement character may stand in place of lost bytes, so a row with one stays malformed. */
const read = <A>(decoder: Decoder<A>, raw: string): Row<A> =>
  Either.match(parsed(raw), {
    onLeft: (reason) => Either.left({ raw, reason, path: "$", id: Option.none() }),
    onRight: (value) => decode(decoder, value, () => raw, { text: raw, suspect: true, replaced: true }),
  })

export interface KeptRows {
  readonly resource: (type: ResourceType, raw: string) => Row<Resource>
  readonly account: (raw: string) => Row<Account>
  readonly statementEntry: (accountId: string, raw: string) => Row<StatementEntry>
  readonly reference: (kind: ReferenceKind, raw: string) => Row<ReferenceItem>
  readonly depositInstruction: (accountId: string, raw: string) => Row<ReferenceItem>
  readonly receivable: (raw: string) => Row<Receivable>
}

/** `timeZone`: the books'. */
export const keptRows = ({ money }: Interface, timeZone: string): KeptRows => {
  const resources: { readonly [T in ResourceType]: Decoder<Resource> } = {
    DEPOSIT: Deposit.decoder(money),
    WITHDRAWAL: Withdrawal.decoder(money),
    CONVERSION: Conversion.decoder(money),
  }
  return {
    resource: (type, raw) => read(resources[type], raw),
    account: (raw) => read(AccountRow.decoder, raw),
    statementEntry: (accountId, raw) => read(StatementRow.decoder(accountId, timeZone), raw),
    reference: (kind, raw) => read<ReferenceItem>(references[kind], raw),
    depositInstruction: (accountId, raw) => read(Reference.depositInstruction(accountId), raw),
    receivable: (raw) => read(Credit.receivableIn(timeZone), raw),
  }
}
