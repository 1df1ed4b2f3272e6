import { Schema } from "effect"
import { AccountRef, Currency, Decimal, identity, listed, optional, Time, Uuid } from "./Reader.ts"

// The forms of the client surface, written down from the interface a second time, as in Reader.ts.

const NonEmpty = Schema.String.pipe(Schema.minLength(1))
const Day = Schema.String.pipe(Schema.pattern(/^\d{4}-\d\d-\d\d$/))

export const Client = Schema.Struct({
  clientId: Uuid,
  code: NonEmpty,
  legalEntityName: NonEmpty,
  legalAddress: Schema.Struct({
    address: NonEmpty,
    addressExtended: optional(NonEmpty),
    city: NonEmpty,
    district: optional(NonEmpty),
    postalCode: NonEmpty,
    country: Schema.String.pipe(Schema.pattern(/^[A-Z]{2}$/)),
  }),
  incorporationDate: Day,
  registrationDate: Day,
  status: Schema.Literal("ONBOARDING", "ACTIVE", "DISABLED"),
  partnerClientId: NonEmpty,
  currency: Currency,
  paymentRails: NonEmpty,
  disbursementAccount: optional(Schema.Struct({ accountNumber: optional(NonEmpty) })),
})

export const FlatDeposit = Schema.Struct({
  depositId: Uuid,
  account: AccountRef,
  amount: Decimal,
  feeAmount: optional(Decimal),
  currency: Currency,
  status: Schema.Literal("PENDING", "HELD", "COMPLETED", "CANCELED", "REJECTED"),
  remitterName: optional(Schema.String),
  code: optional(Schema.String),
  transactionHash: optional(Schema.String),
  reasonCode: optional(Schema.String),
  createdAt: Time,
})

const bankDetails = { accountNumber: NonEmpty, swiftBic: NonEmpty, bankName: NonEmpty }
const walletDetails = { walletAddress: NonEmpty, network: Schema.Literal("TRON", "AVALANCHE") }

export const FlatDestination = Schema.Union(
  Schema.Struct({ ...listed, ...bankDetails }),
  Schema.Struct({ ...listed, ...walletDetails }),
)

export const FlatWithdrawal = Schema.Struct({
  withdrawalId: Uuid,
  sourceAccount: AccountRef,
  amount: Decimal,
  feeAmount: optional(Decimal),
  currency: Currency,
  destination: Schema.Union(
    Schema.Struct({ ...identity, ...bankDetails }),
    Schema.Struct({ ...identity, ...walletDetails }),
  ),
  status: Schema.Literal("PENDING", "HELD", "COMPLETED", "CANCELED", "REJECTED"),
  code: optional(Schema.String),
  purpose: optional(Schema.String),
  supportingDocuments: optional(Schema.Array(Schema.Unknown)),
  externalReference: optional(Schema.String.pipe(Schema.maxLength(255))),
  transactionHash: optional(Schema.String),
  reasonCode: optional(Schema.String),
  createdAt: Time,
})

export const FlatConversion = Schema.Struct({
  conversionId: Uuid,
  pairId: Uuid,
  status: Schema.Literal("ACTIVE", "COMPLETED", "CANCELED"),
  reasonCode: optional(Schema.String),
  sellAccount: AccountRef,
  sellAmount: Decimal,
  buyAccount: AccountRef,
  buyAmount: Decimal,
  rate: Decimal,
  feeAmount: Decimal,
  feeCurrency: Currency,
  externalReference: optional(Schema.String.pipe(Schema.maxLength(255))),
  createdAt: Time,
  completedAt: optional(Time),
})

export const FlatInstruction = Schema.Union(
  Schema.Struct({
    beneficiaryName: NonEmpty,
    accountNumber: NonEmpty,
    swiftBic: NonEmpty,
    bankName: NonEmpty,
    reference: Schema.String.pipe(Schema.pattern(/^RF\d\d( [A-Z0-9]{1,4})+$/)),
  }),
  Schema.Struct({ walletAddress: NonEmpty, network: Schema.Literal("TRON", "AVALANCHE") }),
)
