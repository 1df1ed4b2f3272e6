/**
 * The settings: `config/tieout.yaml`, overridden by the environment, parsed once into exact types. All mistakes are reported
 * at once, each with its place, what was found and what is expected. Credentials come from the environment alone.
 */
import { Context, Data, Effect, Either, Layer, Option, Redacted, Schema } from "effect"
import { largestSettings } from "./Common/Files/RegularFile/ImportBounds.ts"
import { isMissing, NotRegular, readNamed, whyUnread } from "./Common/Files/RegularFile.ts"
import { proxyFor } from "./Common/Proxy.ts"
import { isRecord } from "./Common/Record.ts"
import { Content } from "./Settings/Content.ts"
import { type Credentials, credentials } from "./Settings/Credentials.ts"
import { linesFor, readDocument } from "./Settings/Document.ts"
import { overlay, type Variables, variable } from "./Settings/Environment.ts"
import type { Interface } from "./Settings/Interface.ts"
import { formatPath, type Mistake, mistakesOf } from "./Settings/Mistake.ts"
import { nearest } from "./Settings/Nearest.ts"
import { profileOf } from "./Settings/Profile.ts"
import { brokenLinkTo, ownerOf, placesOf } from "./Settings/Project.ts"
import { databaseMistakes, everything, type Needs, secretMistakes } from "./Settings/Secrets.ts"
import { unknownKeys, withoutEmptySections } from "./Settings/SettingsKeys.ts"
import { tokenMistakes } from "./Settings/StatusToken.ts"
import { tokenKeyMistakes, tokenKeyOf, tokenKeyVariable } from "./Settings/TokenKey.ts"

export interface ConnectionSettings extends Credentials {
  readonly name: string
  readonly surfaces: ReadonlyArray<"organization" | "client" | "credit">
  /** The common profile with this connection's overrides. */
  readonly interface: Interface
  /** `accounting.timeZone` */
  readonly timeZone: string
}

/** Where settings are read from. */
export class SettingsSource extends Context.Reference<SettingsSource>()("tieout/SettingsSource", {
  defaultValue: (): {
    readonly file: Option.Option<string>
    readonly variables: Variables
    /** The variables as they were given, with the names of secrets' files, so that a reload reads these again. */
    readonly given?: Variables
    readonly needs?: Option.Option<Needs>
  } => ({
    /** The file that was asked for, which must exist. */
    file: Option.none(),
    variables: process.env,
  }),
}) {}

/** `mistakes` are whole lines for a person; none of them holds a secret. */
export class SettingsError extends Data.TaggedError("SettingsError")<{
  readonly reason: "Unreadable" | "Invalid" | "UnknownConnection" | "UnknownClient" | "MissingCredentials"
  readonly mistakes: ReadonlyArray<string>
  readonly advice: string
}> {
  override get message(): string {
    return [...this.mistakes, this.advice].join("\n")
  }
}

const readFile = Effect.fn("Settings.readFile")(function* (asked: Option.Option<string>, file: string) {
  const broken = brokenLinkTo(file)
  if (broken !== undefined) {
    return yield* new SettingsError({
      reason: "Unreadable",
      mistakes: [`${broken}: is a link to a ${broken === file ? "file" : "folder"} that is not there`],
      advice: "Mount or make what it leads to, or take the link away; nothing has been read or written.",
    })
  }
  const found = yield* Effect.try(() => readNamed(file, largestSettings).toString("utf8")).pipe(
    Effect.asSome,
    Effect.catchIf(
      ({ error }) => Option.isNone(asked) && isMissing(error),
      () => Effect.succeedNone,
    ),
    Effect.mapError(
      ({ error: cause }) =>
        new SettingsError({
          reason: "Unreadable",
          mistakes: [`${file}: ${whyUnread(cause)}`],
          advice: isMissing(cause)
            ? "Name a settings file with --config or TIEOUT_CONFIG, or leave both out to use the nearest config/tieout.yaml."
            : cause instanceof NotRegular
              ? "Name the settings file itself; nothing has been read or written."
              : "Make it a file that this user may read (it holds no secret), or run Tieout as its owner; nothing has been read or written.",
        }),
    ),
  )
  const text = Option.getOrElse(found, () => "")
  return { file, document: readDocument(text.replace(/^\uFEFF/, "")) }
})

const decode = Schema.decodeUnknownEither(Content, { errors: "all" })

