/** Counts what a process sends, and notices when it has reached the place where it must end. */
import type { Kill } from "../History.ts"
import type { Watcher } from "./Sockets.ts"

export type Counted = Exclude<Kill["of"], "millisecond">
export type Counts = Readonly<Record<Counted, number>>

const isWrite = (text: string): boolean => /^\s*(insert|update|delete|with)\b/i.test(text)
const isCommit = (text: string): boolean => /^\s*commit\b/i.test(text)

export class Aim implements Watcher {
  readonly counts = { statement: 0, write: 0, commit: 0, request: 0 }
  private readonly kill: Kill | null
  private readonly reached: (nth: number, text: string) => () => void
  /** The text of the statement or request at that place. */
  private awaited: string | null = null

  constructor(kill: Kill | null, reached: (nth: number, text: string) => () => void) {
    this.kill = kill
    this.reached = reached
  }

  private count(of: Counted): boolean {
    this.counts[of] += 1
    return this.kill?.of === of && this.kill.nth === this.counts[of]
  }

  before(text: string): (() => void) | null {
    const isHere = [
      this.count("statement"),
      isWrite(text) && this.count("write"),
      isCommit(text) && this.count("commit"),
    ].includes(true)
    if (!isHere) return null
    if (this.kill?.side === "before") return this.reached(this.counts.statement, text)
    this.awaited = text
    return null
  }

  after(text: string): (() => void) | null {
    if (text !== this.awaited) return null
    this.awaited = null
    return this.reached(this.counts.statement, text)
  }

  /** Called before a request to the service; answers whether it is the last. */
  request(): (() => void) | null {
    return this.count("request") ? this.reached(this.counts.request, "a request to the service") : null
  }
}
