import { Effect, Either, Option } from "effect"
import { stringify } from "yaml"
import { largestCapture } from "../../../../Common/Files/RegularFile/ImportBounds.ts"
import { readNamed, whyUnread } from "../../../../Common/Files/RegularFile.ts"
import { harmless } from "../../../../Common/Text.ts"
import type { Interface } from "../../../../Settings/Interface.ts"
import { Settings } from "../../../../Settings.ts"
import {
  type Diagnosis,
  diagnose as examine,
  type Found,
  readCapture,
  readKeys,
} from "../../../../Webhook/Diagnosis.ts"
import { knownConnection } from "../../../BookEnvironment.ts"
import { connection } from "../../../CommandOptions.ts"
import { argument, optional, subcommand, text } from "../../../Declaration.ts"
import { exitCodes } from "../../../ExitCode.ts"
import { UsageError } from "../../../Failure.ts"
import { Output } from "../../../Output.ts"

const read = (file: string) =>
  Effect.try({
    try: () => readNamed(file, largestCapture),
    catch: (cause) =>
      new UsageError({
        detail: `${file}: ${whyUnread(cause)}`,
        advice: "Name a file that is there, of one delivery or one key.",
      }),
  })

/** Whose settings are looked at, and are printed: those of a connection with a section of its own, or the common ones. */
interface Place {
  readonly profile: Interface
  readonly within: (section: object) => object
}

const placeOf = (
  { connectionNames, connections, interface: common, profile }: Settings,
  asked: Option.Option<string>,
): Place => {
  const name = Option.getOrElse(asked, () => (connectionNames.length === 1 ? connectionNames[0] : undefined))
  const connection = name === undefined ? undefined : connections[name]
  if (name === undefined || connection === undefined) return { profile: common, within: (section) => section }
  const isCommon = connectionNames.length === 1 && connection.interface === undefined
  return {
    profile: profile(name),
    within: (section) =>
      isCommon ? section : { connections: { [name]: { surfaces: connection.surfaces, ...section } } },
  }
}

/** The settings that make the signature valid. */
const fragmentOf = (found: Found): object => {
  const { algorithm, algorithmName, algorithmOfKey, encoding, headers, signedPayload } = found
  const names = [
    algorithmName ?? "NAME-IN-THE-HEADER",
    ...(algorithmOfKey === undefined ? [] : [algorithmOfKey]),
  ]
  const algorithms = Object.fromEntries(names.map((name) => [name, algorithm]))
  return { interface: { webhook: { headers, signedPayload, encoding, algorithms } } }
}

const nothing = ({ signatureHeaders, tried }: Diagnosis): ReadonlyArray<string> => [
  signatureHeaders.length === 0
    ? "None of its headers looks like a signature (base64, base64url or hex)."
    : `Nothing fits: ${tried} combinations tried of what may have been signed, with ${signatureHeaders.join(", ")} as the signature.`,
  "Check that the key is the one that the delivery names, and that the body was saved byte for byte.",
]

const linesOf = (diagnosis: Diagnosis, { within }: Place): ReadonlyArray<string> => {
  const { found } = diagnosis
  if (found === undefined) return nothing(diagnosis).map(harmless)
  return [
    `# The signature is good${found.keyId === undefined ? "" : `, by the key ${harmless(found.keyId)}`}.`,
    ...(found.bodyAsSaved ? [] : ["# The file's end (a newline) was not part of the body."]),
    ...(found.algorithmName === undefined
      ? ["# No header names the algorithm; the interface says that one does."]
      : []),
    stringify(within(fragmentOf(found))).trimEnd(),
  ]
}

export const diagnose = subcommand(
  {
    name: "diagnose",
    takes: {
      file: argument.text("FILE"),
      key: optional(
        text("key", "FILE", "The public key: PEM, a JWK, base64, or the service's list of public keys"),
        "the one in the captured delivery",
      ),
      connection,
    },
  },
  Effect.fn("Cli.webhook.diagnose")(function* ({ connection, file, key }) {
    const output = yield* Output
    yield* knownConnection(connection)
    const place = placeOf(yield* Settings, connection)
    const capture = readCapture(yield* read(file))
    if (Either.isLeft(capture)) {
      return yield* new UsageError({
        detail: `${file} is no delivery: ${capture.left}.`,
        advice:
          'Save the request as it came (headers, an empty line, the body), or as JSON: {"headers": {…}, "body": "…"}.',
      })
    }
    const keyText = Option.isSome(key) ? (yield* read(key.value)).toString() : capture.right.key
    const keys = keyText === undefined ? [] : readKeys(keyText)
    if (keys.length === 0) {
      return yield* new UsageError({
        detail:
          keyText === undefined ? "No public key is named." : "The file of the key holds no public key.",
        advice: "Name one with --key FILE: PEM, a JWK, base64, or the service's list of public keys.",
      })
    }
    const diagnosis = examine(capture.right, keys, place.profile.webhook)
    yield* output.report({
      document: {
        ...diagnosis,
        found: diagnosis.found ?? null,
        settings: diagnosis.found === undefined ? null : place.within(fragmentOf(diagnosis.found)),
      },
      lines: linesOf(diagnosis, place),
      code: diagnosis.found === undefined ? exitCodes.failed : exitCodes.done,
    })
  }, Effect.provide(Settings.Default)),
)
