/** Stops a stream of which too many rows cannot be understood, before they all go into quarantine. */
import { Data, Effect } from "effect"
import { Settings } from "../../Settings.ts"

/** Too many rows of one stream cannot be understood: more likely a change of the interface than bad rows. */
export class QuarantineFlood extends Data.TaggedError("QuarantineFlood")<{
  readonly stream: string
  readonly malformed: number
  readonly rows: number
  readonly example: string
}> {
  /** For where the stream is named already. Like every text of a failure it ends without a full stop. */
  get why(): string {
    return `${this.malformed} of ${this.rows} rows could not be understood (${this.example}). The stream stopped before this page and its checkpoint is unchanged. If the interface has changed, mend the settings' interface section; limits.quarantine says when to stop`
  }

  override get message(): string {
    return `${this.stream}: ${this.why}`
  }
}

/** How many rows of each stream this run has read, and how many of them were malformed. */
const makeFloodGate = Effect.gen(function* () {
  const settings = yield* Settings
  const seen = new Map<string, { rows: number; malformed: number }>()

  /** Fails if malformed rows, of all that were read of a stream, exceed both limits of the settings. */
  const judge = (
    stream: string,
    now: { readonly rows: number; readonly malformed: number },
    malformed: ReadonlyArray<{ reason: string; path: string }>,
  ) =>
    Effect.suspend(() => {
      const { maxRows, maxShare } = settings.limits.quarantine
      if (malformed.length === 0 || now.malformed <= maxRows || now.malformed <= now.rows * maxShare) {
        return Effect.void
      }
      const [first] = malformed
      const example = first === undefined ? "" : `${first.path} ${first.reason}`
      return Effect.fail(new QuarantineFlood({ stream, ...now, example }))
    })

  /** The same of another page, with all that this run has read of the stream before. */
  const pass = (stream: string, rows: number, malformed: ReadonlyArray<{ reason: string; path: string }>) =>
    Effect.suspend(() => {
      const before = seen.get(stream) ?? { rows: 0, malformed: 0 }
      const now = { rows: before.rows + rows, malformed: before.malformed + malformed.length }
      seen.set(stream, now)
      return judge(stream, now, malformed)
    })

  return { judge, pass }
})

export class FloodGate extends Effect.Service<FloodGate>()("tieout/Sync/FloodGate", {
  effect: makeFloodGate,
}) {
  static readonly made = Effect.map(makeFloodGate, (parts) => new FloodGate(parts))
}
