/**
 * Runs a server that reads its settings and secrets again on SIGHUP. Wrong settings change nothing. The new server takes over
 * the old one's listener before the old one ends.
 */
import { resolve } from "node:path"
import { type Context, Deferred, Duration, Effect, Either, Exit, Fiber, Layer, Option, Queue } from "effect"
import { KnownSecrets } from "../Settings/KnownSecrets.ts"
import { withSecretFiles } from "../Settings/SecretFiles.ts"
import { Settings, SettingsError, SettingsSource } from "../Settings.ts"
import { OpenDoors } from "../Webhook/Doors.ts"

/** A server with the settings that are read when it starts. It runs `before` when it can take over, and `started` then. */
type Server<E, R> = (turns: {
  readonly before: Effect.Effect<void>
  readonly started: Effect.Effect<void>
}) => Effect.Effect<never, E, R>

/** The wait until settings that are right but could not be used are tried again. */
const tryAgainAfter = Duration.minutes(1)

const hangups = Effect.gen(function* () {
  const queue = yield* Queue.sliding<"reload">(1)
  const heard = () => void Queue.unsafeOffer(queue, "reload")
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", heard)),
    () => Effect.sync(() => process.off("SIGHUP", heard)),
  )
  return queue
})

/**
 * A file that is away for a moment, while it is replaced or its volume is not mounted, or empty, as it is left where the disk was full when
 * somebody saved it, must not make a running server one with every default: at other addresses, without posting rules, perhaps with another database.
 */
const refuseOtherFile = (read: Settings, now: Settings) =>
  !read.isFileSet || (now.isFileSet && resolve(now.file) === resolve(read.file))
    ? Effect.void
    : new SettingsError({
        reason: "Unreadable",
        mistakes: [`${read.file}: there is no such file, or nothing in it, and the settings came from it`],
        advice: "Put it back and send SIGHUP again; to go on with other settings, restart.",
      })

/** Where settings are read from, with the secrets' files read again. */
const readAgain = Effect.flatMap(Effect.all([SettingsSource, KnownSecrets]), ([source, known]) =>
  Either.match(withSecretFiles(source.given ?? source.variables), {
    onLeft: (mistakes) =>
      new SettingsError({
        reason: "Unreadable",
        mistakes: mistakes.map(({ path, text }) => `${path.join(".")}: ${text}`),
        advice: "Name a file that this user can read.",
      }),
    onRight: (variables) =>
      Effect.sync(() => {
        known.learn(variables)
        return { ...source, variables }
      }),
  }),
)

export const reloadable = Effect.fn("Cli.reloadable")(function* <E, R>(
  server: Server<E, R>,
  check: Effect.Effect<unknown, SettingsError, Settings>,
) {
  // Heard before the settings are read: what changes after that is read again.
  const asked = yield* hangups
  // Before the first server, which may begin a database.
  let read = yield* Effect.provide(Effect.zipLeft(Settings, check), Settings.Default)
  const doors = new Map()
  const begin = (source: Context.Tag.Service<SettingsSource>, before: Effect.Effect<void>) =>
    Effect.gen(function* () {
      const up = yield* Deferred.make<void>()
      const fiber = yield* server({ before, started: Effect.asVoid(Deferred.succeed(up, undefined)) }).pipe(
        Effect.provideService(SettingsSource, source),
        Effect.provideService(OpenDoors, doors),
        Effect.forkDaemon,
      )
      return { fiber, up }
    })
  let current = yield* begin(yield* SettingsSource, Effect.void)
  yield* Effect.addFinalizer(() => Effect.suspend(() => Fiber.interrupt(current.fiber)))

  const reload = Effect.gen(function* () {
    const source = yield* readAgain
    const now = yield* Effect.zipLeft(Settings, check).pipe(
      Effect.provide(Layer.provide(Settings.Default, Layer.succeed(SettingsSource, source))),
    )
    yield* refuseOtherFile(read, now)
    const old = current
    let tookOver = false
    const next = yield* begin(
      source,
      Effect.suspend(() => {
        tookOver = true
        current = next
        read = now
        return Effect.asVoid(Fiber.interrupt(old.fiber))
      }),
    )
    const ended = yield* Effect.raceFirst(
      Effect.as(Deferred.await(next.up), Option.none()),
      Effect.asSome(Fiber.await(next.fiber)),
    )
    if (Option.isNone(ended)) return yield* Effect.logInfo("The settings and secrets have been read again.")
    // A new server that could not begin changes nothing; one that has taken over is the running server, and when it ends, the
    // command ends.
    if (!tookOver && Exit.isFailure(ended.value)) {
      yield* Effect.logError(
        `The settings were read again and could not be used; the old ones stay. They are tried again in ${Duration.format(tryAgainAfter)}.`,
        ended.value.cause,
      )
      // Tries again by itself, for instance after a database was away, since nobody sends the signal a second time.
      yield* Effect.forkScoped(Effect.zipRight(Effect.sleep(tryAgainAfter), Queue.offer(asked, "reload")))
    }
  }).pipe(
    Effect.catchAll((error) =>
      Effect.logError(`The settings were not read again; the old ones stay. ${error.message}`),
    ),
  )

  for (;;) {
    const ended = yield* Effect.raceFirst(
      Effect.as(Queue.take(asked), Option.none()),
      Effect.asSome(Fiber.await(current.fiber)),
    )
    if (Option.isSome(ended)) return yield* ended.value
    yield* reload
  }
}, Effect.scoped)
