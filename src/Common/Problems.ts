/** Something wrong in a checked folder, with its place. */
export interface Problem {
  readonly file: string
  /** Line in the file, the first is 1; null: the whole file. */
  readonly line: number | null
  readonly message: string
}

/** The first problems say enough: a file that is wrong throughout would give a million. */
const shownProblems = 50

export class Problems {
  readonly found: Array<Problem> = []
  /** All problems, listed or not. */
  count = 0
  /** What could not be checked, or is worth knowing without being a problem. */
  readonly notes: Array<string> = []

  add(file: string, line: number | null, message: string): void {
    this.count += 1
    if (this.found.length < shownProblems) this.found.push({ file, line, message })
  }

  note(text: string): void {
    this.notes.push(text)
  }

  /** Appends another check's problems to these, and returns itself. */
  absorb(other: Pick<Problems, "found" | "count" | "notes">): this {
    for (const { file, line, message } of other.found) this.add(file, line, message)
    this.count += other.count - other.found.length
    this.notes.push(...other.notes)
    return this
  }
}
