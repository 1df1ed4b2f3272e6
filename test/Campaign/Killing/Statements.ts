/**
 * Reads what a process sends to the database, statement by statement, from the bytes that leave its sockets. So no statement is
 * missed, whichever code sends it, and a place between two statements is the same for the test as for the server.
 */
/** Where a statement begins and ends in what is written, and its text. */
export interface Sent {
  readonly text: string
  /** Null where it began in an earlier write. */
  readonly from: number | null
  /** The place after the message that asks the server to execute it; null where that is not written yet. */
  readonly to: number | null
}

const startup = 196_608
const sslRequest = 80_877_103
const [bind, execute, flush, parse, query, sync] = [..."BEHPQS"].map((letter) => letter.charCodeAt(0))

const zero = (bytes: Buffer, from: number): number => {
  const end = bytes.indexOf(0, from)
  return end < 0 ? bytes.length : end
}

/** One session, as the client speaks it: protocol 3 of Postgres. */
export class Session {
  private state: "new" | "speaks" | "other" = "new"
  private left: Buffer = Buffer.alloc(0)
  private readonly prepared = new Map<string, string>()
  private parsed = ""
  /** A statement whose end is not written yet, and whether the server is asked to execute it. */
  private open: string | null = null
  private asked = false

  /** The statements of the next write, in order. */
  take(written: Buffer): ReadonlyArray<Sent> {
    if (this.state === "other") return []
    const before = this.left.length
    const bytes = before === 0 ? written : Buffer.concat([this.left, written])
    const found: Array<Sent> = []
    let at = 0
    for (;;) {
      const isNew = this.state === "new"
      const lengthAt = isNew ? at : at + 1
      if (bytes.length < lengthAt + 4) break
      const next = lengthAt + bytes.readUInt32BE(lengthAt)
      if (isNew) {
        const code = bytes.length < lengthAt + 8 ? 0 : bytes.readUInt32BE(lengthAt + 4)
        if (code !== startup && code !== sslRequest) {
          this.state = "other"
          return []
        }
        if (code === startup) this.state = "speaks"
      } else if (next <= bytes.length) {
        this.message(bytes, at, next, before, found)
      }
      if (next > bytes.length) break
      at = next
    }
    this.left = Buffer.from(bytes.subarray(at))
    return found
  }

  private begin(text: string, from: number, found: Array<Sent>): void {
    if (this.open !== null) return
    this.open = text
    found.push({ text, from: Math.max(0, from), to: null })
  }

  private end(to: number, found: Array<Sent>): void {
    if (this.open === null) return
    const last = found.pop()
    // A statement that began in an earlier write ends here.
    found.push(last === undefined ? { text: this.open, from: null, to } : { ...last, to })
    this.open = null
    this.asked = false
  }

  private message(bytes: Buffer, at: number, next: number, before: number, found: Array<Sent>): void {
    const body = at + 5
    switch (bytes[at]) {
      case query:
        this.begin(bytes.toString("utf8", body, zero(bytes, body)), at - before, found)
        this.end(next - before, found)
        return
      case parse: {
        const named = zero(bytes, body)
        this.parsed = bytes.toString("utf8", named + 1, zero(bytes, named + 1))
        this.prepared.set(bytes.toString("utf8", body, named), this.parsed)
        return
      }
      case bind: {
        const portal = zero(bytes, body)
        const name = bytes.toString("utf8", portal + 1, zero(bytes, portal + 1))
        this.begin(this.prepared.get(name) ?? this.parsed, at - before, found)
        return
      }
      case execute:
        this.begin("more rows of a cursor", at - before, found)
        this.asked = true
        return
      case flush:
        if (this.asked) this.end(next - before, found)
        return
      case sync:
        this.end(next - before, found)
        return
      default:
        return
    }
  }
}
