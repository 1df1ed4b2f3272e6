/** What the process that is to be killed is told, and what it tells: a line of JSON each. */
import type { History, Kill } from "../History.ts"
import type { Served } from "../World.ts"

/** Brings a world to a step of a history and does what the step says. */
export interface Command {
  readonly history: History
  readonly step: number
  readonly connection: string
  readonly out: string
  /** Of the database. */
  readonly url: string
  /** What the service served before, and what was exported and sent. */
  readonly readToEnd: ReadonlyArray<readonly [stream: string, at: number]>
  readonly moments: ReadonlyArray<string>
  readonly announced: number
  readonly kill: Kill
}

export type Line =
  | { readonly line: "begins" }
  | { readonly line: "served"; readonly served: Served }
  /** What comes next is a signal: where it is. */
  | { readonly line: "place"; readonly nth: number; readonly text: string }
  /** It came to its end after all. */
  | { readonly line: "ended"; readonly done: boolean; readonly told: string }
  | { readonly line: "died"; readonly cause: string }

export const isLine = (value: unknown): value is Line =>
  typeof value === "object" && value !== null && "line" in value
