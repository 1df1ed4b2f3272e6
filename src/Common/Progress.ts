/** The progress of long work. It is only shown if `Progress` is provided, as `Terminal/ShownProgress.ts` does. */
import { Context, Effect } from "effect"

export interface Stage {
  /** The work: `sync default`, `export`. */
  readonly name: string
  /**
   * How far the work is, called whenever it is shown: `12,345 entries, 3 of 12 accounts`; empty while there is nothing to show.
   */
  readonly text: () => string
}

export interface ProgressService {
  /** Begins a stage; the returned function ends it. */
  readonly begin: (stage: Stage) => () => void
}

export class Progress extends Context.Reference<Progress>()("tieout/Progress", {
  defaultValue: (): ProgressService => ({ begin: () => () => {} }),
}) {}

/** Shows the stage for as long as the work goes on. A nested stage is shown after the outer one. */
export const inStage =
  (name: string, text: Stage["text"] = () => "") =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Progress, (progress) =>
      Effect.acquireUseRelease(
        Effect.sync(() => progress.begin({ name, text })),
        () => work,
        (end) => Effect.sync(end),
      ),
    )
