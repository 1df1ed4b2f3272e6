/** The messages to the process that will be killed, and those that it sends: one line of JSON each. */
import type { History, Kill } from "../History.ts"
import type { Served } from "../World.ts"

/** Asks the process to bring a world to a step of a history and to do that step. */
export interface Command {
  readonly history: History
  readonly step: number
  readonly connection: string
  readonly out: string
  /** The database's address. */
  readonly url: string
  /** What the service served, what was exported, and which events were sent before that step. */
  readonly readToEnd: ReadonlyArray<readonly [stream: string, at: number]>
  readonly moments: ReadonlyArray<string>
  readonly announced: number
  readonly kill: Kill
}

export type Line =
  | { readonly line: "begins" }
  | { readonly line: "served"; readonly served: Served }
  /** The process reached this place and signals itself next. */
  | { readonly line: "place"; readonly nth: number; readonly text: string }
  /** The operation came to its end before that place. */
  | { readonly line: "ended"; readonly done: boolean; readonly told: string }
  | { readonly line: "died"; readonly cause: string }

export const isLine = (value: unknown): value is Line =>
  typeof value === "object" && value !== null && "line" in value
