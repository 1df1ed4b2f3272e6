/**
 * Tells whether two sets of booked amounts are the same, in memory that does not grow: each amount, weighted by a hash of
 * what it is booked as, is added to one of 1,024 sums by its journal. Lines that cancel out or come in parts change nothing.
 * Tampering is the checksums' matter, so that the hash need not be a cryptographic one.
 */
const size = 1024

const hashOf = (text: string, seed: number): number => {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x85ebca6b) >>> 0
}

export const bucketOf = (group: string): number => hashOf(group, 0x811c9dc5) % size

export class Fingerprint {
  private readonly sums = new BigUint64Array(size)

  /** `group` is the journal or the day that `key` belongs to. */
  add(group: string, key: string, amount: bigint): void {
    const weight = (BigInt(hashOf(key, 0x811c9dc5)) << 32n) | BigInt(hashOf(key, 0x9e3779b9))
    const bucket = bucketOf(group)
    const sum = (this.sums[bucket] ?? 0n) + (weight | 1n) * amount
    this.sums[bucket] = BigInt.asUintN(64, sum)
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
