import type { Account } from "./SandboxAccount.ts"

/** Something that an earlier movement left to happen: a fee, a second leg, a final state. */
export interface Task {
  /** The movement number from which on it happens. */
  readonly due: number
  /** How many statement entries it posts at most. */
  readonly entries: number
  readonly accounts: ReadonlyArray<Account>
  /** Does it; false if it cannot happen yet. */
  readonly run: () => boolean
}

interface Queued {
  readonly due: number
  readonly order: number
  readonly task: Task
}

const before = (a: Queued, b: Queued): boolean => a.due < b.due || (a.due === b.due && a.order < b.order)

/** Tasks by due movement, first come first served within one: a binary heap. */
export class Later {
  #heap: Array<Queued> = []
  #order = 0

  get size(): number {
    return this.#heap.length
  }

  get first(): Task | undefined {
    return this.#heap[0]?.task
  }

  add(task: Task, due = task.due): void {
    const item = { due, order: this.#order++, task }
    let index = this.#heap.length
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#heap[parentIndex]
      if (parent === undefined || before(parent, item)) break
      this.#heap[index] = parent
      index = parentIndex
    }
    this.#heap[index] = item
  }

  /** The movement from which on the first task happens. */
  get firstDue(): number | undefined {
    return this.#heap[0]?.due
  }

  /** Takes the first task out. */
  take(): Task | undefined {
    const top = this.#heap[0]
    const last = this.#heap.pop()
    if (top === undefined || last === undefined || this.#heap.length === 0) return top?.task
    let index = 0
    for (;;) {
      const left = this.#heap[2 * index + 1]
      const right = this.#heap[2 * index + 2]
      if (left === undefined) break
      const goRight = right !== undefined && before(right, left)
      const child = goRight ? right : left
      if (before(last, child)) break
      this.#heap[index] = child
      index = 2 * index + (goRight ? 2 : 1)
    }
    this.#heap[index] = last
    return top.task
  }
}
