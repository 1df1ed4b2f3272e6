/**
 * Check sums from which one finds the line of a file that has changed: of the first `every` lines, of twice as many and so
 * on. At most 512 of them whatever the file's length, so that the place is exact in files of up to 512 lines and known to
 * within `every` lines in longer ones.
 */
import { createHash } from "node:crypto"

/** `prefixes` has eight hexadecimal digits for each `every` lines: the beginning of the SHA-256 of all bytes up to there. */
export interface LineChecks {
  readonly every: number
  readonly prefixes: string
}

const checkedStretches = 512
const lineFeed = 0x0a
const digits = 8

/** Fed with a file's bytes in order. */
export class LineDigests {
  private readonly hash = createHash("sha256")
  private every = 1
  private lines = 0
  private prefixes: Array<string> = []
  /** To compare a file with existing checks the step is theirs, and no more prefixes are made: whoever forged a file may have put any number of lines into it. */
  private readonly fixed: boolean
  private readonly most: number = Number.POSITIVE_INFINITY

  constructor(stated?: LineChecks) {
    this.fixed = stated !== undefined
    if (stated === undefined) return
    this.every = stated.every
    this.most = Math.min(checkedStretches, stated.prefixes.length / digits)
  }

  add(bytes: Buffer): void {
    let from = 0
    let at = bytes.indexOf(lineFeed)
    for (; at >= 0 && this.prefixes.length < this.most; at = bytes.indexOf(lineFeed, at + 1)) {
      this.lines += 1
      if (this.lines % this.every !== 0) continue
      this.hash.update(bytes.subarray(from, at + 1))
      from = at + 1
      this.prefixes.push(this.hash.copy().digest("hex").slice(0, digits))
      if (!this.fixed && this.prefixes.length > checkedStretches) this.thin()
    }
    if (from < bytes.length) this.hash.update(bytes.subarray(from))
  }

  private thin(): void {
    this.prefixes = this.prefixes.filter((_, at) => at % 2 === 1)
    this.every *= 2
  }

  /** Lower-case hexadecimal; ends the feeding. */
  sha256(): string {
    return this.hash.digest("hex")
  }

  checks(): LineChecks {
    return { every: this.every, prefixes: this.prefixes.join("") }
  }
}

/** The first and the last line among which a file first differs from its checks. */
export const firstChange = (stated: LineChecks, found: LineChecks): readonly [from: number, to: number] => {
  const { every } = stated
  const same = Array.from({ length: stated.prefixes.length / digits }, (_, at) => at * digits).findIndex(
    (at) => stated.prefixes.slice(at, at + digits) !== found.prefixes.slice(at, at + digits),
  )
  const block = same < 0 ? stated.prefixes.length / digits : same
  return [block * every + 1, (block + 1) * every]
}
