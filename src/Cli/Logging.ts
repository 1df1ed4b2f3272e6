/** The log, always on stderr: readable on a terminal, one line per message elsewhere, JSON on request. */
import { Cause, Chunk, HashMap, Inspectable, Layer, List, Logger, type LogLevel } from "effect"
import { harmless, harmlessJson, harmlessLines, styled } from "../Common/Text.ts"
import type { TerminalService } from "../Terminal.ts"

export type LogFormat = "pretty" | "line" | "json"

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Inspectable.toStringUnknown(value, 0)

const messageOf = (message: unknown): string =>
  Array.isArray(message) ? message.map(textOf).join(" ") : textOf(message)

const levelStyles = { WARN: "yellow", ERROR: "red", FATAL: "red", DEBUG: "dim", TRACE: "dim" } as const

const styleOf = (label: string): (typeof levelStyles)[keyof typeof levelStyles] | undefined =>
  Object.entries(levelStyles).find(([name]) => name === label)?.[1]

const annotationsOf = (options: Logger.Logger.Options<unknown>): ReadonlyArray<readonly [string, unknown]> =>
  HashMap.toEntries(options.annotations)

const spansOf = (options: Logger.Logger.Options<unknown>): Record<string, number> =>
  Object.fromEntries(
    List.toArray(options.spans).map((span) => [span.label, options.date.getTime() - span.startTime]),
  )

const messageOfError = (error: unknown): string | undefined =>
  error instanceof Error && "_tag" in error ? error.message : undefined

/** The text of a cause: an expected error's message; for a defect the place in the program, too. */
const causeText = (cause: Cause.Cause<unknown>): string => {
  const messages = Chunk.toReadonlyArray(Cause.failures(cause)).map(messageOfError)
  const expected = messages.filter((message) => message !== undefined)
  const isExpected =
    expected.length > 0 && expected.length === messages.length && Chunk.isEmpty(Cause.defects(cause))
  return isExpected ? [...new Set(expected)].join("\n") : Cause.pretty(cause)
}

const jsonLine = (options: Logger.Logger.Options<unknown>): string =>
  harmlessJson(
    JSON.stringify({
      time: options.date.toISOString(),
      level: options.logLevel.label,
      message: messageOf(options.message),
      ...Object.fromEntries(annotationsOf(options).map(([key, value]) => [key, textOf(value)])),
      ...(List.isNil(options.spans) ? {} : { spans: spansOf(options) }),
      ...(Cause.isEmpty(options.cause) ? {} : { cause: causeText(options.cause) }),
    }),
  )

const personLine = (color: boolean, time: string, options: Logger.Logger.Options<unknown>): string => {
  const { label } = options.logLevel
  const style = styleOf(label)
  const level = label.padEnd(5)
  const annotations = annotationsOf(options).map(([key, value]) => ` ${key}=${harmless(textOf(value))}`)
  const cause = Cause.isEmpty(options.cause) ? "" : `\n${harmlessLines(causeText(options.cause))}`
  const text = harmless(messageOf(options.message)) + styled(color, "dim", annotations.join(""))
  return `${time} ${style === undefined ? level : styled(color, style, level)} ${text}${cause}`
}

const format = (kind: LogFormat, color: boolean) => (options: Logger.Logger.Options<unknown>) => {
  if (kind === "json") return jsonLine(options)
  const iso = options.date.toISOString()
  return personLine(color, kind === "pretty" ? iso.slice(11, 19) : iso, options)
}

/**
 * The format of the log: JSON with `--json` or `TIEOUT_LOG=json`, and for a server unless its stderr is a terminal.
 */
export const logFormat = (
  json: boolean,
  wanted: string | undefined,
  terminal: TerminalService,
  server: boolean,
): LogFormat => {
  if (json || wanted === "json") return "json"
  if (terminal.stderr.interactive) return "pretty"
  return server && wanted !== "line" ? "json" : "line"
}

/** Replaces the default logger, which writes to stdout. `write` gets whole lines. */
export const logging = (
  kind: LogFormat,
  level: LogLevel.LogLevel,
  color: boolean,
  write: (line: string, level: string) => void,
): Layer.Layer<never> => {
  const toLine = format(kind, color)
  return Layer.merge(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make((options) => write(toLine(options), options.logLevel.label)),
    ),
    Logger.minimumLogLevel(level),
  )
}
