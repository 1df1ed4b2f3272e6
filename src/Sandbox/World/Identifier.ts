import { mix32 } from "./Random.ts"

const kinds = {
  account: 1,
  entry: 2,
  deposit: 3,
  withdrawal: 4,
  conversion: 5,
  pair: 6,
  destination: 7,
  payout: 8,
  subscription: 9,
  client: 10,
  receivable: 11,
  creditAccount: 12,
  publicKey: 13,
  event: 14,
} as const

/** What an identifier is for; an identifier of one kind is unknown as another. */
export type IdentifierKind = keyof typeof kinds

const factorA = 0x21f0aaad
const factorB = 0x735a2d97

/** The inverse of an odd number modulo 2^32, by Newton's method (each step doubles the correct bits). */
const inverse32 = (odd: number): number => {
  let x = odd
  for (let step = 0; step < 5; step++) x = Math.imul(x, 2 - Math.imul(odd, x))
  return x >>> 0
}

const inverseA = inverse32(factorA)
const inverseB = inverse32(factorB)

const scramble = (value: number): number => {
  let x = value >>> 0
  x = Math.imul(x ^ (x >>> 16), factorA)
  x = Math.imul(x ^ (x >>> 16), factorB)
  return (x ^ (x >>> 16)) >>> 0
}

const unscramble = (value: number): number => {
  let x = (value ^ (value >>> 16)) >>> 0
  x = Math.imul(x, inverseB)
  x = Math.imul(x ^ (x >>> 16), inverseA)
  return (x ^ (x >>> 16)) >>> 0
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const hex8 = (byte: number): string => hexBytes[byte & 255] ?? "00"
const hex16 = (word: number): string => hex8(word >>> 8) + hex8(word)
const hex32 = (word: number): string => hex16(word >>> 16) + hex16(word)

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/**
 * Identifiers in UUID v4 form whose first 32 bits are the item's index, scrambled by the seed: they look random, are
 * unique, and lead back to their item without a table.
 */
export class Identifiers {
  #seed: number

  constructor(seed: number) {
    this.#seed = mix32(seed ^ 0x5a17d0c5)
  }

  #key(kind: IdentifierKind): number {
    return mix32(this.#seed + Math.imul(kinds[kind], 0x9e3779b9))
  }

  /** The identifier of the item of that kind at `index` (0 .. 2^32 - 1). */
  of(kind: IdentifierKind, index: number): string {
    const key = this.#key(kind)
    const first = scramble(index ^ key)
    const second = mix32(first + key)
    const third = mix32(second ^ 0x3c6ef372)
    const fourth = mix32(third + 0x1b873593)
    const version = 0x4000 | (second & 0x0fff)
    const variant = 0x8000 | (third >>> 18)
    return (
      `${hex32(first)}-${hex16(second >>> 16)}-${hex16(version)}-` +
      `${hex16(variant)}-${hex16(third)}${hex32(fourth)}`
    )
  }

  /** The index behind an identifier, or undefined if no item of that kind below `count` has it. */
  indexOf(kind: IdentifierKind, id: string, count: number): number | undefined {
    if (!uuidForm.test(id)) return undefined
    const index = (unscramble(Number.parseInt(id.slice(0, 8), 16)) ^ this.#key(kind)) >>> 0
    return index < count && this.of(kind, index) === id ? index : undefined
  }

  /** 32 bits that belong to an item and a purpose: decides its names, references and absent fields without storing them. */
  bits(kind: IdentifierKind, index: number, purpose: number): number {
    return mix32(mix32(index ^ this.#key(kind)) + Math.imul(purpose + 1, 0x85ebca6b))
  }

  /** As many hexadecimal digits as asked for, belonging to an item and a purpose. */
  hex(kind: IdentifierKind, index: number, purpose: number, digits: number): string {
    let text = ""
    for (let word = 0; text.length < digits; word++)
      text += hex32(this.bits(kind, index, purpose * 64 + word))
    return text.slice(0, digits)
  }
}
