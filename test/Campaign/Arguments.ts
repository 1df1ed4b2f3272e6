/** The command line of `npm run campaign`. */
import { parseArgs } from "node:util"
import type { Features } from "./Flow.ts"
import type { Shape } from "./Generator.ts"

/** The features that the connector implements as the design says: histories use all of them unless the command line names fewer. */
const landed: Features = {
  conversions: true,
  loans: true,
  zeroRows: true,
  enriched: true,
  goneAccounts: true,
  splitFees: true,
}

export interface Asked {
  readonly histories: number
  readonly seed: string
  readonly from: number
  readonly kills: number
  readonly workers: number
  /** After so many seconds no new history begins. */
  readonly seconds: number
  readonly shape: Shape
  readonly shrink: boolean
  readonly show: boolean
  /** A file with one history, which is played instead of generated ones. */
  readonly replay: string | undefined
}

const names = ["conversions", "loans", "zeroRows", "enriched", "goneAccounts", "splitFees"] as const

/** Takes `landed` (the default), `all`, or names separated by commas. */
const featuresOf = (text: string): Features => {
  if (text === "landed") return landed
  const wanted = new Set(text === "all" ? names : text.split(","))
  return {
    conversions: wanted.has("conversions"),
    loans: wanted.has("loans"),
    zeroRows: wanted.has("zeroRows"),
    enriched: wanted.has("enriched"),
    goneAccounts: wanted.has("goneAccounts"),
    splitFees: wanted.has("splitFees"),
  }
}

const standardBooks = 12

export const argumentsOf = (given: ReadonlyArray<string>): Asked => {
  const { values } = parseArgs({
    args: [...given],
    options: {
      histories: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      from: { type: "string", default: "0" },
      kills: { type: "string", default: "0" },
      workers: { type: "string", default: "2" },
      seconds: { type: "string", default: "86400" },
      books: { type: "string", default: String(standardBooks) },
      features: { type: "string", default: "landed" },
      replay: { type: "string" },
      "no-shrink": { type: "boolean", default: false },
      show: { type: "boolean", default: false },
    },
  })
  return {
    histories: Number(values.histories),
    seed: values.seed,
    from: Number(values.from),
    kills: Number(values.kills),
    workers: Number(values.workers),
    seconds: Number(values.seconds),
    shape: { books: Number(values.books), features: featuresOf(values.features) },
    shrink: !values["no-shrink"],
    show: values.show,
    replay: values.replay,
  }
}
