/** What long work says of itself while it goes on. Nobody sees it unless `Progress` is provided: `Terminal/Progress.ts` shows it. */
import { Context, Effect } from "effect"

export interface Stage {
  /** The work: `sync default`, `export`. */
  readonly name: string
  /** How far the work is, asked for whenever it is shown: `12,345 entries, 3 of 12 accounts`; empty as long as there is nothing to say. */
  readonly text: () => string
}

export interface ProgressService {
  /** The stage goes on until what this returns is called. */
  readonly begin: (stage: Stage) => () => void
}

export class Progress extends Context.Reference<Progress>()("tieout/Progress", {
  defaultValue: (): ProgressService => ({ begin: () => () => {} }),
}) {}

/** Shows the stage for as long as the work goes on. A stage within another is shown behind it. */
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
