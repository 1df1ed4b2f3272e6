/** Workers that are killed and stopped at random, and replaced. */
import { type ChildProcess, spawn } from "node:child_process"

const tieout = "bin/tieout.js"

/** Seconds between two disturbances, on average, and how long a worker is stopped: mostly shorter than its job is waited for. */
const between = 3
const stops = [1, 2, 4, 8, 40]

/** Mulberry32: the same seed disturbs in the same order. */
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Place {
  child: ChildProcess
  stopped: NodeJS.Timeout | undefined
}

export class Disturbed {
  readonly #env: Record<string, string>
  readonly #random: () => number
  readonly #places: Array<Place>
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #kills = 0
  #stops = 0
  #log = ""

  constructor(count: number, env: Record<string, string>, seed: number) {
    this.#env = env
    this.#random = randomFrom(seed)
    this.#places = Array.from({ length: count }, () => {
      const place: Place = { child: this.#start(), stopped: undefined }
      this.#follow(place)
      return place
    })
  }

  get said(): string {
    return `${this.#kills} kills and ${this.#stops} stops so far`
  }

  goOn(): void {
    const next = () => {
      const wait = -Math.log(1 - this.#random()) * between * 1_000
      this.#timer = setTimeout(() => {
        this.#disturb()
        next()
      }, wait)
    }
    next()
  }

  /** Nothing is disturbed; who is stopped goes on at its time. */
  pause(): void {
    clearTimeout(this.#timer)
  }

  async end(): Promise<void> {
    this.pause()
    this.#isEnding = true
    await Promise.all(
      this.#places.map(async ({ child, stopped }) => {
        clearTimeout(stopped)
        const gone = new Promise((resolve) => child.once("exit", resolve))
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill("SIGCONT")
        child.kill("SIGTERM")
        const killing = setTimeout(() => child.kill("SIGKILL"), 20_000)
        await gone
        clearTimeout(killing)
      }),
    )
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, [tieout, "worker", "--jobs", "4"], {
      env: { ...process.env, ...this.#env },
      stdio: ["ignore", "ignore", "pipe"],
    })
    child.stderr?.on("data", (text: Buffer) => {
      this.#log = (this.#log + text.toString()).slice(-4_000)
    })
    return child
  }

  /** A worker that ended by itself is a failure of the run; one that was killed is replaced. */
  #follow(place: Place): void {
    place.child.once("exit", (code) => {
      clearTimeout(place.stopped)
      place.stopped = undefined
      if (this.#isEnding) return
      if (code !== null) throw new Error(`a worker ended with ${code}: ${this.#log}`)
      place.child = this.#start()
      this.#follow(place)
    })
  }

  #disturb(): void {
    const place = this.#places[Math.floor(this.#random() * this.#places.length)]
    if (place === undefined || place.stopped !== undefined) return
    const { child } = place
    if (this.#random() < 0.5) {
      this.#kills += 1
      child.kill("SIGKILL")
      return
    }
    this.#stops += 1
    child.kill("SIGSTOP")
    const seconds = stops[Math.floor(this.#random() * stops.length)] ?? 1
    place.stopped = setTimeout(() => {
      place.stopped = undefined
      child.kill("SIGCONT")
    }, seconds * 1_000)
  }
}
