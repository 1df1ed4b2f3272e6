/**
 * Compares two sets of booked amounts in constant memory: each amount, weighted by a hash of its account, is added to one of
 * 1,024 sums, which its journal selects. Lines that cancel out or come in parts change nothing. The hash need not be cryptographic:
 * checksums protect against tampering.
 */
const size = 1024

/** The most accounts whose hashes are cached; a file may name any number. */
const accountsKept = 100_000

/** Two hashes of 32 bits. */
interface Hash {
  readonly low: number
  readonly high: number
}

const mixed = (hash: number): number => {
  const folded = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return Math.imul(folded ^ (folded >>> 13), 0xc2b2ae35) >>> 0
}

const hashOf = (text: string): Hash => {
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b)
  }
  return { low: mixed(low), high: mixed(high) }
}

const bucketIn = ({ low }: Hash): number => low % size

export const bucketOf = (group: string): number => bucketIn(hashOf(group))

export class Fingerprint {
  private readonly sums = new BigUint64Array(size)
  /** Cached: there are few accounts, and a journal's lines follow one another. */
  private readonly accounts = new Map<string, Hash>()
  private group = ""
  private hash = hashOf("")

  private accountHash(account: string): Hash {
    const known = this.accounts.get(account)
    if (known !== undefined) return known
    const made = hashOf(account)
    if (this.accounts.size < accountsKept) this.accounts.set(account, made)
    return made
  }

  /** `group` is the unit of comparison: a journal or a day. */
  add(group: string, account: string, amount: bigint): void {
    if (group !== this.group) {
      this.group = group
      this.hash = hashOf(group)
    }
    const own = this.accountHash(account)
    const low = mixed(this.hash.low ^ Math.imul(own.low, 0x9e3779b1))
    const high = mixed(this.hash.high ^ Math.imul(own.high, 0x85ebca77))
    const weight = (BigInt(low) << 32n) | BigInt((high | 1) >>> 0)
    const bucket = bucketIn(this.hash)
    this.sums[bucket] = BigInt.asUintN(64, (this.sums[bucket] ?? 0n) + weight * amount)
  }

  /** The buckets in which the two differ. */
  differences(other: Fingerprint): ReadonlySet<number> {
    const found = new Set<number>()
    this.sums.forEach((sum, bucket) => {
      if (sum !== other.sums[bucket]) found.add(bucket)
    })
    return found
  }
}
