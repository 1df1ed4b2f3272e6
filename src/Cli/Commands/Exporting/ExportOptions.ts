/** What the options of an export ask for, and which of them contradict each other. */
import { Either, Option } from "effect"
import type { ExportScope } from "../../../Export/Request/ExportScope.ts"
import { tablesOf } from "../../../Format/Formats.ts"
import { UsageError } from "../../Failure.ts"
import { parseDay, parseMonth } from "../../Period.ts"

interface ScopeOptions {
  readonly period: Option.Option<string>
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
  readonly all: boolean
  readonly sinceLast: boolean
}

const wrong = (detail: string, advice = "Run tieout export --help to see what it takes.") =>
  Either.left(new UsageError({ detail, advice }))

/** The selected entries; exactly one way of selecting them may be used. */
export const scopeOf = (options: ScopeOptions): Either.Either<ExportScope, UsageError> =>
  Either.gen(function* () {
    const ranged = Option.isSome(options.from) || Option.isSome(options.to)
    const ways = [Option.isSome(options.period), ranged, options.all, options.sinceLast].filter(Boolean)
    if (ways.length !== 1) {
      const found = ways.length === 0 ? "Which entries?" : "More than one choice of entries."
      return yield* wrong(`${found} Expected one of --period, --from with --to, --all, --since-last.`)
    }
    if (Option.isSome(options.period))
      return { kind: "period", period: yield* parseMonth(options.period.value) }
    if (options.all) return { kind: "all" }
    if (options.sinceLast) return { kind: "since-last" }
    if (Option.isNone(options.from) || Option.isNone(options.to)) {
      return yield* wrong("--from and --to go together: both days are included.")
    }
    const from = yield* parseDay(options.from.value, "--from")
    const to = yield* parseDay(options.to.value, "--to")
    if (from > to) return yield* wrong(`--to ${to} is before --from ${from}.`)
    return { kind: "range", from, to }
  })

/** The formats that an option names, separated by commas, each once; at least one of those that it takes. */
export const formatsIn = (
  option: "--format" | "--for",
  text: string,
  known: ReadonlyArray<string>,
  advice?: string,
): Either.Either<ReadonlyArray<string>, UsageError> => {
  const wanted = [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "")
  const unknown = wanted.filter((name) => !known.includes(name))
  if (wanted.length > 0 && unknown.length === 0) return Either.right(wanted)
  const found = unknown.length === 0 ? "no format" : unknown.map((name) => JSON.stringify(name)).join(", ")
  return wrong(`${option}: found ${found}, expected one or more of ${known.join(", ")}.`, advice)
}

interface Choices {
  readonly again: boolean
  readonly base: boolean
  readonly by: Option.Option<"day" | "month">
  readonly mode: "detail" | "summary"
  readonly net: boolean
  readonly preview: boolean
  readonly scope: ExportScope
  readonly wanted: ReadonlyArray<string>
  readonly withRates: boolean
}

/** Refuses options that contradict each other. */
export const refuseContradictions = ({
  again,
  base,
  by,
  mode,
  net,
  preview,
  scope,
  wanted,
  withRates,
}: Choices): Either.Either<void, UsageError> => {
  if (base && withRates) {
    return wrong(
      "--base and --with-rates do not go together: the one is in the base currency, the other not.",
    )
  }
  if ((base || withRates) && scope.kind === "since-last") {
    return wrong(
      `${base ? "--base" : "--with-rates"} and --since-last do not go together: an open month of that journal changes as a whole.`,
      "Name a month with --period, or --all.",
    )
  }
  if (preview && again) {
    return wrong(
      "--preview and --again do not go together: a preview does not count until it is committed, and supersedes nothing before that.",
    )
  }
  if (mode === "summary" && tablesOf(wanted).length === 0) {
    return wrong(`--mode summary is for accounting systems: ${wanted.join(", ")} has every entry.`)
  }
  if (mode === "detail" && (net || Option.isSome(by))) {
    return wrong("--by and --net go with --mode summary alone.")
  }
  return Either.void
}
