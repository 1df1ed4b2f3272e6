import { Clock, Effect, Either, Option } from "effect"
import { counted, harmless, styled } from "../../../Common/Text.ts"
import { outcomeText } from "../../../Doctor/Ask.ts"
import type { EndpointReport } from "../../../Doctor/Examine.ts"
import * as Fragment from "../../../Doctor/Fragment.ts"
import { runtimeWarning } from "../../../Doctor/Runtime.ts"
import { type Diagnosis, diagnose, isWrong } from "../../../Doctor.ts"
import { PartnerError } from "../../../Partner/PartnerError.ts"
import { connectionPrefix } from "../../../Settings/SettingsKeys.ts"
import { Settings, type SettingsError } from "../../../Settings.ts"
import type { Screen } from "../../../Terminal.ts"
import { needingCredentials } from "../../BookEnvironment.ts"
import { connection } from "../../CommandOptions.ts"
import { failuresIn, unfinished, withFailure } from "../../ConnectionFailures.ts"
import { command, flag } from "../../Declaration.ts"
import { exitCodes, worst } from "../../ExitCode.ts"
import { failureOf } from "../../Failure.ts"
import { type Failure, failureDocument } from "../../FailureDocument.ts"
import { Output } from "../../Output.ts"

interface Outcome {
  readonly connection: string
  readonly result: Either.Either<Diagnosis, Failure>
}

const verdicts: Readonly<Record<EndpointReport["verdict"], string>> = {
  ok: "ok",
  wrong: "WRONG",
  notThere: "not there",
  untried: "not tried",
}
const colours = { none: "green", warning: "yellow", error: "red" } as const

const surfaceTitles = { organization: "Organization", client: "Client", credit: "Credit" } as const

const reportLines = (report: EndpointReport, screen: Screen): ReadonlyArray<string> => {
  const { advice, detail, endpoint, path, settings, severity, shape, verdict } = report
  const colour = verdict === "untried" && severity === "none" ? "dim" : colours[severity]
  const title = `  ${styled(screen.color, colour, verdicts[verdict].padEnd(9))} ${endpoint.padEnd(19)} `
  const where = path === null ? "" : `GET ${path}: `
  if (severity === "none") return [title + where + detail]
  return [
    title + where + detail,
    ...(settings.length === 0 ? [] : [`            settings: ${settings.join(", ")}`]),
    ...(advice === null ? [] : [`            ${advice}`]),
    ...(shape === null ? [] : [`            the answer: ${shape}`]),
  ]
}

const endpointLines = (endpoints: ReadonlyArray<EndpointReport>, screen: Screen): ReadonlyArray<string> =>
  endpoints.flatMap((report, index) => {
    const { surface } = report
    const begins = surface !== endpoints[index - 1]?.surface
    const heading = surface === null ? [""] : ["", `${surfaceTitles[surface]} surface`]
    return [...(begins ? heading : []), ...reportLines(report, screen).map((line) => line.trimEnd())]
  })

const verdictOf = (diagnosis: Diagnosis): string => {
  const { connection, endpoints } = diagnosis
  const countOf = (severity: EndpointReport["severity"]) =>
    endpoints.filter((report) => report.severity === severity).length
  const wrong = countOf("error")
  const warnings = countOf("warning")
  const well = wrong === 0 ? "all is well" : `${counted(wrong, "thing is", "things are")} wrong`
  return `${connection}: ${well}${warnings === 0 ? "" : `, ${counted(warnings, "warning")}`}.`
}

/** `ownInterface`: the connection has an `interface` section of its own, whose keys beat the common ones that the findings name. */
const examinationLines = (
  diagnosis: Diagnosis,
  ownInterface: boolean,
  screen: Screen,
): ReadonlyArray<string> => {
  const colour = isWrong(diagnosis) ? "red" : "green"
  const hint = isWrong(diagnosis) ? " To propose other settings: tieout doctor --discover" : ""
  return [
    `Connection ${diagnosis.connection}`,
    ...endpointLines(diagnosis.endpoints, screen).map((line) =>
      line.startsWith(" ") ? line : harmless(line),
    ),
    "",
    styled(screen.color, colour, verdictOf(diagnosis) + hint),
    ...(isWrong(diagnosis) && ownInterface
      ? [
          `What connections.${diagnosis.connection}.interface has counts for this connection: change it there, not under interface.`,
        ]
      : []),
  ]
}

/** The result of the proposed settings, as comments: stdout must be a settings file. */
const checkLines = (diagnosis: Diagnosis): ReadonlyArray<string> => {
  const plain = { interactive: false, width: Number.POSITIVE_INFINITY, color: false }
  const withFindings = diagnosis.endpoints.filter(({ severity }) => severity !== "none")
  return [
    `Called with these settings: ${verdictOf(diagnosis)}`,
    ...withFindings.flatMap((report) => reportLines(report, plain)),
  ]
    .map((line) => `# ${line}`)
    .map(harmless)
}