const load = Effect.fn("Settings.load")(function* () {
  const { file: asked, needs = Option.none(), variables } = yield* SettingsSource
  const configFile = Option.orElse(asked, () => variable(variables, "TIEOUT_CONFIG"))
  const place = placesOf(configFile, variables)
  const { file, document } = yield* readFile(configFile, place.file)
  const invalid = (lines: ReadonlyArray<string>) =>
    new SettingsError({
      reason: "Invalid",
      mistakes: [...new Set(lines)],
      advice: "Correct the settings and run the command again; nothing has been read or written.",
    })
  if (document.mistakes.length > 0) {
    return yield* invalid(
      document.mistakes.map(({ line, text }) => `${file}${line === undefined ? "" : `:${line}`}: ${text}`),
    )
  }
  if (document.content !== null && document.content !== undefined && !isRecord(document.content)) {
    return yield* invalid([`${file}: expected keys such as "accounting:" at the left margin`])
  }
  const { content, setBy, mistakes: unknownVariables } = overlay(document.content ?? {}, variables)
  const cleaned = withoutEmptySections(content)
  const decoded = decode(cleaned)
  const databaseUrl = variable(variables, "DATABASE_URL")
  const mistakes = [
    ...unknownKeys(cleaned),
    ...(Either.isLeft(decoded) ? mistakesOf(decoded.left.issue) : []),
    ...unknownVariables,
    ...tokenKeyMistakes(variable(variables, tokenKeyVariable)),
    ...databaseMistakes(Either.isRight(decoded) && decoded.right.database.required, databaseUrl),
  ]
  if (mistakes.length > 0 || Either.isLeft(decoded)) {
    const lacking = Option.match(needs, {
      onNone: () => [],
      onSome: (needed) => secretMistakes(cleaned, variables, needed),
    })
    return yield* invalid(linesFor([...mistakes, ...lacking], file, document, setBy))
  }
  if (Option.isNone(configFile) && decoded.right.alerts.command !== null && !setBy.has("alerts.command")) {
    const owner = ownerOf(file)
    if (owner !== undefined) {
      const text = `the file belongs to the user ${owner}, and no command is taken from it unless --config or TIEOUT_CONFIG names it`
      return yield* invalid(linesFor([{ path: ["alerts", "command"], text }], file, document, setBy))
    }
  }
  return {
    file,
    isSet: isRecord(document.content),
    raw: cleaned,
    content: decoded.right,
    databaseUrl,
    dataDir: place.dataDir,
    variables,
  }
})

export class Settings extends Effect.Service<Settings>()("tieout/Settings", {
  effect: Effect.gen(function* () {
    const { content, databaseUrl, dataDir, file, isSet, raw, variables } = yield* load()
    const names = Object.keys(content.connections)

    /** Settings and credentials of one connection; fails where it is unknown or its variables are missing. */
    const connection = Effect.fn("Settings.connection")(function* (name: string) {
      const known = Object.hasOwn(content.connections, name) ? content.connections[name] : undefined
      if (known === undefined) {
        const near = nearest(name, names)
        return yield* new SettingsError({
          reason: "UnknownConnection",
          mistakes: [`there is no connection named ${JSON.stringify(name)}; known: ${names.join(", ")}`],
          advice: near === undefined ? `Add it under connections in ${file}.` : `Did you mean ${near}?`,
        })
      }
      const secrets = credentials(name, variables)
      if (Either.isLeft(secrets)) {
        return yield* new SettingsError({
          reason: "MissingCredentials",
          mistakes: secrets.left.map((mistake) => `${formatPath(mistake.path)}: ${mistake.text}`),
          advice: `The connection ${JSON.stringify(name)} takes its credentials from these four environment variables.`,
        })
      }
      const settings: ConnectionSettings = {
        name,
        surfaces: known.surfaces,
        interface: profileOf(raw, name),
        timeZone: content.accounting.timeZone,
        ...secrets.right,
      }
      return settings
    })

    const missing = (mistakes: ReadonlyArray<Mistake>, advice: string) =>
      mistakes.length === 0
        ? Effect.void
        : new SettingsError({
            reason: "MissingCredentials",
            mistakes: mistakes.map((mistake) => `${formatPath(mistake.path)}: ${mistake.text}`),
            advice,
          })

    return {
      ...content,
      /** Fails where others can reach the status page and there is no token, or a weak one. */
      checkStatusToken: missing(
        tokenMistakes(variable(variables, "TIEOUT_STATUS_TOKEN"), content.status),
        "Make one, for example with: openssl rand -hex 24",
      ),
      /** Fails with everything that a server lacks: credentials of connections, and the token. */
      checkSecrets: missing(
        secretMistakes(content, variables, everything),
        "Set these environment variables and start it again; nothing has been read or written.",
      ),
      /** The file that was read, or looked for. */
      file,
      /** Whether there was such a file, and a key in it; else every setting has its default or its variable. */
      isFileSet: isSet,
      connectionNames: names,
      /** The interface profile of a connection in `connections`; needs no credentials. */
      profile: (name: string): Interface => profileOf(raw, name),
      connection,
      databaseUrl: Option.map(databaseUrl, (url) => Redacted.make(url)),
      /** The proxy that `alerts.webhook` is reached through; it may hold a password. */
      alertsProxy: Option.map(
        Option.flatMap(Option.fromNullable(content.alerts.webhook), (address) =>
          Either.getOrElse(proxyFor(address, variables), () => Option.none()),
        ),
        (proxy) => Redacted.make(proxy),
      ),
      /** The token of the status page, needed where it does not listen on loopback alone. */
      statusToken: Option.map(variable(variables, "TIEOUT_STATUS_TOKEN"), (token) => Redacted.make(token)),
      /** The key that processes encrypt the service's token with to share it; none: each process gets its own token. */
      tokenKey: Option.map(Option.flatMap(variable(variables, tokenKeyVariable), tokenKeyOf), (key) =>
        Redacted.make(key),
      ),
      /** Where an embedded database keeps its data; relative to the working directory. */
      dataDir,
    }
  }),
}) {
  /** Settings from a file and variables of the caller's choice. */
  static readonly from = (source: {
    readonly file?: string
    readonly variables?: Variables
  }): Layer.Layer<Settings, SettingsError> =>
    Layer.provide(
      Settings.Default,
      Layer.succeed(SettingsSource, {
        file: Option.fromNullable(source.file),
        variables: source.variables ?? process.env,
      }),
    )
}
