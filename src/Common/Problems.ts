/** What a check of a folder found, with its place. */
export interface Problem {
  readonly file: string
  /** Line in the file, from 1; null where the whole file is meant. */
  readonly line: number | null
  readonly message: string
}

/** The first problems say enough; a file that is wrong from top to bottom would give a million. */
const most = 50

export class Problems {
  readonly found: Array<Problem> = []
  /** All of them, kept or not. */
  count = 0
  /** What could not be checked, or is worth knowing, and is no problem. */
  readonly notes: Array<string> = []

  add(file: string, line: number | null, message: string): void {
    this.count += 1
    if (this.found.length < most) this.found.push({ file, line, message })
  }

  note(text: string): void {
    this.notes.push(text)
  }

  /** What another check found, behind what this one did. */
  absorb(other: Problems): void {
    for (const { file, line, message } of other.found) this.add(file, line, message)
    this.count += other.count - other.found.length
    this.notes.push(...other.notes)
  }
}
