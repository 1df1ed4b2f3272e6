/**
 * The listener for the service's events (`docs/interface.md`, Events). It proves who sent a delivery, makes it durable, and
 * only then answers 200. Whoever processes the events takes them from the inbox (`Webhook/Inbox.ts`).
 */
import { Context, Duration, Effect, Layer, Runtime } from "effect"
import * as PartnerHttp from "./Partner/Http.ts"
import { PartnerConnection } from "./Partner.ts"
import { type ConnectionSettings, Settings, SettingsError } from "./Settings.ts"
import { UnverifiedBytes } from "./Webhook/Body.ts"
import { makeCommits } from "./Webhook/Commits.ts"
import { Inbox } from "./Webhook/Inbox.ts"
import * as Keyring from "./Webhook/Keyring.ts"
import { makeKeyring, type Tuning } from "./Webhook/Keyring.ts"
import { defaultOptions, type ListenerOptions, listen as listenTo } from "./Webhook/Listener.ts"
import { makeReceiver } from "./Webhook/Receiver.ts"
import { Tally } from "./Webhook/Tally.ts"

/** No event of the interface comes near this. */
const bodyLimit = 64 * 1024

/** Bytes that all sockets together may hold of bodies with unchecked signatures: 256 of the largest bodies, thousands of usual ones. */
const mostUnverified = 16 * 1024 * 1024

export interface WebhookOptions extends Partial<ListenerOptions> {
  readonly keys?: Partial<Tuning>
  /** Bytes of bodies held at one time whose sender is not verified yet. */
  readonly mostUnverified?: number
}

/** A sender waits while keys are read, so there is no waiting for a better moment and no second try. */
const forKeys = (connection: ConnectionSettings, limits: Settings["limits"]): PartnerHttp.Connection => ({
  ...connection,
  limits: {
    ...limits,
    tries: 1,
    connectTimeout: Duration.seconds(3),
    headersTimeout: Duration.seconds(4),
    bodyTimeout: Duration.seconds(4),
    attemptTimeout: Duration.seconds(4),
    maxRetryAfter: Duration.seconds(1),
    maxPages: 20,
  },
  tuning: { limitedTries: 1, breakerThreshold: 1_000 },
})

/**
 * Listens for the deliveries of all connections of the settings until the scope closes: then it accepts nothing more and
 * lets what is in flight end.
 */
export const listen = Effect.fn("Webhook.listen")(function* (options: WebhookOptions = {}) {
  const settings = yield* Settings
  const inbox = yield* Inbox
  if (settings.connectionNames.length > 1 && !settings.webhook.path.includes("{connection}")) {
    return yield* new SettingsError({
      reason: "Invalid",
      mistakes: [`webhook.path: ${settings.webhook.path} is the same for every connection`],
      advice: "Put {connection} where its name is to stand, as in /webhooks/{connection}.",
    })
  }
  const commits = yield* makeCommits(inbox.put)
  const tally = new Tally(settings.connectionNames)
  const unverified = new UnverifiedBytes(options.mostUnverified ?? mostUnverified)
  const tuning = { ...Keyring.defaultTuning, ...options.keys }
  const receivers = yield* Effect.forEach(settings.connectionNames, (name) =>
    Effect.gen(function* () {
      const connection = yield* settings.connection(name)
      const context = yield* Layer.build(PartnerHttp.layer(forKeys(connection, settings.limits)))
      const keyring = yield* makeKeyring(Context.get(context, PartnerConnection).publicKeys, tuning)
      const signatures = connection.interface.webhook
      const parts = { connection: name, signatures, keyring, commits, bodyLimit, unverified }
      return [name, yield* makeReceiver(parts)] as const
    }),
  )
  const run = Runtime.runFork(yield* Effect.runtime<never>())
  // Ends after the listener, so that it also reports the listener's last refusals.
  yield* Effect.forkScoped(Effect.interruptible(tally.watch))
  const listening = yield* listenTo(
    {
      ...defaultOptions,
      host: settings.webhook.host.replace(/^\[|\]$/g, ""),
      port: settings.webhook.port,
      path: settings.webhook.path,
      ...options,
    },
    new Map(receivers),
    (connection, outcome) => {
      if (!tally.recordQuietly(connection, outcome)) run(tally.record(connection, outcome))
    },
  )
  yield* Effect.logDebug(`Listening for events on port ${listening.port}`)
  return {
    /** Where it listens; the port is the one that the system gave where 0 was asked for. */
    port: listening.port,
    address: listening.address,
    /** What was received since the start, by connection and verdict. */
    counts: Effect.sync(() => tally.counts),
  }
})
