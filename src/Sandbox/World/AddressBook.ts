import type { Identifiers } from "./Identifier.ts"
import { addressBookBanks } from "./Names.ts"
import { destinationsPerAccount, type World } from "./World.ts"

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/** An address in the form of the network; nobody owns it. */
const walletAddress = (
  ids: Identifiers,
  kind: "account" | "destination",
  index: number,
  network: string,
): string => {
  if (network !== "TRON") return `0x${ids.hex(kind, index, 11, 40)}`
  let address = "T"
  for (let place = 0; place < 33; place++) address += base58[ids.bits(kind, index, 100 + place) % 58]
  return address
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** Remainder of a decimal number, given as text, by 97. */
const mod97 = (digits: string): number => {
  let rest = 0
  for (const digit of digits) rest = (rest * 10 + (digit.charCodeAt(0) - 48)) % 97
  return rest
}

/** An ISO 11649 creditor reference: RF, check digits, reference, in groups of four. */
const creditorReference = (reference: string): string => {
  const numeric = [...`${reference}RF00`]
    .map((sign) => (letters.includes(sign) ? String(letters.indexOf(sign) + 10) : sign))
    .join("")
  const check = String(98 - mod97(numeric)).padStart(2, "0")
  return `RF${check}${reference}`.replace(/(.{4})(?=.)/g, "$1 ")
}

/** Who owns the accounts, and how the interface shows what is theirs. */
export interface Owner {
  readonly name: string
  /** Bank details lie flat beside the account number; every bank account is paid into with a reference. */
  readonly flat: boolean
}

/** Where money for an account is to be sent; a bank account that is not shared needs no reference, but for the flat form. */
export const depositInstructions = ({ accounts, ids }: World, index: number, owner: Owner): string => {
  const account = accounts[index]
  if (account === undefined) throw new RangeError(`no account ${index}`)
  if (account.currency.digital) {
    const address = walletAddress(ids, "account", index, account.network)
    return JSON.stringify({ walletAddress: address, network: account.network })
  }
  const bits = ids.bits("account", index, 3)
  const referenced = owner.flat || bits % 2 === 0
  const [bankName, swiftBic] = addressBookBanks[bits % addressBookBanks.length] ?? addressBookBanks[0]
  return JSON.stringify({
    beneficiaryName: owner.name,
    accountNumber: String(1_000_000_000 + (bits % 900_000_000)),
    swiftBic,
    bankName,
    ...(referenced
      ? { reference: creditorReference(`${letters[bits % 26]}${1_000_000 + (bits % 8_999_999)}`) }
      : {}),
  })
}

export const destinationStatuses = ["PENDING_REVIEW", "ACTIVE", "SUSPENDED", "CLOSED"] as const

const firstStatus = (index: number): string => {
  const place = index % destinationsPerAccount
  if (place < 2) return "ACTIVE"
  if (place === 3) return "PENDING_REVIEW"
  return Math.floor(index / destinationsPerAccount) % 2 === 0 ? "SUSPENDED" : "CLOSED"
}

const detailsOf = ({ accounts, ids }: World, index: number, flat: boolean) => {
  const account = accounts[Math.floor(index / destinationsPerAccount)]
  if (account === undefined) throw new RangeError(`no destination ${index}`)
  const currency = account.currency.code
  if (account.currency.digital) {
    const address = walletAddress(ids, "destination", index, account.network)
    return { currency, details: { walletAddress: address, network: account.network } }
  }
  const bits = ids.bits("destination", index, 3)
  const [bankName, swiftBic, country, city] = addressBookBanks[bits % 5] ?? addressBookBanks[0]
  const accountNumber = `ACC-${100_000_000 + (bits % 899_999_999)}`
  if (flat) return { currency, details: { accountNumber, swiftBic, bankName } }
  const full = bits % 3 !== 0
  const address = full ? { country, city, streetName: "Harbour Street", buildingNumber: "1a" } : { country }
  const bank = { bankName, address, ...(full ? { swiftBic } : { clearingCode: "026009593" }) }
  return { currency, details: { accountNumber, bank } }
}

/** An address book entry, in the block or the flat form. */
export const destination = (world: World, index: number, createdAt: string, flat: boolean): string => {
  const { currency, details } = detailsOf(world, index, flat)
  return JSON.stringify({
    destinationId: world.ids.of("destination", index),
    status: world.reviewed.get(index) ?? firstStatus(index),
    currency,
    ...details,
    ...(world.ids.bits("destination", index, 4) % 4 === 0 ? {} : { createdAt }),
  })
}

/** The snapshot of an address book entry on a withdrawal: without status and creation date, sometimes without identity. */
export const destinationSnapshot = (
  world: World,
  index: number,
  anonymous: boolean,
  flat: boolean,
): string => {
  const { currency, details } = detailsOf(world, index, flat)
  const identity = anonymous ? {} : { destinationId: world.ids.of("destination", index), currency }
  return JSON.stringify({ ...identity, ...details })
}
