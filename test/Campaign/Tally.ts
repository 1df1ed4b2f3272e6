/** Counts the histories of a campaign, and prints its progress and each history that failed. */
import { mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { lineOf } from "./History.ts"
import type { Told } from "./Worker.ts"

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** The folder of failing histories, which `--replay` plays again. */
export const failuresFolder = join(tmpdir(), "tieout-campaign")

/** Milliseconds of processor time; undefined for the server where the system does not say. */
interface Spent {
  readonly node: number
  readonly server: number | undefined
}

const failure = ({ history, problem, seed }: Told): ReadonlyArray<string> => {
  const first = `FAILED seed ${seed}: ${problem?.slice(0, 2_000)}`
  if (history === null) return [first]
  mkdirSync(failuresFolder, { recursive: true })
  const file = join(failuresFolder, `${seed.replaceAll(/[^A-Za-z0-9-]/g, "_")}.json`)
  writeFileSync(file, JSON.stringify(history, null, 1))
  return [
    first,
    `  ${JSON.stringify(history.settings)}`,
    ...history.steps.map((step) => `  ${lineOf(step)}`),
    `  again: npm run campaign -- --replay ${file}`,
  ]
}

/** The cost of each of so many histories, with the server's background processes and without the campaign's own process. */
const costs = (histories: number, { node, server }: Spent): string => {
  if (histories === 0 || node === 0) return ""
  const each = (milliseconds: number): string => (milliseconds / histories).toFixed(0)
  return server === undefined
    ? `, ${each(node)} ms of processor time each in Node`
    : `, ${each(node + server)} ms of processor time each: ${each(node)} Node, ${each(server)} Postgres`
}

export class Tally {
  histories = 0
  failed = 0
  private node = 0
  private readonly began = performance.now()
  private readonly serverAtFirst: number | undefined
  private last: { readonly histories: number; readonly spent: Spent }

  private readonly every: number
  private readonly serverTime: () => number | undefined
  private readonly show: boolean

  /** `every`: a line is printed after so many. `serverTime`: the server's processor time so far. */
  constructor(every: number, serverTime: () => number | undefined, show: boolean) {
    this.every = every
    this.serverTime = serverTime
    this.show = show
    this.serverAtFirst = serverTime()
    this.last = { histories: 0, spent: this.spent }
  }

  /** The processor time of both sides since the beginning. */
  private get spent(): Spent {
    const now = this.serverTime()
    const { serverAtFirst: before } = this
    return { node: this.node, server: now === undefined || before === undefined ? undefined : now - before }
  }

  /** `spent`: Node's processor time for it. */
  take(told: Told, spent: number): void {
    this.histories += told.books
    this.node += spent
    if (this.show) say(`${told.seed}: ${told.told.join(" / ")}`)
    if (told.problem !== null) {
      this.failed += 1
      for (const line of failure(told)) say(line)
    }
    if (this.histories - this.last.histories < this.every) return
    const { histories, spent: before } = this.last
    const now = this.spent
    const server = now.server === undefined ? undefined : now.server - (before.server ?? 0)
    const since = costs(this.histories - histories, { node: now.node - before.node, server })
    say(`${this.count}; the last ${this.histories - histories}${since}`)
    this.last = { histories: this.histories, spent: now }
  }

  private get count(): string {
    const seconds = (performance.now() - this.began) / 1_000
    const rate = (this.histories / seconds).toFixed(1)
    return `${this.histories} histories, ${this.failed} failed, ${seconds.toFixed(1)} s, ${rate} a second`
  }

  /** The total since the beginning. */
  get line(): string {
    return `${this.count}${costs(this.histories, this.spent)}`
  }
}
