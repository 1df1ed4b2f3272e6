/** What the doctor says about an endpoint, or about a setting. */
import type { Answer } from "../Partner/Attempt.ts"
import * as Shape from "./Shape.ts"

export interface Finding {
  readonly verdict: "ok" | "wrong" | "notThere" | "untried"
  /** `error`: a sync would fail, at least in part. `warning`: something to decide or to check. */
  readonly severity: "none" | "warning" | "error"
  readonly detail: string
  /** The settings keys that are wrong, or that matter here. */
  readonly settings: ReadonlyArray<string>
  readonly advice: string | null
  /** Field names and types of the answer, never values; null: no answer. */
  readonly shape: string | null
}

export const finding = (
  verdict: Finding["verdict"],
  severity: Finding["severity"],
  detail: string,
  more: Partial<Pick<Finding, "settings" | "advice" | "shape">> = {},
): Finding => ({ verdict, severity, detail, settings: [], advice: null, shape: null, ...more })

export const untried = (detail: string, settings: ReadonlyArray<string> = []): Finding =>
  finding("untried", "none", detail, { settings })

export const wrong = (
  detail: string,
  settings: ReadonlyArray<string>,
  advice: string | null,
  answer: Answer,
): Finding => finding("wrong", "error", detail, { settings, advice, shape: Shape.describe(answer.value) })
