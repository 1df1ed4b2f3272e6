/** Where withdrawals go: a few accounts and a wallet, as the service shows them on a withdrawal. */
import type { IdOf } from "../Identifiers.ts"

type Shown = Readonly<Record<string, string>>

const known: Readonly<Record<string, Shown>> = {
  north: { bankName: "North Bank", accountNumber: "DE0112", swiftBic: "NORTDEFF" },
  south: { bankName: "South & Sons", accountNumber: "FR9901", swiftBic: "SOUTFRPP" },
  wallet: { network: "TRON", walletAddress: "TNorthWallet01" },
}

export const destinations = ["north", "south", "wallet"] as const

/** A destination without an identifier, which was not taken from the address book. */
const other: Shown = { bankName: "Bank", accountNumber: "DE00", swiftBic: "X" }

export const destinationOf = (name: string | undefined, idOf: IdOf): Shown => {
  const found = name === undefined ? undefined : known[name]
  return found === undefined ? other : { ...found, destinationId: idOf(`destination ${name}`) }
}