const failureLines = ({ connection, result }: Outcome): ReadonlyArray<string> =>
  Either.isRight(result) ? [] : [unfinished(connection, result.left)]

const documentOfOutcome = ({ connection, result }: Outcome, discovering: boolean): object => {
  if (Either.isLeft(result)) return { connection, ...failureDocument([result.left]) }
  const { endpoints, profile, undetermined } = result.right
  return {
    connection,
    endpoints,
    ...(discovering
      ? { profile, undetermined: undetermined.map(({ reason, setting }) => ({ setting, reason })) }
      : {}),
  }
}

/** The failure with its connection's variables. */
const connectionFailure = (connection: string, error: SettingsError | PartnerError): Failure => {
  const failure = failureOf(error)
  // The start of an unreadable answer may hold anything, even a token.
  const text =
    error.reason === "BadResponse"
      ? `${error.operation} ${outcomeText(error)}. ${error.advice}`
      : failure.message
  const message =
    error instanceof PartnerError
      ? text.replaceAll(/TIEOUT_(?=BASE_URL|CLIENT_|SCOPE)/g, connectionPrefix(connection))
      : text
  return { ...failure, message }
}

const runOne = Effect.fn("Cli.doctor.connection")(function* (connection: string, discover: boolean) {
  const settings = yield* Settings
  const result = yield* Effect.either(
    Effect.flatMap(settings.connection(connection), (found) =>
      diagnose(found, {
        discover,
        limits: settings.limits,
        publicUrl: settings.webhook.publicUrl?.replaceAll("{connection}", connection) ?? null,
      }),
    ),
  )
  const outcome: Outcome = {
    connection,
    result: Either.mapLeft(result, (error) => connectionFailure(connection, error)),
  }
  return outcome
})

export const doctor = command(
  {
    name: "doctor",
    summary: "Call the service's endpoints, and say which settings of the interface section are wrong.",
    about: [
      "Logs in and reads one page of everything that a sync needs, one request after the other; needs no database. Of the",
      "answers it shows field names and types, never values. Ends with 1 where something is wrong. It warns where the Node",
      "that runs it gets no corrections any more.",
      "With --discover it tries other names and paths and prints the settings that fit, as YAML for config/tieout.yaml.",
    ],
    takes: {
      connection,
      discover: flag("discover", "Propose the interface section from live answers. Only reads"),
    },
    examples: [
      ["tieout doctor", "before the first sync"],
      ["tieout doctor --discover >> config/tieout.yaml", "where the file has no interface section yet"],
    ],
    exits: { failed: "failed, or a setting is wrong" },
  },
  Effect.fn("Cli.doctor")(
    function* ({ connection, discover }) {
      const output = yield* Output
      const now = yield* Clock.currentTimeMillis
      const warning = runtimeWarning(process.version, new Date(now).toISOString().slice(0, 10))
      if (warning !== null) yield* Effect.logWarning(warning)
      const { connectionNames, connections } = yield* Settings
      const names = Option.isSome(connection) ? [connection.value] : connectionNames
      const outcomes = yield* Effect.forEach(names, (name) => runOne(name, discover))
      const failures = failuresIn(outcomes.map(withFailure))
      const diagnoses = outcomes.flatMap(({ result }) => (Either.isRight(result) ? [result.right] : []))
      if (diagnoses.length === 0) return yield* output.fail(failures)
      // The keys of a connection's own section beat the common ones.
      const hasOwn = (name: string) => connections[name]?.interface !== undefined
      const byConnection = connectionNames.length > 1 || names.some(hasOwn)
      const lines = discover
        ? [...Fragment.lines(diagnoses, byConnection), ...diagnoses.flatMap(checkLines)]
        : diagnoses
            .flatMap((diagnosis) => [
              ...examinationLines(diagnosis, hasOwn(diagnosis.connection), output.terminal.stdout),
              "",
            ])
            .slice(0, -1)
      const trouble = outcomes.flatMap(failureLines)
      yield* output.report({
        document: {
          node: process.version.slice(1),
          nodeWarning: warning,
          connections: outcomes.map((outcome) => documentOfOutcome(outcome, discover)),
        },
        lines: discover ? lines : [...lines, ...trouble],
        code: worst([
          ...failures.map(({ code }) => code),
          diagnoses.some(isWrong) ? exitCodes.failed : exitCodes.done,
        ]),
      })
      // Stdout holds a settings fragment: failures go to stderr alone.
      if (discover && failures.length > 0) yield* output.fail(failures)
    },
    Effect.provide(Settings.Default),
    needingCredentials,
  ),
)
